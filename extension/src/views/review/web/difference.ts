import { h } from "../../shared/web/dom";
import { literalText } from "../../shared/web/prose";

interface DiffRow {
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

/** Draws a unified diff line by line, with text for screen readers on added and removed lines. */
export function difference(diff: string, label: string): HTMLElement {
  const rows = diffRows(diff).map((row) =>
    h(
      "div",
      { class: `diff-row ${row.kind}` },
      h("span", { class: "sign", attributes: { "aria-hidden": "true" } }, row.sign),
      ...(row.kind === "added" ? [h("span", { class: "visually-hidden" }, "added: ")] : row.kind === "removed" ? [h("span", { class: "visually-hidden" }, "removed: ")] : []),
      ...literalText(row.text),
    ),
  );
  if (rows.length === 0) return h("p", {}, "The difference cannot be shown.");
  return h("div", { class: "diff", role: "group", label, attributes: { tabindex: "0" } }, ...rows);
}
