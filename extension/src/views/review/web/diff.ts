export interface DiffRow {
  readonly kind: "added" | "removed" | "context" | "hunk";
  readonly sign: "+" | "-" | " ";
  readonly text: string;
}

/** The rows of a unified diff, without its two file header lines. */
export function diffRows(diff: string): DiffRow[] {
  const rows: DiffRow[] = [];
  const lines = diff.split("\n");
  if (lines.at(-1) === "") lines.pop();
  let inHeader = true;
  for (const line of lines) {
    if (line.startsWith("@@")) {
      inHeader = false;
      rows.push({ kind: "hunk", sign: " ", text: line });
    } else if (inHeader && (line.startsWith("--- ") || line.startsWith("+++ "))) {
      continue;
    } else if (line.startsWith("+")) {
      rows.push({ kind: "added", sign: "+", text: line.slice(1) });
    } else if (line.startsWith("-")) {
      rows.push({ kind: "removed", sign: "-", text: line.slice(1) });
    } else if (line.startsWith("\\")) {
      continue; // "\ No newline at end of file"
    } else {
      rows.push({ kind: "context", sign: " ", text: line.startsWith(" ") ? line.slice(1) : line });
    }
  }
  return rows;
}
