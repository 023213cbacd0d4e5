import { button, h } from "../../shared/web/dom";
import type { Draft } from "./state";
import { spellOutHidden } from "../../shared/web/text";

export interface LostActions {
  readonly copy: (draft: Draft) => void;
  readonly discard: (draft: Draft) => void;
}

/** A draft as one text for the clipboard. */
export function draftText(draft: Draft): string {
  return [draft.title, draft.body, ...(draft.tags.length > 0 ? [draft.tags.map((tag) => `#${tag}`).join(" ")] : [])].join("\n\n");
}

/** An edit whose candidate no longer exists: its text can be read and copied until the person discards it. */
export function renderLostDraft(draft: Draft, actions: LostActions): HTMLElement {
  const text = h("textarea", { class: "lost-text", label: "Your text", attributes: { rows: "6", readonly: "" } });
  text.value = draftText(draft);
  text.setSelectionRange(0, 0);
  return h(
    "div",
    { class: "lost-draft", role: "group", label: `Your edit of a candidate that is no longer waiting: ${spellOutHidden(draft.title)}`, attributes: { "data-id": draft.id } },
    h("p", {}, "The candidate you were editing is no longer waiting for review. Your text is kept here until you discard it. If the candidate returns, your edit is shown again."),
    text,
    h("div", { class: "actions", role: "group", label: "Your text" }, button("Copy", () => actions.copy(draft), { class: "copy" }), button("Discard", () => actions.discard(draft), { class: "discard" })),
  );
}
