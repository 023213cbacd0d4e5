// The review panel's browser side: keeps the model, draws it, and tells the host what the person does.
import { counted } from "../wording";
import { type FromWebview, parseToWebview, type ToWebview } from "../views/messages";
import { candidateDetail } from "./detail";
import { h } from "./dom";
import { emptyState } from "./empty";
import { footSection } from "./foot";
import { editForm } from "./form";
import { helpDialog } from "./help";
import { actionOf, type KeyAction } from "./keys";
import { CandidateList } from "./list";
import { applyList, type Draft, emptyModel, mayUndo, type Model, moveSelection, orderOf, parseSaved, removeCandidate, type Saved, selectedOf, showRoot, startDraft } from "./state";
import { plain } from "./text";

declare function acquireVsCodeApi(): { postMessage(message: FromWebview): void; getState(): unknown; setState(state: Saved): void };

const vscode = acquireVsCodeApi();
const saved = parseSaved(vscode.getState());

let model: Model = { ...emptyModel, root: saved?.root ?? "", selected: saved?.selected, draft: saved?.draft };
let footOpen = saved?.foot ?? false;
let scrollTop = saved?.scrollTop ?? 0;
let drawn = "";
let drawnCandidate: unknown;
let drawnList: Model["list"];

const list = new CandidateList((id) => update({ ...model, selected: id }));
const heading = h("h1", { class: "heading" }, "Lerim Review");
const count = h("span", { class: "count" });
const syncText = h("span", { class: "sync-text" });
const restricted = h("p", { class: "restricted", role: "note" });
const detail = h("section", { class: "detail", label: "Candidate", attributes: { tabindex: "-1" } });
const foot = h("footer", { class: "foot" });
const live = h("div", { class: "visually-hidden live", role: "status", attributes: { "aria-live": "polite" } });
const notice = h("p", { class: "notice", role: "alert" });
const help = helpDialog();
const columns = h("div", { class: "columns" }, list.element, detail);

document.getElementById("review")?.append(
  h("header", { class: "head" }, heading, count, syncText, h("button", { class: "button link help-button", label: "Keyboard help", title: "Keyboard (?)", onClick: () => help.open(), attributes: { type: "button" } }, "?")),
  restricted,
  notice,
  columns,
  foot,
  live,
  help.element,
);

window.addEventListener("message", (event: MessageEvent<unknown>) => {
  const message = parseToWebview(event.data);
  if (message !== undefined) receive(message);
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
      return update(showRoot(model, message.root, message.name, message.restricted));
    case "list": {
      const first = model.list === undefined;
      const before = orderOf(model).length;
      update(applyList(model, message));
      if (first) {
        list.element.scrollTop = scrollTop;
        if (document.hasFocus() && document.activeElement === document.body) focusList();
      } else if (orderOf(model).length > before) {
        say(`${counted(orderOf(model).length, "candidate")}.`);
      }
      return;
    }
    case "sync":
      return update({ ...model, sync: { running: message.running, text: message.text } });
    case "acted":
      return acted(message);
    case "failed":
      notice.textContent = plain(message.message);
      return;
  }
}

function acted(message: ToWebview & { type: "acted" }): void {
  const title = model.candidates.get(message.id)?.title ?? "";
  if (!message.ok) {
    notice.textContent = plain(message.message);
    return;
  }
  notice.textContent = "";
  const done = { accept: "Accepted", reject: "Rejected", edit: "Saved", undo: "Undone" }[message.action];
  if (message.action === "accept" || message.action === "reject") update(removeCandidate(model, message.id));
  if (message.action === "edit" && model.draft?.id === message.id) update({ ...model, draft: undefined });
  list.reveal();
  say(`${done}${title === "" ? "" : `: ${plain(title)}`}. ${counted(orderOf(model).length, "candidate")} left.`);
}

function update(next: Model): void {
  const moved = next.selected !== model.selected;
  model = next;
  draw();
  if (moved) list.reveal();
  save();
}

function save(): void {
  vscode.setState({ root: model.root, selected: model.selected, scrollTop, draft: model.draft, foot: footOpen });
}

function draw(): void {
  const order = orderOf(model);
  heading.textContent = model.name === "" ? "Lerim Review" : `Lerim Review: ${plain(model.name)}`;
  count.textContent = model.list === undefined ? "" : counted(order.length, "candidate");
  syncText.textContent = model.sync.running ? `Syncing: ${model.sync.text}` : "";
  restricted.hidden = !model.restricted;
  restricted.textContent = model.restricted ? "Restricted Mode: what is in this folder comes from the repository. Nothing is synced, written or sent until you trust it." : "";
  columns.classList.toggle("empty", order.length === 0);
  list.element.hidden = order.length === 0;
  list.update(order, model.candidates, model.selected);
  drawDetail();
  drawFoot();
}

function drawFoot(): void {
  if (model.list === drawnList) return;
  drawnList = model.list;
  const section = footSection(model, footOpen, (open) => {
    footOpen = open;
    save();
  });
  foot.replaceChildren(...(section === undefined ? [] : [section]));
}

/** Draws the right side only when it would differ, so that a text being edited and the focus stay. */
function drawDetail(): void {
  const candidate = selectedOf(model);
  const canUndo = mayUndo(model);
  const draft = model.draft !== undefined && model.draft.id === candidate?.id ? model.draft : undefined;
  const key = draft !== undefined ? `draft ${draft.id}` : candidate !== undefined ? `candidate ${candidate.id} ${canUndo}` : `empty ${model.list === undefined} ${model.sync.running} ${model.restricted} ${canUndo}`;
  if (key === drawn && (draft !== undefined || candidate === drawnCandidate)) return;
  const wasEditing = drawn.startsWith("draft ");
  const focused = document.activeElement;
  const within = focused !== null && detail.contains(focused) ? focused.className : undefined;
  drawn = key;
  drawnCandidate = candidate;
  if (draft !== undefined) {
    detail.replaceChildren(editForm(draft, { changed: (changed) => keepDraft(changed), save: (done) => act("edit", done), saveAndAccept: (done) => act("accept", done), cancel: cancelEdit }));
    detail.querySelector<HTMLElement>("#edit-title")?.focus();
    return;
  }
  if (candidate === undefined) {
    detail.replaceChildren(
      emptyState({ loading: model.list === undefined, syncing: model.sync.running, restricted: model.restricted, undo: canUndo }, { sync: () => vscode.postMessage({ type: "sync" }), undo: () => perform("undo"), trust: () => vscode.postMessage({ type: "manageTrust" }) }),
    );
  } else {
    detail.replaceChildren(
      candidateDetail(
        candidate,
        {
          accept: () => perform("accept"),
          edit: () => perform("edit"),
          reject: () => perform("reject"),
          undo: () => perform("undo"),
          openTurn: (session, turn) => vscode.postMessage({ type: "openTurn", session, turn }),
          openReference: (reference) => vscode.postMessage({ type: "openReference", reference }),
        },
        { act: !model.restricted, undo: canUndo },
      ),
    );
    detail.scrollTop = 0;
  }
  if (within !== undefined) restoreFocus(wasEditing ? "" : within);
}

/** The focus was on something that is gone: it goes to its like in what is shown now, else to the list. */
function restoreFocus(className: string): void {
  const like = [...detail.querySelectorAll<HTMLButtonElement>("button")].find((element) => element.className === className && !element.disabled);
  if (like === undefined) focusList();
  else like.focus();
}

function focusList(): void {
  if (list.element.hidden) detail.focus();
  else list.element.focus();
}

function keepDraft(draft: Draft): void {
  model = { ...model, draft };
  save();
}

function cancelEdit(): void {
  update({ ...model, draft: undefined });
  focusList();
}

function act(action: "accept" | "reject" | "edit", draft?: Draft): void {
  const candidate = selectedOf(model);
  if (candidate === undefined || model.restricted) return;
  // an edit begun and not yet saved is what the person means by accepting
  const text = draft ?? (action === "accept" && model.draft?.id === candidate.id ? model.draft : undefined);
  const edit = text === undefined ? null : { title: text.title, body: text.body, tags: text.tags };
  vscode.postMessage({ type: "act", id: candidate.id, action, edit });
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
      return update(startDraft(model));
    case "undo":
      if (mayUndo(model)) vscode.postMessage({ type: "undo" });
      return;
    case "openTurn":
      if (candidate !== undefined) vscode.postMessage({ type: "openTurn", session: candidate.session, turn: candidate.evidence[0]?.turn ?? candidate.turn });
      return;
    case "help":
      return help.open();
  }
}

function say(text: string): void {
  live.textContent = text;
}
