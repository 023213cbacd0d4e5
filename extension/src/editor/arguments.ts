// Parses arguments of commands in links of hovers and lenses. They come from text, so only these shapes are accepted.

/** The only commands a link in a hover may run. */
export const linkCommands = ["lerim.openMemory", "lerim.openTurn", "lerim.showFileMemories", "lerim.editMemory", "lerim.archiveMemory", "lerim.verifyMemory", "lerim.memoryOutdated"] as const;

const maxTokenLength = 4096;

/** A handle, id or address: a short text without control characters. */
export function isToken(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= maxTokenLength && !/[\u0000-\u001f\u007f]/.test(value);
}

export type TurnTarget = { readonly handle: string } | { readonly root: string | null; readonly session: string; readonly turn: string };

/** Parses a turn's handle or `{root, session, turn}`; undefined if it is neither. */
export function parseTurn(value: unknown): TurnTarget | undefined {
  if (isToken(value)) return { handle: value };
  if (typeof value !== "object" || value === null) return undefined;
  const { root, session, turn } = value as Record<string, unknown>;
  if (!isToken(session) || !isToken(turn)) return undefined;
  if (root === null || root === undefined) return { root: null, session, turn };
  return isFileUri(root) ? { root, session, turn } : undefined;
}

/** Parses the candidate given by a row of the Memories view; undefined if it is not valid. */
export function parseReview(value: unknown): { readonly root: string; readonly id: string } | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { root, id } = value as Record<string, unknown>;
  return isFileUri(root) && isToken(id) ? { root, id } : undefined;
}

/** Whether a value is the URI of a file on this machine (`file:///…`) or on a network share (`file://server/share/…`). */
export function isFileUri(value: unknown): value is string {
  return isToken(value) && /^file:\/\/(?:\/|[\w.%-]+\/[^/])/.test(value);
}

/** A symbol of a file, or a place in it, from 0. */
export type PlaceInFile = { readonly symbol: string } | { readonly line: number; readonly character: number };

/** Parses a place in a file: a symbol, or a line and a character; undefined if it is neither. */
export function parsePlace(line: unknown, character: unknown): PlaceInFile | undefined {
  if (isToken(line)) return { symbol: line };
  const isIndex = (value: unknown): value is number => typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 2 ** 31;
  return isIndex(line) && isIndex(character) ? { line, character } : undefined;
}

/** Parses a memory's reference, `path` or `path#symbol`, inside its repository; undefined if it could lead outside. */
export function parseReference(value: unknown): { path: string; symbol: string } | undefined {
  if (!isToken(value)) return undefined;
  const hashIndex = value.indexOf("#");
  const path = hashIndex < 0 ? value : value.slice(0, hashIndex);
  const symbol = hashIndex < 0 ? "" : value.slice(hashIndex + 1);
  const parts = path.split("/");
  const leadsOutside = path.includes("\\") || path.includes(":") || parts.some((part) => part === ".." || part === "");
  return leadsOutside ? undefined : { path, symbol };
}
