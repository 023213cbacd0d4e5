// Asks a question and shows each sentence of the answer when it comes. All text is set as text, never as HTML.
"use strict";

const form = document.querySelector("#ask");
const state = document.querySelector("#state");
const answer = document.querySelector("#answer");
const passages = document.querySelector("#passages");
const stop = document.querySelector("#stop");
let running = null;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (running === null) void ask(new FormData(form));
});
stop.addEventListener("click", () => running?.abort());

async function ask(fields) {
  running = new AbortController();
  answer.replaceChildren();
  passages.replaceChildren();
  show("#answer-section", true);
  show("#passages-section", false);
  stop.hidden = false;
  state.textContent = "Looking for an answer…";
  try {
    const body = JSON.stringify({
      text: String(fields.get("question")),
      use_model: fields.get("only_sources") === null,
      everything: fields.get("everything") !== null,
    });
    const headers = { "content-type": "application/json" };
    const response = await fetch(form.dataset.address, { method: "POST", headers, body, signal: running.signal });
    if (!response.ok) throw new Error(refusalText(await response.text()));
    for await (const event of events(response.body)) take(event);
  } catch (error) {
    state.textContent = error.name === "AbortError" ? "Stopped." : error.message;
  } finally {
    running = null;
    stop.hidden = true;
  }
}

/** The JSON objects of a stream of server-sent events. */
async function* events(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    const parts = rest.split("\n\n");
    rest = parts.pop();
    for (const part of parts) if (part.startsWith("data: ")) yield JSON.parse(part.slice("data: ".length));
  }
}

function take(event) {
  if (event.error !== undefined) throw new Error(errorText(event));
  if (event.event === "said") addSentence(event.sentence);
  if (event.event === "answered") finish(event.answer);
}

function addSentence({ text, citations }) {
  answer.append(text, ...citations.flatMap((one) => [" ", citationLink(one)]), " ");
}

function citationLink({ number, title }) {
  const link = Object.assign(document.createElement("a"), { href: `#passage-${number}`, textContent: String(number), title });
  const mark = document.createElement("sup");
  mark.append(link);
  return mark;
}

function finish({ sentences, passages: found, message, state: ended }) {
  answer.replaceChildren();
  for (const sentence of sentences) addSentence(sentence);
  show("#answer-section", sentences.length > 0);
  passages.replaceChildren(...found.map(passageItem));
  show("#passages-section", found.length > 0);
  state.textContent = message || (ended === "cancelled" ? "Stopped." : `${sentences.length === 0 ? "Found" : "Answered from"} ${found.length} ${found.length === 1 ? "passage" : "passages"}.`);
}

function passageItem({ citation, role, detail, text }) {
  const link = document.createElement("a");
  link.className = "item-title";
  link.href = passageAddress(citation);
  link.textContent = citation.title || citation.ref;
  const speaker = { user: "You, ", assistant: "The agent, " }[role] ?? "";
  const meta = Object.assign(document.createElement("p"), { className: "meta", textContent: `${speaker}${detail}` });
  const quote = Object.assign(document.createElement("div"), { className: "prose short", textContent: text });
  const item = document.createElement("li");
  item.className = "item";
  item.id = `passage-${citation.number}`;
  item.value = citation.number;
  item.append(link, meta, quote);
  return item;
}

function passageAddress({ kind, ref, turn }) {
  const pages = form.dataset.pages;
  return kind === "memory" ? `${pages}/memories/${encodeURIComponent(ref.replace(/^m:/, ""))}` : `${pages}/sessions/turn?turn=${encodeURIComponent(turn)}`;
}

/** Why a request was refused: the guard before the API says so in words, the API in JSON. */
function refusalText(answer) {
  try {
    return errorText(JSON.parse(answer));
  } catch {
    return answer;
  }
}

function errorText({ error }) {
  return [error.message, error.todo].filter((part) => part !== "").join(" ");
}

function show(selector, visible) {
  document.querySelector(selector).hidden = !visible;
}
