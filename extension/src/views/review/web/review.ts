// The webview of the review panel: keeps the model, draws it, and sends the person's actions to the host.
import { counted } from "../../../text/wording";
import { type FromWebview, maxLeftOut, type ToWebview } from "../messages";
import type { CandidateView, LeftOutView, NeighbourAnswer } from "../../../protocol";
import { answersFor, type Choice, acceptedText, keepBoth, rankedNeighbours } from "./answers";
import { candidateDetail } from "./detail";
import { emptyState } from "./empty";
import { catchLostFocus, leaveFocused, rememberFocus, restoreFocus } from "./focus";
import { footSection, leftOutSection, leftOutPageSize } from "./foot";
import { editForm, showMemory, showSuggestions } from "./form";
import { LostDraftArea } from "./lostdrafts";
import { lastAction, LastActionLine, noticeParts } from "./results";
import { helpDialog } from "../../shared/web/help";
import { isFindKey, movementStep, reviewKeyAction, reviewHelpRows, type ReviewKeyAction } from "../../shared/web/keys";
import { buildPage } from "./page";
import { CandidateList, type Choosing } from "./list";
import { bulkIds, type BulkAction, confirmDialog, ListTools } from "./tools";
import { applyResult, applyLeftOut, applyList, addRequest, sentCandidate, clearMarks, markAll, markRange, pendingIds, setListOptions, toggleMark, changedMemory, draftChoice, draftEdit, chooseNeighbour, type Draft, findDraft, removeDraft, initialModel, replaceDraft, lostDrafts, type Model, moveSelection, activeNeighbour, candidateOrder, parseSavedState, type SavedState, selectedCandidate, switchRoot, startMemoryChange, startDraft, actionToUndo, undoLabel, selectCandidate } from "./state";
import { markChosen, unfoldNeighbour } from "./neighbours";

declare function acquireVsCodeApi(): { postMessage(message: FromWebview): void; getState(): unknown; setState(state: SavedState): void };

const vscode = acquireVsCodeApi();
const saved = parseSavedState(vscode.getState());
const openTurn = (session: string, turn: string): void => vscode.postMessage({ type: "openTurn", session, turn });
const openReference = (reference: string): void => vscode.postMessage({ type: "openReference", reference });

// without a root until the host sends one: an earlier list may have been meant for the previous page
let model: Model = { ...initialModel, options: { ...initialModel.options, grouping: saved?.grouping ?? "none" }, selected: saved?.selected, drafts: saved?.drafts ?? [] };
let isFootOpen = saved?.foot ?? false;
let isLeftOutOpen = saved?.leftOut ?? false;
let leftOutLimit = leftOutPageSize;
let scrollTop = saved?.scrollTop ?? 0;
let drawnDetailKey = "";
let drawnCandidate: CandidateView | undefined;
let drawnProblems: Model["referenceProblems"];
let checkedCandidate: CandidateView | undefined;
let drawnFootInputs: readonly unknown[] = [];
/** Whether a form takes the focus when drawn: after the panel is restored, but not while moving through the list. */
let formTakesFocus = true;
let listFailed = false;

const list = new CandidateList(choose);
const confirmation = confirmDialog(focusList);
const tools = new ListTools({ setOptions: (options) => update(setListOptions(model, options)), decide: decideOnMany, focusList });
const help = helpDialog(reviewHelpRows);
const lastActionLine = new LastActionLine({ openMemory: () => vscode.postMessage({ type: "openAccepted" }), open: openReference, undo: () => perform("undo") });
const lostDraftArea = new LostDraftArea({ copy: (text) => vscode.postMessage({ type: "copy", text }), discard: (draft) => update(removeDraft(model, draft)), announce, focusList });
const { showHead, detail, foot, liveRegion, notice, listColumn, columns } = buildPage(list.element, tools, lastActionLine.element, lostDraftArea.element, [help.element, confirmation.element], () => help.open());

window.addEventListener("message", (event: MessageEvent<ToWebview>) => handleMessage(event.data));
catchLostFocus(focusList);
document.addEventListener("keydown", (event) => {
  const { target } = event;
  if (help.element.open || confirmation.element.open) return;
  if (isFindKey(event)) {
    event.preventDefault();
    tools.focusFilter();
    return;
  }
  if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return;
  const place = target instanceof Node && detail.contains(target) ? "detail" : target === list.element ? "list" : "elsewhere";
  const action = reviewKeyAction(event, place);
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
      lastActionLine.enter(message);
      requestLeftOut();
      return update(switchRoot(model.root === "" ? { ...model, root: saved?.root ?? "" } : model, message.root, message.name, message.restricted));
    case "list": {
      const isFirstList = model.list === undefined;
      const previousCount = pendingIds(model).length;
      const { selectWhenListed } = model;
      if (listFailed) showNotice("");
      lastActionLine.follow(message);
      update(applyList(model, message));
      if (pendingIds(model).length !== previousCount) lastActionLine.hideLeft();
      if (selectWhenListed !== undefined && model.selected === selectWhenListed) leaveFocused(foot, focusList); // the keys act on what was proposed
      if (isFirstList) {
        list.element.scrollTop = scrollTop;
        lastActionLine.restore(saved, message);
        drawDetail();
        if (document.hasFocus() && document.activeElement === document.body) focusList();
      } else if (pendingIds(model).length > previousCount) {
        announce(`${counted(pendingIds(model).length, "candidate")}.`);
      }
      return;
    }
    case "leftOut":
      return update(applyLeftOut(model, message.root, message.items, message.total));
    case "select":
      update(selectCandidate(model, message.id));
      list.reveal();
      return;
    case "references":
      return update({ ...model, referenceProblems: { candidate: message.id, problems: message.problems } });
    case "suggestions":
      return showSuggestions(detail, message);
    case "focus":
      return focusList();
    case "sync":
      return update({ ...model, sync: { running: message.running, text: message.text } });
    case "actionResult":
      return showResult(message);
    case "failed":
      showNotice(message.message);
      listFailed = message.operation === "list";
      return draw();
  }
}

function showResult(message: ToWebview & { type: "actionResult" }): void {
  const successText = model.pendingRequests.get(message.id)?.successText ?? "";
  const decided = sentCandidate(model, message.id);
  const problems = model.referenceProblems?.candidate === message.id ? model.referenceProblems.problems : [];
  const title = decided?.title ?? model.leftOut?.find(({ id }) => id === message.id)?.title ?? "";
  update(applyResult(model, message));
  if (!message.ok) return showNotice(message.message, message.diff);
  showNotice("");
  list.reveal();
  if (message.action === "propose" && message.waiting.includes(model.selected ?? "")) leaveFocused(foot, focusList);
  lastActionLine.show(lastAction(message, title, successText, decided, problems), ["accept", "reject"].includes(message.action) ? pendingIds(model).length : undefined);
  drawDetail(); // where no candidate is left, it leads to what was accepted
  saveState();
}

/** Shows an error, with a diff of what changed meanwhile, until the next result. */
function showNotice(text: string, diff = ""): void {
  listFailed = false;
  lastActionLine.show(undefined);
  notice.replaceChildren(...noticeParts(text, diff));
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
  vscode.setState({ root: model.root === "" ? (saved?.root ?? "") : model.root, selected: model.selected, scrollTop, drafts: model.drafts, foot: isFootOpen, leftOut: isLeftOutOpen, grouping: model.options.grouping, lastAction: lastActionLine.action });
}

function draw(): void {
  const order = candidateOrder(model);
  const waiting = pendingIds(model).length;
  showHead(model);
  columns.classList.toggle("empty", waiting === 0);
  listColumn.hidden = waiting === 0;
  list.element.hidden = order.length === 0;
  list.update({ rows: model.arrangement.rows, order, candidates: model.candidates, selected: model.selected, marked: model.marked });
  tools.update(model);
  lostDraftArea.update(lostDrafts(model));
  drawDetail();
  drawFoot();
}

function drawFoot(): void {
  const inputs = [model.list, model.leftOut, model.pendingRequests, model.restricted];
  if (inputs.every((value, at) => value === drawnFootInputs[at])) return;
  drawnFootInputs = inputs;
  const restoreFootFocus = rememberFocus(foot, focusList);
  const leftOut = leftOutSection(model, isLeftOutOpen, { onToggle: toggleLeftOut, propose, showMore: () => requestLeftOut(leftOutPageSize) });
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

function requestLeftOut(more = 0): void {
  leftOutLimit = Math.min(leftOutLimit + more, maxLeftOut);
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
  const undoText = undoLabel(model);
  const hidden = pendingIds(model).length;
  const { filter } = model.options;
  const accepted = lastActionLine.action?.reference ?? "";
  const emptyKey = `empty ${hidden} ${filter === ""} ${model.list === undefined} ${listFailed} ${model.sync.running} ${model.restricted} ${undoText} ${accepted}`;
  const key = draft !== undefined ? `draft ${draft.id}` : candidate !== undefined ? `candidate ${candidate.id} ${undoText}` : emptyKey;
  if (key === drawnDetailKey && draft !== undefined) return updateShownMemory(draft, candidate);
  if (draft === undefined) checkReferences(candidate);
  if (key === drawnDetailKey && candidate === drawnCandidate && model.referenceProblems === drawnProblems) return;
  const editedId = drawnDetailKey.startsWith("draft ") ? drawnDetailKey.slice("draft ".length) : undefined;
  const focused = document.activeElement;
  // in a document without focus, moving the active element would take the focus from where it is
  const focusedInDetail = document.hasFocus() && focused !== null && detail.contains(focused) ? focused : undefined;
  const isSameCandidate = drawnCandidate === candidate;
  drawnDetailKey = key;
  drawnCandidate = candidate;
  drawnProblems = model.referenceProblems;
  if (draft !== undefined) {
    detail.replaceChildren(editForm(draft, candidate, changedMemory(draft, candidate), { onChange: saveDraft, openTurn, save: () => requestAction("edit"), saveAndAccept: () => requestAction("accept"), cancel: cancelEdit, complete: (part) => vscode.postMessage({ type: "complete", id: draft.id, ...part }) }));
    if (formTakesFocus) detail.querySelector<HTMLElement>("#edit-title")?.focus();
    else if (focusedInDetail !== undefined) restoreFocus({ detail, lost: lostDraftArea.element, editedId, focused: undefined }, focusList);
    return;
  }
  if (candidate === undefined) {
    detail.replaceChildren(
      emptyState({ loading: model.list === undefined, failed: listFailed, syncing: model.sync.running, restricted: model.restricted, undoText, hidden, filter, accepted }, { sync: () => vscode.postMessage({ type: "sync" }), undo: () => perform("undo"), trust: () => vscode.postMessage({ type: "manageTrust" }), open: openReference, showHidden: () => update(setListOptions(model, filter === "" ? { showOlder: true } : { filter: "" })) }),
    );
  } else {
    detail.replaceChildren(
      candidateDetail(candidate, activeNeighbour(model)?.id ?? "", {
        answer: answerNeighbour,
        choose: setActiveNeighbour,
        accept: () => perform("accept"),
        edit: () => perform("edit"),
        reject: () => perform("reject"),
        undo: () => perform("undo"),
        openTurn,
        openReference,
        openTarget: (target) => vscode.postMessage({ type: "openTarget", id: candidate.id, target }),
        useReference: (reference, place) => vscode.postMessage({ type: "useReference", id: candidate.id, reference, place }),
      }, model.referenceProblems?.candidate === candidate.id ? model.referenceProblems.problems : [], { act: !model.restricted, undoText }),
    );
    if (!isSameCandidate) detail.scrollTop = 0;
  }
  if (focusedInDetail !== undefined) restoreFocus({ detail, lost: lostDraftArea.element, editedId, focused: focusedInDetail }, focusList);
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

/** Has the references of a candidate checked when it is shown, or has changed. */
function checkReferences(candidate: CandidateView | undefined): void {
  if (candidate === checkedCandidate || candidate === undefined || model.restricted) return;
  checkedCandidate = candidate;
  if (candidate.references.length > 0) vscode.postMessage({ type: "checkReferences", id: candidate.id });
}

function choose(id: string, choosing: Choosing): void {
  if (choosing === "toggle") return update(toggleMark(model, id));
  if (choosing === "range") return update(markRange(model, id));
  update({ ...clearMarks(model), selected: id, selectWhenListed: undefined });
}

/** Asks, then decides on several candidates with one request. */
function decideOnMany(action: BulkAction, ids: readonly string[]): void {
  if (ids.length === 0 || model.restricted || model.pendingRequests.has("")) return;
  confirmation.ask(action, ids.length, () => {
    vscode.postMessage({ type: "actOnMany", action, ids });
    update(addRequest(clearMarks(model), "", undefined));
  });
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
  const edit = draft === undefined ? null : draftEdit(draft, candidate);
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
  if (unfoldNeighbour(detail, memory)) return; // of one that is folded away, a key first shows which it is
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
  unfoldNeighbour(detail, neighbour.id);
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
    case "previous":
    case "first":
    case "last":
    case "pageDown":
    case "pageUp":
      return update(moveSelection(model, movementStep(action, list.rowsPerPage)));
    case "accept":
    case "reject":
      return model.marked.size > 0 ? decideOnMany(action, bulkIds(model)) : requestAction(action);
    case "mark":
      return update(model.selected === undefined ? model : toggleMark(model, model.selected));
    case "markAll":
      return update(markAll(model));
    case "unmark":
      return update(clearMarks(model));
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
      if (candidate?.session) openTurn(candidate.session, candidate.evidence[0]?.turn ?? candidate.turn);
      else if (candidate?.targets[0] !== undefined) vscode.postMessage({ type: "openTarget", id: candidate.id, target: candidate.targets[0].id });
      return;
    case "help":
      return help.open();
  }
}

function announce(text: string): void {
  liveRegion.textContent = text;
}
