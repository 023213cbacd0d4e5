// Messages between the host side (views/transcript/host.ts) and the webview (views/transcript/web/transcript.ts) of the transcript viewer; both validate what they receive.
import type { CallView, OutlineView, SessionTurn, SessionView } from "../../protocol";

export type FromTranscript =
  | { readonly type: "ready" }
  /** Visible turns that are not loaded yet. */
  | { readonly type: "loadTurns"; readonly start: number; readonly count: number }
  /** One turn in full. */
  | { readonly type: "loadWholeTurn"; readonly position: number }
  | { readonly type: "find"; readonly text: string }
  | { readonly type: "manageTrust" };

export type ToTranscript =
  /** The session; its `at` is the position to show, -1: where the person was, or the start. */
  | { readonly type: "session"; readonly outline: OutlineView }
  | { readonly type: "turns"; readonly start: number; readonly turns: readonly SessionTurn[] }
  | { readonly type: "findResult"; readonly text: string; readonly positions: readonly number[] }
  | { readonly type: "restricted" }
  | { readonly type: "failed"; readonly message: string };

type JsonObject = Record<string, unknown>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown, maxLength = 2_000_000): value is string {
  return typeof value === "string" && value.length <= maxLength;
}

function isPosition(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}

function isNumberOrNull(value: unknown): value is number | null {
  return value === null || typeof value === "number";
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => isText(item));
}

function isPositionList(value: unknown): value is number[] {
  return Array.isArray(value) && value.every(isPosition);
}

/** Parses a message from the webview; undefined if it is invalid. */
export function parseFromTranscript(value: unknown): FromTranscript | undefined {
  if (!isObject(value)) return undefined;
  const { type, start, count, position, text } = value;
  switch (type) {
    case "ready":
    case "manageTrust":
      return { type };
    case "loadTurns":
      return isPosition(start) && isPosition(count) && count > 0 ? { type, start, count } : undefined;
    case "loadWholeTurn":
      return isPosition(position) ? { type, position } : undefined;
    case "find":
      return isText(text, 1000) ? { type, text } : undefined;
    default:
      return undefined;
  }
}

export function isSession(value: unknown): value is SessionView {
  if (!isObject(value)) return false;
  const { tokens } = value;
  return (
    ["id", "session", "platform", "agent", "title", "started", "ended", "folder", "parent", "error"].every((name) => isText(value[name])) &&
    ["branches", "models"].every((name) => isTextList(value[name])) &&
    ["turns", "prompts", "toolCalls", "toolErrors", "denials"].every((name) => typeof value[name] === "number") &&
    isNumberOrNull(value["files"]) &&
    isNumberOrNull(value["cost"]) &&
    ["gone", "parentMissing"].every((name) => typeof value[name] === "boolean") &&
    (tokens === null || (isObject(tokens) && ["input", "output", "cacheRead", "cacheWrite"].every((name) => typeof tokens[name] === "number")))
  );
}

function isOutline(value: unknown): value is OutlineView {
  if (!isObject(value)) return false;
  const { session, kinds, sizes, at, note, summary } = value;
  return isSession(session) && isText(kinds) && /^[pscr]*$/.test(kinds) && isPositionList(sizes) && sizes.length === kinds.length && typeof at === "number" && isText(note) && isText(summary);
}

const callStatuses: readonly unknown[] = ["", "ok", "error", "denied", "interrupted", "pending"];

function isCall(value: unknown): value is CallView {
  return isObject(value) && isText(value["title"]) && isText(value["text"]) && callStatuses.includes(value["status"]) && isNumberOrNull(value["exitCode"]);
}

function isTurn(value: unknown): value is SessionTurn {
  if (!isObject(value)) return false;
  const { turn, role, kind, time, text, left, calls } = value;
  return isText(turn) && (role === "user" || role === "assistant") && isText(kind) && isText(time) && isText(text) && isPosition(left) && Array.isArray(calls) && calls.every(isCall);
}

/** Parses a message from the host side; undefined if it is invalid. */
export function parseToTranscript(value: unknown): ToTranscript | undefined {
  if (!isObject(value)) return undefined;
  const { type, outline, start, turns, text, positions, message } = value;
  switch (type) {
    case "session":
      return isOutline(outline) ? { type, outline } : undefined;
    case "turns":
      return isPosition(start) && Array.isArray(turns) && turns.every(isTurn) ? { type, start, turns } : undefined;
    case "findResult":
      return isText(text) && isPositionList(positions) ? { type, text, positions } : undefined;
    case "restricted":
      return { type };
    case "failed":
      return isText(message) ? { type, message } : undefined;
    default:
      return undefined;
  }
}
