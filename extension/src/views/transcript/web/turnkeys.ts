import type { Key } from "../../shared/web/keys";

export type TurnKeyAction = "next" | "previous" | "nextPrompt" | "previousPrompt" | "first" | "last" | "find" | "nextMatch" | "previousMatch" | "toggle" | "help";

const keyActions: Readonly<Record<string, TurnKeyAction>> = { j: "next", k: "previous", n: "nextPrompt", p: "previousPrompt", "/": "find", o: "toggle", "?": "help", Home: "first", End: "last" };

/** What a key does outside the find box. */
export function turnKeyAction(key: Key & { readonly shiftKey: boolean }): TurnKeyAction | undefined {
  if ((key.ctrlKey || key.metaKey) && !key.altKey && key.key.toLowerCase() === "f") return "find";
  if (key.key === "F3") return key.shiftKey ? "previousMatch" : "nextMatch";
  return key.ctrlKey || key.metaKey || key.altKey ? undefined : keyActions[key.key];
}

/** The next prompt after (`step` 1) or before (-1) position `from` in `kinds`; undefined if there is none. */
export function nextPrompt(kinds: string, from: number, step: 1 | -1): number | undefined {
  for (let at = from + step; at >= 0 && at < kinds.length; at += step) if (kinds[at] !== "r") return at;
  return undefined;
}

/** The match after or before a position, wrapping around; undefined if there is none. */
export function nextMatch(positions: readonly number[], from: number, step: 1 | -1): number | undefined {
  if (step === 1) return positions.find((position) => position > from) ?? positions[0];
  return positions.findLast((position) => position < from) ?? positions.at(-1);
}

export const turnHelpRows: readonly (readonly [string, string])[] = [
  ["j, k", "Next and previous message"],
  ["n, p", "Next and previous prompt"],
  ["Home, End", "First and last message"],
  ["/ or Ctrl+F", "Find in the session"],
  ["Enter, Shift+Enter", "In the find box: next and previous match"],
  ["F3, Shift+F3", "Next and previous match"],
  ["o", "Unfold or fold the tool calls of the message"],
  ["?", "This list"],
];
