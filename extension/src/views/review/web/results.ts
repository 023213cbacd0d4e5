// What the panel says after an action.
import type { CandidateView, ReferenceProblem, UndoView } from "../../../protocol";
import type { ActionResultMessage, ListMessage } from "../messages";
import { acceptedText, counted, fileName, plainText, shorten } from "../../../text/wording";
import { button, type Child, h } from "../../shared/web/dom";
import { spellOutHidden } from "../../shared/web/text";
import { difference } from "./difference";

/** More characters than a title has that Lerim writes, and two of them: "Accepted: … (replaces “…”)". */
const longestText = 250;

const verbs: Readonly<Record<ActionResultMessage["action"], string>> = { accept: "Accepted", reject: "Rejected", edit: "Saved", undo: "Undone", propose: "Proposed" };

/** What was done, as a sentence, what the person should know besides, and where the memory of the `decided` candidate shows, which is about `reference`. `successText` was prepared by the request; "" for none. */
function resultText(message: ActionResultMessage, title: string, successText: string, decided: CandidateView | undefined, reference: string): string {
  const showsMessage = message.action === "accept" || message.action === "undo" || message.id === "";
  const text = showsMessage && message.message !== "" ? plainText(message.message) : `${verbs[message.action]}${title === "" ? "" : `: ${plainText(title)}`}`;
  // for an action done earlier elsewhere there is no undo, and the sidecar's message is shown
  const status = message.undo === null || message.id === "" ? text : successText === "" ? shorten(text, longestText) : successText;
  // of a memory whose files were not found, the note says so
  const isPlaceKnown = decided !== undefined && (reference !== "" || decided.references.length === 0);
  const place = message.action === "accept" && isPlaceKnown ? acceptedText(decided, reference) : "";
  const sentence = /[.…!?]$/.test(status) ? status : `${status}.`;
  return [sentence, spellOutHidden(message.note), place].filter((part) => part !== "").join(" ");
}

/** The first place that a candidate is about: one that was found, or else the file of a symbol that was not; "" if there is none to open. */
function firstPlace({ references }: CandidateView, problems: readonly ReferenceProblem[]): string {
  const missing = new Set(problems.map(({ reference }) => reference));
  const found = references.find((reference) => !missing.has(reference));
  const files = references.filter((reference) => reference.includes("#")).map((reference) => reference.split("#")[0] ?? "");
  return found ?? files.find((file) => !missing.has(file)) ?? "";
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

/** What to say after an action; the first arguments are those of `resultText`, and `problems` are those of the references of the `decided` candidate. */
export function lastAction(message: ActionResultMessage, title: string, successText: string, decided: CandidateView | undefined, problems: readonly ReferenceProblem[] = []): LastAction {
  const isMemory = message.action === "accept" && message.id !== "";
  const reference = isMemory && decided !== undefined ? firstPlace(decided, problems) : "";
  return { text: resultText(message, title, successText, decided, reference), isMemory, reference, undo: message.undo };
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
  #isListed = false;
  #root = "";
  #knowsAccepted = false;

  constructor(private readonly buttons: LastActionButtons) {}

  get action(): LastAction | undefined {
    return this.#action;
  }

  /** Shows an action. After a decision, `left` is how many candidates are left, which is said until their number changes; that none is left is said below. */
  show(action: LastAction | undefined, left?: number): void {
    this.#action = action;
    this.#isListed = false;
    const leftText = left === undefined || left === 0 ? [] : [h("span", { class: "left" }, ` ${counted(left, "candidate")} left.`)];
    this.element.replaceChildren(...(action === undefined ? [] : [...this.#openPlace(action), action.text, ...leftText, ...this.#openMemory(action), ...this.#undo(action)]));
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

  /** Empties the line when a list no longer has its action as the last one, as an earlier list had: it was undone elsewhere, or another followed it. */
  follow({ undo }: Pick<ListMessage, "undo">): void {
    const shown = this.#action?.undo?.action;
    if (shown === undefined) return;
    if (undo?.action !== shown && this.#isListed) this.show(undefined);
    else this.#isListed = undo?.action === shown;
  }

  hideLeft(): void {
    this.element.querySelector(".left")?.remove();
  }

  #openPlace({ reference }: LastAction): Child[] {
    if (reference === "") return [];
    return [button(`Open ${fileName(reference)}`, () => this.buttons.open(reference), { class: "primary open-accepted", title: spellOutHidden(reference) }), " "];
  }

  #openMemory({ isMemory }: LastAction): Child[] {
    return isMemory ? [" ", button("Open Memory", this.buttons.openMemory, { class: "link open-memory", title: "Open the memory\u2019s file" })] : [];
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
