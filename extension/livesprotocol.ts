// What of the wire is about the lives of memories; mirrors server/lerim/lsp/lives_protocol.py (docs/PROTOCOL.md). Types only.
import type { Spent, Step } from "./modelprotocol";
import type { CandidateView, Primitive, Problem } from "./protocol";

export type By = "primitive" | "file" | "freshness";

/** `node` as a group names it, "" for the top; no `root` is the person's own memories alone. */
export interface TreeParams {
  root: string | null;
  by: By;
  node: string;
  start: number;
}

export interface TreeGroup {
  node: string;
  kind: "waiting" | "problems" | "primitive" | "file" | "loose" | "standing" | "ended";
  name: string;
  count: number;
}

export interface TreeProposal {
  id: string;
  action: string;
  primitive: Primitive;
  kind: string | null;
  title: string;
  reason: string;
  scope: "project" | "global";
}

/** `standing`: "fresh", "drifted", "gone" or "unknown"; `detail` says of what. */
export interface TreeMemory {
  id: string;
  handle: string;
  primitive: Primitive;
  kind: string | null;
  title: string;
  confidence: number;
  created: string;
  scope: "project" | "global";
  status: string;
  standing: string;
  detail: string;
  path: string;
}

/** Rows in this order; `total` is how many the node has, of which an answer holds some. */
export interface TreeView {
  groups: TreeGroup[];
  proposals: TreeProposal[];
  memories: TreeMemory[];
  problems: Problem[];
  total: number;
}

export type Feedback = "useful" | "wrong" | "outdated";

/** `id` is a memory's handle; what an act does not need is left out. */
export interface MemoryActParams {
  id: string;
  action: "edit" | "archive" | "restore" | "promote" | "globalize" | "kind" | "verify" | "feedback" | "delete";
  title?: string;
  body?: string;
  tags?: string[];
  primitive?: string;
  kind?: string;
  feedback?: Feedback;
  reason?: string;
}

/** `action` takes it back by `lerim/review/undo` of `root`. */
export interface ActedView {
  ok: boolean;
  code: string;
  message: string;
  action: string | null;
  path: string | null;
  root: string;
}

export interface MergeParams {
  root: string;
  path: string;
  preview: boolean;
}

/** `acted` is null for a preview. */
export interface MergeView {
  diff: string;
  acted: ActedView | null;
}

export interface MaintainParams {
  root: string;
  dryRun: boolean;
}

/** `total` 0: not counted. */
export interface MaintainProgress {
  root: string;
  stage: "reading" | "links" | "freshness" | "planning" | "asking" | "proposing" | "done" | "cancelled";
  done: number;
  total: number;
  message: string;
}

/** `action`: "repaired", "proposed-…", "accepted-…", "known" or "blocked"; `undo` takes it back. */
export interface MaintainAction {
  action: string;
  title: string;
  reason: string;
  memories: string[];
  id: string;
  undo: string;
}

/** An active memory that drifted or whose place is gone, since when and what changed. */
export interface StaleMemory {
  id: string;
  title: string;
  standing: "drifted" | "gone";
  reference: string;
  movedTo: string;
  detail: string;
  since: string;
}

/** `proposals` wait now, or would after a dry run; `done` is what was changed or proposed on disk. */
export interface MaintainReport {
  project: string;
  proposals: CandidateView[];
  done: MaintainAction[];
  counts: Record<string, number>;
  stale: StaleMemory[];
  problems: Problem[];
  state: "done" | "partial" | "cancelled" | "busy" | "failed";
  message: string;
  dryRun: boolean;
  model: string;
  spent: Spent[];
  steps: Step[];
  seconds: number;
  run: string;
}

/** `token` names the question in notifications; `all`: drifted and ended memories count, too; `passages`: no model is asked. */
export interface AskParams {
  root: string;
  question: string;
  token: string;
  all: boolean;
  passages: boolean;
}

/** What something rests on: a memory by its handle, or a turn by session and turn. `number` is the same for the same one in one answer. */
export interface CitationView {
  number: number;
  ref: string;
  kind: "memory" | "turn";
  title: string;
  handle: string;
  session: string;
  turn: string;
}

export interface SentenceView {
  text: string;
  citations: CitationView[];
}

/** What stands in a memory or a turn, told as it is; `detail` says what it is, `time` when it was said. */
export interface PassageView {
  citation: CitationView;
  detail: string;
  time: string;
  text: string;
  path: string;
  flags: string[];
}

/** `known` false: nothing was found that answers; `model` is "none" where none was asked, and then there are passages alone. */
export interface AnswerView {
  question: string;
  sentences: SentenceView[];
  passages: PassageView[];
  known: boolean;
  model: string;
  leftOut: number;
  spent: Spent[];
  steps: Step[];
  problems: Problem[];
  state: "done" | "partial" | "cancelled";
  message: string;
  seconds: number;
}

/** One sentence of an answer that is on its way. */
export interface AnswerParams {
  token: string;
  sentence: SentenceView;
}
