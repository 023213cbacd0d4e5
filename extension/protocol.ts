// The wire between editor and sidecar; mirrors server/lerim/lsp/protocol.py, described in docs/PROTOCOL.md. Types and names only.
import type * as lives from "./livesprotocol";
import type * as models from "./modelprotocol";
import type * as review from "./reviewprotocol";
import type * as sessions from "./sessionprotocol";
import type { CodeLensMode } from "./settings";

export type * from "./livesprotocol";
export type * from "./modelprotocol";
export type * from "./reviewprotocol";
export type * from "./sessionprotocol";

export interface ServerSettings {
  enabled: boolean;
  hover: boolean;
  codeLens: CodeLensMode;
  idleSeconds: number;
  maxFileKb: number;
  review?: string;
  "model.provider"?: string;
  "model.name"?: string;
  "model.baseUrl"?: string;
  "extract.gate"?: string;
  "extract.guidance"?: string;
  "budget.perDayUsd"?: number | null;
}

/** `initializationOptions`, and `settings` of `workspace/didChangeConfiguration`. */
export interface InitOptions {
  trusted: boolean;
  settings: ServerSettings;
}

export type Speaker = "user" | "assistant" | "tool" | "web";
export type Primitive = "decision" | "learning" | "question" | "theme" | "summary";

export interface EvidenceView {
  quote: string;
  turn: string;
  who: Speaker;
}

/** What accepting a candidate does (server/lerim/review/effects.py). */
export type ProposedAction = "add" | "update" | "supersede" | "resolve" | "merge" | "archive" | "consolidate" | "refer" | "close";

/** A memory that a candidate is about, as it is now. */
export interface TargetView {
  id: string;
  title: string;
  status: string;
  path: string;
}

export interface CandidateView {
  id: string;
  primitive: Primitive;
  kind: string | null;
  title: string;
  body: string;
  confidence: number;
  action: ProposedAction;
  target: string | null;
  diff: string | null;
  tags: string[];
  references: string[];
  evidence: EvidenceView[];
  session: string;
  turn: string;
  platform: string;
  time: string;
  signal: string;
  flags: string[];
  /** Whether the person changed its words already. */
  edited: boolean;
  path: string;
  /** The memories it is about. */
  targets: TargetView[];
  /** Why maintain proposes it; "" for what a session said. */
  reason: string;
  maker: string;
  /** The ids of the memories that would be no longer active. */
  ends: string[];
  /** Whether it would be the project's, or the person's own. */
  scope: "project" | "global";
  /** Memories of which it is not sure whether it repeats, changes or replaces them. */
  near: TargetView[];
}

export interface MemoryView {
  id: string;
  handle: string;
  primitive: Primitive;
  kind: string | null;
  title: string;
  body: string;
  confidence: number;
  created: string;
  updated: string;
  tags: string[];
  references: string[];
  evidence: EvidenceView[];
  session: string;
  platform: string;
  path: string;
  status: string;
  scope: string;
  source: string;
  /** "drifted" or "gone" where what it refers to is not as it was; else "". */
  standing: string;
}

export interface Problem {
  code: string;
  path: string;
  message: string;
}

export interface UndoView {
  action: string;
  label: string;
}

export interface DroppedView {
  reason: string;
  title: string;
  session: string;
  turn: string;
  detail: string;
}

export interface Withdrew {
  id: string;
  reason: string;
}

export interface SessionCounts {
  found: number;
  new: number;
  changed: number;
  unchanged: number;
  failed: number;
}

export interface SyncReport {
  project: string;
  sessions: SessionCounts;
  candidates: CandidateView[];
  dropped: Record<string, number>;
  droppedItems: DroppedView[];
  withdrawn: Withdrew[];
  problems: Problem[];
  accepted: string[];
  leftOut: number;
  model: string;
  usage?: models.Usage;
  spent?: models.Spent[];
  steps?: models.Step[];
  waits?: models.Waits;
  seconds: number;
  run: string;
  state: "done" | "partial" | "cancelled" | "busy" | "failed";
  message: string;
}

export interface SyncParams {
  root: string;
  explicit: boolean;
}

export interface RootParams {
  root: string;
}

export interface ReviewList {
  candidates: CandidateView[];
  blocked: number;
  /** How much was left out of the review and is not proposed. */
  leftOut: number;
  problems: Problem[];
  undo: UndoView | null;
}

export interface Edit {
  title: string;
  body: string;
  tags: string[];
}

export interface ActParams {
  root: string;
  id: string;
  /** The candidate's own. */
  scope: "project" | "global";
  action: "accept" | "reject" | "edit";
  edit?: Edit;
  quotes?: "shared" | "local";
}

export interface UndoParams {
  root: string;
  action?: string;
}

/** `askQuotes`: nothing was done yet, the person must first say whether quotes are shared. */
export interface ReviewResult {
  ok: boolean;
  code: string;
  message: string;
  action: string | null;
  path: string | null;
  askQuotes: boolean;
}

export interface SearchParams {
  root: string | null;
  query: string;
  limit: number;
}

export interface MemoryList {
  memories: MemoryView[];
}

/** Those from `start` on, as many as fit into one answer. */
export interface TitlesParams {
  root: string | null;
  start: number;
}

export interface TitleView {
  id: string;
  primitive: Primitive;
  kind: string | null;
  title: string;
  confidence: number;
  created: string;
  references: string[];
  path: string;
  scope: string;
}

/** Newest first; `total` is how many there are. */
export interface TitlesView {
  memories: TitleView[];
  total: number;
}

/** `id` is the handle of a `MemoryView` or of a hover's link, or the URI of a memory's file. */
export interface ShowParams {
  id: string;
}

export interface ForFileParams {
  uri: string;
}

export type TurnParams = { root: string | null; session: string; turn: string } | { handle: string };

/** Of a turn that is gone `title` and `text` say whose it was; else `id` names its session for `lerim/session/open`. */
export interface TurnView {
  found: "catalog" | "gone";
  id: string;
  title: string;
  text: string;
  session: string;
  turn: string;
}

/** `key` is the same for every folder of one project. */
export interface DebugRoot {
  uri: string;
  key: string;
  project: string;
  memories: number;
  candidates: number;
}

export interface DebugView {
  version: string;
  python: string;
  executable: string;
  platform: string;
  home: string;
  roots: DebugRoot[];
  memoryMb: number;
  startMs: number;
}

export type SyncStage = "looking" | "reading" | "learning" | "done" | "failed" | "cancelled";

export interface SyncProgress {
  root: string;
  stage: SyncStage;
  sessionsDone: number;
  sessionsTotal: number;
  candidates: number;
  message: string;
}

/** `project` is the same for every folder of one project. */
export interface CandidatesChanged {
  root: string;
  project: string;
  pending: number;
}

export interface MemoriesChanged {
  root: string;
  memories: number;
}

/** Folders by their URIs, made or yet to be made. */
export interface WatchFolders {
  folders: string[];
}

/** A request's method with the types of its parameters and its result. */
export interface Request<P, R> {
  readonly method: string;
  readonly types?: { readonly params: P; readonly result: R };
}

/** A notification's method with the type of its parameters. */
export interface Notification<P> {
  readonly method: string;
  readonly types?: { readonly params: P };
}

function request<P, R>(method: string): Request<P, R> {
  return { method };
}

function notification<P>(method: string): Notification<P> {
  return { method };
}

export const sync = request<SyncParams, SyncReport>("lerim/sync");
export const reviewList = request<RootParams, ReviewList>("lerim/review/list");
export const reviewAct = request<ActParams, ReviewResult>("lerim/review/act");
export const reviewLeftOut = request<review.LeftOutParams, review.LeftOutList>("lerim/review/leftOut");
export const reviewPropose = request<review.ProposeParams, ReviewResult>("lerim/review/propose");
export const reviewUndo = request<UndoParams, ReviewResult>("lerim/review/undo");
export const memorySearch = request<SearchParams, MemoryList>("lerim/memory/search");
export const memoryShow = request<ShowParams, MemoryView>("lerim/memory/show");
export const memoryTitles = request<TitlesParams, TitlesView>("lerim/memory/titles");
export const memoryForFile = request<ForFileParams, MemoryList>("lerim/memory/forFile");
export const memoryTree = request<lives.TreeParams, lives.TreeView>("lerim/memory/tree");
export const memoryAct = request<lives.MemoryActParams, lives.ActedView>("lerim/memory/act");
export const memoryMerge = request<lives.MergeParams, lives.MergeView>("lerim/memory/merge");
export const maintain = request<lives.MaintainParams, lives.MaintainReport>("lerim/maintain");
export const ask = request<lives.AskParams, lives.AnswerView>("lerim/ask");
export const turn = request<TurnParams, TurnView>("lerim/turn");
export const sessionsDays = request<sessions.DaysParams, sessions.DaysView>("lerim/sessions/days");
export const sessionsList = request<sessions.SessionsParams, sessions.SessionsView>("lerim/sessions/list");
export const sessionsSearch = request<sessions.SessionSearchParams, sessions.HitsView>("lerim/sessions/search");
export const sessionOpen = request<sessions.OpenParams, sessions.OutlineView>("lerim/session/open");
export const sessionTurns = request<sessions.TurnsParams, sessions.TurnsView>("lerim/session/turns");
export const sessionFind = request<sessions.FindParams, sessions.PlacesView>("lerim/session/find");
export const agents = request<sessions.AgentsParams, sessions.AgentsView>("lerim/agents");
export const connect = request<sessions.ConnectParams, sessions.DoneView>("lerim/connect");
export const queueAct = request<sessions.QueueParams, sessions.DoneView>("lerim/queue/act");
export const modelStatus = request<RootParams, models.ModelView>("lerim/model/status");
export const modelAllow = request<models.AllowParams, sessions.DoneView>("lerim/model/allow");
export const modelChoices = request<Record<string, never>, models.ChoicesView>("lerim/models");
export const modelTry = request<{ root: string }, models.SessionTrialView>("lerim/model/try");
export const modelTest = request<Record<string, never>, models.TrialView>("lerim/model/test");
export const debug = request<Record<string, never>, DebugView>("lerim/debug");

export const syncProgress = notification<SyncProgress>("lerim/syncProgress");
export const candidatesChanged = notification<CandidatesChanged>("lerim/candidatesChanged");
export const memoriesChanged = notification<MemoriesChanged>("lerim/memoriesChanged");
export const watchFolders = notification<WatchFolders>("lerim/watchFolders");
export const maintainProgress = notification<lives.MaintainProgress>("lerim/maintainProgress");
export const answer = notification<lives.AnswerParams>("lerim/answer");

export const lookAround = notification<Record<string, never>>("lerim/lookAround");
export const editorModels = notification<models.EditorModelsParams>("lerim/editorModels");
export const modelPart = notification<models.ModelPart>("lerim/modelPart");

export const askModel = request<models.AskModelParams, models.AskedView>("lerim/askModel");
