// What the panel says after an action.
import type { CandidateView } from "../../../protocol";
import type { ActionResultMessage } from "../messages";
import { counted, plainText, raisedConfidenceText } from "../../../text/wording";
import { button, type Child, h } from "../../shared/web/dom";
import { spellOutHidden } from "../../shared/web/text";
import { difference } from "./difference";

const verbs: Readonly<Record<ActionResultMessage["action"], string>> = { accept: "Accepted", reject: "Rejected", edit: "Saved", undo: "Undone", propose: "Proposed" };

/** What was done, as a sentence, what became of the confidence of the `decided` candidate, and what the person should know besides. `successText` was prepared by the request; "" for none. */
export function resultText(message: ActionResultMessage, title: string, successText: string, decided: CandidateView | undefined): string {
  const showsMessage = message.action === "accept" || message.action === "undo" || message.id === "";
  const text = showsMessage && message.message !== "" ? spellOutHidden(plainText(message.message)) : `${verbs[message.action]}${title === "" ? "" : `: ${spellOutHidden(plainText(title))}`}`;
  // for an action done earlier elsewhere there is no undo, and the sidecar's message is shown
  const status = message.undo === null || successText === "" ? text : successText;
  const raised = message.action === "accept" && decided !== undefined ? raisedConfidenceText(decided) : "";
  const sentence = /[.…!?]$/.test(status) ? status : `${status}.`;
  return [sentence, ...(raised === "" ? [] : [raised]), ...(message.note === "" ? [] : [spellOutHidden(message.note)])].join(" ");
}

/** The button that undoes what the message reports. */
export function undoButton({ undo }: ActionResultMessage, perform: () => void): Child[] {
  if (undo === null) return [];
  const title = `Undo “${spellOutHidden(undo.label)}” (u)`;
  return [" ", button("Undo", perform, { class: "link undo-reported", title, label: title })];
}

/** How many candidates are left after a decision, until their number changes. What an undo brings back comes with the next list, so it says nothing. */
export function candidatesLeft({ action }: ActionResultMessage, count: number): Child[] {
  return action === "accept" || action === "reject" ? [h("span", { class: "left" }, ` ${counted(count, "candidate")} left.`)] : [];
}

/** Buttons that lead from an accepted candidate to its memory, and to the first file it is about, where its hover is. */
export function acceptedPlaces(message: ActionResultMessage, decided: CandidateView | undefined, actions: { openMemory: () => void; open: (reference: string) => void }): Child[] {
  if (message.action !== "accept" || message.id === "") return [];
  const memory = [" ", button("Open Memory", actions.openMemory, { class: "link open-memory", title: "Open the memory\u2019s file" })];
  const [reference] = decided?.references ?? [];
  if (reference === undefined) return memory;
  const [path = ""] = reference.split("#");
  return [...memory, " ", button(`Open ${spellOutHidden(path.slice(path.lastIndexOf("/") + 1))}`, () => actions.open(reference), { class: "link open-accepted", title: spellOutHidden(reference) })];
}

/** An error, with a diff of what changed meanwhile. */
export function noticeParts(text: string, diff: string): Child[] {
  return [...(text === "" ? [] : [h("p", {}, spellOutHidden(text))]), ...(diff === "" ? [] : [difference(diff, "What changed")])];
}
