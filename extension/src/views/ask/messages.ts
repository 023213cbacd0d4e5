// Messages between the host side (views/ask/host.ts) and the webview (views/ask/web/ask.ts) of Lerim: Ask a Question; both validate what they receive.
import type { Citation, Passage, Sentence } from "../../protocol";
import { isList, isObject, isText } from "../review/messages";

const maxQuestionLength = 4000;

export type FromAsk =
  | { readonly type: "ready" }
  | { readonly type: "ask"; readonly question: string; readonly all: boolean }
  | { readonly type: "cancel" }
  /** The person clicked the source with this number. */
  | { readonly type: "open"; readonly number: number }
  | { readonly type: "chooseModel" };

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
      return { type };
    case "ask":
      return isText(question, maxQuestionLength) && question.trim() !== "" && typeof all === "boolean" ? { type, question, all } : undefined;
    case "open":
      return typeof number === "number" && Number.isInteger(number) ? { type, number } : undefined;
    default:
      return undefined;
  }
}

/** Parses a message from the host side; undefined if it is invalid. */
export function parseToAsk(value: unknown): ToAsk | undefined {
  if (!isObject(value)) return undefined;
  const { type, state, restricted, question, sentence } = value;
  if (type === "sentence") return isText(question) && isSentence(sentence) ? { type, question, sentence } : undefined;
  return type === "state" && isState(state) && typeof restricted === "boolean" ? { type, state, restricted } : undefined;
}

function isState(value: unknown): value is AnswerState {
  if (!isObject(value)) return false;
  const states = ["none", "asking", "done", "partial", "cancelled", "failed"];
  return (
    ["question", "model", "note"].every((name) => isText(value[name])) &&
    states.includes(String(value["state"])) &&
    typeof value["known"] === "boolean" &&
    typeof value["all"] === "boolean" &&
    isList(value["sentences"], isSentence) &&
    isList(value["passages"], isPassage)
  );
}

function isSentence(value: unknown): value is Sentence {
  return isObject(value) && isText(value["text"]) && isList(value["citations"], isCitation);
}

function isPassage(value: unknown): value is Passage {
  return isObject(value) && isText(value["text"]) && isText(value["detail"]) && isText(value["time"]) && isCitation(value["citation"]);
}

function isCitation(value: unknown): value is Citation {
  return isObject(value) && typeof value["number"] === "number" && isText(value["title"]) && (value["kind"] === "memory" || value["kind"] === "turn");
}
