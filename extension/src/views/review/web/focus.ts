// Restores the focus after the focused element was redrawn.

/** Remembers the focus in `within`. Call the returned function after redrawing: it restores the focus by position, or calls `fallback`. */
export function holdFocus(within: HTMLElement, fallback: () => void): () => void {
  const focused = document.activeElement;
  if (!document.hasFocus() || !(focused instanceof HTMLElement) || !within.contains(focused)) return () => undefined;
  const place = [...within.querySelectorAll("button, summary")].indexOf(focused);
  return () => {
    const there = [...within.querySelectorAll<HTMLElement>("button:not([disabled]), summary")];
    const next = there[Math.min(place, there.length - 1)];
    if (next === undefined) fallback();
    else next.focus();
  };
}

interface Gone {
  readonly detail: HTMLElement;
  readonly lost: HTMLElement;
  /** The candidate whose form was shown. */
  readonly edited: string | undefined;
  readonly focused: Element | undefined;
}

/** Moves the focus from a removed element to its counterpart in what is shown now, or calls `fallback`. */
export function restoreFocus({ detail, lost, edited, focused }: Gone, fallback: () => void): void {
  // someone typing continues in the kept text; on the list, the letters would act on other candidates
  const kept = [...lost.querySelectorAll<HTMLElement>(".lost-draft")].find((element) => element.dataset["id"] === edited)?.querySelector("textarea");
  const counterparts = edited === undefined ? [...detail.querySelectorAll<HTMLElement>("button:enabled, .neighbour")] : [];
  const like = counterparts.find((element) => element.className === focused?.className && element.id === focused.id);
  (kept ?? like)?.focus();
  if (kept === undefined && like === undefined) fallback();
}
