// The webview of the review panel: keeps the model, draws it, and sends the person's actions to the host.
import { counted } from "../../../text/wording";
import { type FromWebview, maxLeftOut, type ToWebview } from "../messages";
import type { CandidateView, LeftOutView, NeighbourAnswer } from "../../../protocol";
import { answersFor, type Choice, acceptedText, keepBoth, rankedNeighbours } from "./answers";
import { candidateDetail } from "./detail";
import { difference } from "./difference";
import { h } from "../../shared/web/dom";
import { emptyState } from "./empty";
import { rememberFocus, restoreFocus } from "./focus";
import { footSection, leftOutSection, leftOutPageSize } from "./foot";
import { draftText, editForm, renderLostDraft, showMemory } from "./form";
import { helpDialog } from "../../shared/web/help";
import { reviewKeyAction, reviewHelpRows, type ReviewKeyAction } from "../../shared/web/keys";
import { CandidateList } from "./list";
import { applyResult, applyLeftOut, applyList, addRequest, changedMemory, draftChoice, chooseNeighbour, type Draft, findDraft, removeDraft, initialModel, replaceDraft, lostDrafts, type Model, moveSelection, activeNeighbour, candidateOrder, parseSavedState, type SavedState, selectedCandidate, switchRoot, startMemoryChange, startDraft, actionToUndo, undoButtonTitle, selectCandidate } from "./state";
import { markChosen } from "./neighbours";
import { spellOutHidden } from "../../shared/web/text";

declare function acquireVsCodeApi(): { postMessage(message: FromWebview): void; getState(): unknown; setState(state: SavedState): void };

const vscode = acquireVsCodeApi();
const saved = parseSavedState(vscode.getState());

// without a root until the host sends one: an earlier list may have been meant for the previous page
let model: Model = { ...initialModel, selected: saved?.selected, drafts: saved?.drafts ?? [] };
let isFootOpen = saved?.foot ?? false;
let isLeftOutOpen = saved?.leftOut ?? false;
/** How many left-out items to request while their section is open. */
let leftOutLimit = leftOutPageSize;
let scrollTop = saved?.scrollTop ?? 0;
let drawnDetailKey = "";
let drawnCandidate: CandidateView | undefined;
let drawnFootInputs: readonly unknown[] = [];
let drawnLostDrafts: readonly Draft[] = [];
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
const liveRegion = h("div", { class: "visually-hidden live", role: "status", attributes: { "aria-live": "polite" } });
/** The last action, visible as well as read by screen readers. */
const lastActionText = h("p", { class: "done", role: "status" });
const notice = h("div", { class: "notice", role: "alert" });
const lostDraftList = h("div", { class: "lost" });
const keysHint = h("p", { class: "visually-hidden", id: "list-keys" }, "a accepts, e edits, r rejects, u undoes, o opens the transcript, 1 to 3 go to similar memories, question mark lists all keys.");
const help = helpDialog(reviewHelpRows);
const columns = h("div", { class: "columns" }, list.element, detail);

document.getElementById("review")?.append(
  h("header", { class: "head" }, heading, count, syncText, h("button", { class: "button link help-button", label: "Keyboard help", title: "Keyboard (?)", onClick: () => help.open(), attributes: { type: "button" } }, "?")),
  restricted,
  notice,
  lostDraftList,
  keysHint,
  columns,
  lastActionText,
  foot,
  liveRegion,
  help.element,
);

window.addEventListener("message", (event: MessageEvent<ToWebview>) => handleMessage(event.data));
window.addEventListener("focus", () => {
  if (document.activeElement === document.body) focusList();
});
document.addEventListener("keydown", (event) => {
  const { target } = event;
  if (help.element.open || target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) return;
  const action = reviewKeyAction(event, target instanceof Node && detail.contains(target));
  if (action === undefined) return;
  event.preventDefault();
  perform(action);
});
list.element.addEventListener("scroll", () => {
  scrollTop = list.element.scrollTop;
  saveState();
}, { passive: true });
vscode.postMessage({ type: "ready" });

function handleMessage(message: ToWebview): void {
  switch (message.type) {
    case "root":
      drawnDetailKey = "";
      requestLeftOut();
      return update(switchRoot(model.root === "" ? { ...model, root: saved?.root ?? "" } : model, message.root, message.name, message.restricted));
    case "list": {
      const isFirstList = model.list === undefined;
      const previousCount = candidateOrder(model).length;
      if (listFailed) showNotice("");
      update(applyList(model, message));
      if (isFirstList) {
        list.element.scrollTop = scrollTop;
        if (document.hasFocus() && document.activeElement === document.body) focusList();
      } else if (candidateOrder(model).length > previousCount) {
        announce(`${counted(candidateOrder(model).length, "candidate")}.`);
      }
      return;
    }
    case "leftOut":
      return update(applyLeftOut(model, message.root, message.items, message.total));
    case "select":
      update(selectCandidate(model, message.id));
      list.reveal();
      return;
    case "sync":
      return update({ ...model, sync: { running: message.running, text: message.text } });
    case "actionResult":
      return showResult(message);
    case "failed":
      showNotice(message.message);
      listFailed = message.operation === "list";
      return;
  }
}

function showResult(message: ToWebview & { type: "actionResult" }): void {
  const request = model.pendingRequests.get(message.id);
  const title = model.candidates.get(message.id)?.title ?? model.leftOut?.find(({ id }) => id === message.id)?.title ?? "";
  update(applyResult(model, message));
  if (!message.ok) return showNotice(message.message, message.diff);
  showNotice("");
  const verb = { accept: "Accepted", reject: "Rejected", edit: "Saved", undo: "Undone", propose: "Proposed" }[message.action];
  list.reveal();
  const resultText = (message.action === "accept" || message.action === "undo") && message.message !== "" ? spellOutHidden(message.message) : `${verb}${title === "" ? "" : `: ${spellOutHidden(title)}`}`;
  // for an action done earlier elsewhere there is no undo, and the sidecar's message is shown
  const statusText = message.undo === null || request === undefined || request.successText === "" ? resultText : request.successText;
  lastActionText.textContent = `${statusText}. ${counted(candidateOrder(model).length, "candidate")} left.`;
}

/** Shows an error, with a diff of what changed meanwhile, until the next result. */
function showNotice(text: string, diff = ""): void {
  listFailed = false;
  lastActionText.textContent = "";
  notice.replaceChildren(...(text === "" ? [] : [h("p", {}, spellOutHidden(text))]), ...(diff === "" ? [] : [difference(diff, "What changed")]));
}

function update(next: Model): void {
  const selectionChanged = next.selected !== model.selected;
  model = next;
  draw();
  if (model.list !== undefined) formTakesFocus = false;
  if (selectionChanged) list.reveal();
  saveState();
}

function saveState(): void {
  vscode.setState({ root: model.root === "" ? (saved?.root ?? "") : model.root, selected: model.selected, scrollTop, drafts: model.drafts, foot: isFootOpen, leftOut: isLeftOutOpen });
}

function draw(): void {
  const order = candidateOrder(model);
  heading.textContent = model.name === "" ? "Lerim Review" : `Lerim Review: ${spellOutHidden(model.name)}`;
  count.textContent = model.list === undefined ? "" : counted(order.length, "candidate");
  syncText.textContent = model.sync.running ? `Syncing: ${model.sync.text}` : "";
  restricted.hidden = !model.restricted;
  restricted.textContent = model.restricted ? "Restricted Mode: The memories in this folder come from the repository. Nothing is synced, written or sent until you trust this folder." : "";
  columns.classList.toggle("empty", order.length === 0);
  list.element.hidden = order.length === 0;
  list.update(order, model.candidates, model.selected);
  drawLostDrafts();
  drawDetail();
  drawFoot();
}

function drawLostDrafts(): void {
  const drafts = lostDrafts(model);
  if (drafts.length === drawnLostDrafts.length && drafts.every((draft, at) => draft === drawnLostDrafts[at])) return;
  if (drafts.some((draft) => !drawnLostDrafts.includes(draft))) announce("The candidate you were editing is no longer waiting for review. Your text is kept.");
  const hadFocus = lostDraftList.contains(document.activeElement);
  drawnLostDrafts = drafts;
  const copy = (draft: Draft): void => {
    vscode.postMessage({ type: "copy", text: draftText(draft) });
    announce("Copied.");
  };
  const discard = (draft: Draft): void => update(removeDraft(model, draft));
  lostDraftList.replaceChildren(...drafts.map((draft) => renderLostDraft(draft, { copy, discard })));
  if (hadFocus) focusList();
}

function drawFoot(): void {
  const inputs = [model.list, model.leftOut, model.pendingRequests, model.restricted];
  if (inputs.every((value, at) => value === drawnFootInputs[at])) return;
  drawnFootInputs = inputs;
  const restoreFootFocus = rememberFocus(foot, focusList);
  const leftOut = leftOutSection(model, isLeftOutOpen, { onToggle: toggleLeftOut, propose, showMore: showMoreLeftOut });
  const section = footSection(model, isFootOpen, (open) => {
    isFootOpen = open;
    saveState();
  });
  foot.replaceChildren(...[leftOut, section].filter((part) => part !== undefined));
  restoreFootFocus();
}

function toggleLeftOut(open: boolean): void {
  if (open === isLeftOutOpen) return;
  isLeftOutOpen = open;
  requestLeftOut();
  saveState();
}

function showMoreLeftOut(): void {
  leftOutLimit = Math.min(leftOutLimit + leftOutPageSize, maxLeftOut);
  requestLeftOut();
}

function requestLeftOut(): void {
  vscode.postMessage({ type: "leftOut", most: isLeftOutOpen ? leftOutLimit : 0 });
}

function propose({ id, scope }: LeftOutView): void {
  if (model.pendingRequests.has(id)) return;
  vscode.postMessage({ type: "propose", id, scope });
  update(addRequest(model, id, undefined));
}

/** Draws the right side only if it would differ, so that a text being edited and the focus are kept. */
function drawDetail(): void {
  const candidate = selectedCandidate(model);
  const draft = findDraft(model, candidate?.id);
  const undoTitle = undoButtonTitle(model);
  const emptyKey = `empty ${model.list === undefined} ${model.sync.running} ${model.restricted} ${undoTitle}`;
  const key = draft !== undefined ? `draft ${draft.id}` : candidate !== undefined ? `candidate ${candidate.id} ${undoTitle}` : emptyKey;
  if (key === drawnDetailKey && draft !== undefined) return updateShownMemory(draft, candidate);
  if (key === drawnDetailKey && candidate === drawnCandidate) return;
  const editedId = drawnDetailKey.startsWith("draft ") ? drawnDetailKey.slice("draft ".length) : undefined;
  const focused = document.activeElement;
  // in a document without focus, moving the active element would take the focus from where it is
  const focusedInDetail = document.hasFocus() && focused !== null && detail.contains(focused) ? focused : undefined;
  const isSameCandidate = drawnCandidate === candidate;
  drawnDetailKey = key;
  drawnCandidate = candidate;
  if (draft !== undefined) {
    detail.replaceChildren(editForm(draft, changedMemory(draft, candidate), { onChange: saveDraft, save: () => requestAction("edit"), saveAndAccept: () => requestAction("accept"), cancel: cancelEdit }));
    if (formTakesFocus) detail.querySelector<HTMLElement>("#edit-title")?.focus();
    else if (focusedInDetail !== undefined) restoreFocus({ detail, lost: lostDraftList, editedId, focused: undefined }, focusList);
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
        activeNeighbour(model)?.id ?? "",
        {
          answer: answerNeighbour,
          choose: setActiveNeighbour,
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
    if (!isSameCandidate) detail.scrollTop = 0;
  }
  if (focusedInDetail !== undefined) restoreFocus({ detail, lost: lostDraftList, editedId, focused: focusedInDetail }, focusList);
}

/** Updates a memory's text beside the form if its file changed. */
function updateShownMemory(draft: Draft, candidate: CandidateView | undefined): void {
  const previousCandidate = drawnCandidate;
  drawnCandidate = candidate;
  if (draft.change === undefined || previousCandidate === undefined || changedMemory(draft, previousCandidate)?.hash === changedMemory(draft, candidate)?.hash) return;
  showMemory(detail, changedMemory(draft, candidate));
  showNotice("The memory you are changing was changed elsewhere. Its text is shown as it is now; yours is kept.");
}

function focusList(): void {
  if (list.element.hidden) detail.focus();
  else list.element.focus();
}

function saveDraft(draft: Draft): void {
  model = replaceDraft(model, draft);
  saveState();
}

function cancelEdit(): void {
  const id = model.selected ?? "";
  update(removeDraft(model, { root: model.root, id }));
  focusList();
}

/** Requests an action on the selected candidate. Accepting includes an unsaved edit. */
function requestAction(action: "accept" | "reject" | "edit", chosenAnswer: Choice | null = null): void {
  const candidate = selectedCandidate(model);
  if (candidate === undefined || model.restricted || model.pendingRequests.has(candidate.id)) return;
  const draft = action === "reject" ? undefined : findDraft(model, candidate.id);
  if (action === "edit" && draft === undefined) return;
  const edit = draft === undefined ? null : { title: draft.title, body: draft.body, tags: draft.tags };
  const choice = action === "accept" ? (chosenAnswer ?? draftChoice(draft, candidate)) : null;
  vscode.postMessage({ type: "act", id: candidate.id, action, edit, choice });
  update(addRequest(model, candidate.id, draft, action === "accept" ? acceptedText(candidate, choice) : ""));
}

/** Applies the person's answer about the selected candidate and a similar memory; "changes" opens the form first. */
function answerNeighbour(answer: NeighbourAnswer, memory: string): void {
  const candidate = selectedCandidate(model);
  if (candidate === undefined || findDraft(model, candidate.id) !== undefined) return;
  if (answer === "keep") {
    if (candidate.neighbours.length > 0 || candidate.suggested !== null) requestAction("accept", keepBoth);
    return;
  }
  const neighbour = candidate.neighbours.find(({ id }) => id === memory);
  if (neighbour === undefined || !answersFor(candidate, neighbour).includes(answer)) return;
  if (answer !== "changes") return requestAction("accept", { answer, memory, hash: neighbour.hash });
  update(startMemoryChange(model, neighbour));
  detail.querySelector<HTMLElement>("#edit-title")?.focus();
}

/** Makes keys act on this neighbour. */
function setActiveNeighbour(memory: string): void {
  model = chooseNeighbour(model, memory);
  markChosen(detail, memory);
}

function focusNeighbour(position: number): void {
  const candidate = selectedCandidate(model);
  const neighbour = candidate === undefined ? undefined : rankedNeighbours(candidate)[position];
  if (neighbour === undefined) return;
  setActiveNeighbour(neighbour.id);
  detail.querySelector<HTMLElement>(`#neighbour-${position}`)?.focus();
}

function requestUndo(): void {
  const action = actionToUndo(model);
  if (action === undefined) return;
  vscode.postMessage({ type: "undo", action });
  update({ ...model, undoRequested: true });
}

function perform(action: ReviewKeyAction): void {
  const candidate = selectedCandidate(model);
  switch (action) {
    case "next":
      return update(moveSelection(model, 1));
    case "previous":
      return update(moveSelection(model, -1));
    case "first":
      return update(moveSelection(model, -candidateOrder(model).length));
    case "last":
      return update(moveSelection(model, candidateOrder(model).length));
    case "pageDown":
      return update(moveSelection(model, list.rowsPerPage));
    case "pageUp":
      return update(moveSelection(model, -list.rowsPerPage));
    case "accept":
    case "reject":
      return requestAction(action);
    case "edit":
      update(startDraft(model));
      detail.querySelector<HTMLElement>("#edit-title")?.focus();
      return;
    case "undo":
      return requestUndo();
    case "keepBoth":
      return answerNeighbour("keep", "");
    case "same":
    case "replaces":
    case "changes":
    case "answers":
      return answerNeighbour(action, activeNeighbour(model)?.id ?? "");
    case "neighbour1":
    case "neighbour2":
    case "neighbour3":
      return focusNeighbour(Number(action.slice(-1)) - 1);
    case "openTurn":
      if (candidate === undefined) return;
      if (candidate.session !== "") vscode.postMessage({ type: "openTurn", session: candidate.session, turn: candidate.evidence[0]?.turn ?? candidate.turn });
      else if (candidate.targets[0] !== undefined) vscode.postMessage({ type: "openTarget", id: candidate.id, target: candidate.targets[0].id });
      return;
    case "help":
      return help.open();
  }
}

function announce(text: string): void {
  liveRegion.textContent = text;
}
