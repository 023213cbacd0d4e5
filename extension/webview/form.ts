import { misfitOf } from "../views/messages";
import { button, h } from "./dom";
import { type Draft, parseTags } from "./state";

export interface FormActions {
  readonly changed: (draft: Draft) => void;
  readonly save: () => void;
  readonly saveAndAccept: () => void;
  readonly cancel: () => void;
}

/** The inline form for a candidate's title, body and tags. Ctrl+Enter saves and accepts, Escape cancels. */
export function editForm(draft: Draft, actions: FormActions): HTMLElement {
  const title = h("input", { id: "edit-title", class: "edit-title", attributes: { type: "text", required: "", "aria-describedby": "edit-problem" } });
  const body = h("textarea", { id: "edit-body", class: "edit-body", attributes: { rows: "12" } });
  const tags = h("input", { id: "edit-tags", class: "edit-tags", attributes: { type: "text" } });
  const problem = h("p", { id: "edit-problem", class: "edit-problem", role: "alert" });
  title.value = draft.title;
  body.value = draft.body;
  tags.value = draft.tags.join(", ");
  const current = (): Draft => ({ ...draft, title: title.value.trim(), body: body.value, tags: parseTags(tags.value) });
  const whenFitting = (act: () => void) => (): void => {
    const misfit = misfitOf(current());
    problem.textContent = misfit ?? "";
    title.setAttribute("aria-invalid", String(title.value.trim() === ""));
    if (misfit === undefined) act();
    else if (title.value.trim() === "") title.focus();
  };
  const form = h(
    "div",
    { class: "edit-form", role: "form", label: "Edit candidate" },
    h("label", { attributes: { for: "edit-title" } }, "Title"),
    title,
    h("label", { attributes: { for: "edit-body" } }, "Body"),
    body,
    h("label", { attributes: { for: "edit-tags" } }, "Tags, separated by commas"),
    tags,
    problem,
    h(
      "div",
      { class: "actions", role: "group", label: "Edit actions" },
      button("Save", whenFitting(actions.save), { class: "primary save" }),
      button("Save and Accept", whenFitting(actions.saveAndAccept), { class: "save-accept", title: "Save and accept (Ctrl+Enter)" }),
      button("Cancel", actions.cancel, { class: "cancel", title: "Cancel (Escape)" }),
    ),
  );
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
