import { diffRows } from "./diff";
import { h } from "../../shared/web/dom";
import { literalText } from "../../shared/web/prose";

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
  if (rows.length === 0) return h("p", {}, "The difference is not known.");
  return h("div", { class: "diff", role: "group", label, attributes: { tabindex: "0" } }, ...rows);
}
