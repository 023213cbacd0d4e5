// Messages between the review panel's host side (views/review.ts) and its browser side (webview/review.ts); both parse what they receive.
import type { CandidateView, Edit, Problem, UndoView } from "../protocol";

export type Act = "accept" | "reject" | "edit";

export type FromWebview =
  | { readonly type: "ready" }
  | { readonly type: "act"; readonly id: string; readonly action: Act; readonly edit: Edit | null }
  | { readonly type: "undo" }
  | { readonly type: "openTurn"; readonly session: string; readonly turn: string }
  | { readonly type: "openReference"; readonly reference: string }
  | { readonly type: "sync" }
  | { readonly type: "manageTrust" }
  | { readonly type: "showLog" };

/** What is pending. `changed` holds the candidates that are new or differ from the ones sent before; `order` names all. */
export interface ListMessage {
  readonly type: "list";
  readonly root: string;
  readonly order: readonly string[];
  readonly changed: readonly CandidateView[];
  readonly blocked: number;
  readonly dropped: Readonly<Record<string, number>>;
  readonly problems: readonly Problem[];
  readonly undo: UndoView | null;
}

export type ToWebview =
  | ListMessage
  | { readonly type: "root"; readonly root: string; readonly name: string; readonly restricted: boolean }
  | { readonly type: "sync"; readonly running: boolean; readonly text: string }
  | { readonly type: "acted"; readonly id: string; readonly action: Act | "undo"; readonly ok: boolean; readonly message: string }
  | { readonly type: "failed"; readonly message: string };

type Fields = Record<string, unknown>;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown, longest = 1_000_000): value is string {
  return typeof value === "string" && value.length <= longest;
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || isText(value);
}

function isList<T>(value: unknown, fits: (item: unknown) => item is T): value is T[] {
  return Array.isArray(value) && value.every(fits);
}

function isPlainText(value: unknown): value is string {
  return isText(value);
}

export function isEdit(value: unknown): value is Edit {
  return (
    isFields(value) && isText(value["title"], 300) && value["title"].trim() !== "" && isText(value["body"], 50_000) && isList(value["tags"], isPlainText) && value["tags"].length <= 50
  );
}

/** A message of the browser side; undefined when it is none. */
export function parseFromWebview(value: unknown): FromWebview | undefined {
  if (!isFields(value)) return undefined;
  const { type, id, action, edit, session, turn, reference } = value;
  switch (type) {
    case "ready":
    case "undo":
    case "sync":
    case "manageTrust":
    case "showLog":
      return { type };
    case "act":
      if (!isText(id, 300) || (action !== "accept" && action !== "reject" && action !== "edit")) return undefined;
      if (edit !== null && !isEdit(edit)) return undefined;
      if ((action === "edit" && edit === null) || (action === "reject" && edit !== null)) return undefined;
      return { type, id, action, edit };
    case "openTurn":
      return isText(session, 1000) && isText(turn, 1000) ? { type, session, turn } : undefined;
    case "openReference":
      return isText(reference, 4096) ? { type, reference } : undefined;
    default:
      return undefined;
  }
}

export function isCandidate(value: unknown): value is CandidateView {
  if (!isFields(value)) return false;
  const texts = ["id", "primitive", "title", "body", "session", "turn", "platform", "time", "signal", "path"];
  return (
    texts.every((name) => isText(value[name])) &&
    isTextOrNull(value["kind"]) &&
    isTextOrNull(value["target"]) &&
    isTextOrNull(value["diff"]) &&
    typeof value["confidence"] === "number" &&
    typeof value["edited"] === "boolean" &&
    (value["action"] === "add" || value["action"] === "update") &&
    ["tags", "references", "flags"].every((name) => isList(value[name], isPlainText)) &&
    isList(value["evidence"], isEvidence)
  );
}

function isEvidence(value: unknown): value is CandidateView["evidence"][number] {
  return isFields(value) && isText(value["quote"]) && isText(value["turn"]) && isText(value["who"]);
}

function isProblem(value: unknown): value is Problem {
  return isFields(value) && isText(value["code"]) && isText(value["path"]) && isText(value["message"]);
}

function isUndo(value: unknown): value is UndoView | null {
  return value === null || (isFields(value) && isText(value["action"]) && isText(value["label"]));
}

function isCounts(value: unknown): value is Record<string, number> {
  return isFields(value) && Object.values(value).every((count) => typeof count === "number");
}

/** A message of the host side; undefined when it is none. */
export function parseToWebview(value: unknown): ToWebview | undefined {
  if (!isFields(value)) return undefined;
  const { type, root, name, restricted, running, text, id, action, ok, message } = value;
  switch (type) {
    case "list": {
      const { order, changed, blocked, dropped, problems, undo } = value;
      if (!isText(root) || !isList(order, isPlainText) || !isList(changed, isCandidate) || typeof blocked !== "number") return undefined;
      if (!isCounts(dropped) || !isList(problems, isProblem) || !isUndo(undo)) return undefined;
      return { type, root, order, changed, blocked, dropped, problems, undo };
    }
    case "root":
      return isText(root) && isText(name) && typeof restricted === "boolean" ? { type, root, name, restricted } : undefined;
    case "sync":
      return typeof running === "boolean" && isText(text) ? { type, running, text } : undefined;
    case "acted":
      if (action !== "accept" && action !== "reject" && action !== "edit" && action !== "undo") return undefined;
      return isText(id) && typeof ok === "boolean" && isText(message) ? { type, id, action, ok, message } : undefined;
    case "failed":
      return isText(message) ? { type, message } : undefined;
    default:
      return undefined;
  }
}
