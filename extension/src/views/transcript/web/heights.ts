/** The heights of many rows, estimated until they are measured. All lookups take O(log n). */
export class RowHeights {
  readonly #heights: Float64Array;
  /** Binary indexed sums of `#heights`. */
  readonly #sums: Float64Array;

  constructor(estimates: readonly number[]) {
    this.#heights = Float64Array.from(estimates);
    this.#sums = new Float64Array(estimates.length + 1);
    for (let at = 1; at <= estimates.length; at++) {
      this.#sums[at] = (this.#sums[at] ?? 0) + (estimates[at - 1] ?? 0);
      const parent = at + (at & -at);
      if (parent <= estimates.length) this.#sums[parent] = (this.#sums[parent] ?? 0) + (this.#sums[at] ?? 0);
    }
  }

  get count(): number {
    return this.#heights.length;
  }

  get total(): number {
    return this.top(this.count);
  }

  height(position: number): number {
    return this.#heights[position] ?? 0;
  }

  set(position: number, height: number): void {
    const change = height - this.height(position);
    if (change === 0 || position >= this.count) return;
    this.#heights[position] = height;
    for (let at = position + 1; at < this.#sums.length; at += at & -at) this.#sums[at] = (this.#sums[at] ?? 0) + change;
  }

  /** The top of a row. */
  top(position: number): number {
    let sum = 0;
    for (let at = Math.min(position, this.count); at > 0; at -= at & -at) sum += this.#sums[at] ?? 0;
    return sum;
  }

  /** The row at a vertical position; beyond the ends, the first or last row. */
  rowAt(y: number): number {
    let position = 0;
    let rest = y;
    for (let step = 2 ** Math.floor(Math.log2(Math.max(this.count, 1))); step >= 1; step /= 2) {
      const next = position + step;
      if (next <= this.count && (this.#sums[next] ?? 0) <= rest) {
        position = next;
        rest -= this.#sums[next] ?? 0;
      }
    }
    return Math.min(position, Math.max(this.count - 1, 0));
  }
}

/** Estimates the height of a turn before it is drawn; `size` is in characters. */
export function estimateTurnHeight(size: number): number {
  return 64 + Math.min(Math.ceil(size / 90), 250) * 20;
}
