import { findEditError } from "../messages";
import type { CandidateView, NeighbourView } from "../../../protocol";
import { kindHelp, memoryKinds } from "../../../text/wording";
import { button, h } from "../../shared/web/dom";
import { evidenceList } from "./detail";
import { memorySection } from "./neighbours";
import { type Draft, parseReferences, parseTags } from "./state";
import { type TypedPart, withSuggestions } from "./suggestions";
import { spellOutHidden } from "../../shared/web/text";

export interface FormActions {
  readonly onChange: (draft: Draft) => void;
  readonly save: () => void;
  readonly saveAndAccept: () => void;
  readonly cancel: () => void;
  readonly openTurn: (session: string, turn: string) => void;
  /** Asks what can be written there. */
  readonly complete: (part: TypedPart) => void;
}

/**
 * The inline form for a candidate's title, body, tags, kind and references, with its quotes below. Ctrl+Enter saves and accepts, Escape cancels.
 * If the candidate is to change a memory, the memory's text is shown beside it.
 */
export function editForm(draft: Draft, candidate: CandidateView | undefined, memory: NeighbourView | undefined, actions: FormActions): HTMLElement {
  const changesMemory = draft.change !== undefined;
  const title = h("input", { id: "edit-title", class: "edit-title", attributes: { type: "text", required: "", "aria-describedby": "edit-problem" } });
  const body = h("textarea", { id: "edit-body", class: "edit-body", attributes: { rows: "12" } });
  const tags = h("input", { id: "edit-tags", class: "edit-tags", attributes: { type: "text" } });
  const problem = h("p", { id: "edit-problem", class: "edit-problem", role: "alert" });
  const references = h("textarea", { id: "edit-references", class: "edit-references", attributes: { rows: "3", spellcheck: "false" } });
  const kind = h("select", { id: "edit-kind", class: "edit-kind" }, ...memoryKinds.map((one) => h("option", { attributes: { value: one, title: kindHelp(one) } }, one)));
  const hasKind = !changesMemory && draft.kind !== undefined;
  if (draft.kind) kind.value = draft.kind;
  references.value = (draft.references ?? []).join("\n");
  title.value = draft.title;
  body.value = draft.body;
  tags.value = draft.tags.join(", ");
  const currentDraft = (): Draft => ({ ...draft, title: title.value.trim(), body: body.value, tags: parseTags(tags.value), ...(changesMemory ? {} : { references: parseReferences(references.value) }), ...(hasKind ? { kind: memoryKinds.find((one) => one === kind.value) ?? null } : {}) });
  const ifValid = (act: () => void) => (): void => {
    const editError = findEditError(currentDraft());
    problem.textContent = editError ?? "";
    title.setAttribute("aria-invalid", String(title.value.trim() === ""));
    if (editError === undefined) act();
    else if (title.value.trim() === "") title.focus();
  };
  const fields = h(
    "div",
    { class: "edit-fields" },
    ...(changesMemory ? [h("h3", {}, "New text")] : []),
    h("label", { attributes: { for: "edit-title" } }, "Title"),
    title,
    h("label", { attributes: { for: "edit-body" } }, "Body"),
    body,
    h("label", { attributes: { for: "edit-tags" } }, "Tags, separated by commas"),
    withSuggestions(tags, "tags", actions.complete),
    ...(hasKind ? [h("label", { attributes: { for: "edit-kind" } }, "Kind"), kind] : []),
    ...(changesMemory ? [] : [h("label", { attributes: { for: "edit-references" } }, "References, one per line: a file, or a file with # and a symbol"), withSuggestions(references, "references", actions.complete)]),
  );
  const submitButtons = changesMemory
    ? [button("Change Memory", ifValid(actions.saveAndAccept), { class: "primary save-accept", title: "Change the memory (Ctrl+Enter)" })]
    : [
        button("Save and Accept", ifValid(actions.saveAndAccept), { class: "primary save-accept", title: "Save and accept (Ctrl+Enter)" }),
        button("Save", ifValid(actions.save), { class: "save" }),
      ];
  const form = h(
    "div",
    { class: "edit-form", role: "form", label: changesMemory ? `Change memory${memory === undefined ? "" : ` “${spellOutHidden(memory.title)}”`}` : "Edit candidate" },
    ...(changesMemory ? [h("div", { class: "side-by-side" }, h("section", { class: "memory-now" }), fields)] : [fields]),
    problem,
    h("div", { class: "actions", role: "group", label: "Edit actions" }, ...submitButtons, button("Cancel", actions.cancel, { class: "cancel", title: "Cancel (Escape)" })),
    ...(candidate === undefined || candidate.evidence.length === 0 ? [] : [h("h2", { id: "why" }, "Why"), ...evidenceList(candidate, actions)]),
  );
  if (changesMemory) showMemory(form, memory);
  form.addEventListener("input", () => actions.onChange(currentDraft()));
  form.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Escape") actions.cancel();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) ifValid(actions.saveAndAccept)();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return form;
}

export { showSuggestions } from "./suggestions";

/** Shows a memory's current text beside the form; undefined: it is no longer among the similar ones. */
export function showMemory(form: ParentNode, memory: NeighbourView | undefined): void {
  const insert = (text: string): void => {
    const body = form.querySelector<HTMLTextAreaElement>("#edit-body");
    if (body === null) return;
    const textBefore = body.value.slice(0, body.selectionStart);
    const separator = textBefore === "" || textBefore.endsWith("\n") ? "" : "\n\n";
    body.setRangeText(separator + text, body.selectionStart, body.selectionEnd, "end");
    body.dispatchEvent(new Event("input", { bubbles: true }));
    body.focus();
  };
  form.querySelector(".memory-now")?.replaceWith(memorySection(memory, insert));
}
