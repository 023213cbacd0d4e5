/** A file named in a message, and the line if it says one (from 1). */
export interface FilePlace {
  readonly path: string;
  readonly line: number | undefined;
}

const maxPath = 400;
const placePattern = /^((?:[A-Za-z]:)?[^\s:#"'<>|*?()[\]{}]+)(?:(?::|#L)(\d{1,7})(?:[:-]L?\d{1,7}){0,2})?$/;
/** How the names of files end that people talk about; `console.log` and `1.2.3` are none. */
const fileEnding = /\.(?:[ch]|cc|cfg|cpp|cs|css|go|hpp|html?|ini|java|jsx?|json|kt|lock|lua|mdc?|mjs|mts|php|pyi?|rb|rs|scss|sh|sql|svelte|swift|toml|tsx?|txt|vue|xml|ya?ml|zig)$/i;

/** Parses `src/app.py`, `src/app.py:12`, `src/app.py:12:3` or `src/app.py#L12`; undefined if a text does not look like a file. */
export function parseFilePlace(text: string): FilePlace | undefined {
  if (text.length > maxPath || text.includes("://") || text.includes("..")) return undefined;
  const match = placePattern.exec(text);
  const path = match?.[1];
  if (path === undefined || !fileEnding.test(path)) return undefined;
  return { path: path.replaceAll("\\", "/"), line: match?.[2] === undefined ? undefined : Number(match[2]) };
}
