import type { CandidateView } from "../../../protocol";
import { proposedText } from "../../../text/memorywording";
import { confidenceHelp, fileName, kindOf, plainText } from "../../../text/wording";
import { h } from "../../shared/web/dom";
import type { ListRow } from "./arrangement";

/** In pixels; must match review.css. */
const rowHeight = 66;
const headingHeight = 28;
const extraHeight = 6 * rowHeight;

/** The top of each row in pixels, and after the last one the height of all. */
export function rowTops(rows: readonly ListRow[]): number[] {
  const tops = [0];
  for (const { type } of rows) tops.push((tops.at(-1) ?? 0) + (type === "heading" ? headingHeight : rowHeight));
  return tops;
}

/** Which rows to draw for a scroll position: those in sight and some more. */
export function visibleRange(scrollTop: number, height: number, tops: readonly number[]): { first: number; last: number } {
  const count = tops.length - 1;
  const first = Math.max(firstAfter(tops, scrollTop - extraHeight) - 1, 0);
  const last = Math.min(firstAfter(tops, scrollTop + height + extraHeight), count);
  return { first: Math.min(first, last), last };
}

/** The rows that exist: the visible ones, and always the selected one, so that a screen reader can read it. */
export function drawnPositions(scrollTop: number, height: number, tops: readonly number[], selected: number): number[] {
  const { first, last } = visibleRange(scrollTop, height, tops);
  const positions = Array.from({ length: last - first }, (_, at) => first + at);
  if (selected >= 0 && selected < first) positions.unshift(selected);
  if (selected >= last) positions.push(selected);
  return positions;
}

/** The position of the first top greater than `offset`, found by halving. */
function firstAfter(tops: readonly number[], offset: number): number {
  let [low, high] = [0, tops.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tops[middle] ?? 0) > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The element id of a candidate's row, independent of its position. */
export function rowId(candidate: string): string {
  return `row-${candidate.replace(/\s/g, "_")}`;
}

/** How a row was chosen: alone, marked besides others, or with all rows up to it. */
export type Choosing = "only" | "toggle" | "range";

export interface ListContent {
  readonly rows: readonly ListRow[];
  /** The ids of the candidates in `rows`. */
  readonly order: readonly string[];
  readonly candidates: ReadonlyMap<string, CandidateView>;
  readonly selected: string | undefined;
  readonly marked: ReadonlySet<string>;
}

/** The list of candidates. Only visible rows and the selected one exist as elements. */
export class CandidateList {
  readonly element: HTMLElement;
  readonly #rows: HTMLElement;
  #content: ListContent = { rows: [], order: [], candidates: new Map(), selected: undefined, marked: new Set() };
  #tops: readonly number[] = [0];
  #positions: ReadonlyMap<string, number> = new Map();

  constructor(private readonly onChoose: (id: string, choosing: Choosing) => void) {
    this.#rows = h("div", { class: "rows", role: "presentation" });
    this.element = h("div", { class: "candidate-list", role: "listbox", label: "Candidates", attributes: { tabindex: "0", "aria-multiselectable": "true", "aria-describedby": "list-keys" } }, this.#rows);
    this.element.addEventListener("scroll", () => this.#draw(), { passive: true });
    // on mousedown: a row redrawn before mouseup would get no click
    this.#rows.addEventListener("mousedown", ({ target, button, ctrlKey, metaKey, shiftKey }) => {
      const id = target instanceof Element ? target.closest<HTMLElement>("[data-id]")?.dataset["id"] : undefined;
      if (button === 0 && id !== undefined) this.onChoose(id, shiftKey ? "range" : ctrlKey || metaKey ? "toggle" : "only");
    });
    new ResizeObserver(() => this.#draw()).observe(this.element);
  }

  update(content: ListContent): void {
    if (content.rows !== this.#content.rows) {
      this.#tops = rowTops(content.rows);
      this.#positions = new Map(content.rows.flatMap((row, at) => (row.type === "candidate" ? [[row.id, at]] : [])));
      this.#rows.style.height = `${this.#tops.at(-1) ?? 0}px`;
    }
    this.#content = content;
    this.#draw();
  }

  /** Scrolls the selected row into view. */
  reveal(): void {
    const position = this.#selectedPosition;
    if (position < 0) return;
    const heading = this.#content.rows[position - 1]?.type === "heading" ? position - 1 : position;
    const [top, bottom] = [this.#tops[heading] ?? 0, this.#tops[position + 1] ?? 0];
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (bottom > scrollTop + clientHeight) this.element.scrollTop = bottom - clientHeight;
    this.#draw();
  }

  /** The number of rows a page key moves. */
  get rowsPerPage(): number {
    return Math.max(Math.floor(this.element.clientHeight / rowHeight) - 1, 1);
  }

  get #selectedPosition(): number {
    return this.#positions.get(this.#content.selected ?? "") ?? -1;
  }

  #draw(): void {
    const { rows, candidates, order } = this.#content;
    const { scrollTop, clientHeight } = this.element;
    const drawn = drawnPositions(scrollTop, clientHeight, this.#tops, this.#selectedPosition).flatMap((position) => {
      const row = rows[position];
      if (row?.type === "heading") return [this.#headingRow(row, position)];
      const candidate = candidates.get(row?.id ?? "");
      return candidate === undefined ? [] : [this.#candidateRow(candidate, position, order.indexOf(candidate.id))];
    });
    this.#rows.replaceChildren(...drawn);
    const active = this.#selectedPosition < 0 ? undefined : this.#content.selected;
    if (active === undefined) this.element.removeAttribute("aria-activedescendant");
    else this.element.setAttribute("aria-activedescendant", rowId(active));
  }

  #headingRow({ text, count }: ListRow & { type: "heading" }, position: number): HTMLElement {
    const row = h("div", { class: "group-row", role: "presentation", title: text }, h("span", { class: "group-name" }, text), h("span", { class: "group-count" }, String(count)));
    row.style.top = `${this.#tops[position] ?? 0}px`;
    return row;
  }

  #candidateRow(candidate: CandidateView, position: number, index: number): HTMLElement {
    const selected = candidate.id === this.#content.selected;
    const marked = this.#content.marked.has(candidate.id);
    const row = h(
      "div",
      {
        class: `candidate-row${selected ? " selected" : ""}${marked ? " marked" : ""}`,
        role: "option",
        id: rowId(candidate.id),
        attributes: {
          "aria-selected": String(selected || marked),
          "aria-setsize": String(this.#content.order.length),
          "aria-posinset": String(index + 1),
          "data-id": candidate.id,
        },
      },
      h("div", { class: "row-title" }, ...(marked ? [h("span", { class: "row-mark" }, "✓ ")] : []), plainText(candidate.title)),
      h("div", { class: "row-meta", title: confidenceHelp }, rowMeta(candidate)),
    );
    row.style.top = `${this.#tops[position] ?? 0}px`;
    return row;
  }
}

/** What stands below the title in a candidate's row; the file it is about comes last, where a narrow list cuts it off. */
export function rowMeta(candidate: CandidateView): string {
  const change = candidate.action === "add" ? "" : ` · ${proposedText(candidate.action)}`;
  const warnings = candidate.flags.length > 0 ? "⚠ has warnings · " : "";
  const scopeText = candidate.scope === "global" ? " · personal" : "";
  const [reference = ""] = candidate.references;
  const file = reference === "" ? "" : ` · ${fileName(reference)}`;
  return `${warnings}${kindOf(candidate)} · ${Math.round(candidate.confidence * 100)} %${scopeText}${change}${file}`;
}
