import { ModelKeys } from "../../../extension/src/editor/secrets";
import { EventEmitter, workspace } from "./vscode";
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
  readonly candidates = new EventEmitter<CandidatesChangedParams>();
  readonly running = new EventEmitter<void>();
  readonly onRunningChanged = this.running.event;
  readonly settings = { enabled: true };
  isRunning = true;
  readonly onSyncProgress = this.progress.event;
  readonly onCandidatesChanged = this.candidates.event;
  readonly model = new EventEmitter<void>();
  readonly onModelChanged = this.model.event;
  readonly faces: { lines: readonly string[]; usedUp: boolean }[] = [];
  readonly secrets = new FakeSecrets();
  readonly environ: Record<string, string> = {};
  readonly keys = new ModelKeys(this.secrets, this.environ, (line) => this.logged.push(line));
  readonly status = {
    setModel: (face: { lines: readonly string[]; usedUp: boolean }) => this.faces.push(face),
    projects: () => workspace.workspaceFolders.map(({ uri }) => uri.toString()),
    setPending: (root: string, count: number) => this.pending.set(root, count),
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
    workspaceState: {
      get: (key: string) => this.state.get(key),
      update: (key: string, value: unknown) => Promise.resolve(void this.state.set(key, value)),
    },
  };
  readonly told = new EventEmitter<{ method: string; params: unknown }>();
  readonly #handlers = new Map<string, Handler>();

  /** From now on the sidecar answers this request so; a handler that throws is an error reply. */
  answer<P, R>(type: Request<P, R>, handler: (params: P, token: Token | undefined) => R | Promise<R>): void {
    this.#handlers.set(type.method, handler as Handler);
  }

  /** Listens to what the test tells through `tell`. */
  on<P>(type: Notification<P>, listener: (params: P) => unknown): { dispose(): void } {
    return this.told.event(({ method, params }) => {
      if (method === type.method) listener(params as P);
    });
  }

  tell<P>(type: Notification<P>, params: P): void {
    this.told.fire({ method: type.method, params });
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

/** The editor's secret storage. */
export class FakeSecrets {
  readonly held = new Map<string, string>();
  broken = false;

  get(name: string): Promise<string | undefined> {
    return this.broken ? Promise.reject(new Error("the keyring is locked")) : Promise.resolve(this.held.get(name));
  }

  store(name: string, value: string): Promise<void> {
    this.held.set(name, value);
    return Promise.resolve();
  }

  delete(name: string): Promise<void> {
    this.held.delete(name);
    return Promise.resolve();
  }
}

export function modelView(changes: Partial<ModelView> = {}): ModelView {
  const waits = { sessions: 0, tokens: 0, cost: null, model: "", why: "" } as const;
  return { model: "", provider: "none", allowed: false, todayUsd: 0, budgetUsd: 1, spent: [], waits, problems: [], ...changes };
}

export function candidate(id: string, changes: Partial<CandidateView> = {}): CandidateView {
  return {
    id,
    primitive: "decision",
    kind: null,
    title: `Use uv, not pip (${id})`,
    body: "The project installs with uv.",
    confidence: 0.8,
    action: "add",
    target: null,
    diff: null,
    tags: ["build"],
    references: ["pyproject.toml"],
    evidence: [{ quote: "use uv, not pip", turn: "t1", who: "user" }],
    session: "s1",
    turn: "t1",
    platform: "claude",
    time: "2026-01-02T03:04:05Z",
    signal: "correction",
    flags: [],
    edited: false,
    path: "",
    targets: [],
    reason: "",
    maker: "rules",
    ends: [],
    neighbours: [],
    suggested: null,
    scope: "project",
    ...changes,
  };
}

export function neighbour(id: string, changes: Partial<NeighbourView> = {}): NeighbourView {
  return {
    id,
    title: `Use pip (${id})`,
    body: "The project installs with pip.",
    primitive: "decision",
    kind: null,
    path: `/repo/.lerim/memory/decisions/${id}.md`,
    status: "active",
    similarity: 0.716,
    hash: `hash-of-${id}`,
    ...changes,
  };
}

export function leftOut(id: string, changes: Partial<LeftOutView> = {}): LeftOutView {
  return {
    id,
    reason: "below-the-cut",
    why: "it ranks too low",
    detail: "",
    title: `Deploy to us-east-1 only (${id})`,
    primitive: "decision",
    kind: null,
    quote: "deploy to us-east-1 only",
    who: "user",
    session: "s1",
    turn: "t1",
    platform: "claude",
    time: "2026-01-02T03:04:05Z",
    score: null,
    canPropose: true,
    scope: "project",
    ...changes,
  };
}

export function memory(id: string, changes: Partial<MemoryView> = {}): MemoryView {
  const { session, platform, title, body, confidence, tags, references, evidence } = candidate(id);
  return {
    id,
    handle: `h-${id}`,
    primitive: "decision",
    kind: null,
    title,
    body,
    confidence,
    created: "2026-01-02",
    updated: "2026-01-02",
    tags,
    references,
    evidence,
    session,
    platform,
    path: `/repo/.lerim/memory/decisions/${id}.md`,
    status: "active",
    scope: "project",
    source: `claude:${session}#t1`,
    standing: "",
    ...changes,
  };
}

export function report(changes: Partial<SyncReport> = {}): SyncReport {
  return {
    project: "repo",
    sessions: { found: 12, new: 2, changed: 1, unchanged: 9, failed: 0 },
    candidates: [candidate("c1"), candidate("c2")],
    dropped: { refuted: 1 },
    droppedItems: [],
    withdrawn: [],
    problems: [],
    accepted: [],
    leftOut: 0,
    model: "none",
    usage: { calls: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0, cost: 0, unpriced: 0, seconds: 0 },
    spent: [],
    steps: [],
    waits: { sessions: 0, tokens: 0, cost: 0, model: "", why: "" },
    seconds: 1.5,
    run: "",
    state: "done",
    message: "",
    ...changes,
  };
}

export function session(id: string, changes: Partial<SessionView> = {}): SessionView {
  return {
    id,
    session: `${id}-0000`,
    platform: "codex",
    agent: "Codex",
    title: `Mend the cart (${id})`,
    started: "2026-03-02T10:00:00Z",
    ended: "2026-03-02T10:12:00Z",
    folder: "/repo",
    branches: ["main"],
    models: ["gpt-5"],
    files: 5,
    turns: 4,
    prompts: 2,
    toolCalls: 3,
    toolErrors: 1,
    denials: 0,
    tokens: { input: 1200, output: 300, cacheRead: 9000, cacheWrite: 0 },
    cost: null,
    parent: "",
    parentMissing: false,
    gone: false,
    error: "",
    ...changes,
  };
}

export function sessionTurn(turn: string, changes: Partial<SessionTurn> = {}): SessionTurn {
  return { turn, role: "user", kind: "prompt", time: "2026-03-02T10:00:00Z", text: `Turn ${turn}`, left: 0, calls: [], ...changes };
}

export function agent(platform: AgentView["platform"], changes: Partial<AgentView> = {}): AgentView {
  return {
    platform,
    name: platform.toUpperCase(),
    state: "connected",
    stores: [{ path: `/home/me/.${platform}`, exists: true }],
    sessions: 12,
    found: 3,
    parsed: 2,
    waiting: 1,
    skipped: [],
    redactions: 4,
    lastError: null,
    lastSync: "",
    ...changes,
  };
}
