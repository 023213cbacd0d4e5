// Messages between the host side (views/review/host.ts) and the webview (views/review/web/review.ts) of the review panel. The host checks what it receives.
import type { CandidateView, NeighbourChoice, Edit, LeftOutView, NeighbourAnswer, Problem, ReferenceProblem, FieldCompletion, UndoView } from "../../protocol";
import { memoryKinds } from "../../text/wording";
import { isObject, isText } from "../shared/checks";

export type ReviewAction = "accept" | "reject" | "edit";

export type FromWebview =
  | { readonly type: "ready" }
  /** `choice` relates an accepted candidate to a similar memory; null: use the suggestion, else add a new memory. */
  | { readonly type: "act"; readonly id: string; readonly action: ReviewAction; readonly edit: Edit | null; readonly choice: Required<NeighbourChoice> | null }
  /** An action with an invalid edit; made by the parser, so that it can be answered. */
  | { readonly type: "invalidEdit"; readonly id: string; readonly action: ReviewAction; readonly reason: string }
  /** One action on several candidates, confirmed by the person. */
  | { readonly type: "actOnMany"; readonly action: "accept" | "reject"; readonly ids: readonly string[] }
  /** Whether the references of this candidate are found. */
  | { readonly type: "checkReferences"; readonly id: string }
  /** What can be written where the person types in the form of this candidate; `present` are the other tags or references. */
  | { readonly type: "complete"; readonly id: string; readonly field: "tags" | "references"; readonly typed: string; readonly present: readonly string[] }
  /** Replaces a reference of a candidate with a place that the check named. */
  | { readonly type: "useReference"; readonly id: string; readonly reference: string; readonly place: string }
  /** `action` is the sidecar's id; null: the action just requested and not answered yet. */
  | { readonly type: "undo"; readonly action: string | null }
  /** How many left-out items to show, newest first; 0 while the section is closed. */
  | { readonly type: "leftOut"; readonly most: number }
  | { readonly type: "propose"; readonly id: string; readonly scope: "project" | "global" }
  | { readonly type: "copy"; readonly text: string }
  | { readonly type: "openTurn"; readonly session: string; readonly turn: string }
  | { readonly type: "openReference"; readonly reference: string }
  /** The memory `target` that the candidate `id` is about. */
  | { readonly type: "openTarget"; readonly id: string; readonly target: string }
  /** The memory that the last accepted candidate became. */
  | { readonly type: "openAccepted" }
  | { readonly type: "sync" }
  | { readonly type: "manageTrust" }
  | { readonly type: "showLog" };

/** The pending candidates. `changed` contains those that are new or differ from the ones sent before; `order` has all ids. */
export interface ListMessage {
  readonly type: "list";
  readonly root: string;
  readonly order: readonly string[];
  readonly changed: readonly CandidateView[];
  readonly blocked: number;
  readonly leftOut: number;
  readonly problems: readonly Problem[];
  readonly undo: UndoView | null;
}

/**
 * The result of an action or undo. `undo` reverts it; `diff` is what changed since the person looked ("" for nothing).
 * `decided` are the candidates that no longer wait, `waiting` those that wait now; `note` is what the person should
 * know besides. For an action on several candidates, `id` is "".
 */
export interface ActionResultMessage {
  readonly type: "actionResult";
  readonly id: string;
  readonly action: ReviewAction | "undo" | "propose";
  readonly ok: boolean;
  readonly message: string;
  readonly undo: UndoView | null;
  readonly diff: string;
  readonly decided: readonly string[];
  readonly waiting: readonly string[];
  readonly note: string;
}

export type ToWebview =
  | ListMessage
  | ActionResultMessage
  /** The left-out items, as many as requested. */
  | { readonly type: "leftOut"; readonly root: string; readonly items: readonly LeftOutView[]; readonly total: number }
  /** The root to show; `knowsAccepted`: whether "openAccepted" has a memory to open. */
  | { readonly type: "root"; readonly root: string; readonly name: string; readonly restricted: boolean; readonly knowsAccepted: boolean }
  /** What is wrong with the references of a candidate. */
  | { readonly type: "references"; readonly id: string; readonly problems: readonly ReferenceProblem[] }
  /** What can be written in a field of the form, for what was typed. */
  | { readonly type: "suggestions"; readonly field: "tags" | "references"; readonly typed: string; readonly items: readonly FieldCompletion[] }
  /** Gives the keyboard to the panel again, after a dialog of the editor. */
  | { readonly type: "focus" }
  /** Selects this candidate, now or once it is listed. */
  | { readonly type: "select"; readonly id: string }
  | { readonly type: "sync"; readonly running: boolean; readonly text: string }
  /** A command or the listing failed. */
  | { readonly type: "failed"; readonly operation: "list" | "command"; readonly message: string };

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => isText(one));
}

function isEdit(value: unknown): value is Edit {
  return isObject(value) && isText(value["title"]) && isText(value["body"]) && isTextList(value["tags"]) && (value["references"] === undefined || isTextList(value["references"])) && (value["kind"] === undefined || memoryKinds.some((kind) => kind === value["kind"]));
}

const maxTitleLength = 300;
const maxBodyLength = 50_000;
const maxTags = 50;
const maxReferences = 50;
/** The sidecar refuses a longer one. */
const maxReferenceLength = 2000;
/** Most candidates decided at once; a panel does not hold more. */
const maxDecided = 20_000;
/** Most left-out items shown; the sidecar keeps no more per project. */
export const maxLeftOut = 1000;

/** Why an edit is invalid, as a sentence; undefined if it is valid. */
export function findEditError(edit: Edit): string | undefined {
  if (edit.title.trim() === "") return "The title is empty. Enter a title.";
  if (edit.title.length > maxTitleLength) return `The title has ${edit.title.length} characters. Shorten it to ${maxTitleLength}.`;
  if (edit.body.length > maxBodyLength) return `The body has ${edit.body.length} characters. Shorten it to ${maxBodyLength}.`;
  const longest = Math.max(0, ...(edit.references ?? []).map(({ length }) => length));
  if ((edit.references ?? []).length > maxReferences || longest > maxReferenceLength) return `Keep at most ${maxReferences} references, each of ${maxReferenceLength} characters or less.`;
  if (edit.tags.length > maxTags) return `There are ${edit.tags.length} tags. Keep ${maxTags} of them.`;
  return undefined;
}

const neighbourAnswers: readonly NeighbourAnswer[] = ["same", "replaces", "changes", "answers", "keep"];

function parseChoice(value: unknown): Required<NeighbourChoice> | null | undefined {
  if (value === null) return null;
  if (!isObject(value)) return undefined;
  const { memory, hash } = value;
  const answer = neighbourAnswers.find((known) => known === value["answer"]);
  if (answer === undefined || !isText(memory, 300) || !isText(hash, 300) || (memory === "") !== (answer === "keep")) return undefined;
  return { answer, memory, hash };
}

function parseActionRequest(id: unknown, action: unknown, edit: unknown, choiceValue: unknown): FromWebview | undefined {
  if (!isText(id, 300) || (action !== "accept" && action !== "reject" && action !== "edit")) return undefined;
  const choice = parseChoice(choiceValue);
  if (choice === undefined || (choice !== null && action !== "accept")) return undefined;
  if (edit === null) return action === "edit" ? undefined : { type: "act", id, action, edit, choice };
  if (action === "reject") return undefined;
  if (!isEdit(edit)) return { type: "invalidEdit", id, action, reason: "The edit could not be read. Shorten it." };
  const { title, body, tags, references, kind } = edit;
  const reason = findEditError(edit);
  return reason === undefined ? { type: "act", id, action, edit: { title, body, tags, ...(references ? { references } : {}), ...(kind ? { kind } : {}) }, choice } : { type: "invalidEdit", id, action, reason };
}

function isIdList(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.length <= maxDecided && value.every((id) => isText(id, 300));
}

/** Parses a message from the webview; undefined if it is invalid. */
export function parseFromWebview(value: unknown): FromWebview | undefined {
  if (!isObject(value)) return undefined;
  const { type, id, ids, action, edit, session, turn, reference, place, target, text, most, scope, choice, field, typed, present } = value;
  switch (type) {
    case "ready":
    case "openAccepted":
    case "sync":
    case "manageTrust":
    case "showLog":
      return { type };
    case "act":
      return parseActionRequest(id, action, edit, choice);
    case "actOnMany":
      return (action === "accept" || action === "reject") && isIdList(ids) ? { type, action, ids } : undefined;
    case "checkReferences":
      return isText(id, 300) ? { type, id } : undefined;
    case "complete":
      return isText(id, 300) && (field === "tags" || field === "references") && isText(typed, maxReferenceLength) && isTextList(present) ? { type, id, field, typed, present } : undefined;
    case "useReference":
      return isText(id, 300) && isText(reference, 4096) && isText(place, 4096) ? { type, id, reference, place } : undefined;
    case "undo":
      return action === null || isText(action, 300) ? { type, action } : undefined;
    case "leftOut":
      return typeof most === "number" && Number.isInteger(most) && most >= 0 && most <= maxLeftOut ? { type, most } : undefined;
    case "propose":
      return isText(id, 300) && (scope === "project" || scope === "global") ? { type, id, scope } : undefined;
    case "copy":
      return isText(text) ? { type, text } : undefined;
    case "openTurn":
      return isText(session, 1000) && isText(turn, 1000) ? { type, session, turn } : undefined;
    case "openReference":
      return isText(reference, 4096) ? { type, reference } : undefined;
    case "openTarget":
      return isText(id, 300) && isText(target, 300) ? { type, id, target } : undefined;
    default:
      return undefined;
  }
}
