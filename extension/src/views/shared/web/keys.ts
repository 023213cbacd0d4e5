import type { NeighbourAnswer } from "../../../protocol";

export type ReviewKeyAction = "next" | "previous" | "first" | "last" | "pageDown" | "pageUp" | "accept" | "edit" | "reject" | "undo" | "openTurn" | "help" | "mark" | "markAll" | "unmark" | Exclude<NeighbourAnswer, "keep"> | "keepBoth" | "neighbour1" | "neighbour2" | "neighbour3";

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
const listActions: Readonly<Record<string, ReviewKeyAction>> = { " ": "mark", Escape: "unmark" };
/** What letters do wherever the focus is; the others act on a candidate, and only while the focus is on the list or in the candidate. */
const everywhere: ReadonlySet<ReviewKeyAction> = new Set(["next", "previous", "undo", "help"]);
const movementActions: Readonly<Record<string, ReviewKeyAction>> = { ArrowDown: "next", ArrowUp: "previous", Home: "first", End: "last", PageDown: "pageDown", PageUp: "pageUp" };

/** Whether a key goes to the filter. */
export function isFindKey({ key, ctrlKey, metaKey, altKey }: Key): boolean {
  return key.toLowerCase() === "f" && (ctrlKey || metaKey) && !altKey;
}

/** What a key does outside text fields. Movement keys act on the list unless the focus is in the candidate's detail, where they scroll. */
export function reviewKeyAction(key: Key, place: "list" | "detail" | "elsewhere"): ReviewKeyAction | undefined {
  if (place === "list" && key.key === "a" && (key.ctrlKey || key.metaKey) && !key.altKey) return "markAll";
  if (key.ctrlKey || key.metaKey || key.altKey) return undefined;
  if (place === "list" && listActions[key.key] !== undefined) return key.repeat === true ? undefined : listActions[key.key];
  const action = letterActions[key.key];
  // a key held down repeats movement, but not decisions
  if (key.repeat === true && action !== undefined && action !== "next" && action !== "previous") return undefined;
  if (place === "elsewhere" && action !== undefined && !everywhere.has(action)) return undefined;
  return action ?? (place === "list" ? movementActions[key.key] : undefined);
}

/** How many candidates a movement goes on; `page` is how many are in sight. */
export function movementStep(action: "next" | "previous" | "first" | "last" | "pageDown" | "pageUp", page: number): number {
  return { next: 1, previous: -1, first: -Infinity, last: Infinity, pageDown: page, pageUp: -page }[action];
}

export const reviewHelpRows: readonly (readonly [string, string])[] = [
  ["j or ↓", "Next candidate"],
  ["k or ↑", "Previous candidate"],
  ["a", "Accept; if Lerim suggests a change to a memory, make that change"],
  ["e", "Edit"],
  ["r", "Reject"],
  ["1, 2, 3", "Go to a similar memory"],
  ["s", "Same as the similar memory: add the quote to it"],
  ["p", "Replaces the similar memory"],
  ["c", "Changes the similar memory: edit its text"],
  ["w", "Accept as the answer to the question it resembles"],
  ["b", "Keep both: add this as a new memory"],
  ["u", "Undo the last action"],
  ["o", "Open it in the transcript"],
  ["Ctrl+F", "Filter"],
  ["Space or Ctrl+click", "Mark, to accept or reject several together"],
  ["Shift+click, Ctrl+A", "Mark a range, or all that are shown"],
  ["Ctrl+Enter", "While editing: save and accept"],
  ["Escape", "While editing: cancel"],
  ["?", "This list"],
];
