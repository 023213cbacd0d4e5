// The webview of the transcript viewer: a whole session, of which only the visible part is loaded and drawn.
import type { OutlineView, SessionTurn, SessionView } from "../../../protocol";
import { durationText, momentText, secondsOf, tokensText, workText } from "../../../text/sessionwording";
import { type FromTranscript, parseToTranscript, type ToTranscript } from "../messages";
import { counted } from "../../../text/wording";
import { button, h } from "../../shared/web/dom";
import { Flow } from "./flow";
import { guessedHeight } from "./heights";
import { helpDialog } from "../../shared/web/help";
import { foundIn, showFound } from "./highlights";
import { plain } from "../../shared/web/text";
import { turnArticle, type TurnPlace, waitingArticle } from "./turn";
import { foundFrom, promptFrom, turnHelp, type TurnKey, turnKey } from "./turnkeys";

interface Saved {
  readonly id: string;
  readonly position: number;
}

declare function acquireVsCodeApi(): { postMessage(message: FromTranscript): void; getState(): unknown; setState(state: Saved): void };

const vscode = acquireVsCodeApi();
/** Turns per request. */
const turnsPerRequest = 60;
/** Turns kept in memory; beyond that, distant ones are dropped. */
const kept = 2000;
const typingMs = 250;

let outline: OutlineView | undefined;
let position = savedPosition(vscode.getState());
/** The turn that keys act on, and the one that was jumped to. */
let current = -1;
let target = -1;
let asking = false;
let words = "";
let found: readonly number[] = [];
const turns = new Map<number, SessionTurn>();
const unfolded = new Set<string>();

const title = h("h1", { class: "heading" });
const facts = h("p", { class: "facts" });
const note = h("p", { class: "note", role: "note" });
const summary = h("p", { class: "summary", label: "Summary" });
const notice = h("div", { class: "notice", role: "alert" });
const findBox = h("input", { class: "find", label: "Find in this session", attributes: { type: "search", placeholder: "Find in this session", spellcheck: "false" } });
const findCount = h("span", { class: "found", role: "status" });
const rows = h("div", { class: "rows" });
const feed = h("div", { class: "feed", role: "feed", label: "Turns", attributes: { tabindex: "0" } }, rows);
const live = h("div", { class: "visually-hidden", role: "status", attributes: { "aria-live": "polite" } });
const help = helpDialog(turnHelp);
const flow = new Flow(feed, rows);

document.getElementById("transcript")?.append(
  h(
    "header",
    { class: "head" },
    title,
    facts,
    h(
      "div",
      { class: "tools", role: "toolbar", label: "Session" },
      findBox,
      findCount,
      button("↑", () => perform("previousFound"), { label: "Previous match", title: "Previous match (Shift+Enter)" }),
      button("↓", () => perform("nextFound"), { label: "Next match", title: "Next match (Enter)" }),
      button("Previous prompt", () => perform("previousPrompt"), { title: "Previous prompt (p)" }),
      button("Next prompt", () => perform("nextPrompt"), { title: "Next prompt (n)" }),
      button("?", () => help.open(), { label: "Keyboard help", title: "Keyboard (?)" }),
    ),
  ),
  summary,
  note,
  notice,
  feed,
  live,
  help.element,
);

window.addEventListener("message", (event: MessageEvent<unknown>) => {
  const message = parseToTranscript(event.data);
  if (message === undefined) tell("The viewer received a message that it does not understand. Run Lerim: Show Log for details.");
  else receive(message);
});
document.addEventListener("keydown", (event) => {
  if (help.element.open) return;
  if (event.target === findBox) {
    if (event.key === "Enter") perform(event.shiftKey ? "previousFound" : "nextFound");
    else if (event.key === "Escape") feed.focus();
    else return;
    event.preventDefault();
    return;
  }
  const key = turnKey(event);
  if (key === undefined) return;
  event.preventDefault();
  perform(key);
});
let typing: ReturnType<typeof setTimeout> | undefined;
findBox.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(find, typingMs);
});
feed.addEventListener("scroll", () => save(), { passive: true });
vscode.postMessage({ type: "ready" });

function receive(message: ToTranscript): void {
  switch (message.type) {
    case "session":
      return showSession(message.outline);
    case "turns":
      return take(message.start, message.turns);
    case "found":
      if (message.text !== words) return;
      found = message.positions;
      showCount();
      if (found.length > 0) perform(found.includes(current) ? "show" : "nextFound");
      return;
    case "restricted":
      title.textContent = "Sessions are not shown in Restricted Mode.";
      notice.replaceChildren(h("p", {}, "No sessions on this machine are read until you trust this folder. "), button("Manage Trust", () => vscode.postMessage({ type: "manageTrust" }), { class: "primary" }));
      return;
    case "failed":
      asking = false;
      return tell(message.message);
  }
}

function showSession(next: OutlineView): void {
  const first = outline === undefined;
  for (const at of [...turns.keys()]) if (next.kinds[at] !== outline?.kinds[at] || next.sizes[at] !== outline?.sizes[at]) turns.delete(at); // changed since
  outline = next;
  tell("");
  title.textContent = plain(next.session.title);
  facts.textContent = factsOf(next.session);
  note.textContent = plain(next.note);
  note.hidden = next.note === "";
  summary.textContent = next.summary.split("\n").map(plain).join("\n");
  summary.hidden = next.summary === "";
  const { kinds, sizes } = next;
  if (kinds === "") tell("Nothing was said in this session.");
  flow.show({ count: kinds.length, guess: (at) => guessedHeight(sizes[at] ?? 0), make, drawn: need });
  if (next.at >= 0) jump(next.at);
  else if (first) flow.jump(Math.min(position, Math.max(kinds.length - 1, 0)));
  if (first && document.hasFocus()) feed.focus();
  save();
}

function factsOf(session: SessionView): string {
  const seconds = secondsOf(session);
  return [
    session.agent,
    momentText(session.started) || "at an unknown time",
    ...(seconds === undefined ? [] : [durationText(seconds)]),
    ...(session.branches.length > 0 ? [`branch ${session.branches.map(plain).join(", ")}`] : []),
    session.models.length > 0 ? session.models.map(plain).join(", ") : "model not recorded",
    `tokens ${tokensText(session)}`,
    workText(session),
    ...(session.parent === "" ? [] : [`a subagent of ${plain(session.parent).slice(0, 8)}`]),
  ].join(" · ");
}

function make(at: number): HTMLElement {
  const place = { position: at, count: outline?.kinds.length ?? 0, agent: outline?.session.agent ?? "The agent", began: outline?.session.started ?? "" };
  const turn = turns.get(at);
  const article = turn === undefined ? waitingArticle(place, guessedHeight(outline?.sizes[at] ?? 0)) : drawn(turn, at, place);
  article.classList.toggle("target", at === target);
  return article;
}

function drawn(turn: SessionTurn, at: number, place: TurnPlace): HTMLElement {
  return turnArticle(turn, place, {
    whole: () => vscode.postMessage({ type: "whole", position: at }),
    isOpen: (call) => unfolded.has(`${at}:${call}`),
    opened: (call, open) => {
      if (open) unfolded.add(`${at}:${call}`);
      else unfolded.delete(`${at}:${call}`);
      showFound(rows, words);
    },
  });
}

/** Requests the first visible turns that are not loaded. */
function need(first: number, last: number): void {
  if (asking || outline === undefined) return;
  for (let at = first; at <= last; at++) {
    if (turns.has(at)) continue;
    asking = true;
    vscode.postMessage({ type: "need", start: at, count: turnsPerRequest });
    return;
  }
}

function take(start: number, come: readonly SessionTurn[]): void {
  asking = false;
  if (turns.size > kept) for (const at of [...turns.keys()]) if (Math.abs(at - flow.position) > kept / 4) turns.delete(at);
  come.forEach((turn, at) => turns.set(start + at, turn));
  if (come.length === 0) return; // the session got shorter; its next outline says so
  flow.clear(come.map((_, at) => start + at));
  flow.draw();
  unfoldFound();
  showFound(rows, words);
  if (come.some((_, at) => start + at === current) && document.activeElement !== findBox) focus();
}

function jump(at: number): void {
  const before = target;
  target = current = at;
  for (const changed of [before, at]) flow.element(changed)?.classList.toggle("target", changed === at);
  flow.jump(at);
  unfoldFound();
  showFound(rows, words);
  if (document.activeElement !== findBox) focus();
  save();
}

function focus(): void {
  flow.element(current)?.focus({ preventScroll: true });
}

function find(): void {
  words = findBox.value.trim();
  found = [];
  showFound(rows, words);
  showCount();
  if (words !== "") vscode.postMessage({ type: "find", text: words });
}

function showCount(): void {
  const at = found.indexOf(current);
  findCount.textContent = words === "" ? "" : found.length === 0 ? "no matches" : at < 0 ? counted(found.length, "turn") : `${at + 1} of ${counted(found.length, "turn")}`;
}

function perform(key: TurnKey | "show"): void {
  const kinds = outline?.kinds ?? "";
  const from = current >= 0 && current >= flow.position - 1 && current <= flow.last ? current : flow.position;
  switch (key) {
    case "next":
      return go(Math.min(from + 1, kinds.length - 1));
    case "previous":
      return go(Math.max(from - 1, 0));
    case "nextPrompt":
    case "previousPrompt": {
      const next = promptFrom(kinds, from, key === "nextPrompt" ? 1 : -1);
      if (next === undefined) say(key === "nextPrompt" ? "There is no later prompt." : "There is no earlier prompt.");
      return go(next);
    }
    case "first":
      return go(0);
    case "last":
      return go(kinds.length - 1);
    case "find":
      findBox.select();
      return findBox.focus();
    case "nextFound":
    case "previousFound":
      if (findBox.value.trim() !== words) return find();
      go(foundFrom(found, current, key === "nextFound" ? 1 : -1));
      return showCount();
    case "show":
      jump(current);
      return showCount();
    case "toggle":
      return toggle(from);
    case "help":
      return help.open();
  }
}

function go(at: number | undefined): void {
  if (at === undefined || at < 0) return;
  jump(at);
  const turn = turns.get(at);
  say(`Turn ${at + 1} of ${outline?.kinds.length ?? 0}${turn === undefined ? "" : `, ${turn.role === "user" ? "you" : "the agent"}`}.`);
}

/** Unfolds the calls of a turn, or folds them if all are unfolded. */
function toggle(at: number): void {
  const calls = [...(flow.element(at)?.querySelectorAll("details") ?? [])];
  const open = calls.some((call) => !call.open);
  for (const call of calls) call.open = open;
}

function tell(text: string): void {
  notice.replaceChildren(...(text === "" ? [] : [h("p", {}, plain(text))]));
}

function say(text: string): void {
  live.textContent = text;
}

function save(): void {
  position = flow.position;
  if (outline !== undefined) vscode.setState({ id: outline.session.id, position });
}

function savedPosition(state: unknown): number {
  const saved = typeof state === "object" && state !== null && "position" in state ? state.position : undefined;
  return typeof saved === "number" && saved >= 0 ? saved : 0;
}

/** Unfolds the calls of the current turn that contain the searched words. */
function unfoldFound(): void {
  const element = flow.element(current);
  if (element === undefined || words === "") return;
  for (const call of element.querySelectorAll("details")) if (!call.open && foundIn(call, words)) call.open = true;
}
