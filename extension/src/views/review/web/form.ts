import { findEditError } from "../messages";
import type { NeighbourView } from "../../../protocol";
import { button, h } from "../../shared/web/dom";
import { memoryNow } from "./neighbours";
import { type Draft, parseTags } from "./state";
import { plain } from "../../shared/web/text";

export interface FormActions {
  readonly changed: (draft: Draft) => void;
  readonly save: () => void;
  readonly saveAndAccept: () => void;
  readonly cancel: () => void;
}

/**
 * The inline form for a candidate's title, body and tags. Ctrl+Enter saves and accepts, Escape cancels. If the
 * candidate is to change a memory, the memory's text is shown beside it.
 */
export function editForm(draft: Draft, memory: NeighbourView | undefined, actions: FormActions): HTMLElement {
  const title = h("input", { id: "edit-title", class: "edit-title", attributes: { type: "text", required: "", "aria-describedby": "edit-problem" } });
  const body = h("textarea", { id: "edit-body", class: "edit-body", attributes: { rows: "12" } });
  const tags = h("input", { id: "edit-tags", class: "edit-tags", attributes: { type: "text" } });
  const problem = h("p", { id: "edit-problem", class: "edit-problem", role: "alert" });
  title.value = draft.title;
  body.value = draft.body;
  tags.value = draft.tags.join(", ");
  const current = (): Draft => ({ ...draft, title: title.value.trim(), body: body.value, tags: parseTags(tags.value) });
  const whenFitting = (act: () => void) => (): void => {
    const misfit = findEditError(current());
    problem.textContent = misfit ?? "";
    title.setAttribute("aria-invalid", String(title.value.trim() === ""));
    if (misfit === undefined) act();
    else if (title.value.trim() === "") title.focus();
  };
  const changing = draft.change !== undefined;
  const fields = h(
    "div",
    { class: "edit-fields" },
    ...(changing ? [h("h3", {}, "New text")] : []),
    h("label", { attributes: { for: "edit-title" } }, "Title"),
    title,
    h("label", { attributes: { for: "edit-body" } }, "Body"),
    body,
    h("label", { attributes: { for: "edit-tags" } }, "Tags, separated by commas"),
    tags,
  );
  const accept = changing
    ? [button("Change Memory", whenFitting(actions.saveAndAccept), { class: "primary save-accept", title: "Change the memory (Ctrl+Enter)" })]
    : [
        button("Save", whenFitting(actions.save), { class: "primary save" }),
        button("Save and Accept", whenFitting(actions.saveAndAccept), { class: "save-accept", title: "Save and accept (Ctrl+Enter)" }),
      ];
  const form = h(
    "div",
    { class: "edit-form", role: "form", label: changing ? `Change memory${memory === undefined ? "" : ` “${plain(memory.title)}”`}` : "Edit candidate" },
    ...(changing ? [h("div", { class: "side-by-side" }, h("section", { class: "memory-now" }), fields)] : [fields]),
    problem,
    h("div", { class: "actions", role: "group", label: "Edit actions" }, ...accept, button("Cancel", actions.cancel, { class: "cancel", title: "Cancel (Escape)" })),
  );
  if (changing) showMemory(form, memory);
  form.addEventListener("input", () => actions.changed(current()));
  form.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Escape") actions.cancel();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) whenFitting(actions.saveAndAccept)();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return form;
}

/** Shows a memory's current text beside the form; undefined: it is no longer among the similar ones. */
export function showMemory(form: ParentNode, memory: NeighbourView | undefined): void {
  const insert = (text: string): void => {
    const body = form.querySelector<HTMLTextAreaElement>("#edit-body");
    if (body === null) return;
    const before = body.value.slice(0, body.selectionStart);
    const gap = before === "" || before.endsWith("\n") ? "" : "\n\n";
    body.setRangeText(gap + text, body.selectionStart, body.selectionEnd, "end");
    body.dispatchEvent(new Event("input", { bubbles: true }));
    body.focus();
  };
  form.querySelector(".memory-now")?.replaceWith(memoryNow(memory, insert));
}
