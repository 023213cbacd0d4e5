import { Heights } from "./heights";

const spare = 800;
/** Space above a turn that was jumped to. */
const margin = 8;

export interface FlowContent {
  readonly count: number;
  guess(position: number): number;
  /** Makes the element of a position; called again whenever its content changes. */
  make(position: number): HTMLElement;
  /** Reports the positions that exist now. */
  drawn(first: number, last: number): void;
}

/** A virtual list with rows of any height: only rows near the visible part exist. The visible part stays in place while heights are measured. */
export class Flow {
  readonly #rows: HTMLElement;
  readonly #elements = new Map<number, HTMLElement>();
  readonly #sizes: ResizeObserver;
  #heights = new Heights([]);
  #content: FlowContent | undefined;
  #frame = 0;
  /** The row that was jumped to; it stays in place while heights are measured, until the person scrolls. */
  #pinned: number | undefined;

  constructor(readonly scroller: HTMLElement, rows: HTMLElement) {
    this.#rows = rows;
    this.#sizes = new ResizeObserver(() => this.draw());
    this.#sizes.observe(scroller);
    scroller.addEventListener("scroll", () => this.#soon(), { passive: true });
    for (const type of ["wheel", "pointerdown", "touchstart", "keydown"]) scroller.addEventListener(type, () => (this.#pinned = undefined), { passive: true });
  }

  /** Shows other content, or the same with more rows at its end; the visible part stays in place. */
  show(content: FlowContent): void {
    const at = this.position;
    const known = this.#content !== undefined && content.count >= this.#heights.count;
    const guesses = Array.from({ length: content.count }, (_, position) => (known && position < this.#heights.count ? this.#heights.height(position) : content.guess(position)));
    this.#content = content;
    this.#heights = new Heights(guesses);
    this.clear();
    if (known) this.draw();
    else this.jump(at);
  }

  /** Removes rows, so that they are made again. */
  clear(positions?: Iterable<number>): void {
    for (const position of positions ?? [...this.#elements.keys()]) {
      const element = this.#elements.get(position);
      if (element === undefined) continue;
      this.#sizes.unobserve(element);
      element.remove();
      this.#elements.delete(position);
    }
  }

  /** The first visible row. */
  get position(): number {
    return this.#heights.at(this.scroller.scrollTop + 2 * margin);
  }

  /** The last row whose top is visible. */
  get last(): number {
    return this.#heights.at(this.scroller.scrollTop + this.scroller.clientHeight);
  }

  element(position: number): HTMLElement | undefined {
    return this.#elements.get(position);
  }

  /** Scrolls a row to the top. */
  jump(position: number): void {
    this.#pinned = position;
    this.#settle(position, -margin);
  }

  /** Draws the visible rows. */
  draw(): void {
    if (this.#pinned !== undefined) return this.#settle(this.#pinned, -margin);
    const anchor = this.position;
    this.#settle(anchor, this.scroller.scrollTop - this.#heights.top(anchor));
  }

  #soon(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.draw();
    });
  }

  /** Draws around a row whose top is `inside` pixels above the edge, and measures until no height changes. */
  #settle(anchor: number, inside: number): void {
    const content = this.#content;
    if (content === undefined) return;
    for (let round = 0; round < 5; round++) {
      const top = this.#within(this.#heights.top(anchor) + inside);
      const first = this.#heights.at(Math.max(top - spare, 0));
      const last = content.count === 0 ? -1 : this.#heights.at(top + this.scroller.clientHeight + spare);
      this.#fill(content, first, last);
      content.drawn(first, last);
      this.#rows.style.height = `${this.#heights.total}px`;
      const changed = this.#measure();
      for (const [position, element] of this.#elements) element.style.top = `${this.#heights.top(position)}px`;
      this.#rows.style.height = `${this.#heights.total}px`;
      const wanted = this.#within(this.#heights.top(anchor) + inside);
      if (Math.abs(this.scroller.scrollTop - wanted) > 1) this.scroller.scrollTop = wanted;
      if (!changed) return;
    }
  }

  /** Limits a position to the scrollable range. */
  #within(top: number): number {
    return Math.max(Math.min(top, this.#heights.total - this.scroller.clientHeight), 0);
  }

  #fill(content: FlowContent, first: number, last: number): void {
    const focused = document.activeElement;
    this.clear([...this.#elements].filter(([position, element]) => (position < first || position > last) && !element.contains(focused)).map(([position]) => position));
    for (let position = first; position <= last; position++) {
      if (this.#elements.has(position)) continue;
      const element = content.make(position);
      this.#elements.set(position, element);
      const next = [...this.#elements.keys()].filter((other) => other > position).sort((a, b) => a - b)[0];
      this.#rows.insertBefore(element, next === undefined ? null : (this.#elements.get(next) ?? null));
      this.#sizes.observe(element);
    }
  }

  #measure(): boolean {
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
