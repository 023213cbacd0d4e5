import { button, h } from "../../shared/web/dom";
import { spellOutHidden } from "../../shared/web/text";
import type { Draft } from "./state";

export interface LostActions {
  readonly copy: (text: string) => void;
  readonly discard: (draft: Draft) => void;
  readonly announce: (text: string) => void;
  readonly focusList: () => void;
}

/** The edits whose candidates no longer wait: each text can be read and copied until the person discards it. */
export class LostDraftArea {
  readonly element = h("div", { class: "lost" });
  #drawn: readonly Draft[] = [];

  constructor(private readonly actions: LostActions) {}

  update(drafts: readonly Draft[]): void {
    if (drafts.length === this.#drawn.length && drafts.every((draft, at) => draft === this.#drawn[at])) return;
    if (drafts.some((draft) => !this.#drawn.includes(draft))) this.actions.announce("The candidate you were editing is no longer waiting for review. Your text is kept.");
    const hadFocus = this.element.contains(document.activeElement);
    this.#drawn = drafts;
    this.element.replaceChildren(...drafts.map((draft) => renderLostDraft(draft, this.actions)));
    if (hadFocus) this.actions.focusList();
  }
}

/** A draft as one text for the clipboard. */
export function draftText(draft: Draft): string {
  return [draft.title, draft.body, ...(draft.tags.length > 0 ? [draft.tags.map((tag) => `#${tag}`).join(" ")] : [])].join("\n\n");
}

function renderLostDraft(draft: Draft, actions: LostActions): HTMLElement {
  const copy = (): void => {
    actions.copy(draftText(draft));
    actions.announce("Copied.");
  };
  const text = h("textarea", { class: "lost-text", label: "Your text", attributes: { rows: "6", readonly: "" } });
  text.value = draftText(draft);
  text.setSelectionRange(0, 0);
  return h(
    "div",
    { class: "lost-draft", role: "group", label: `Your edit of a candidate that is no longer waiting: ${spellOutHidden(draft.title)}`, attributes: { "data-id": draft.id } },
    h("p", {}, "The candidate you were editing is no longer waiting for review. Your text is kept here until you discard it. If the candidate returns, your edit is shown again."),
    text,
    h("div", { class: "actions", role: "group", label: "Your text" }, button("Copy", copy, { class: "copy" }), button("Discard", () => actions.discard(draft), { class: "discard" })),
  );
}
