// The wire's types about sessions, agents and the queue; part of protocol.ts, described in docs/PROTOCOL.md. Types only.

export type Role = "user" | "assistant";

export interface DaysParams {
  everywhere: boolean;
}

/** A day of the machine's calendar, "" for sessions without a time. */
export interface DayView {
  day: string;
  sessions: number;
}

/** Newest first. */
export interface DaysView {
  days: DayView[];
}

/** The sessions of a day from `start` on, as many as fit into one answer. */
export interface SessionsParams {
  day: string;
  everywhere: boolean;
  start: number;
}

export interface TokensView {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

/**
 * `files`, `tokens` and `cost` are null where they are not recorded; `started` and `ended` are ISO, "" unknown. `parent` is the session that
 * started a subagent's, `parentMissing`: nothing was read of that one.
 */
export interface SessionView {
  id: string;
  session: string;
  platform: string;
  agent: string;
  title: string;
  started: string;
  ended: string;
  folder: string;
  branches: string[];
  models: string[];
  files: number | null;
  turns: number;
  prompts: number;
  toolCalls: number;
  toolErrors: number;
  denials: number;
  tokens: TokensView | null;
  cost: number | null;
  parent: string;
  parentMissing: boolean;
  gone: boolean;
  error: string;
}

export interface SessionsView {
  sessions: SessionView[];
  total: number;
}

export interface SessionSearchParams {
  query: string;
  everywhere: boolean;
  limit: number;
}

export interface HitView {
  id: string;
  turn: string;
  platform: string;
  agent: string;
  title: string;
  time: string;
  role: Role;
  snippet: string;
}

/** Best first; `problems` are filters that were not understood. */
export interface HitsView {
  hits: HitView[];
  problems: string[];
}

/** `turn` is where to open it, "" at its start. */
export interface OpenParams {
  id: string;
  turn: string;
}

/** `kinds` has one letter a turn (p, s, c, r), `sizes` about how many characters each has; `at` is -1 where the turn is not in it, `summary` "" where there is none. */
export interface OutlineView {
  session: SessionView;
  kinds: string;
  sizes: number[];
  at: number;
  note: string;
  summary: string;
}

/** `whole`: the first of the turns uncut. */
export interface TurnsParams {
  id: string;
  start: number;
  count: number;
  whole: boolean;
}

/** `status` is "" where it is not kept. */
export interface CallView {
  title: string;
  status: "" | "ok" | "error" | "denied" | "interrupted" | "pending";
  exitCode: number | null;
  text: string;
}

/** `left`: how many more characters its text has. */
export interface SessionTurn {
  turn: string;
  role: Role;
  kind: string;
  time: string;
  text: string;
  left: number;
  calls: CallView[];
}

export interface TurnsView {
  start: number;
  turns: SessionTurn[];
}

export interface FindParams {
  id: string;
  text: string;
}

export interface PlacesView {
  positions: number[];
}

export interface AgentsParams {
  root: string | null;
}

/** A place where an agent's store may lie. */
export interface StoreView {
  path: string;
  exists: boolean;
}

/** Sessions or stores that are not read, by the reason: skipped, unreadable, failed, in-part, no-folder. */
export interface SkippedView {
  reason: string;
  count: number;
  example: string;
  message: string;
}

export interface LastErrorView {
  message: string;
  where: string;
  time: string;
}

/** `sessions` on this machine; of the project `found`, `parsed`, `waiting`, `redactions` and `lastSync`. */
export interface AgentView {
  platform: string;
  name: string;
  state: "connected" | "not-found" | "removed";
  stores: StoreView[];
  sessions: number;
  found: number;
  parsed: number;
  waiting: number;
  skipped: SkippedView[];
  redactions: number;
  lastError: LastErrorView | null;
  lastSync: string;
}

/** A job that failed or was given up; `id` names its session. */
export interface JobView {
  job: number;
  kind: string;
  state: "failed" | "dead";
  tries: number;
  id: string;
  title: string;
  error: string;
}

/** `queue`: how many jobs of the project are in each state; `jobs` are those in trouble. */
export interface AgentsView {
  project: string;
  agents: AgentView[];
  queue: Record<string, number>;
  jobs: JobView[];
}

/** `path` null: where the agent usually keeps its sessions. */
export interface ConnectParams {
  platform: string;
  action: "connect" | "disconnect";
  path: string | null;
}

export interface QueueParams {
  job: number;
  action: "retry" | "skip";
}

export interface DoneView {
  ok: boolean;
  message: string;
}
