import { expect } from "vitest";
import { ModelKeys } from "../../../extension/src/editor/secrets";
import { EventEmitter, type FakePanel, shown, workspace } from "./vscode";
import type { ModelView, AgentView, CandidatesChangedParams, CandidateView, LeftOutView, MemoryView, NeighbourView, Notification, Request, SessionTurn, SessionView, SyncProgressParams, SyncReport } from "../../../extension/src/protocol";

interface Token {
  readonly isCancellationRequested: boolean;
  onCancellationRequested(listener: () => unknown): unknown;
}

type Handler = (params: unknown, token: Token | undefined) => unknown;

/** The extension's owner with a sidecar that answers as a test says; requests are kept in `asked`. */
export class FakeContext {
  readonly asked: { method: string; params: unknown }[] = [];
  readonly logged: string[] = [];
  readonly pending = new Map<string, number>();
  readonly syncing: string[] = [];
  readonly progress = new EventEmitter<SyncProgressParams>();
  readonly onSyncProgress = this.progress.event;
  readonly candidates = new EventEmitter<CandidatesChangedParams>();
  readonly onCandidatesChanged = this.candidates.event;
  readonly onRunningChanged = new EventEmitter<void>().event;
  readonly model = new EventEmitter<void>();
  readonly onModelChanged = this.model.event;
  readonly settings = { enabled: true, reviewComments: true };
  isRunning = true;
  searchesByMeaning = false;
  installMeaning = (): Promise<void> => Promise.resolve(void (this.searchesByMeaning = true));
  readonly faces: { lines: readonly string[]; usedUp: boolean }[] = [];
  readonly secrets = new FakeSecrets();
  readonly environ: Record<string, string> = {};
  readonly keys = new ModelKeys(this.secrets, this.environ, (line) => this.logged.push(line));
  readonly status = {
    onPendingChanged: new EventEmitter<void>().event,
    setModel: (face: { lines: readonly string[]; usedUp: boolean }) => this.faces.push(face),
    projects: () => workspace.workspaceFolders.map(({ uri }) => uri.toString()),
    setPending: (root: string, count: number) => this.pending.set(root, count),
    totalPending: () => [...this.pending.values()].reduce((sum, count) => sum + count, 0),
    get pending(): number {
      return this.totalPending();
    },
    setSyncing: (_root: string, text: string) => this.syncing.push(text),
  };
  readonly output = {
    info: (line: string) => this.logged.push(line),
    warn: (line: string) => this.logged.push(line),
    error: (line: string) => this.logged.push(line),
    show: () => this.logged.push("(shown)"),
  };
  readonly state = new Map<string, unknown>();
  readonly extension = {
    extensionUri: { scheme: "file", path: "/extension", query: "" },
    workspaceState: makeMemento(this.state),
    globalState: makeMemento(new Map()),
  };
  readonly #notified = new EventEmitter<{ method: string; params: unknown }>();
  readonly #handlers = new Map<string, Handler>();

  /** This context for code that takes the real one. */
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the parameter it is given to says which
  as<T>(): T {
    // SAFETY: the fake has every member that is used; its classes are other ones than VS Code's
    return this as unknown as T;
  }

  /** From now on the sidecar answers this request so; a handler that throws is an error reply. */
  answer<P, R>(type: Request<P, R>, handler: (params: P, token: Token | undefined) => R | Promise<R>): void {
    this.#handlers.set(type.method, handler as Handler);
  }

  /** From now on the sidecar answers this request with an error. */
  refuse(type: { readonly method: string }, message: string): void {
    this.#handlers.set(type.method, () => {
      throw new Error(message);
    });
  }

  /** The parameters of all requests of this type, in order. */
  params<P>(type: Request<P, unknown>): P[] {
    return this.asked.filter(({ method }) => method === type.method).map(({ params }) => params as P);
  }

  /** Calls `listener` with what the test sends by `notify`. */
  on<P>(type: Notification<P>, listener: (params: P) => unknown): { dispose(): void } {
    return this.#notified.event(({ method, params }) => {
      if (method === type.method) listener(params as P);
    });
  }

  notify<P>(type: Notification<P>, params: P): void {
    this.#notified.fire({ method: type.method, params });
  }

  // what happens in between requests stands among them
  reloadSettings(): Promise<void> {
    this.asked.push({ method: "(settings told)", params: undefined });
    return Promise.resolve();
  }

  applyKeyChanges(): Promise<void> {
    return this.keys.restartIfChanged(true, async () => {
      await this.keys.loadForStart(true);
      this.asked.push({ method: "(restarted)", params: undefined });
    });
  }

  async request<P, R>(type: Request<P, R>, params: P, token?: Token): Promise<R> {
    this.asked.push({ method: type.method, params });
    const handler = this.#handlers.get(type.method);
    if (handler === undefined) throw new Error(`no answer for ${type.method}`);
    return (await handler(params, token)) as R;
  }
}

function makeMemento(held: Map<string, unknown>) {
  return { get: (key: string) => held.get(key), update: (key: string, value: unknown) => Promise.resolve(void held.set(key, value)) };
}

/** The editor's secret storage. */
export class FakeSecrets {
  readonly held = new Map<string, string>();
  broken = false;

  get(name: string): Promise<string | undefined> {
    return this.broken ? Promise.reject(new Error("the keyring is locked")) : Promise.resolve(this.held.get(name));
  }

  store(name: string, value: string): Promise<void> {
    return Promise.resolve(void this.held.set(name, value));
  }

  delete(name: string): Promise<void> {
    return Promise.resolve(void this.held.delete(name));
  }
}

/** The panel opened last, once its browser side has started. */
export function startedPanel(): FakePanel {
  const panel = present(shown.panels.at(-1));
  panel.send({ type: "ready" });
  return panel;
}

/** Waits until the message of this type and place was posted to a panel, and returns it. */
export function messagesOf<M extends { readonly type: string }>() {
  return async <T extends M["type"]>(panel: FakePanel, type: T, place = 0): Promise<Extract<M, { type: T }>> => {
    const all = (): M[] => (panel.posted as M[]).filter((posted) => posted.type === type);
    await expect.poll(() => all().length).toBeGreaterThan(place);
    return all()[place] as Extract<M, { type: T }>;
  };
}

export function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("it is not there");
  return value;
}

/** An answer that is held back until the test releases it. */
export function heldBack(): { readonly released: Promise<void>; readonly release: () => void } {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  return { released, release };
}

export function modelView(changes: Partial<ModelView> = {}): ModelView {
  const waits = { sessions: 0, tokens: 0, cost: null, model: "", why: "" } as const;
  return { model: "", provider: "none", allowed: false, todayUsd: 0, budgetUsd: 1, spent: [], waits, problems: [], ...changes };
}

const time = "2026-01-02T03:04:05Z";
const fromSession = { session: "s1", turn: "t1", platform: "claude", agent: "Claude Code", time } as const;

export function candidate(id: string, changes: Partial<CandidateView> = {}): CandidateView {
  const said = { ...fromSession, evidence: [{ quote: "use uv, not pip", turn: "t1", who: "user" }], signal: "correction", maker: "rules", reason: "", flags: [] } as const;
  const claim = { primitive: "decision", kind: null, title: `Use uv, not pip (${id})`, body: "The project installs with uv.", tags: ["build"], references: ["pyproject.toml"] } as const;
  const effect = { action: "add", target: null, diff: null, targets: [], ends: [], neighbours: [], suggested: null } as const;
  return { id, ...claim, ...said, ...effect, confidence: 0.8, edited: false, path: "", scope: "project", waitingSince: "", canChangeKind: true, text: claim.body, ...changes } as CandidateView;
}

export function neighbour(id: string, changes: Partial<NeighbourView> = {}): NeighbourView {
  const path = `/repo/.lerim/memory/decisions/${id}.md`;
  return { id, title: `Use pip (${id})`, body: "The project installs with pip.", text: "The project installs with pip.", primitive: "decision", kind: null, path, status: "active", similarity: 0.716, hash: `hash-of-${id}`, ...changes };
}

export function leftOut(id: string): LeftOutView {
  const claim = { title: `Deploy to us-east-1 only (${id})`, primitive: "decision", kind: null, quote: "deploy to us-east-1 only", who: "user", scope: "project" } as const;
  return { id, reason: "below-the-cut", why: "Lerim ranks it below what is usually worth keeping", detail: "", ...claim, ...fromSession, score: null, canPropose: true };
}

/** What a search answers beside its memories if it was not one by meaning. */
export const noMeaning = { byMeaning: [], isWeak: false, note: "" };

export function memory(id: string, changes: Partial<MemoryView> = {}): MemoryView {
  const { session, platform, title, body, confidence, tags, references, evidence } = candidate(id);
  const path = `/repo/.lerim/memory/decisions/${id}.md`;
  const record = { title, body, confidence, created: "2026-01-02", updated: "2026-01-02", tags, references, evidence, session, platform, source: `claude:${session}#t1` };
  return { id, handle: `h-${id}`, primitive: "decision", kind: null, ...record, path, status: "active", scope: "project", drift: "", ...changes };
}

export function report(changes: Partial<SyncReport> = {}): SyncReport {
  const found = { sessions: { found: 12, new: 2, changed: 1, unchanged: 9, failed: 0 }, candidates: [candidate("c1"), candidate("c2")], dropped: { refuted: 1 }, droppedItems: [], withdrawn: [], accepted: [], leftOut: 0 };
  const usage = { calls: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0, cost: 0, unpriced: 0, seconds: 0 };
  const model = { model: "none", usage, spent: [], waits: { sessions: 0, tokens: 0, cost: 0, model: "", why: "" }, settling: 0, settlesAt: null } as const;
  return { project: "repo", ...found, ...model, spent: [], problems: [], steps: [], seconds: 1.5, run: "", state: "done", message: "", ...changes };
}

export function session(id: string, changes: Partial<SessionView> = {}): SessionView {
  const when = { started: "2026-03-02T10:00:00Z", ended: "2026-03-02T10:12:00Z" };
  const where = { folder: "/repo", branches: ["main"], models: ["gpt-5"], files: 5 };
  const work = { turns: 4, prompts: 2, toolCalls: 3, toolErrors: 1, denials: 0, tokens: { input: 1200, output: 300, cacheRead: 9000, cacheWrite: 0 }, cost: null };
  return { id: `${id}-0000`, place: id, platform: "codex", agent: "Codex", title: `Mend the cart (${id})`, ...when, ...where, ...work, parent: "", parentMissing: false, gone: false, error: "", ...changes };
}

export function sessionTurn(turn: string): SessionTurn {
  return { turn, role: "user", kind: "prompt", time: "2026-03-02T10:00:00Z", text: `Turn ${turn}`, left: 0, calls: [] };
}

export function agent(platform: AgentView["platform"], changes: Partial<AgentView> = {}): AgentView {
  const counts = { sessions: 12, found: 3, parsed: 2, waiting: 1, skipped: [], redactions: 4 };
  return { platform, name: platform.toUpperCase(), state: "connected", stores: [{ path: `/home/me/.${platform}`, exists: true }], ...counts, lastError: null, lastSync: "", ...changes };
}
