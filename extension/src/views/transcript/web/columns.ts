// Text with columns that a person pasted into a prompt without a fence: a table of a command's output, a stack trace, indented code.
import type { RootContent } from "mdast";

/** A part of a text: markdown, or lines whose spaces mean something. */
export interface TextPart {
  readonly text: string;
  readonly hasColumns: boolean;
}

/** Two spaces or a tab between words, but not after the end of a sentence; or before the first word. */
const columnLine = /[^\s.,:;?!](?: {2,}| *\t\s*)\S|^(?: {2}|\t)\s*\S/;
/** As markdown counts lines: a progress bar's carriage return ends one, too. */
const lineEnd = /\r\n|\n|\r/;
/** What pasted lines are parsed as: a line of dashes in a table makes a heading of the line before, or a rule. */
const lineTypes: ReadonlySet<string> = new Set(["paragraph", "heading", "thematicBreak"]);

/** The parts of a text whose top blocks are `blocks`: from the first to the last line with columns where at least two in lines that follow each other have them. */
export function splitColumns(text: string, blocks: readonly RootContent[]): TextPart[] {
  const lines = text.split(lineEnd);
  const parts: TextPart[] = [];
  let done = 0; // the lines that are in a part
  const add = (end: number, hasColumns: boolean): void => {
    const part = lines.slice(done, end).join("\n");
    if (part.trim() !== "") parts.push({ text: part, hasColumns });
    done = end;
  };
  for (const [start, end] of lineRuns(blocks)) {
    const found = lines.slice(start, end).flatMap((line, at) => (columnLine.test(line) ? [start + at] : []));
    const [first, last] = [found[0], found.at(-1)];
    if (first === undefined || last === undefined || first === last) continue;
    add(first, false);
    add(last + 1, true);
  }
  add(lines.length, false);
  return parts;
}

/** The first line of each run of lines that are no list, quote or code, and the line after it; runs are separated by an empty line. */
function lineRuns(blocks: readonly RootContent[]): [number, number][] {
  const runs: [number, number][] = [];
  for (const { type, position } of blocks) {
    if (position === undefined || !lineTypes.has(type)) continue;
    const start = position.start.line - 1;
    const run = runs.at(-1);
    if (run !== undefined && run[1] === start) run[1] = position.end.line;
    else runs.push([start, position.end.line]);
  }
  return runs;
}
