import type { CandidateView, NeighbourAnswer, NeighbourView } from "../../../protocol";
import { answersFor, firstLines, isNear, neighbourMeta, rankedNeighbours, suggestionText } from "./answers";
import { button, type Child, h } from "../../shared/web/dom";
import { counted, withoutBold } from "../../../text/wording";
import { prose, literalText } from "../../shared/web/prose";
import { spellOutHidden } from "../../shared/web/text";

export interface NeighbourActions {
  /** `memory` is a neighbour's id; "" to keep all. */
  readonly answer: (answer: NeighbourAnswer, memory: string) => void;
  readonly choose: (memory: string) => void;
  readonly open: (memory: string) => void;
}

const answerButtons: Readonly<Record<Exclude<NeighbourAnswer, "keep">, { text: string; key: string; does: (title: string) => string }>> = {
  same: { text: "Same as this", key: "s", does: (title) => `Add the quote to “${title}”` },
  replaces: { text: "Replaces this", key: "p", does: (title) => `Add this candidate and archive “${title}”` },
  changes: { text: "Changes this…", key: "c", does: (title) => `Edit the text of “${title}”` },
  answers: { text: "Answers this", key: "w", does: (title) => `Add this candidate and resolve “${title}”` },
};

/** The suggestion, with its source and reason. */
export function suggestionNote(candidate: CandidateView): Child[] {
  const { suggested } = candidate;
  if (suggested === null) return [];
  const reason = suggested.reason === "" ? [] : [" ", ...prose(suggested.reason)];
  return [h("p", { class: "suggestion", id: "suggestion", role: "note" }, ...prose(suggestionText(candidate)), ...reason)];
}

/** The memories similar to a candidate, each with buttons for the possible answers: those that are near, which stand above its quotes, and the others, folded away below. */
export function similarMemories(candidate: CandidateView, chosen: string, enabled: boolean, actions: NeighbourActions): { readonly near: Child[]; readonly others: Child[] } {
  const memories = rankedNeighbours(candidate);
  const keepBothButton = button("Keep both", () => actions.answer("keep", ""), { class: "answer keep", disabled: !enabled, title: "Keep both: add this as a new memory (b)" });
  const items = memories.map((memory, at) => neighbourItem(candidate, memory, `${at + 1} of ${memories.length}`, { at, chosen: memory.id === chosen, act: enabled }, actions));
  const keepBoth = h("div", { class: "actions", role: "group", label: "All similar memories" }, keepBothButton);
  const list = (labelledBy: string, shown: readonly HTMLElement[]): HTMLElement[] => (shown.length === 0 ? [] : [h("ol", { class: "neighbours", attributes: { "aria-labelledby": labelledBy } }, ...shown)]);
  const near = items.filter((_, at) => memories.slice(at, at + 1).some((memory) => isNear(candidate, memory)));
  const others = items.filter((item) => !near.includes(item));
  const hasNear = near.length > 0 || candidate.suggested !== null;
  return {
    near: hasNear ? [h("h3", { id: "similar" }, "Similar memories"), ...list("similar", near), keepBoth] : [],
    others: others.length === 0 ? [] : [foldedMemories(candidate.id, others.length, ...list("loosely-related", others), ...(hasNear ? [] : [keepBoth]))],
  };
}

/** The candidate whose loosely related memories the person has unfolded: they stay so when it is drawn again. */
let unfoldedFor = "";

function foldedMemories(candidate: string, count: number, ...content: readonly HTMLElement[]): HTMLElement {
  const summary = h("summary", { id: "loosely-related" }, counted(count, "loosely related memory", "loosely related memories"));
  const details = h("details", { class: "loosely-related" }, summary, ...content);
  details.open = unfoldedFor === candidate;
  details.addEventListener("toggle", () => {
    if (details.isConnected) unfoldedFor = details.open ? candidate : "";
  });
  return details;
}

function neighbourItem(candidate: CandidateView, memory: NeighbourView, ordinal: string, state: { at: number; chosen: boolean; act: boolean }, actions: NeighbourActions): HTMLElement {
  const { suggested } = candidate;
  const title = spellOutHidden(memory.title);
  const suggestedAnswer = suggested !== null && suggested.memory === memory.id ? suggested.answer : undefined;
  const answers = answersFor(candidate, memory).flatMap((answer) => {
    if (answer === "keep") return [];
    const { text, key, does } = answerButtons[answer];
    const mark = answer === suggestedAnswer ? " suggested" : "";
    const label = `${text}: ${does(title)}${mark === "" ? "" : " (suggested)"}`;
    return [button(text, () => actions.answer(answer, memory.id), { class: `answer ${answer}${mark}`, id: `answer-${answer}-${state.at}`, disabled: !state.act, label, title: `${does(title)} (${key})` })];
  });
  const item = h(
    "li",
    {
      class: "neighbour",
      id: `neighbour-${state.at}`,
      label: `${ordinal}: ${title}, ${neighbourMeta(memory)}`,
      attributes: { tabindex: "-1", "data-memory": memory.id, ...(state.chosen ? { "aria-current": "true" } : {}) },
    },
    h("div", { class: "neighbour-head" }, h("span", { class: "neighbour-number", attributes: { "aria-hidden": "true" } }, String(state.at + 1)), h("div", { class: "neighbour-title" }, ...prose(withoutBold(memory.title)))),
    h("div", { class: "neighbour-meta" }, neighbourMeta(memory)),
    h("div", { class: "neighbour-body", attributes: { dir: "auto" } }, ...prose(firstLines(memory.text))),
    h(
      "div",
      { class: "actions", role: "group", label: `This candidate and “${title}”` },
      ...answers,
      button("Open", () => actions.open(memory.id), { class: "link open-target", id: `open-${state.at}`, label: `Open ${title}`, title: `Open ${title}` }),
    ),
  );
  item.addEventListener("focusin", () => actions.choose(memory.id));
  return item;
}

/** Opens what a neighbour is folded away in; whether it was. */
export function unfoldNeighbour(within: HTMLElement, memory: string): boolean {
  const folded = [...within.querySelectorAll<HTMLElement>("details:not([open]) .neighbour")].find((item) => item.dataset["memory"] === memory)?.closest("details");
  if (folded === null || folded === undefined) return false;
  folded.open = true;
  return true;
}

/** Marks the neighbour that keys act on. */
export function markChosen(within: HTMLElement, chosen: string): void {
  for (const item of within.querySelectorAll<HTMLElement>(".neighbour")) {
    if (item.dataset["memory"] === chosen) item.setAttribute("aria-current", "true");
    else item.removeAttribute("aria-current");
  }
}

/** A memory's current text beside the form that changes it; undefined: it is no longer similar. */
export function memorySection(memory: NeighbourView | undefined, insert: (content: string) => void): HTMLElement {
  const text =
    memory === undefined
      ? [h("p", {}, "This memory was archived or changed, and is not similar to the candidate any more. Cancel, or copy your text.")]
      : [
          h("div", { class: "memory-now-title" }, ...prose(withoutBold(memory.title))),
          h("div", { class: "memory-now-body", role: "group", label: "Text of the memory", attributes: { dir: "auto", tabindex: "0" } }, ...literalText(memory.body)),
          button("Insert into New Text", () => insert(memory.body), { class: "insert", title: "Insert this text into the new text at the cursor" }),
        ];
  return h("section", { class: "memory-now", label: "Current text of the memory" }, h("h3", {}, "Current text of the memory"), ...text);
}
