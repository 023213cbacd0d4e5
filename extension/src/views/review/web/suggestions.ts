// The list below a field of the form, with what the sidecar says can be written there.
import type { FieldCompletion } from "../../../protocol";
import { counted } from "../../../text/wording";
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
  for (const [attribute, value] of Object.entries({ autocomplete: "off", "aria-autocomplete": "list", "aria-haspopup": "listbox", "aria-controls": id })) field.setAttribute(attribute, value);
  const isCombobox = field instanceof HTMLInputElement; // a field of several lines may not be one: only the announcement says that it has a list
  if (isCombobox) field.setAttribute("role", "combobox");
  const announcement = h("div", { class: "visually-hidden", role: "status" });
  let isAwaited = false;
  let completedStart = 0; // where the part begins that the list is for
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
  const setHidden = (hidden: boolean): void => {
    list.hidden = hidden;
    announcement.textContent = hidden ? "" : `${counted(list.children.length, "suggestion")}: Down Arrow chooses one`;
    if (isCombobox) field.setAttribute("aria-expanded", String(!hidden));
  };
  const request = (): void => {
    isAwaited = true;
    const { typed, present } = part();
    ask({ field: name, typed, present });
  };
  const chosenOption = (): HTMLElement | undefined => [...list.querySelectorAll<HTMLElement>("[aria-selected=true]")].at(0);
  const choose = (chosen: Element | undefined): void => {
    for (const option of list.children) option.setAttribute("aria-selected", String(option === chosen));
    if (chosen === undefined) return field.removeAttribute("aria-activedescendant");
    field.setAttribute("aria-activedescendant", chosen.id);
    chosen.scrollIntoView({ block: "nearest" });
  };
  const close = (): void => {
    isAwaited = false;
    setHidden(true);
    choose(undefined);
  };
  /** Closes the list if the caret is no longer in the part that it completes: it would replace another one. */
  const closeElsewhere = (): void => {
    if (!list.hidden && part().start !== completedStart) close();
  };
  const take = (value: string): void => {
    const { start, end } = part();
    field.setRangeText(value, start, end, "end");
    close();
    field.dispatchEvent(new CustomEvent("input", { bubbles: true })); // the form keeps the draft
  };
  list.addEventListener("suggestions", (event) => {
    const { typed, items } = (event as CustomEvent<{ typed: string; items: readonly FieldCompletion[] }>).detail;
    if (!isAwaited || part().typed !== typed || document.activeElement !== field) return; // closed, typed on, or gone elsewhere
    isAwaited = false;
    completedStart = part().start;
    const isWritten = items.length === 1 && items[0]?.value === typed;
    const chosen = chosenOption()?.dataset["value"];
    const options = items.map(({ value, note }, at) => {
      const option = h("li", { id: `${id}-${at}`, role: "option", attributes: { "aria-selected": "false" } }, spellOutHidden(value), ...(note === "" ? [] : [" ", h("span", { class: "suggestion-note" }, note)]));
      option.addEventListener("mousedown", (down) => {
        down.preventDefault(); // the field keeps the focus
        take(value);
      });
      option.dataset["value"] = value;
      return option;
    });
    list.replaceChildren(...options);
    choose(options.find((option) => option.dataset["value"] === chosen)); // it was chosen while this list was on its way
    setHidden(items.length === 0 || isWritten);
    if (!list.hidden) list.scrollIntoView({ block: "nearest" });
  });
  field.addEventListener("input", (event) => {
    if (event instanceof CustomEvent) return; // taken from the list
    closeElsewhere();
    choose(undefined); // it was chosen for other letters
    if (part().typed === "") close();
    else request();
  });
  field.addEventListener("keyup", closeElsewhere);
  field.addEventListener("click", closeElsewhere);
  field.addEventListener("blur", close);
  close();
  field.addEventListener("keydown", (event) => {
    if (!(event instanceof KeyboardEvent) || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const options = [...list.children];
    const chosen = chosenOption();
    const at = chosen === undefined ? -1 : options.indexOf(chosen);
    if (list.hidden) {
      if (event.key !== "ArrowDown" || name !== "tags") return; // in several lines the key goes to the next one
      request();
    } else if (event.key === "ArrowDown") choose(options[(at + 1) % options.length]);
    else if (event.key === "ArrowUp") choose(options.at(Math.max(at, 0) - 1));
    else if (event.key === "Escape") close();
    else if (event.key === "Enter" && chosen !== undefined) take(chosen.dataset["value"] ?? "");
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return h("div", { class: "suggested-field" }, field, list, announcement);
}

/** Shows what can be written in a field of the form, unless the person has typed on meanwhile. */
export function showSuggestions(form: ParentNode, { field, typed, items }: { readonly field: SuggestedField; readonly typed: string; readonly items: readonly FieldCompletion[] }): void {
  form.querySelector(`#suggestions-${field}`)?.dispatchEvent(new CustomEvent("suggestions", { detail: { typed, items } }));
}
