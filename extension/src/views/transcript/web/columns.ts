// Text with columns that a person pasted into a prompt without a fence: a table of a command's output, a stack trace, indented code.
import type { RootContent } from "mdast";

/** A part of a text: markdown, or lines whose spaces mean something. */
export interface TextPart {
  readonly text: string;
  readonly hasColumns: boolean;
}

/** Two spaces or a tab between words, but not after the end of a sentence; or before the first word. */
const columnLine = /[^\s.,:;?!](?: {2,}| *\t\s*)\S|^(?: {2}|\t)\s*\S/;
/** Three words or more, and the end of a sentence. */
const sentenceEnd = /^\S+ +\S+ +\S.*[.!?]["')”]?$/;
/** As markdown counts lines: a progress bar's carriage return ends one, too. */
const lineEnd = /\r\n|\n|\r/;
/** What pasted lines are parsed as: a line of dashes in a table makes a heading of the line before, or a rule. */
const lineTypes: ReadonlySet<string> = new Set(["paragraph", "heading", "thematicBreak"]);

/** The parts of a text whose top blocks are `blocks`. A part with columns goes from the first to the last of at least two lines that have them, and no sentence ends between them. */
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
    let [first, last] = [-1, -1];
    const addColumns = (): void => {
      if (first === last) return;
      add(first, false);
      add(last + 1, true);
    };
    for (const [at, line] of lines.slice(start, end).entries()) {
      if (columnLine.test(line)) {
        last = start + at;
        if (first < 0) first = last;
      } else if (sentenceEnd.test(line.trim())) {
        addColumns();
        [first, last] = [-1, -1];
      }
    }
    addColumns();
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
