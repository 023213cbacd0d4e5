import { RowHeights } from "./heights";

/** Height above and below the visible part, in pixels, in which rows are drawn as well. */
const overscan = 800;
/** Space above a row that was jumped to, in pixels. */
const jumpMargin = 8;

/** A row, and how far the upper edge of the visible part is below its top, in pixels. */
export interface ListPlace {
  readonly row: number;
  readonly offset: number;
}

export interface VirtualListContent {
  readonly count: number;
  estimateHeight(position: number): number;
  /** Creates the element of a position; called again whenever its content changes. */
  createRow(position: number): HTMLElement;
  /** Reports the positions that exist now. */
  onDraw(first: number, last: number): void;
}

/** A virtual list with rows of any height: only rows near the visible part exist. The visible part stays in place while heights are measured. */
export class VirtualList {
  readonly #rows: HTMLElement;
  readonly #elements = new Map<number, HTMLElement>();
  readonly #resizeObserver: ResizeObserver;
  #heights = new RowHeights([]);
  #content: VirtualListContent | undefined;
  #scheduledFrame = 0;
  /** The place that was jumped to; it stays at the edge while heights are measured, until somebody scrolls, clicks or types. */
  #pinned: ListPlace | undefined;
  /** Where the list itself scrolled to last. */
  #ownScrollTop = 0;

  constructor(readonly scroller: HTMLElement, rows: HTMLElement) {
    this.#rows = rows;
    this.#resizeObserver = new ResizeObserver(() => this.draw());
    this.#resizeObserver.observe(scroller);
    scroller.addEventListener("scroll", () => this.#onScroll(), { passive: true });
    // what a person unfolds stays where they see it, even above the place that was jumped to
    for (const type of ["pointerdown", "keydown"]) scroller.addEventListener(type, () => (this.#pinned = undefined), { passive: true });
  }

  /** Shows other content, or the same with more rows at its end; the visible part stays in place. */
  setContent(content: VirtualListContent): void {
    const firstVisible = this.firstVisible;
    const isExtended = this.#content !== undefined && content.count >= this.#heights.count;
    const estimates = Array.from({ length: content.count }, (_, position) => (isExtended && position < this.#heights.count ? this.#heights.height(position) : content.estimateHeight(position)));
    this.#content = content;
    this.#heights = new RowHeights(estimates);
    this.removeRows();
    if (isExtended) this.draw();
    else this.scrollToRow(firstVisible);
  }

  /** Removes rows, so that they are created again. */
  removeRows(positions?: Iterable<number>): void {
    for (const position of positions ?? [...this.#elements.keys()]) {
      const element = this.#elements.get(position);
      if (element === undefined) continue;
      this.#resizeObserver.unobserve(element);
      element.remove();
      this.#elements.delete(position);
    }
  }

  /** The first visible row. */
  get firstVisible(): number {
    return this.#heights.rowAt(this.scroller.scrollTop + 2 * jumpMargin);
  }

  /** The last row whose top is visible. */
  get lastVisible(): number {
    return this.#heights.rowAt(this.scroller.scrollTop + this.scroller.clientHeight);
  }

  rowElement(position: number): HTMLElement | undefined {
    return this.#elements.get(position);
  }

  /** What is at the upper edge. */
  get place(): ListPlace {
    if (this.#pinned !== undefined) return this.#pinned;
    const row = this.firstVisible;
    return { row, offset: this.scroller.scrollTop - this.#heights.top(row) };
  }

  /** Scrolls a row to the top. */
  scrollToRow(row: number): void {
    this.scrollTo({ row, offset: -jumpMargin });
  }

  scrollTo(place: ListPlace): void {
    this.#pinned = place;
    this.#drawAround(place);
  }

  /** Draws the visible rows. */
  draw(): void {
    this.#drawAround(this.place);
  }

  #onScroll(): void {
    if (Math.abs(this.scroller.scrollTop - this.#ownScrollTop) > 1) this.#pinned = undefined;
    if (this.#scheduledFrame !== 0) return;
    this.#scheduledFrame = requestAnimationFrame(() => {
      this.#scheduledFrame = 0;
      this.draw();
    });
  }

  /** Draws around a place, and measures until no height changes. */
  #drawAround({ row: anchor, offset }: ListPlace): void {
    const content = this.#content;
    if (content === undefined) return;
    for (let round = 0; round < 5; round++) {
      const top = this.#clampScrollTop(this.#heights.top(anchor) + offset);
      const first = this.#heights.rowAt(Math.max(top - overscan, 0));
      const last = content.count === 0 ? -1 : this.#heights.rowAt(top + this.scroller.clientHeight + overscan);
      this.#updateRows(content, first, last);
      content.onDraw(first, last);
      this.#rows.style.height = `${this.#heights.total}px`;
      const changed = this.#measureRows();
      for (const [position, element] of this.#elements) element.style.top = `${this.#heights.top(position)}px`;
      this.#rows.style.height = `${this.#heights.total}px`;
      const targetTop = this.#clampScrollTop(this.#heights.top(anchor) + offset);
      if (Math.abs(this.scroller.scrollTop - targetTop) > 1) this.scroller.scrollTop = targetTop;
      this.#ownScrollTop = this.scroller.scrollTop;
      if (!changed) return;
    }
  }

  /** Limits a scroll position to the scrollable range. */
  #clampScrollTop(top: number): number {
    return Math.max(Math.min(top, this.#heights.total - this.scroller.clientHeight), 0);
  }

  #updateRows(content: VirtualListContent, first: number, last: number): void {
    const focused = document.activeElement;
    this.removeRows([...this.#elements].filter(([position, element]) => (position < first || position > last) && !element.contains(focused)).map(([position]) => position));
    for (let position = first; position <= last; position++) {
      if (this.#elements.has(position)) continue;
      const element = content.createRow(position);
      this.#elements.set(position, element);
      const next = [...this.#elements.keys()].filter((other) => other > position).sort((a, b) => a - b)[0];
      this.#rows.insertBefore(element, next === undefined ? null : (this.#elements.get(next) ?? null));
      this.#resizeObserver.observe(element);
    }
  }

  #measureRows(): boolean {
    let changed = false;
    for (const [position, element] of this.#elements) {
      const height = element.offsetHeight;
      if (height > 0 && Math.abs(height - this.#heights.height(position)) > 0.5) {
        this.#heights.set(position, height);
        changed = true;
      }
    }
    return changed;
  }
}
