// What the panel says after an action.
import type { CandidateView, UndoView } from "../../../protocol";
import type { ActionResultMessage, ListMessage } from "../messages";
import { counted, plainText, acceptedText } from "../../../text/wording";
import { button, type Child, h } from "../../shared/web/dom";
import { spellOutHidden } from "../../shared/web/text";
import { difference } from "./difference";

const verbs: Readonly<Record<ActionResultMessage["action"], string>> = { accept: "Accepted", reject: "Rejected", edit: "Saved", undo: "Undone", propose: "Proposed" };

/** What was done, as a sentence, what became of the `decided` candidate, and what the person should know besides. `successText` was prepared by the request; "" for none. */
export function resultText(message: ActionResultMessage, title: string, successText: string, decided: CandidateView | undefined): string {
  const showsMessage = message.action === "accept" || message.action === "undo" || message.id === "";
  const text = showsMessage && message.message !== "" ? plainText(message.message) : `${verbs[message.action]}${title === "" ? "" : `: ${plainText(title)}`}`;
  // for an action done earlier elsewhere there is no undo, and the sidecar's message is shown
  const status = message.undo === null || successText === "" ? text : successText;
  const raised = message.action === "accept" && decided !== undefined ? acceptedText(decided) : "";
  const sentence = /[.…!?]$/.test(status) ? status : `${status}.`;
  return [sentence, ...(raised === "" ? [] : [raised]), ...(message.note === "" ? [] : [spellOutHidden(message.note)])].join(" ");
}

/** What was done last, as the panel says it and keeps it while another tab covers the panel. */
export interface LastAction {
  readonly text: string;
  /** Whether a memory came of it, which can be opened. */
  readonly isMemory: boolean;
  /** The first place that this memory is about, where its hover is; "" for none. */
  readonly reference: string;
  readonly undo: UndoView | null;
}

/** What to say after an action; the arguments are those of `resultText`. */
export function lastAction(message: ActionResultMessage, title: string, successText: string, decided: CandidateView | undefined): LastAction {
  const isMemory = message.action === "accept" && message.id !== "";
  return { text: resultText(message, title, successText, decided), isMemory, reference: isMemory ? (decided?.references[0] ?? "") : "", undo: message.undo };
}

/** Parses a last action from the saved state; undefined if it is none. */
export function parseLastAction(value: unknown): LastAction | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { text, isMemory, reference, undo } = value as Record<string, unknown>;
  const { action, label } = (typeof undo === "object" ? (undo ?? {}) : {}) as Record<string, unknown>;
  if (typeof text !== "string" || typeof reference !== "string" || typeof action !== "string" || typeof label !== "string") return undefined;
  return { text, isMemory: isMemory === true, reference, undo: { action, label } };
}

/** The last action as it is kept while the panel is hidden, and the root in which it was done. */
export interface SavedAction {
  readonly root: string;
  readonly lastAction: LastAction | undefined;
}

/** The saved action, unless something else was done in this root since, or its memory cannot be opened in this window. */
export function keptAction(saved: SavedAction | undefined, { root, undo }: Pick<ListMessage, "root" | "undo">, knowsAccepted: boolean): LastAction | undefined {
  const action = saved?.root === root ? saved.lastAction : undefined;
  return action !== undefined && action.undo?.action === undo?.action && (knowsAccepted || !action.isMemory) ? action : undefined;
}

export interface LastActionButtons {
  readonly openMemory: () => void;
  readonly open: (reference: string) => void;
  readonly undo: () => void;
}

/** The line that says what was done last, with buttons that lead to what came of it and that undo it. */
export class LastActionLine {
  readonly element = h("p", { class: "done", role: "status" });
  #action: LastAction | undefined;
  #root = "";
  #knowsAccepted = false;

  constructor(private readonly buttons: LastActionButtons) {}

  get action(): LastAction | undefined {
    return this.#action;
  }

  /** Shows an action. After a decision, `left` is how many candidates are left, which is said until their number changes. */
  show(action: LastAction | undefined, left?: number): void {
    this.#action = action;
    const leftText = left === undefined ? [] : [h("span", { class: "left" }, ` ${counted(left, "candidate")} left.`)];
    this.element.replaceChildren(...(action === undefined ? [] : [action.text, ...leftText, ...this.#places(action), ...this.#undo(action)]));
  }

  /** Empties the line if another root is shown. */
  enter({ root, knowsAccepted }: { readonly root: string; readonly knowsAccepted: boolean }): void {
    if (root !== this.#root) this.show(undefined);
    this.#root = root;
    this.#knowsAccepted = knowsAccepted;
  }

  /** Shows what was done before another tab covered the panel, if it is still the last action. */
  restore(saved: SavedAction | undefined, list: Pick<ListMessage, "root" | "undo">): void {
    if (this.#action === undefined) this.show(keptAction(saved, list, this.#knowsAccepted));
  }

  hideLeft(): void {
    this.element.querySelector(".left")?.remove();
  }

  #places({ isMemory, reference }: LastAction): Child[] {
    const memory = isMemory ? [" ", button("Open Memory", this.buttons.openMemory, { class: "link open-memory", title: "Open the memory\u2019s file" })] : [];
    if (reference === "") return memory;
    const [path = ""] = reference.split("#");
    return [...memory, " ", button(`Open ${spellOutHidden(path.slice(path.lastIndexOf("/") + 1))}`, () => this.buttons.open(reference), { class: "link open-accepted", title: spellOutHidden(reference) })];
  }

  #undo({ undo }: LastAction): Child[] {
    if (undo === null) return [];
    const title = `Undo “${spellOutHidden(undo.label)}” (u)`;
    return [" ", button("Undo", this.buttons.undo, { class: "link undo-reported", title, label: title })];
  }
}

/** An error, with a diff of what changed meanwhile. */
export function noticeParts(text: string, diff: string): Child[] {
  return [...(text === "" ? [] : [h("p", {}, spellOutHidden(text))]), ...(diff === "" ? [] : [difference(diff, "What changed")])];
}
