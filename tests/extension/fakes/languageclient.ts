// The language client as far as the extension uses it: a sidecar that starts, answers and ends as a test says.
import { EventEmitter } from "./events";

export enum State {
  Stopped = 1,
  Running = 2,
  Starting = 3,
}

export const CloseAction = { DoNotRestart: 1, Restart: 2 };
export const ErrorAction = { Continue: 1 };
export const FileChangeType = { Changed: 2 };
export const Trace = { Off: 0, Messages: 1, Verbose: 2 };

export class ResponseError extends Error {}

type Handler = (params: unknown, token: unknown) => unknown;

/** The clients that were made, in order. */
export const clients: LanguageClient[] = [];

export class LanguageClient {
  state = State.Stopped;
  readonly handlers = new Map<string, Handler>();
  readonly asked: string[] = [];
  /** What the client says of itself when it starts. */
  readonly capabilities: { experimental?: unknown } = {};
  readonly #stateChanged = new EventEmitter<{ newState: State }>();
  readonly onDidChangeState = this.#stateChanged.event;
  #starting: { readonly done: Promise<void>; readonly finish: () => void } | undefined;

  constructor() {
    clients.push(this);
  }

  registerFeature(feature: { fillClientCapabilities(capabilities: object): void }): void {
    feature.fillClientCapabilities(this.capabilities);
  }

  /** The process ends unexpectedly, and the client starts another, until `startAgain` says that it runs. */
  crash(): void {
    this.#setState(State.Stopped);
    let finish = (): void => undefined;
    const done = new Promise<void>((resolve) => (finish = resolve));
    this.#starting = { done, finish };
    this.#setState(State.Starting);
  }

  startAgain(): void {
    this.#starting?.finish();
    this.#setState(State.Running);
  }

  async start(): Promise<void> {
    if (this.#starting !== undefined) return this.#starting.done;
    this.#setState(State.Starting);
    await Promise.resolve();
    this.#setState(State.Running);
  }

  needsStop(): boolean {
    return this.state !== State.Stopped;
  }

  stop(): Promise<void> {
    this.#setState(State.Stopped);
    return Promise.resolve();
  }

  dispose(): Promise<void> {
    return Promise.resolve();
  }

  setTrace(): Promise<void> {
    return Promise.resolve();
  }

  onNotification(method: string, handler: Handler): void {
    this.handlers.set(method, handler);
  }

  onRequest(method: string, handler: Handler): void {
    this.handlers.set(method, handler);
  }

  sendNotification(): Promise<void> {
    return Promise.resolve();
  }

  sendRequest(method: string): Promise<unknown> {
    this.asked.push(method);
    return Promise.resolve({ roots: [] });
  }

  #setState(newState: State): void {
    this.state = newState;
    this.#stateChanged.fire({ newState });
  }
}
