import { button, h } from "./dom";
import { type Draft, parseTags } from "./state";

export interface FormActions {
  readonly changed: (draft: Draft) => void;
  readonly save: (draft: Draft) => void;
  readonly saveAndAccept: (draft: Draft) => void;
  readonly cancel: () => void;
}

/** The inline form for a candidate's title, body and tags. Ctrl+Enter saves and accepts, Escape cancels. */
export function editForm(draft: Draft, actions: FormActions): HTMLElement {
  const title = h("input", { id: "edit-title", class: "edit-title", attributes: { type: "text", maxlength: "300", required: "" } });
  const body = h("textarea", { id: "edit-body", class: "edit-body", attributes: { rows: "12", maxlength: "50000" } });
  const tags = h("input", { id: "edit-tags", class: "edit-tags", attributes: { type: "text" } });
  title.value = draft.title;
  body.value = draft.body;
  tags.value = draft.tags.join(", ");
  const current = (): Draft => ({ id: draft.id, title: title.value.trim(), body: body.value, tags: parseTags(tags.value) });
  const whenComplete = (act: (draft: Draft) => void) => (): void => {
    if (title.value.trim() === "") {
      title.setAttribute("aria-invalid", "true");
      title.focus();
      return;
    }
    act(current());
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
    h(
      "div",
      { class: "actions", role: "toolbar", label: "Edit actions" },
      button("Save", whenComplete(actions.save), { class: "primary save" }),
      button("Save and Accept", whenComplete(actions.saveAndAccept), { class: "save-accept", title: "Save and accept (Ctrl+Enter)" }),
      button("Cancel", actions.cancel, { class: "cancel", title: "Cancel (Escape)" }),
    ),
  );
  form.addEventListener("input", () => actions.changed(current()));
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") actions.cancel();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) whenComplete(actions.saveAndAccept)();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return form;
}
