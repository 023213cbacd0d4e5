import type { NeighbourAnswer } from "../../../protocol";

export type ReviewKeyAction = "next" | "previous" | "first" | "last" | "pageDown" | "pageUp" | "accept" | "edit" | "reject" | "undo" | "openTurn" | "help" | Exclude<NeighbourAnswer, "keep"> | "keepBoth" | "neighbour1" | "neighbour2" | "neighbour3";

export interface Key {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  /** Whether the key is being held down. */
  readonly repeat?: boolean;
}

// "k" already goes to the previous candidate, so "b" keeps both
const answerActions: Readonly<Record<string, ReviewKeyAction>> = { s: "same", p: "replaces", c: "changes", w: "answers", b: "keepBoth", "1": "neighbour1", "2": "neighbour2", "3": "neighbour3" };
const letterActions: Readonly<Record<string, ReviewKeyAction>> = { j: "next", k: "previous", a: "accept", e: "edit", r: "reject", u: "undo", o: "openTurn", "?": "help", ...answerActions };
const movementActions: Readonly<Record<string, ReviewKeyAction>> = { ArrowDown: "next", ArrowUp: "previous", Home: "first", End: "last", PageDown: "pageDown", PageUp: "pageUp" };

/** What a key does outside text fields. Movement keys act on the list unless the focus is in `detail`, where they scroll. */
export function reviewKeyAction(key: Key, inDetail: boolean): ReviewKeyAction | undefined {
  if (key.ctrlKey || key.metaKey || key.altKey) return undefined;
  const action = letterActions[key.key];
  // a key held down repeats movement, but not decisions
  if (key.repeat === true && action !== undefined && action !== "next" && action !== "previous") return undefined;
  return action ?? (inDetail ? undefined : movementActions[key.key]);
}

export const reviewHelpRows: readonly (readonly [string, string])[] = [
  ["j or ↓", "Next candidate"],
  ["k or ↑", "Previous candidate"],
  ["a", "Accept, with the suggestion if there is one"],
  ["e", "Edit"],
  ["r", "Reject"],
  ["1, 2, 3", "Go to a similar memory"],
  ["s", "Same as that memory: add the quote to it"],
  ["p", "Replaces that memory"],
  ["c", "Changes that memory: edit its text"],
  ["w", "Answers that question"],
  ["b", "Keep both: add this as a new memory"],
  ["u", "Undo the last action"],
  ["o", "Open it in the transcript"],
  ["Ctrl+Enter", "While editing: save and accept"],
  ["Escape", "While editing: cancel"],
  ["?", "This list"],
];
