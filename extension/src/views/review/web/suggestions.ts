// The list below a field of the form, with what the sidecar says can be written there.
import type { FieldCompletion } from "../../../protocol";
import { h } from "../../shared/web/dom";
import { spellOutHidden } from "../../shared/web/text";

export type SuggestedField = "tags" | "references";

/** What is being typed in a field, and its other parts. */
export interface TypedPart {
  readonly field: SuggestedField;
  readonly typed: string;
  readonly present: readonly string[];
}

type TextField = HTMLInputElement | HTMLTextAreaElement;
const separators: Readonly<Record<SuggestedField, string>> = { tags: ",", references: "\n" };

/** A field with its list. `ask` asks for what can be written; arrow keys go through the list, Enter or a click takes an entry, Escape closes it. */
export function withSuggestions(field: TextField, name: SuggestedField, ask: (part: TypedPart) => void): HTMLElement {
  const id = `suggestions-${name}`;
  const list = h("ul", { id, class: "suggestions", role: "listbox", label: name === "tags" ? "Tags in use" : "Files and symbols", attributes: { hidden: "" } });
  for (const [attribute, value] of Object.entries({ autocomplete: "off", "aria-autocomplete": "list", "aria-controls": id })) field.setAttribute(attribute, value);
  const part = (): { start: number; end: number; typed: string; present: string[] } => {
    const { value } = field;
    const caret = field.selectionStart ?? value.length;
    const before = value.slice(0, caret);
    const start = before.length - before.slice(before.lastIndexOf(separators[name]) + 1).trimStart().length;
    const next = value.indexOf(separators[name], caret);
    const end = next < 0 ? value.length : next;
    const present = `${value.slice(0, start)}${value.slice(end)}`.split(separators[name]).map((one) => one.trim());
    return { start, end, typed: before.slice(start).trimEnd(), present: present.filter((one) => one !== "") };
  };
  const close = (): void => {
    list.hidden = true;
    field.removeAttribute("aria-activedescendant");
  };
  const request = (): void => {
    const { typed, present } = part();
    ask({ field: name, typed, present });
  };
  const take = (value: string): void => {
    const { start, end } = part();
    field.setRangeText(value, start, end, "end");
    close();
    field.dispatchEvent(new CustomEvent("input", { bubbles: true })); // the form keeps the draft
  };
  const activate = (at: number): void => {
    const options = [...list.children];
    const active = options[(at + options.length) % options.length];
    for (const option of options) option.setAttribute("aria-selected", String(option === active));
    if (active === undefined) return;
    field.setAttribute("aria-activedescendant", active.id);
    active.scrollIntoView({ block: "nearest" });
  };
  list.addEventListener("suggestions", (event) => {
    const { typed, items } = (event as CustomEvent<{ typed: string; items: readonly FieldCompletion[] }>).detail;
    if (part().typed !== typed || document.activeElement !== field) return; // typed on, or gone elsewhere
    const isWritten = items.length === 1 && items[0]?.value === typed;
    field.removeAttribute("aria-activedescendant");
    list.replaceChildren(...items.map(({ value, note }, at) => {
      const option = h("li", { id: `${id}-${at}`, role: "option", attributes: { "aria-selected": "false" } }, spellOutHidden(value), h("span", { class: "suggestion-note" }, note));
      option.addEventListener("mousedown", (down) => {
        down.preventDefault(); // the field keeps the focus
        take(value);
      });
      option.dataset["value"] = value;
      return option;
    }));
    list.hidden = items.length === 0 || isWritten;
    if (!list.hidden) list.scrollIntoView({ block: "nearest" });
  });
  field.addEventListener("input", (event) => {
    if (event instanceof CustomEvent) return; // taken from the list
    if (part().typed === "") close();
    else request();
  });
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    if (!(event instanceof KeyboardEvent) || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = [...list.children].findIndex((option) => option.getAttribute("aria-selected") === "true");
    const active = list.children[at];
    if (list.hidden) {
      if (event.key !== "ArrowDown" || name !== "tags") return; // in several lines the key goes to the next one
      request();
    } else if (event.key === "ArrowDown") activate(at + 1);
    else if (event.key === "ArrowUp") activate(Math.max(at, 0) - 1);
    else if (event.key === "Escape") close();
    else if (event.key === "Enter" && active instanceof HTMLElement) take(active.dataset["value"] ?? "");
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return h("div", { class: "suggested-field" }, field, list);
}

/** Shows what can be written in a field of the form, unless the person has typed on meanwhile. */
export function showSuggestions(form: ParentNode, { field, typed, items }: { readonly field: SuggestedField; readonly typed: string; readonly items: readonly FieldCompletion[] }): void {
  form.querySelector(`#suggestions-${field}`)?.dispatchEvent(new CustomEvent("suggestions", { detail: { typed, items } }));
}
