// The webview of the review panel: keeps the model, draws it, and sends the person's actions to the host.
import { counted } from "../../../text/wording";
import { type FromWebview, maxLeftOut, parseToWebview, type ToWebview } from "../messages";
import type { CandidateView, LeftOutView, NeighbourAnswer } from "../../../protocol";
import { answersFor, type Choice, doneText, keepBoth, neighboursOf } from "./answers";
import { candidateDetail } from "./detail";
import { difference } from "./difference";
import { h } from "../../shared/web/dom";
import { emptyState } from "./empty";
import { holdFocus, restoreFocus } from "./focus";
import { footSection } from "./foot";
import { editForm, showMemory } from "./form";
import { helpDialog } from "../../shared/web/help";
import { actionOf, helpRows, type KeyAction } from "../../shared/web/keys";
import { leftOutSection, leftOutStep } from "./leftout";
import { CandidateList } from "./list";
import { draftText, renderLostDraft } from "./lost";
import { answered, applyLeftOut, applyList, ask, changedMemory, choiceOf, chooseNeighbour, type Draft, draftOf, dropDraft, emptyModel, keepDraft, lostDrafts, type Model, moveSelection, neighbourOf, orderOf, parseSaved, type Saved, selectedOf, showRoot, startChange, startDraft, undoOf, undoTitleOf, want } from "./state";
import { markChosen } from "./neighbours";
import { plain } from "../../shared/web/text";

declare function acquireVsCodeApi(): { postMessage(message: FromWebview): void; getState(): unknown; setState(state: Saved): void };

const vscode = acquireVsCodeApi();
const saved = parseSaved(vscode.getState());

// without a root until the host sends one: an earlier list may have been meant for the previous page
let model: Model = { ...emptyModel, selected: saved?.selected, drafts: saved?.drafts ?? [] };
let footOpen = saved?.foot ?? false;
let leftOutOpen = saved?.leftOut ?? false;
/** How many left-out items to request while their section is open. */
let leftOutMost = leftOutStep;
let scrollTop = saved?.scrollTop ?? 0;
let drawn = "";
let drawnCandidate: CandidateView | undefined;
let drawnFoot: readonly unknown[] = [];
let drawnLost: readonly Draft[] = [];
/** Whether a form takes the focus when drawn: after the panel is restored, but not while moving through the list. */
let formTakesFocus = true;
/** Whether the notice shows a failed listing, which the next list clears. */
let listFailed = false;

const list = new CandidateList((id) => update({ ...model, selected: id }));
const heading = h("h1", { class: "heading" }, "Lerim Review");
const count = h("span", { class: "count" });
const syncText = h("span", { class: "sync-text" });
const restricted = h("p", { class: "restricted", role: "note" });
const detail = h("section", { class: "detail", label: "Candidate", attributes: { tabindex: "-1" } });
const foot = h("footer", { class: "foot" });
const live = h("div", { class: "visually-hidden live", role: "status", attributes: { "aria-live": "polite" } });
/** The last action, visible as well as read by screen readers. */
const done = h("p", { class: "done", role: "status" });
const notice = h("div", { class: "notice", role: "alert" });
const lost = h("div", { class: "lost" });
const keys = h("p", { class: "visually-hidden", id: "list-keys" }, "a accepts, e edits, r rejects, u undoes, o opens the turn, 1 to 3 go to similar memories, question mark lists all keys.");
const help = helpDialog(helpRows);
const columns = h("div", { class: "columns" }, list.element, detail);

document.getElementById("review")?.append(
  h("header", { class: "head" }, heading, count, syncText, h("button", { class: "button link help-button", label: "Keyboard help", title: "Keyboard (?)", onClick: () => help.open(), attributes: { type: "button" } }, "?")),
  restricted,
  notice,
  lost,
  keys,
  columns,
  done,
  foot,
  live,
  help.element,
);

window.addEventListener("message", (event: MessageEvent<unknown>) => {
  const message = parseToWebview(event.data);
  if (message === undefined) note("The panel received a message that it does not understand. Run Lerim: Show Log for details.");
  else receive(message);
});
window.addEventListener("focus", () => {
  if (document.activeElement === document.body) focusList();
});
document.addEventListener("keydown", (event) => {
  const { target } = event;
  if (help.element.open || target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) return;
  const action = actionOf(event, target instanceof Node && detail.contains(target));
  if (action === undefined) return;
  event.preventDefault();
  perform(action);
});
list.element.addEventListener("scroll", () => {
  scrollTop = list.element.scrollTop;
  save();
}, { passive: true });
vscode.postMessage({ type: "ready" });

function receive(message: ToWebview): void {
  switch (message.type) {
    case "root":
      drawn = "";
      askLeftOut();
      return update(showRoot(model.root === "" ? { ...model, root: saved?.root ?? "" } : model, message.root, message.name, message.restricted));
    case "list": {
      const first = model.list === undefined;
      const before = orderOf(model).length;
      if (listFailed) note("");
      update(applyList(model, message));
      if (first) {
        list.element.scrollTop = scrollTop;
        if (document.hasFocus() && document.activeElement === document.body) focusList();
      } else if (orderOf(model).length > before) {
        say(`${counted(orderOf(model).length, "candidate")}.`);
      }
      return;
    }
    case "leftOut":
      return update(applyLeftOut(model, message.root, message.items, message.total));
    case "select":
      update(want(model, message.id));
      list.reveal();
      return;
    case "sync":
      return update({ ...model, sync: { running: message.running, text: message.text } });
    case "acted":
      return acted(message);
    case "failed":
      note(message.message);
      listFailed = message.of === "list";
      return;
  }
}

function acted(message: ToWebview & { type: "acted" }): void {
  const sent = model.asked.get(message.id);
  const title = model.candidates.get(message.id)?.title ?? model.leftOut?.find(({ id }) => id === message.id)?.title ?? "";
  update(answered(model, message));
  if (!message.ok) return note(message.message, message.diff);
  note("");
  const verb = { accept: "Accepted", reject: "Rejected", edit: "Saved", undo: "Undone", propose: "Proposed" }[message.action];
  list.reveal();
  const told = (message.action === "accept" || message.action === "undo") && message.message !== "" ? plain(message.message) : `${verb}${title === "" ? "" : `: ${plain(title)}`}`;
  // for an action done earlier elsewhere there is no undo, and the sidecar's message is shown
  const words = message.undo === null || sent === undefined || sent.done === "" ? told : sent.done;
  done.textContent = `${words}. ${counted(orderOf(model).length, "candidate")} left.`;
}

/** Shows an error, with a diff of what changed meanwhile, until the next result. */
function note(text: string, diff = ""): void {
  listFailed = false;
  done.textContent = "";
  notice.replaceChildren(...(text === "" ? [] : [h("p", {}, plain(text))]), ...(diff === "" ? [] : [difference(diff, "What changed")]));
}

function update(next: Model): void {
  const moved = next.selected !== model.selected;
  model = next;
  draw();
  if (model.list !== undefined) formTakesFocus = false;
  if (moved) list.reveal();
  save();
}

function save(): void {
  vscode.setState({ root: model.root === "" ? (saved?.root ?? "") : model.root, selected: model.selected, scrollTop, drafts: model.drafts, foot: footOpen, leftOut: leftOutOpen });
}

function draw(): void {
  const order = orderOf(model);
  heading.textContent = model.name === "" ? "Lerim Review" : `Lerim Review: ${plain(model.name)}`;
  count.textContent = model.list === undefined ? "" : counted(order.length, "candidate");
  syncText.textContent = model.sync.running ? `Syncing: ${model.sync.text}` : "";
  restricted.hidden = !model.restricted;
  restricted.textContent = model.restricted ? "Restricted Mode: The memories in this folder come from the repository. Nothing is synced, written or sent until you trust this folder." : "";
  columns.classList.toggle("empty", order.length === 0);
  list.element.hidden = order.length === 0;
  list.update(order, model.candidates, model.selected);
  drawLost();
  drawDetail();
  drawFoot();
}

function drawLost(): void {
  const drafts = lostDrafts(model);
  if (drafts.length === drawnLost.length && drafts.every((draft, at) => draft === drawnLost[at])) return;
  if (drafts.some((draft) => !drawnLost.includes(draft))) say("The candidate you were editing is no longer waiting for review. Your text is kept.");
  const within = lost.contains(document.activeElement);
  drawnLost = drafts;
  const copy = (draft: Draft): void => {
    vscode.postMessage({ type: "copy", text: draftText(draft) });
    say("Copied.");
  };
  const discard = (draft: Draft): void => update(dropDraft(model, draft));
  lost.replaceChildren(...drafts.map((draft) => renderLostDraft(draft, { copy, discard })));
  if (within) focusList();
}

function drawFoot(): void {
  const shown = [model.list, model.leftOut, model.asked, model.restricted];
  if (shown.every((value, at) => value === drawnFoot[at])) return;
  drawnFoot = shown;
  const restore = holdFocus(foot, focusList);
  const leftOut = leftOutSection(model, leftOutOpen, { toggled: toggleLeftOut, propose, more: moreLeftOut });
  const section = footSection(model, footOpen, (open) => {
    footOpen = open;
    save();
  });
  foot.replaceChildren(...[leftOut, section].filter((part) => part !== undefined));
  restore();
}

function toggleLeftOut(open: boolean): void {
  if (open === leftOutOpen) return;
  leftOutOpen = open;
  askLeftOut();
  save();
}

function moreLeftOut(): void {
  leftOutMost = Math.min(leftOutMost + leftOutStep, maxLeftOut);
  askLeftOut();
}

function askLeftOut(): void {
  vscode.postMessage({ type: "leftOut", most: leftOutOpen ? leftOutMost : 0 });
}

function propose({ id, scope }: LeftOutView): void {
  if (model.asked.has(id)) return;
  vscode.postMessage({ type: "propose", id, scope });
  update(ask(model, id, undefined));
}

/** Draws the right side only if it would differ, so that a text being edited and the focus are kept. */
function drawDetail(): void {
  const candidate = selectedOf(model);
  const draft = draftOf(model, candidate?.id);
  const undoTitle = undoTitleOf(model);
  const empty = `empty ${model.list === undefined} ${model.sync.running} ${model.restricted} ${undoTitle}`;
  const key = draft !== undefined ? `draft ${draft.id}` : candidate !== undefined ? `candidate ${candidate.id} ${undoTitle}` : empty;
  if (key === drawn && draft !== undefined) return drawChanged(draft, candidate);
  if (key === drawn && candidate === drawnCandidate) return;
  const edited = drawn.startsWith("draft ") ? drawn.slice("draft ".length) : undefined;
  const focused = document.activeElement;
  // in a document without focus, moving the active element would take the focus from where it is
  const within = document.hasFocus() && focused !== null && detail.contains(focused) ? focused : undefined;
  const same = drawnCandidate === candidate;
  drawn = key;
  drawnCandidate = candidate;
  if (draft !== undefined) {
    detail.replaceChildren(editForm(draft, changedMemory(draft, candidate), { changed, save: () => act("edit"), saveAndAccept: () => act("accept"), cancel: cancelEdit }));
    if (formTakesFocus) detail.querySelector<HTMLElement>("#edit-title")?.focus();
    else if (within !== undefined) restoreFocus({ detail, lost, edited, focused: undefined }, focusList);
    return;
  }
  if (candidate === undefined) {
    detail.replaceChildren(
      emptyState({ loading: model.list === undefined, syncing: model.sync.running, restricted: model.restricted, undoTitle }, { sync: () => vscode.postMessage({ type: "sync" }), undo: () => perform("undo"), trust: () => vscode.postMessage({ type: "manageTrust" }) }),
    );
  } else {
    detail.replaceChildren(
      candidateDetail(
        candidate,
        neighbourOf(model)?.id ?? "",
        {
          answer,
          choose,
          accept: () => perform("accept"),
          edit: () => perform("edit"),
          reject: () => perform("reject"),
          undo: () => perform("undo"),
          openTurn: (session, turn) => vscode.postMessage({ type: "openTurn", session, turn }),
          openReference: (reference) => vscode.postMessage({ type: "openReference", reference }),
          openTarget: (target) => vscode.postMessage({ type: "openTarget", id: candidate.id, target }),
        },
        { act: !model.restricted, undo: undoTitle !== "", undoTitle },
      ),
    );
    if (!same) detail.scrollTop = 0;
  }
  if (within !== undefined) restoreFocus({ detail, lost, edited, focused: within }, focusList);
}

/** Updates a memory's text beside the form if its file changed. */
function drawChanged(draft: Draft, candidate: CandidateView | undefined): void {
  const before = drawnCandidate;
  drawnCandidate = candidate;
  if (draft.change === undefined || before === undefined || changedMemory(draft, before)?.hash === changedMemory(draft, candidate)?.hash) return;
  showMemory(detail, changedMemory(draft, candidate));
  note("The memory you are changing was changed elsewhere. Its text is shown as it is now; yours is kept.");
}

function focusList(): void {
  if (list.element.hidden) detail.focus();
  else list.element.focus();
}

function changed(draft: Draft): void {
  model = keepDraft(model, draft);
  save();
}

function cancelEdit(): void {
  const id = model.selected ?? "";
  update(dropDraft(model, { root: model.root, id }));
  focusList();
}

/** Requests an action on the selected candidate. Accepting includes an unsaved edit. */
function act(action: "accept" | "reject" | "edit", chosen: Choice | null = null): void {
  const candidate = selectedOf(model);
  if (candidate === undefined || model.restricted || model.asked.has(candidate.id)) return;
  const draft = action === "reject" ? undefined : draftOf(model, candidate.id);
  if (action === "edit" && draft === undefined) return;
  const edit = draft === undefined ? null : { title: draft.title, body: draft.body, tags: draft.tags };
  const choice = action === "accept" ? (chosen ?? choiceOf(draft, candidate)) : null;
  vscode.postMessage({ type: "act", id: candidate.id, action, edit, choice });
  update(ask(model, candidate.id, draft, action === "accept" ? doneText(candidate, choice) : ""));
}

/** Applies the person's answer about the selected candidate and a similar memory; "changes" opens the form first. */
function answer(answer: NeighbourAnswer, memory: string): void {
  const candidate = selectedOf(model);
  if (candidate === undefined || draftOf(model, candidate.id) !== undefined) return;
  if (answer === "keep") {
    if (candidate.neighbours.length > 0 || candidate.suggested !== null) act("accept", keepBoth);
    return;
  }
  const neighbour = candidate.neighbours.find(({ id }) => id === memory);
  if (neighbour === undefined || !answersFor(candidate, neighbour).includes(answer)) return;
  if (answer !== "changes") return act("accept", { answer, memory, hash: neighbour.hash });
  update(startChange(model, neighbour));
  detail.querySelector<HTMLElement>("#edit-title")?.focus();
}

/** Makes keys act on this neighbour. */
function choose(memory: string): void {
  model = chooseNeighbour(model, memory);
  markChosen(detail, memory);
}

function goToNeighbour(position: number): void {
  const candidate = selectedOf(model);
  const neighbour = candidate === undefined ? undefined : neighboursOf(candidate)[position];
  if (neighbour === undefined) return;
  choose(neighbour.id);
  detail.querySelector<HTMLElement>(`#neighbour-${position}`)?.focus();
}

function undo(): void {
  const action = undoOf(model);
  if (action === undefined) return;
  vscode.postMessage({ type: "undo", action });
  update({ ...model, undoing: true });
}

function perform(action: KeyAction): void {
  const candidate = selectedOf(model);
  switch (action) {
    case "next":
      return update(moveSelection(model, 1));
    case "previous":
      return update(moveSelection(model, -1));
    case "first":
      return update(moveSelection(model, -orderOf(model).length));
    case "last":
      return update(moveSelection(model, orderOf(model).length));
    case "pageDown":
      return update(moveSelection(model, list.page));
    case "pageUp":
      return update(moveSelection(model, -list.page));
    case "accept":
    case "reject":
      return act(action);
    case "edit":
      update(startDraft(model));
      detail.querySelector<HTMLElement>("#edit-title")?.focus();
      return;
    case "undo":
      return undo();
    case "keepBoth":
      return answer("keep", "");
    case "same":
    case "replaces":
    case "changes":
    case "answers":
      return answer(action, neighbourOf(model)?.id ?? "");
    case "neighbour1":
    case "neighbour2":
    case "neighbour3":
      return goToNeighbour(Number(action.slice(-1)) - 1);
    case "openTurn":
      if (candidate === undefined) return;
      if (candidate.session !== "") vscode.postMessage({ type: "openTurn", session: candidate.session, turn: candidate.evidence[0]?.turn ?? candidate.turn });
      else if (candidate.targets[0] !== undefined) vscode.postMessage({ type: "openTarget", id: candidate.id, target: candidate.targets[0].id });
      return;
    case "help":
      return help.open();
  }
}

function say(text: string): void {
  live.textContent = text;
}
