// The webview of the transcript viewer: a whole session, of which only the visible part is loaded and drawn.
import type { OutlineView, SessionTurn, SessionView } from "../../../protocol";
import { durationText, momentText, sessionSeconds, tokensText, workText } from "../../../text/sessionwording";
import { type FromTranscript, maxFindText, maxRemembered, type ToTranscript } from "../messages";
import { beginning, counted, plainText, wholeWords } from "../../../text/wording";
import { button, h } from "../../shared/web/dom";
import { type ListPlace, VirtualList } from "./virtuallist";
import { estimateTurnHeight } from "./heights";
import { helpDialog } from "../../shared/web/help";
import { containsText, highlightMatches } from "./highlights";
import { type MarkdownActions, markdownBlocks } from "./markdown";
import { spellOutHidden } from "../../shared/web/text";
import { type CallOutput, fillOutput, turnArticle, type TurnContext, placeholderArticle } from "./turn";
import { nextMatch, nextPrompt, turnHelpRows, type TurnKeyAction, turnKeyAction } from "./turnkeys";

/** What is kept while another tab covers the panel. */
interface SavedState {
  readonly id: string;
  readonly position: ListPlace;
  /** The calls that are unfolded, as in `openCalls`. */
  readonly open: readonly string[];
  readonly summaryOpen: boolean;
}

declare function acquireVsCodeApi(): { postMessage(message: FromTranscript): void; getState(): SavedState | undefined; setState(state: SavedState): void };

const vscode = acquireVsCodeApi();
/** Turns per request. */
const turnsPerRequest = 60;
/** Turns kept in memory; beyond that, distant ones are dropped. */
const maxLoadedTurns = 2000;
const findDelayMs = 250;

let outline: OutlineView | undefined;
const saved = vscode.getState();
/** The turn that keys act on, and the one that was jumped to. */
let currentTurn = -1;
let jumpTarget = -1;
let isLoading = false;
let searchText = "";
/** The messages that contain the searched text; undefined until the host has answered. */
let matches: readonly number[] | undefined;
const turns = new Map<number, SessionTurn>();
const openCalls = new Set(saved?.open);
/** What calls printed, as far as the person unfolded them, by turn and call. */
const outputs = new Map<string, CallOutput>();
const markdownActions: MarkdownActions = {
  openFile: ({ path, line }) => vscode.postMessage({ type: "openFile", path, line }),
  copy: (text) => {
    vscode.postMessage({ type: "copy", text });
    announce("Copied.");
  },
};

const title = h("h1", { class: "heading" });
const factsLine = h("p", { class: "facts" });
const noteLine = h("p", { class: "note", role: "note" });
const summaryText = h("div", { class: "markdown" });
const summaryBox = h("details", { class: "summary" }, h("summary", {}, "Summary"), summaryText);
const rememberTitles = { on: "Make a memory of the selected words", off: "First select the words to make a memory of" };
const rememberButton = button("Add memory…", rememberSelection, { title: rememberTitles.off });
const resumeButton = button("Resume…", () => vscode.postMessage({ type: "resume" }), { title: "Continue this session with its agent" });
const notice = h("div", { class: "notice", role: "alert" });
const findBox = h("input", { class: "find", label: "Find in this session", attributes: { type: "search", placeholder: "Find in this session", spellcheck: "false", maxlength: String(maxFindText) } });
const findCount = h("span", { class: "found", role: "status" });
const rows = h("div", { class: "rows" });
const feed = h("div", { class: "feed", role: "feed", label: "Turns", attributes: { tabindex: "0" } }, rows);
const liveRegion = h("div", { class: "visually-hidden", role: "status", attributes: { "aria-live": "polite" } });
const help = helpDialog(turnHelpRows);
const virtualList = new VirtualList(feed, rows);

rememberButton.disabled = true;
summaryBox.open = saved?.summaryOpen ?? true;
document.getElementById("transcript")?.append(
  h(
    "header",
    { class: "head" },
    title,
    factsLine,
    h(
      "div",
      { class: "tools", role: "toolbar", label: "Session" },
      findBox,
      findCount,
      button("↑", () => perform("previousMatch"), { label: "Previous match", title: "Previous match (Shift+Enter)" }),
      button("↓", () => perform("nextMatch"), { label: "Next match", title: "Next match (Enter)" }),
      button("Previous prompt", () => perform("previousPrompt"), { title: "Previous prompt (p)" }),
      button("Next prompt", () => perform("nextPrompt"), { title: "Next prompt (n)" }),
      rememberButton,
      resumeButton,
      button("?", () => help.open(), { label: "Keyboard help", title: "Keyboard (?)" }),
    ),
  ),
  summaryBox,
  noteLine,
  notice,
  feed,
  liveRegion,
  help.element,
);

window.addEventListener("message", (event: MessageEvent<ToTranscript>) => handleMessage(event.data));
document.addEventListener("keydown", (event) => {
  if (help.element.open) return;
  if (event.target === findBox) {
    if (event.key === "Enter") perform(event.shiftKey ? "previousMatch" : "nextMatch");
    else if (event.key === "Escape") feed.focus();
    else return;
    event.preventDefault();
    return;
  }
  const key = turnKeyAction(event);
  if (key === undefined) return;
  event.preventDefault();
  perform(key);
});
let findTimer: ReturnType<typeof setTimeout> | undefined;
findBox.addEventListener("input", () => {
  clearTimeout(findTimer);
  findTimer = setTimeout(startFind, findDelayMs);
});
feed.addEventListener("scroll", () => saveState(), { passive: true });
summaryBox.addEventListener("toggle", () => saveState());
// the summary makes room once the person reads on; whoever unfolds it again keeps it
const foldSummary = (): void => {
  if (feed.scrollTop === 0) return;
  summaryBox.open = false;
  feed.removeEventListener("scroll", foldSummary);
};
if (saved === undefined || (saved.position.row === 0 && saved.position.offset <= 0)) feed.addEventListener("scroll", foldSummary, { passive: true });
vscode.postMessage({ type: "ready" });

function handleMessage(message: ToTranscript): void {
  switch (message.type) {
    case "session":
      return showSession(message.outline);
    case "turns":
      return addTurns(message.start, message.turns);
    case "output": {
      if (message.failed === "") outputs.set(`${message.turn}:${message.call}`, message);
      const at = [...turns].find(([, turn]) => turn.turn === message.turn)?.[0] ?? -1;
      const place = virtualList.rowElement(at)?.querySelector<HTMLElement>(`.output[data-call="${message.call}"]`);
      if (place) fillOutput(place, message);
      return highlightMatches(rows, searchText);
    }
    case "findResult":
      if (message.text !== searchText) return;
      matches = message.positions;
      showMatchCount();
      if (matches.length > 0) perform(matches.includes(currentTurn) ? "showCurrent" : "nextMatch");
      return;
    case "restricted":
      title.textContent = "Sessions are not shown in Restricted Mode.";
      notice.replaceChildren(h("p", {}, "No sessions on this machine are read until you trust this workspace. "), button("Manage Workspace Trust", () => vscode.postMessage({ type: "manageTrust" }), { class: "primary" }));
      return;
    case "failed":
      isLoading = false;
      return showNotice(message.message);
  }
}

function showSession(next: OutlineView): void {
  const isFirstOutline = outline === undefined;
  for (const at of [...turns.keys()]) if (next.kinds[at] !== outline?.kinds[at] || next.sizes[at] !== outline?.sizes[at]) turns.delete(at); // changed since
  outline = next;
  showNotice("");
  title.textContent = plainText(next.session.title);
  factsLine.textContent = sessionFacts(next.session);
  resumeButton.hidden = next.resume === "";
  noteLine.textContent = spellOutHidden(next.note);
  noteLine.hidden = next.note === "";
  summaryText.replaceChildren(...markdownBlocks(next.summary, markdownActions));
  summaryBox.hidden = next.summary === "";
  const { kinds, sizes } = next;
  if (kinds === "" && next.note === "") showNotice("This session has no messages.");
  virtualList.setContent({ count: kinds.length, estimateHeight: (at) => estimateTurnHeight(sizes[at] ?? 0), createRow, onDraw: requestTurns });
  if (next.at >= 0) jumpToTurn(next.at);
  else if (isFirstOutline && saved !== undefined) virtualList.scrollTo({ ...saved.position, row: Math.min(saved.position.row, Math.max(kinds.length - 1, 0)) });
  if (isFirstOutline && document.hasFocus()) feed.focus();
  saveState();
}

function sessionFacts(session: SessionView): string {
  const seconds = sessionSeconds(session);
  return [
    session.agent,
    momentText(session.started) || "at an unknown time",
    ...(seconds === undefined ? [] : [durationText(seconds)]),
    ...(session.branches.length > 0 ? [`branch ${session.branches.map(spellOutHidden).join(", ")}`] : []),
    session.models.length > 0 ? session.models.map(spellOutHidden).join(", ") : "model not recorded",
    `tokens ${tokensText(session)}`,
    workText(session),
    ...(session.parent === "" ? [] : [`a subagent of ${spellOutHidden(session.parent).slice(0, 8)}`]),
  ].join(" · ");
}

function createRow(at: number): HTMLElement {
  const context = { position: at, count: outline?.kinds.length ?? 0, agent: outline?.session.agent ?? "The agent", folder: outline?.session.folder ?? "", sessionStart: outline?.session.started ?? "" };
  const turn = turns.get(at);
  const article = turn === undefined ? placeholderArticle(context, estimateTurnHeight(outline?.sizes[at] ?? 0)) : renderTurn(turn, at, context);
  article.classList.toggle("target", at === jumpTarget);
  return article;
}

function renderTurn(turn: SessionTurn, at: number, context: TurnContext): HTMLElement {
  return turnArticle(turn, context, {
    ...markdownActions,
    showWhole: () => vscode.postMessage({ type: "loadWholeTurn", position: at }),
    copyWhole: () => {
      vscode.postMessage({ type: "copyWholeTurn", position: at });
      announce("Copied.");
    },
    openDiff: (call) => vscode.postMessage({ type: "openDiff", turn: turn.turn, call }),
    output: (call) => outputs.get(`${turn.turn}:${call}`),
    loadOutput: (call) => vscode.postMessage({ type: "loadOutput", turn: turn.turn, call }),
    isCallOpen: (call) => openCalls.has(`${at}:${call}`),
    onCallToggle: (call, open) => {
      if (open) openCalls.add(`${at}:${call}`);
      else openCalls.delete(`${at}:${call}`);
      saveState();
      highlightMatches(rows, searchText);
    },
  });
}

/** A click on a button may clear the selection, so it is kept while it lasts. */
let selectedWords = "";
let selectedTurn = "";
document.addEventListener("selectionchange", () => {
  const selection = document.getSelection();
  const words = selection === null ? "" : selectedWholeWords(selection);
  if (words.trim() !== "" || document.activeElement !== rememberButton) {
    selectedWords = words;
    selectedTurn = words.trim() === "" ? "" : turnOf(selection?.getRangeAt(0).startContainer);
  }
  rememberButton.disabled = selectedWords.trim() === "";
  rememberButton.title = rememberButton.disabled ? rememberTitles.off : rememberTitles.on;
});

/** The selected text; a word of which only a part is selected is taken as a whole. */
function selectedWholeWords(selection: Selection): string {
  const words = selection.toString();
  if (words.trim() === "") return words;
  const { startContainer, startOffset, endContainer, endOffset } = selection.getRangeAt(0);
  const before = startContainer instanceof Text ? startContainer.data.slice(0, startOffset) : "";
  const after = endContainer instanceof Text ? endContainer.data.slice(endOffset) : "";
  return wholeWords(before, words, after);
}

function rememberSelection(): void {
  if (selectedWords.trim() !== "") vscode.postMessage({ type: "remember", text: beginning(selectedWords, maxRemembered), turn: selectedTurn });
}

/** The id of the turn that contains a node, "" if none does. */
function turnOf(node: Node | undefined): string {
  const position = node?.parentElement?.closest("[data-position]")?.getAttribute("data-position");
  return turns.get(Number(position ?? -1))?.turn ?? "";
}

/** Requests the first visible turns that are not loaded. */
function requestTurns(first: number, last: number): void {
  if (isLoading || outline === undefined) return;
  for (let at = first; at <= last; at++) {
    if (turns.has(at)) continue;
    isLoading = true;
    vscode.postMessage({ type: "loadTurns", start: at, count: turnsPerRequest });
    return;
  }
}

function addTurns(start: number, loaded: readonly SessionTurn[]): void {
  isLoading = false;
  if (turns.size > maxLoadedTurns) for (const at of [...turns.keys()]) if (Math.abs(at - virtualList.firstVisible) > maxLoadedTurns / 4) turns.delete(at);
  loaded.forEach((turn, at) => turns.set(start + at, turn));
  if (loaded.length === 0) return; // the session got shorter; its next outline says so
  virtualList.removeRows(loaded.map((_, at) => start + at));
  virtualList.draw();
  openMatchingCalls();
  highlightMatches(rows, searchText);
  if (loaded.some((_, at) => start + at === currentTurn) && document.activeElement !== findBox) focusCurrentTurn();
}

function jumpToTurn(at: number): void {
  const previousTarget = jumpTarget;
  jumpTarget = currentTurn = at;
  for (const changed of [previousTarget, at]) virtualList.rowElement(changed)?.classList.toggle("target", changed === at);
  virtualList.scrollToRow(at);
  openMatchingCalls();
  highlightMatches(rows, searchText);
  if (document.activeElement !== findBox) focusCurrentTurn();
  saveState();
}

function focusCurrentTurn(): void {
  virtualList.rowElement(currentTurn)?.focus({ preventScroll: true });
}

function startFind(): void {
  searchText = findBox.value.trim();
  matches = undefined;
  highlightMatches(rows, searchText);
  showMatchCount();
  if (searchText !== "") vscode.postMessage({ type: "find", text: searchText });
}

function showMatchCount(): void {
  const at = matches?.indexOf(currentTurn) ?? -1;
  findCount.textContent = searchText === "" || matches === undefined ? "" : matches.length === 0 ? "no matches" : at < 0 ? counted(matches.length, "message") : `${at + 1} of ${counted(matches.length, "message")}`;
}

function perform(key: TurnKeyAction | "showCurrent"): void {
  const kinds = outline?.kinds ?? "";
  const from = currentTurn >= 0 && currentTurn >= virtualList.firstVisible - 1 && currentTurn <= virtualList.lastVisible ? currentTurn : virtualList.firstVisible;
  switch (key) {
    case "next":
      return goToTurn(Math.min(from + 1, kinds.length - 1));
    case "previous":
      return goToTurn(Math.max(from - 1, 0));
    case "nextPrompt":
    case "previousPrompt": {
      const next = nextPrompt(kinds, from, key === "nextPrompt" ? 1 : -1);
      if (next === undefined) announce(key === "nextPrompt" ? "There is no later prompt." : "There is no earlier prompt.");
      return goToTurn(next);
    }
    case "first":
      return goToTurn(0);
    case "last":
      return goToTurn(kinds.length - 1);
    case "find":
      findBox.select();
      return findBox.focus();
    case "nextMatch":
    case "previousMatch":
      if (findBox.value.trim() !== searchText) return startFind();
      goToTurn(nextMatch(matches ?? [], currentTurn, key === "nextMatch" ? 1 : -1));
      return showMatchCount();
    case "showCurrent":
      jumpToTurn(currentTurn);
      return showMatchCount();
    case "toggle":
      return toggleCalls(from);
    case "help":
      return help.open();
  }
}

function goToTurn(at: number | undefined): void {
  if (at === undefined || at < 0) return;
  jumpToTurn(at);
  const turn = turns.get(at);
  announce(`Message ${at + 1} of ${outline?.kinds.length ?? 0}${turn === undefined ? "" : `, ${turn.role === "user" ? "you" : "the agent"}`}.`);
}

/** Unfolds the calls of a turn, or folds them if all are unfolded. */
function toggleCalls(at: number): void {
  const calls = [...(virtualList.rowElement(at)?.querySelectorAll("details") ?? [])];
  const open = calls.some((call) => !call.open);
  for (const call of calls) call.open = open;
}

function showNotice(text: string): void {
  notice.replaceChildren(...(text === "" ? [] : [h("p", {}, spellOutHidden(text))]));
}

function announce(text: string): void {
  liveRegion.textContent = text;
}

function saveState(): void {
  if (outline !== undefined) vscode.setState({ id: outline.session.place, position: virtualList.place, open: [...openCalls], summaryOpen: summaryBox.open });
}

/** Unfolds the calls of the current turn that contain the searched words. */
function openMatchingCalls(): void {
  const element = virtualList.rowElement(currentTurn);
  if (element === undefined || searchText === "") return;
  for (const call of element.querySelectorAll("details")) if (!call.open && containsText(call, searchText)) call.open = true;
}
