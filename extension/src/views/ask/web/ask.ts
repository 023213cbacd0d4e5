// The webview of Lerim: Ask: a question, its answer as it arrives, and the sources of each sentence.
import type { Citation, Passage, Sentence } from "../../../protocol";
import { type AnswerState, type FromAsk, noAnswer, parseToAsk } from "../messages";
import { button, h } from "../../shared/web/dom";
import { prose } from "../../shared/web/prose";
import { dateText } from "../../../text/sessionwording";
import { plain } from "../../shared/web/text";

declare function acquireVsCodeApi(): { postMessage(message: FromAsk): void; getState(): unknown; setState(state: { typed: string }): void };

const vscode = acquireVsCodeApi();
let state: AnswerState = noAnswer;
let restricted = false;

const field = h("textarea", { class: "question", id: "question", label: "Your question", attributes: { rows: "2", maxlength: "4000", placeholder: "Ask what was decided, learned or left open in this project" } });
const all = h("input", { id: "all", attributes: { type: "checkbox" } });
const askButton = button("Ask", () => ask(), { class: "primary ask-button", title: "Ask (Enter)" });
const cancelButton = button("Cancel", () => vscode.postMessage({ type: "cancel" }), { class: "cancel", title: "Cancel (Escape)" });
const status = h("p", { class: "ask-status", role: "status" });
const asked = h("h2", { class: "asked" });
const sentences = h("div", { class: "sentences", label: "Answer", role: "region", attributes: { "aria-live": "polite" } });
const note = h("p", { class: "note", role: "note" });
const sources = h("section", { class: "sources", label: "Sources" });
const restrictedNote = h("p", { class: "restricted", role: "note" }, "Restricted Mode: You can ask questions once you trust this folder.");

document.getElementById("ask")?.append(
  h(
    "div",
    { class: "ask-form", role: "search" },
    field,
    h("div", { class: "ask-row" }, askButton, cancelButton, h("label", { class: "all", attributes: { for: "all" } }, all, "Include inactive memories and memories whose code has changed")),
  ),
  restrictedNote,
  h("article", { class: "answer" }, asked, sentences, note, status, sources),
);

const typed = vscode.getState();
if (typeof typed === "object" && typed !== null && "typed" in typed && typeof typed.typed === "string") field.value = typed.typed;

field.addEventListener("input", () => vscode.setState({ typed: field.value }));
field.addEventListener("keydown", (event) => {
  if (event.isComposing || event.key !== "Enter" || event.shiftKey) return;
  event.preventDefault();
  ask();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && state.state === "asking") vscode.postMessage({ type: "cancel" });
  if (event.key === "/" && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  }
});
window.addEventListener("focus", () => {
  if (document.activeElement === document.body) field.focus();
});
window.addEventListener("message", (event: MessageEvent<unknown>) => {
  const message = parseToAsk(event.data);
  if (message === undefined) return;
  if (message.type === "state") {
    const other = message.state.question !== state.question;
    ({ state, restricted } = message);
    if (other && state.question !== "") field.value = state.question;
    draw();
  } else if (message.question === state.question) {
    state = { ...state, sentences: [...state.sentences, message.sentence] };
    sentences.append(sentence(message.sentence));
    drawSources();
  }
});
vscode.postMessage({ type: "ready" });
draw();

function ask(): void {
  const question = field.value.trim();
  if (question === "" || restricted || state.state === "asking") return;
  vscode.setState({ typed: question });
  vscode.postMessage({ type: "ask", question, all: all.checked });
}

function draw(): void {
  const asking = state.state === "asking";
  askButton.textContent = state.state === "none" || asking ? "Ask" : "Ask again";
  askButton.toggleAttribute("disabled", asking || restricted);
  cancelButton.hidden = !asking;
  restrictedNote.hidden = !restricted;
  asked.replaceChildren(...(state.question === "" ? [] : [plain(state.question)]));
  sentences.replaceChildren(...state.sentences.map(sentence));
  note.textContent = plain(noteText());
  note.className = `note ${state.state}`;
  status.textContent = asking ? "Looking through memories and sessions…" : "";
  drawSources();
}

/** The note about the whole answer. */
function noteText(): string {
  if (state.state === "failed") return `The question could not be answered: ${state.note}`;
  return state.note;
}

function sentence({ text, citations }: Sentence): HTMLElement {
  return h("p", { class: "sentence" }, ...prose(text), " ", ...citations.map(mark));
}

/** A citation's number as a button that opens the source. */
function mark(citation: Citation): HTMLElement {
  const what = citation.kind === "memory" ? "memory" : "turn";
  const shown = numberOf(citation);
  return button(String(shown), () => open(citation), { class: "citation", label: `Source ${shown}: ${what} ${plain(citation.title)}`, title: `Open the ${what}: ${plain(citation.title)}` });
}

/** Sources are numbered in the order they occur in the answer; without an answer, passages are numbered by rank. */
function numberOf({ number }: Citation): number {
  const met = [...new Set(state.sentences.flatMap(({ citations }) => citations.map((one) => one.number)))];
  return met.length === 0 ? number : met.indexOf(number) + 1;
}

function open({ number }: Citation): void {
  vscode.postMessage({ type: "open", number });
}

/** Draws the sources of the sentences, or the passages found if there are no sentences. */
function drawSources(): void {
  const cited = new Map(state.sentences.flatMap(({ citations }) => citations).map((citation) => [citation.number, citation]));
  if (cited.size > 0) {
    const rows = [...cited.values()].map((citation) => h("li", { class: "source-row" }, mark(citation), h("span", { class: "source-kind" }, citation.kind), h("span", { class: "source-title" }, ...prose(citation.title))));
    sources.replaceChildren(h("h3", {}, "Sources"), h("ol", { class: "source-list" }, ...rows));
  } else if (state.state !== "asking" && state.passages.length > 0) {
    sources.replaceChildren(h("h3", {}, state.known ? "Matching passages, quoted as they are" : "Closest passages, quoted as they are"), ...state.passages.map(passage));
  } else {
    sources.replaceChildren();
  }
  if (state.model === "none" && state.state === "done") sources.append(button("Choose Model", () => vscode.postMessage({ type: "chooseModel" }), { class: "link choose-model" }));
}

function passage({ text, detail, time, citation }: Passage): HTMLElement {
  const [first, ...rest] = text.split("\n");
  const told = first?.trim() === citation.title.trim() && rest.length > 0 ? rest.join("\n") : text; // a memory's title is already shown above
  const facts = [citation.kind, detail, dateText(time)].filter((fact) => fact !== "").join(" · ");
  return h(
    "div",
    { class: "passage" },
    h("div", { class: "passage-head" }, mark(citation), h("span", { class: "source-title" }, ...prose(citation.title))),
    h("div", { class: "source-kind" }, plain(facts)),
    h("blockquote", { attributes: { dir: "auto" } }, ...prose(told)),
  );
}
