// Restores the focus after the focused element was redrawn.

/** Remembers the focus in `container`. Call the returned function after redrawing: it restores the focus, by position if the focused element is gone or disabled, or calls `fallback`. */
export function rememberFocus(container: HTMLElement, fallback: () => void): () => void {
  const focused = document.activeElement;
  if (!document.hasFocus() || !(focused instanceof HTMLElement) || !container.contains(focused)) return () => undefined;
  const index = [...container.querySelectorAll("button, summary")].indexOf(focused);
  const nameOf = (element: HTMLElement): string => `${element.className} ${element.closest<HTMLElement>("[data-id]")?.dataset["id"] ?? ""}`;
  const name = nameOf(focused);
  return () => {
    const focusable = [...container.querySelectorAll<HTMLElement>("button:not([disabled]), summary")];
    const next = focusable.find((element) => nameOf(element) === name) ?? focusable[Math.min(index, focusable.length - 1)];
    if (next === undefined) fallback();
    else next.focus();
  };
}

interface FocusPlace {
  readonly detail: HTMLElement;
  readonly lost: HTMLElement;
  /** The candidate whose form was shown. */
  readonly editedId: string | undefined;
  readonly focused: Element | undefined;
}

/** Moves the focus from a removed element to its counterpart in what is shown now, or calls `fallback`. */
export function restoreFocus({ detail, lost, editedId, focused }: FocusPlace, fallback: () => void): void {
  // someone typing continues in the kept text; on the list, the letters would act on other candidates
  const keptText = [...lost.querySelectorAll<HTMLElement>(".lost-draft")].find((element) => element.dataset["id"] === editedId)?.querySelector("textarea");
  const counterparts = editedId === undefined ? [...detail.querySelectorAll<HTMLElement>("button:enabled, .neighbour")] : [];
  const counterpart = counterparts.find((element) => element.className === focused?.className && element.id === focused.id);
  (keptText ?? counterpart)?.focus();
  if (keptText === undefined && counterpart === undefined) fallback();
}

/** Calls `fallback` when nothing has the focus any more, as after a click on an empty place: the keys then work on the list. */
export function catchLostFocus(fallback: () => void): void {
  const takeLostFocus = (): void => {
    if (document.activeElement === document.body) fallback();
  };
  window.addEventListener("focus", takeLostFocus);
  document.addEventListener("click", takeLostFocus);
}

/** Calls `leave`, which moves the focus, if it is in `container`. */
export function leaveFocused(container: HTMLElement, leave: () => void): void {
  if (document.hasFocus() && container.contains(document.activeElement)) leave();
}
