// Above and below the list: the filter, the grouping, and the buttons that decide on many candidates at once.
import { counted } from "../../../text/wording";
import { button, h } from "../../shared/web/dom";
import { type Grouping, groupings, type ListOptions } from "./arrangement";
import { candidateOrder, type Model, pendingIds } from "./state";

export interface ToolActions {
  readonly setOptions: (options: Partial<ListOptions>) => void;
  readonly decide: (action: BulkAction, ids: readonly string[]) => void;
  readonly focusList: () => void;
}

export type BulkAction = "accept" | "reject";

const groupingTexts: Readonly<Record<Grouping, string>> = { none: "Best first", file: "By file", session: "By session", kind: "By kind" };

/** The candidates that the bulk buttons act on: the marked ones, else all that are shown. */
export function bulkIds(model: Model): readonly string[] {
  return model.marked.size > 0 ? candidateOrder(model).filter((id) => model.marked.has(id)) : candidateOrder(model);
}

/** "Accept 3 marked"; "Reject all 12 shown". */
export function bulkText(action: BulkAction, model: Model): string {
  const verb = action === "accept" ? "Accept" : "Reject";
  return model.marked.size > 0 ? `${verb} ${model.marked.size} marked` : `${verb} all ${candidateOrder(model).length} shown`;
}

/** What the person is asked before a bulk action. */
export function bulkQuestion(action: BulkAction, count: number): { readonly title: string; readonly detail: string } {
  const title = `${action === "accept" ? "Accept" : "Reject"} ${counted(count, "candidate")}?`;
  const detail = action === "accept" ? "Candidates with warnings stay in the list. One undo takes all of it back." : "What you reject is not proposed again. One undo takes all of it back.";
  return { title, detail };
}

export class ListTools {
  readonly above: HTMLElement;
  readonly below: HTMLElement;
  readonly #filter = h("input", { class: "filter", label: "Filter candidates", title: "Filter (Ctrl+F)", attributes: { type: "search", placeholder: "Filter (Ctrl+F)" } });
  readonly #grouping = h("select", { class: "grouping", label: "Order and grouping" }, ...groupings.map((one) => h("option", { attributes: { value: one } }, groupingTexts[one])));
  readonly #bulk: HTMLElement;
  readonly #accept: HTMLButtonElement;
  readonly #reject: HTMLButtonElement;
  readonly #nothingShown = h("p", { class: "nothing-shown" });
  readonly #showOlder: HTMLButtonElement;
  readonly #dismissOlder: HTMLButtonElement;
  #model: Model | undefined;

  constructor(private readonly actions: ToolActions) {
    this.#accept = button("", () => this.#decide("accept"), { class: "bulk accept-all" });
    this.#reject = button("", () => this.#decide("reject"), { class: "bulk reject-all" });
    this.#bulk = h("div", { class: "bulk-actions", role: "group", label: "Several candidates" }, this.#accept, this.#reject);
    this.#showOlder = button("", () => actions.setOptions({ showOlder: this.#model?.options.showOlder !== true }), { class: "link show-older", attributes: { "aria-expanded": "false" } });
    this.#dismissOlder = button("Dismiss", () => actions.decide("reject", this.#model?.arrangement.older ?? []), { class: "bulk dismiss-older", title: "Reject all candidates that have waited for more than 30 days" });
    this.above = h("div", { class: "list-tools" }, h("div", { class: "list-options" }, this.#filter, this.#grouping), this.#bulk, this.#nothingShown);
    this.below = h("div", { class: "older", role: "group", label: "Older candidates" }, this.#showOlder, this.#dismissOlder);
    this.#filter.addEventListener("input", () => actions.setOptions({ filter: this.#filter.value }));
    this.#filter.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.key === "Escape" && this.#filter.value !== "") actions.setOptions({ filter: "" });
      else if (!["Escape", "Enter", "ArrowDown"].includes(event.key)) return;
      event.preventDefault();
      actions.focusList();
    });
    this.#grouping.addEventListener("change", () => actions.setOptions({ grouping: groupings.find((one) => one === this.#grouping.value) ?? "none" }));
  }

  focusFilter(): void {
    this.#filter.focus();
    this.#filter.select();
  }

  update(model: Model): void {
    this.#model = model;
    const { filter, grouping, showOlder } = model.options;
    const older = model.arrangement.older.length;
    this.above.hidden = pendingIds(model).length === 0;
    if (this.#filter.value !== filter) this.#filter.value = filter;
    this.#grouping.value = grouping;
    this.#bulk.hidden = candidateOrder(model).length < 2 && model.marked.size === 0; // one has its own buttons
    const blocked = model.restricted || model.pendingRequests.has("");
    for (const [element, action] of [[this.#accept, "accept"], [this.#reject, "reject"]] as const) {
      element.textContent = bulkText(action, model);
      element.classList.toggle("link", model.marked.size === 0); // what decides on all is no button to hit by chance
      element.disabled = blocked || candidateOrder(model).length === 0;
    }
    const isHidden = candidateOrder(model).length === 0 && pendingIds(model).length > 0;
    this.#nothingShown.textContent = !isHidden ? "" : filter === "" ? "All candidates are older than 30 days." : "No candidate matches the filter.";
    this.below.hidden = older === 0;
    this.#showOlder.textContent = `${showOlder ? "Hide" : "Show"} ${older} older than 30 days`;
    this.#showOlder.setAttribute("aria-expanded", String(showOlder));
    this.#dismissOlder.textContent = `Dismiss ${older} older`;
    this.#dismissOlder.disabled = blocked;
  }

  #decide(action: BulkAction): void {
    if (this.#model !== undefined) this.actions.decide(action, bulkIds(this.#model));
  }
}

/** A dialog that asks before a bulk action. The focus goes to the list afterwards. */
export function confirmDialog(focusList: () => void): { readonly element: HTMLDialogElement; ask(action: BulkAction, count: number, confirmed: () => void): void } {
  const title = h("h2", { id: "confirm-title" });
  const detail = h("p", {});
  let onConfirmed = (): void => undefined;
  const confirmButton = button("", () => {
    element.close();
    onConfirmed();
  }, { class: "primary confirm" });
  const element = h("dialog", { class: "help confirm-dialog", attributes: { "aria-labelledby": "confirm-title" } }, title, detail, h("div", { class: "actions" }, confirmButton, button("Cancel", () => element.close(), { class: "cancel" })));
  element.addEventListener("keydown", (event) => event.stopPropagation());
  element.addEventListener("close", focusList);
  return {
    element,
    ask: (action, count, confirmed) => {
      const question = bulkQuestion(action, count);
      title.textContent = question.title;
      detail.textContent = question.detail;
      confirmButton.textContent = action === "accept" ? "Accept" : "Reject";
      onConfirmed = confirmed;
      element.showModal();
      confirmButton.focus();
    },
  };
}
