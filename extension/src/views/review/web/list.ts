import type { CandidateView } from "../../../protocol";
import { proposedText } from "../../../text/memorywording";
import { kindOf } from "../../../text/wording";
import { h } from "../../shared/web/dom";
import { spellOutHidden } from "../../shared/web/text";

/** In pixels; must match review.css. */
const rowHeight = 66;
const extraRows = 6;

/** Which rows to draw for a scroll position. */
export function visibleRange(scrollTop: number, height: number, count: number): { first: number; last: number } {
  const first = Math.max(Math.floor(scrollTop / rowHeight) - extraRows, 0);
  const last = Math.min(Math.ceil((scrollTop + height) / rowHeight) + extraRows, count);
  return { first: Math.min(first, last), last };
}

/** The rows that exist: the visible ones, and always the selected one, so that a screen reader can read it. */
export function drawnPositions(scrollTop: number, height: number, count: number, selected: number): number[] {
  const { first, last } = visibleRange(scrollTop, height, count);
  const positions = Array.from({ length: last - first }, (_, at) => first + at);
  if (selected >= 0 && selected < first) positions.unshift(selected);
  if (selected >= last) positions.push(selected);
  return positions;
}

/** The element id of a candidate's row, independent of its position. */
export function rowId(candidate: string): string {
  return `row-${candidate.replace(/\s/g, "_")}`;
}

/** The list of candidates. Only visible rows and the selected one exist as elements. */
export class CandidateList {
  readonly element: HTMLElement;
  readonly #rows: HTMLElement;
  #order: readonly string[] = [];
  #candidates: ReadonlyMap<string, CandidateView> = new Map();
  #selected: string | undefined;

  constructor(private readonly onSelect: (id: string) => void) {
    this.#rows = h("div", { class: "rows", role: "presentation" });
    this.element = h("div", { class: "candidate-list", role: "listbox", label: "Candidates", attributes: { tabindex: "0", "aria-describedby": "list-keys" } }, this.#rows);
    this.element.addEventListener("scroll", () => this.#draw(), { passive: true });
    // on mousedown: a row redrawn before mouseup would get no click
    this.#rows.addEventListener("mousedown", ({ target, button }) => {
      const id = target instanceof Element ? target.closest<HTMLElement>("[data-id]")?.dataset["id"] : undefined;
      if (button === 0 && id !== undefined) this.onSelect(id);
    });
    new ResizeObserver(() => this.#draw()).observe(this.element);
  }

  update(order: readonly string[], candidates: ReadonlyMap<string, CandidateView>, selected: string | undefined): void {
    this.#order = order;
    this.#candidates = candidates;
    this.#selected = selected;
    this.#rows.style.height = `${order.length * rowHeight}px`;
    this.#draw();
  }

  /** Scrolls the selected row into view. */
  reveal(): void {
    const position = this.#selected === undefined ? -1 : this.#order.indexOf(this.#selected);
    if (position < 0) return;
    const top = position * rowHeight;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + rowHeight > scrollTop + clientHeight) this.element.scrollTop = top + rowHeight - clientHeight;
    this.#draw();
  }

  /** The number of rows a page key moves. */
  get rowsPerPage(): number {
    return Math.max(Math.floor(this.element.clientHeight / rowHeight) - 1, 1);
  }

  #draw(): void {
    const selected = this.#selected === undefined ? -1 : this.#order.indexOf(this.#selected);
    const { scrollTop, clientHeight } = this.element;
    const rows = drawnPositions(scrollTop, clientHeight, this.#order.length, selected).flatMap((position) => {
      const candidate = this.#candidates.get(this.#order[position] ?? "");
      return candidate === undefined ? [] : [this.#row(candidate, position)];
    });
    this.#rows.replaceChildren(...rows);
    const active = this.#candidates.has(this.#selected ?? "") ? this.#selected : undefined;
    if (active === undefined) this.element.removeAttribute("aria-activedescendant");
    else this.element.setAttribute("aria-activedescendant", rowId(active));
  }

  #row(candidate: CandidateView, position: number): HTMLElement {
    const selected = candidate.id === this.#selected;
    const row = h(
      "div",
      {
        class: `candidate-row${selected ? " selected" : ""}`,
        role: "option",
        id: rowId(candidate.id),
        onClick: () => this.onSelect(candidate.id),
        attributes: {
          "aria-selected": String(selected),
          "aria-setsize": String(this.#order.length),
          "aria-posinset": String(position + 1),
          "data-id": candidate.id,
        },
      },
      h("div", { class: "row-title" }, spellOutHidden(candidate.title)),
      h("div", { class: "row-meta" }, rowMeta(candidate)),
    );
    row.style.top = `${position * rowHeight}px`;
    return row;
  }
}

function rowMeta(candidate: CandidateView): string {
  const change = candidate.action === "add" ? "" : ` · ${proposedText(candidate.action)}`;
  const warnings = candidate.flags.length > 0 ? "⚠ has warnings · " : "";
  const scopeText = candidate.scope === "global" ? " · personal" : "";
  return `${warnings}${kindOf(candidate)} · confidence ${Math.round(candidate.confidence * 100)} %${scopeText}${change}`;
}
