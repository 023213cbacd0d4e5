// Arguments of the commands that links in hovers and lenses name. They come from text and are believed only in these shapes.

/** The only commands a link in a hover may run. */
export const linkCommands = ["lerim.openMemory", "lerim.openTurn", "lerim.showFileMemories", "lerim.editMemory", "lerim.archiveMemory", "lerim.verifyMemory"] as const;

const longest = 4096;

/** A handle, id or address: a short text without control characters. */
export function isToken(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= longest && !/[\u0000-\u001f\u007f]/.test(value);
}

export type TurnTarget = { readonly handle: string } | { readonly root: string | null; readonly session: string; readonly turn: string };

/** A turn's handle, or `{root, session, turn}`; undefined when it is neither. */
export function parseTurn(value: unknown): TurnTarget | undefined {
  if (isToken(value)) return { handle: value };
  if (typeof value !== "object" || value === null) return undefined;
  const { root, session, turn } = value as Record<string, unknown>;
  if (!isToken(session) || !isToken(turn)) return undefined;
  if (root === null || root === undefined) return { root: null, session, turn };
  return isFileUri(root) ? { root, session, turn } : undefined;
}

/** A proposal of a folder, as a row of the Memories view names it; undefined when it is none. */
export function parseReview(value: unknown): { readonly root: string; readonly id: string } | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { root, id } = value as Record<string, unknown>;
  return isFileUri(root) && isToken(id) ? { root, id } : undefined;
}

/** The URI of a file on this machine (`file:///…`) or on a share of another (`file://server/share/…`). */
export function isFileUri(value: unknown): value is string {
  return isToken(value) && /^file:\/\/(?:\/|[\w.%-]+\/[^/])/.test(value);
}

/** A reference of a memory as a path inside its repository: `path` or `path#symbol`; undefined when it could lead outside. */
export function parseReference(value: unknown): { path: string; symbol: string } | undefined {
  if (!isToken(value)) return undefined;
  const mark = value.indexOf("#");
  const path = mark < 0 ? value : value.slice(0, mark);
  const symbol = mark < 0 ? "" : value.slice(mark + 1);
  const parts = path.split("/");
  const outside = path.includes("\\") || path.includes(":") || parts.some((part) => part === ".." || part === "");
  return outside ? undefined : { path, symbol };
}
