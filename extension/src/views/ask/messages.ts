// Messages between the host side (views/ask/host.ts) and the webview (views/ask/web/ask.ts) of Lerim: Ask a Question. The host checks what it receives.
import type { Passage, Sentence } from "../../protocol";
import { isObject, isText } from "../shared/checks";

const maxQuestionLength = 4000;

export type FromAsk =
  | { readonly type: "ready" }
  | { readonly type: "ask"; readonly question: string; readonly all: boolean }
  | { readonly type: "cancel" }
  /** The person clicked the source with this number. */
  | { readonly type: "open"; readonly number: number }
  | { readonly type: "chooseModel" }
  /** The person wants to see memories that say the same as the question in other words. */
  | { readonly type: "searchByMeaning" };

/** The state of a question and its answer. `note` is shown below the answer; if no model was asked, there are only `passages`. */
export interface AnswerState {
  readonly question: string;
  readonly state: "none" | "asking" | "done" | "partial" | "cancelled" | "failed";
  readonly sentences: readonly Sentence[];
  readonly passages: readonly Passage[];
  readonly known: boolean;
  readonly model: string;
  readonly note: string;
  readonly all: boolean;
}

export type ToAsk = { readonly type: "state"; readonly state: AnswerState; readonly restricted: boolean } | { readonly type: "sentence"; readonly question: string; readonly sentence: Sentence };

export const noAnswer: AnswerState = { question: "", state: "none", sentences: [], passages: [], known: true, model: "", note: "", all: false };

/** Parses a message from the webview; undefined if it is invalid. */
export function parseFromAsk(value: unknown): FromAsk | undefined {
  if (!isObject(value)) return undefined;
  const { type, question, all, number } = value;
  switch (type) {
    case "ready":
    case "cancel":
    case "chooseModel":
    case "searchByMeaning":
      return { type };
    case "ask":
      return isText(question, maxQuestionLength) && question.trim() !== "" && typeof all === "boolean" ? { type, question, all } : undefined;
    case "open":
      return typeof number === "number" && Number.isInteger(number) ? { type, number } : undefined;
    default:
      return undefined;
  }
}
