// The panels of the editor, with a page on their other side.
import { EventEmitter } from "./events";
import { Uri } from "./vscode";

export class FakePanel {
  iconPath: unknown;
  revealed = 0;
  readonly posted: unknown[] = [];
  readonly #received = new EventEmitter<unknown>();
  readonly #disposed = new EventEmitter<void>();
  readonly #viewStateChanged = new EventEmitter<void>();
  visible = true;
  readonly onDidDispose = this.#disposed.event;
  readonly onDidChangeViewState = this.#viewStateChanged.event;
  #isDisposed = false;
  readonly #webview = {
    html: "",
    options: {},
    cspSource: "https://panel.test",
    asWebviewUri: (uri: Uri): Uri => Uri.from({ scheme: "https", path: uri.path }),
    onDidReceiveMessage: this.#received.event,
    postMessage: (message: unknown): Promise<boolean> => {
      this.posted.push(structuredClone(message));
      return Promise.resolve(true);
    },
  };

  constructor(public title: string) {}

  /** As in the editor, a panel that is gone has no page any more. */
  get webview() {
    if (this.#isDisposed) throw new Error("Webview is disposed");
    return this.#webview;
  }

  /** The browser side sends a message. */
  send(message: unknown): void {
    this.#received.fire(structuredClone(message));
  }

  /** Another tab covers the panel: its page is gone, and loads again when the panel is revealed. */
  cover(): void {
    this.visible = false;
    this.#viewStateChanged.fire();
  }

  reveal(): void {
    this.revealed++;
    if (this.visible) return;
    this.visible = true;
    this.#viewStateChanged.fire();
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#disposed.fire();
  }
}
