// Messages between the host side (views/transcript/host.ts) and the webview (views/transcript/web/transcript.ts) of the transcript viewer. The host checks what it receives.
import type { OutlineView, SessionTurn } from "../../protocol";
import { isObject, isText } from "../shared/checks";

/** The most characters of selected words that become a memory, and of a text to find. */
export const maxRemembered = 50_000;
export const maxFindText = 1000;

export type FromTranscript =
  | { readonly type: "ready" }
  /** Visible turns that are not loaded yet. */
  | { readonly type: "loadTurns"; readonly start: number; readonly count: number }
  /** One turn in full. */
  | { readonly type: "loadWholeTurn"; readonly position: number }
  | { readonly type: "find"; readonly text: string }
  /** A file that a message names; the line is counted from 1. */
  | { readonly type: "openFile"; readonly path: string; readonly line: number | undefined }
  /** The output of a call of a turn. */
  | { readonly type: "loadOutput"; readonly turn: string; readonly call: number }
  /** Show what a call of a turn changed. */
  | { readonly type: "openDiff"; readonly turn: string; readonly call: number }
  | { readonly type: "copy"; readonly text: string }
  /** Copy one turn in full. */
  | { readonly type: "copyWholeTurn"; readonly position: number }
  /** Make a memory of these words; `turn` is the turn in which they begin, "" if they are in none. */
  | { readonly type: "remember"; readonly text: string; readonly turn: string }
  /** Continue the session with its agent. */
  | { readonly type: "resume" }
  | { readonly type: "manageTrust" };

export type ToTranscript =
  /** The session; its `at` is the position to show, -1: where the person was, or the start. */
  | { readonly type: "session"; readonly outline: OutlineView }
  | { readonly type: "turns"; readonly start: number; readonly turns: readonly SessionTurn[] }
  /** What a call printed; `failed` says why it cannot be shown, "" if it can. */
  | { readonly type: "output"; readonly turn: string; readonly call: number; readonly text: string; readonly cut: number; readonly failed: string }
  | { readonly type: "findResult"; readonly text: string; readonly positions: readonly number[] }
  | { readonly type: "restricted" }
  | { readonly type: "failed"; readonly message: string };

function isPosition(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}

/** Parses a message from the webview; undefined if it is invalid. */
export function parseFromTranscript(value: unknown): FromTranscript | undefined {
  if (!isObject(value)) return undefined;
  const { type, start, count, position, text, path, line, turn, call } = value;
  switch (type) {
    case "ready":
    case "resume":
    case "manageTrust":
      return { type };
    case "openFile":
      return isText(path, 1000) && (line === undefined || isPosition(line)) ? { type, path, line } : undefined;
    case "openDiff":
    case "loadOutput":
      return isText(turn, 200) && isPosition(call) ? { type, turn, call } : undefined;
    case "copy":
      return isText(text) ? { type, text } : undefined;
    case "remember":
      return isText(text, maxRemembered) && text.trim() !== "" && isText(turn, 200) ? { type, text, turn } : undefined;
    case "loadTurns":
      return isPosition(start) && isPosition(count) && count > 0 ? { type, start, count } : undefined;
    case "loadWholeTurn":
    case "copyWholeTurn":
      return isPosition(position) ? { type, position } : undefined;
    case "find":
      return isText(text, maxFindText) ? { type, text } : undefined;
    default:
      return undefined;
  }
}
