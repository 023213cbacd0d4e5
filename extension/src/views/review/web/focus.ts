// Where the focus goes when what had it is drawn anew.

/** Call what this returns once `within` is drawn anew: the focus goes back to the same place in it, else `fallback` is called. */
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

/** The focus was on something that is gone: it goes to its counterpart in what is shown now, else `fallback` is called. */
export function restoreFocus({ detail, lost, edited, focused }: Gone, fallback: () => void): void {
  // who was typing types on into the text that was kept; on the list the letters would decide about other candidates
  const kept = [...lost.querySelectorAll<HTMLElement>(".lost-draft")].find((element) => element.dataset["id"] === edited)?.querySelector("textarea");
  const counterparts = edited === undefined ? [...detail.querySelectorAll<HTMLElement>("button:enabled, .neighbour")] : [];
  const like = counterparts.find((element) => element.className === focused?.className && element.id === focused.id);
  (kept ?? like)?.focus();
  if (kept === undefined && like === undefined) fallback();
}
