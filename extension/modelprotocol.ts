// What of the wire is about language models; mirrors server/lerim/lsp/model_protocol.py and models/usage.py (docs/PROTOCOL.md). Types only.
import type { Problem } from "./protocol";

/** What calls of a model took; `cost` in US dollars, 0 where the service does not tell it. */
export interface Usage {
  calls: number;
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  cost: number;
  unpriced: number;
  seconds: number;
}

/** What one role's calls of one model took. */
export interface Spent {
  role: string;
  model: string;
  usage: Usage;
}

/** Something other than a plain answer that happened while a model was asked. */
export interface Step {
  kind: "retried" | "fallback" | "halved" | "resumed" | "skipped" | "repaired" | "unread" | "lost" | "limited" | "dear" | "stopped";
  role: string;
  model: string;
  why: string;
  where: string;
  part: string;
  tokens: number;
}

/** What waits for a model, and why nothing was asked. */
export interface Waits {
  sessions: number;
  tokens: number;
  cost: number | null;
  model: string;
  why: "" | "consent" | "budget" | "none" | "gone";
}

/** What is known of the model before anything is asked of it. `model` is "" where a sync has yet to find out; `problems` keep it from being asked. */
export interface ModelView {
  model: string;
  provider: string;
  allowed: boolean;
  todayUsd: number;
  budgetUsd: number;
  spent: Spent[];
  waits: Waits;
  problems: Problem[];
}

/** The label of a model that is paid for, as `ModelView` has it. */
export interface AllowParams {
  label: string;
}

/**
 * One thing that can be chosen: `provider`, `model` and `baseUrl` are what the settings then say; `variables` may hold the key. `name` and `detail`
 * are for people: of a model of the editor its vendor, of a local server its name or address, of an installed agent what its answers are paid with; the name of `auto` is what it leads to now.
 */
export interface OptionView {
  kind: "none" | "auto" | "agent" | "editor" | "server" | "key" | "no-key" | "address" | "command";
  provider: string;
  model: string;
  baseUrl: string;
  name: string;
  detail: string;
  variables: string[];
  billed: boolean;
  chosen: boolean;
}

/** What there is to ask, in the order it is shown. `model` is the label of the one that is asked now, "" for none. */
export interface ChoicesView {
  model: string;
  provider: string;
  billed: boolean;
  budgetUsd: number;
  options: OptionView[];
  problems: Problem[];
}

/** What came of one tiny question. `cost` null: not known, or not paid by the token. */
export interface TrialView {
  ok: boolean;
  message: string;
  code: string;
  model: string;
  seconds: number;
  tokens: number;
  cost: number | null;
}

/** One proposal of a trial. */
export interface FoundView {
  primitive: string;
  title: string;
  quote: string;
}

/** What the rules and the chosen model find in one session; `code` "not-found": none waits for a model. `again` sessions wait besides. */
export interface SessionTrialView {
  ok: boolean;
  message: string;
  code: string;
  model: string;
  session: string;
  rules: FoundView[];
  found: FoundView[];
  seconds: number;
  tokens: number;
  cost: number | null;
  again: number;
}

/** A model the editor offers. `id` is `vendor/id`; `allowed` is null where the person was not asked yet. */
export interface EditorModelView {
  id: string;
  vendor: string;
  family: string;
  version: string;
  name: string;
  maxInputTokens: number;
  allowed: boolean | null;
}

export interface EditorModelsParams {
  models: EditorModelView[];
}

/**
 * `explicit`: the person asked for the sync, so that the editor may ask whether Lerim is allowed to use the model. `token`:
 * names the question in the parts of its answer, which are told as they come; "" where these are not wanted.
 */
export interface AskModelParams {
  model: string;
  system: string;
  prompt: string;
  maxTokens: number | null;
  explicit: boolean;
  token: string;
}

/** The next words of an answer that is not whole yet. */
export interface ModelPart {
  token: string;
  text: string;
}

/** Why the editor's model gave no answer. `gone`: it was taken away while it was asked. */
export type Why = "no-permission" | "blocked" | "quota" | "not-found" | "gone" | "cancelled" | "failed";

/** An answer, or why there is none: then `why` is not empty and `message` is the editor's own. */
export interface AskedView {
  text: string;
  why: Why | "";
  message: string;
}
