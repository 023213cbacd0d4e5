// The webview of Lerim: Ask a Question: a question, its answer as it arrives, and the sources of each sentence.
import type { Citation, Passage, Sentence } from "../../../protocol";
import { type AnswerState, type FromAsk, noAnswer, type ToAsk } from "../messages";
import { button, h } from "../../shared/web/dom";
import { prose } from "../../shared/web/prose";
import { dateText, passageText, saidText } from "../../../text/sessionwording";
import { spellOutHidden } from "../../shared/web/text";

/** What is kept while another tab covers the panel: the text in the field, and the question that was asked last. */
interface SavedState {
  readonly typed: string;
  readonly asked: string;
}

declare function acquireVsCodeApi(): { postMessage(message: FromAsk): void; getState(): SavedState | undefined; setState(state: SavedState): void };

const vscode = acquireVsCodeApi();
/** The most sources of a sentence that are shown at once. */
const maxCitations = 3;
let state: AnswerState = noAnswer;
let restricted = false;
let asked = "";

const questionField = h("textarea", { class: "question", id: "question", label: "Your question", attributes: { rows: "2", maxlength: "4000", placeholder: "Ask what was decided, learned or left open in this repository" } });
const includeAllBox = h("input", { id: "all", attributes: { type: "checkbox" } });
const askButton = button("Ask", () => sendQuestion(), { class: "primary ask-button", title: "Ask (Enter)" });
const cancelButton = button("Cancel", () => vscode.postMessage({ type: "cancel" }), { class: "cancel", title: "Cancel (Escape)" });
const statusLine = h("p", { class: "ask-status", role: "status" });
const questionHeading = h("h2", { class: "asked" });
const answerText = h("div", { class: "sentences", label: "Answer", role: "region", attributes: { "aria-live": "polite" } });
const noteLine = h("p", { class: "note", role: "note" });
const chooseModelButton = button("Choose Model…", () => vscode.postMessage({ type: "chooseModel" }), { class: "link choose-model" });
const sourcesSection = h("section", { class: "sources", label: "Sources" });
const restrictedNote = h("p", { class: "restricted", role: "note" }, "Restricted Mode: You can ask questions once you trust this workspace.");

document.getElementById("ask")?.append(
  h("h1", { class: "visually-hidden" }, "Ask a question"),
  h(
    "div",
    { class: "ask-form", role: "search" },
    questionField,
    h("div", { class: "ask-row" }, askButton, cancelButton, h("label", { class: "all", attributes: { for: "all" } }, includeAllBox, "Also use memories that were replaced or archived, or whose code has changed")),
  ),
  restrictedNote,
  h("article", { class: "answer" }, questionHeading, answerText, noteLine, statusLine, sourcesSection),
);

({ typed: questionField.value, asked } = vscode.getState() ?? { typed: "", asked: "" });

questionField.addEventListener("input", () => {
  vscode.setState({ typed: questionField.value, asked });
  drawAskButton();
});
questionField.addEventListener("keydown", (event) => {
  if (event.isComposing || event.key !== "Enter" || event.shiftKey) return;
  event.preventDefault();
  sendQuestion();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && state.state === "asking") vscode.postMessage({ type: "cancel" });
  if (event.key === "/" && document.activeElement !== questionField) {
    event.preventDefault();
    questionField.focus();
  }
});
window.addEventListener("focus", () => {
  if (document.activeElement === document.body) questionField.focus();
});
window.addEventListener("message", ({ data: message }: MessageEvent<ToAsk>) => {
  if (message.type === "state") {
    ({ state, restricted } = message);
    if (document.hasFocus() && document.activeElement === document.body) questionField.focus(); // the editor may have given the page the focus before it listened
    if (state.question !== asked && state.question !== "") setQuestion(state.question); // the person asked it elsewhere
    draw();
  } else if (message.question === state.question) {
    state = { ...state, sentences: [...state.sentences, message.sentence] };
    answerText.append(sentenceElement(message.sentence));
    drawSources();
  }
});
vscode.postMessage({ type: "ready" });
draw();

function sendQuestion(): void {
  const question = questionField.value.trim();
  if (question === "" || restricted || state.state === "asking") return;
  setQuestion(question);
  vscode.postMessage({ type: "ask", question, all: includeAllBox.checked });
}

function setQuestion(question: string): void {
  questionField.value = asked = question;
  vscode.setState({ typed: question, asked });
}

function draw(): void {
  const asking = state.state === "asking";
  if (document.activeElement === (asking ? askButton : cancelButton)) questionField.focus(); // the button is about to lose the keyboard
  drawAskButton();
  askButton.toggleAttribute("disabled", asking || restricted);
  cancelButton.hidden = !asking;
  restrictedNote.hidden = !restricted;
  questionHeading.replaceChildren(...(state.question === "" ? [] : [spellOutHidden(state.question)]));
  answerText.replaceChildren(...state.sentences.map(sentenceElement));
  const offersModel = state.model === "none" && state.state === "done";
  noteLine.replaceChildren(...prose(noteText()), ...(offersModel ? [" ", chooseModelButton] : []));
  noteLine.className = `note ${state.state}`;
  statusLine.textContent = asking ? "Looking through memories and sessions…" : "";
  drawSources();
}

/** "Ask again" only for the question that was answered. */
function drawAskButton(): void {
  const isSameQuestion = state.state !== "none" && state.state !== "asking" && questionField.value.trim() === state.question.trim();
  askButton.textContent = isSameQuestion ? "Ask again" : "Ask";
}

/** The note about the whole answer. */
function noteText(): string {
  if (state.state === "failed") return `The question could not be answered: ${state.note}`;
  return state.note;
}

function sentenceElement({ text, citations }: Sentence): HTMLElement {
  return h("p", { class: "sentence" }, ...prose(text), " ", ...citationButtons(citations));
}

/** The sources of a sentence: the first few, and a button for the rest. */
function citationButtons(citations: readonly Citation[]): HTMLElement[] {
  if (citations.length <= maxCitations + 1) return citations.map(citationButton);
  const rest = citations.slice(maxCitations);
  const more = button(`+${rest.length}`, showRest, { class: "citation", label: `Show ${rest.length} more sources`, title: `Show ${rest.length} more sources` });
  function showRest(): void {
    const buttons = rest.map(citationButton);
    more.replaceWith(...buttons);
    buttons[0]?.focus();
  }
  return [...citations.slice(0, maxCitations).map(citationButton), more];
}

/** A citation's number as a button that opens the source. */
function citationButton(citation: Citation): HTMLElement {
  const kind = kindText(citation);
  const label = displayNumber(citation);
  return button(String(label), () => openSource(citation), { class: "citation", label: `Source ${label}: ${kind} ${spellOutHidden(citation.title)}`, title: `Open the ${kind}: ${spellOutHidden(citation.title)}` });
}

/** What a source is called, as a button that opens it. */
function sourceButton(citation: Citation, text: string): HTMLButtonElement {
  const opener = button("", () => openSource(citation), { class: "link source-title", title: `Open the ${kindText(citation)}` });
  opener.append(...prose(text));
  return opener;
}

/** Sources are numbered in the order they occur in the answer; without an answer, passages are numbered by rank. */
function displayNumber({ number }: Citation): number {
  const citedNumbers = [...new Set(state.sentences.flatMap(({ citations }) => citations.map((citation) => citation.number)))];
  return citedNumbers.length === 0 ? number : citedNumbers.indexOf(number) + 1;
}

/** What a source is: a memory, or a message of a session. */
function kindText({ kind }: Citation): string {
  return kind === "memory" ? "memory" : "message";
}

function openSource({ number }: Citation): void {
  vscode.postMessage({ type: "open", number });
}

/** Draws the sources of the sentences, or the passages found if there are no sentences. */
function drawSources(): void {
  const cited = new Map(state.sentences.flatMap(({ citations }) => citations).map((citation) => [citation.number, citation]));
  if (cited.size > 0) {
    const rows = [...cited.values()].map((citation) => {
      const { head, facts } = sourceHead(citation, state.passages.find((passage) => passage.citation.number === citation.number));
      return h("li", { class: "source-row" }, citationButton(citation), sourceButton(citation, head), h("span", { class: "source-kind" }, spellOutHidden(facts)));
    });
    sourcesSection.replaceChildren(h("h3", {}, "Sources"), h("ol", { class: "source-list" }, ...rows));
  } else if (state.state !== "asking" && state.passages.length > 0) {
    sourcesSection.replaceChildren(h("h3", {}, state.known ? "What your memories and sessions say about this" : "Nothing matches well. The closest in your memories and sessions"), ...state.passages.map(passageElement));
  } else {
    sourcesSection.replaceChildren();
  }
  const isUnanswered = cited.size === 0 && (!state.known || state.passages.length === 0) && (state.state === "done" || state.state === "partial");
  if (isUnanswered) sourcesSection.append(button("Search Memories by Meaning", () => vscode.postMessage({ type: "searchByMeaning" }), { class: "link search-by-meaning" }));
}

/** What a source is called, and the facts about it: of a message who said it and when, and in which session. While an answer arrives, its passages are not known yet. */
function sourceHead({ kind, title }: Citation, passage: Passage | undefined): { readonly head: string; readonly facts: string } {
  if (kind === "memory") return { head: title, facts: [kind, passage?.detail, passage === undefined ? "" : dateText(passage.time)].filter((fact) => fact !== undefined && fact !== "").join(" · ") };
  const session = `session “${title}”`;
  if (passage === undefined) return { head: "Message", facts: session };
  return { head: saidText(passage), facts: passage.role === "user" && passage.detail !== "" ? `${session} · ${passage.detail}` : session };
}

/** What a memory says, without its title and the lines about where it applies and what it rests on. */
function memoryExcerpt(text: string, title: string): string {
  const lines = text.split("\n").filter((line) => !/^(?:Files: |(?:the developer|the agent|a tool|a web page): “)/.test(line));
  return (lines[0]?.trim() === title.trim() && lines.length > 1 ? lines.slice(1) : lines).join("\n");
}

function passageElement(passage: Passage): HTMLElement {
  const { text, citation } = passage;
  const excerpt = passageText(citation.kind === "memory" ? memoryExcerpt(text, citation.title) : text);
  const { head, facts } = sourceHead(citation, passage);
  const card = h(
    "div",
    { class: "passage", title: `Open the ${kindText(citation)}` },
    h("div", { class: "passage-head" }, citationButton(citation), sourceButton(citation, head)),
    h("div", { class: "source-kind" }, spellOutHidden(facts)),
    ...(excerpt === head ? [] : [h("blockquote", { attributes: { dir: "auto" } }, ...prose(excerpt))]),
  );
  card.addEventListener("click", ({ target }) => {
    const isButton = target instanceof Element && target.closest("button") !== null;
    if (!isButton && document.getSelection()?.isCollapsed !== false) openSource(citation); // selecting text is no click
  });
  return card;
}
