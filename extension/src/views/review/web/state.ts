// The state of the panel, changed only by these functions; drawing is elsewhere.
import type { CandidateView, Edit, LeftOutView, MemoryKind, NeighbourView, ReferenceProblem } from "../../../protocol";
import { kindOf, memoryKinds } from "../../../text/wording";
import type { ActionResultMessage, ListMessage } from "../messages";
import { type Choice, rankedNeighbours } from "./answers";
import { type Arrangement, arrange, type Grouping, groupings, type ListOptions } from "./arrangement";
import { parseLastAction, type SavedAction } from "./results";
import { spellOutHidden } from "../../shared/web/text";

export interface Model {
  readonly root: string;
  readonly name: string;
  readonly restricted: boolean;
  /** undefined until the first listing. */
  readonly list: Omit<ListMessage, "type" | "changed"> | undefined;
  readonly candidates: ReadonlyMap<string, CandidateView>;
  readonly options: ListOptions;
  /** What the list shows of the candidates. */
  readonly arrangement: Arrangement;
  /** The candidates that the person marked, to decide on them together. */
  readonly marked: ReadonlySet<string>;
  /** Where the range of a marking with Shift begins. */
  readonly rangeStart: string | undefined;
  /** What is wrong with the references of a candidate, as checked when it was shown. */
  readonly referenceProblems: { readonly candidate: string; readonly problems: readonly ReferenceProblem[] } | undefined;
  /** The left-out items, as many as requested; undefined until they arrive. */
  readonly leftOut: readonly LeftOutView[] | undefined;
  readonly selected: string | undefined;
  /** The candidate to select once it is listed. */
  readonly selectWhenListed: string | undefined;
  /** Unsaved edits, also of other roots and of removed candidates: a person's text is only discarded on request. */
  readonly drafts: readonly Draft[];
  /** The neighbour that keys act on, and its candidate. */
  readonly chosenNeighbour: { readonly candidate: string; readonly memory: string } | undefined;
  /** Requests to the host that are not answered yet, by the candidate's id. */
  readonly pendingRequests: ReadonlyMap<string, PendingRequest>;
  /** Whether an undo was requested since the last listing: only another listing says what can be undone next. */
  readonly undoRequested: boolean;
  readonly sync: { readonly running: boolean; readonly text: string };
}

/** An unsaved edit of a candidate; kept while the panel is hidden. */
export interface Draft extends Edit {
  readonly root: string;
  readonly id: string;
  /** The memory that gets this text, and the hash of its text as shown; undefined: the candidate itself. */
  readonly change?: { readonly memory: string; readonly hash: string } | undefined;
}

/** A request to the host: the draft sent with it, the message to show on success, and the candidate it is about. */
export interface PendingRequest {
  readonly draft: Draft | undefined;
  readonly successText: string;
  readonly candidate: CandidateView | undefined;
}

/** The state kept while the panel is hidden. */
export interface SavedState extends SavedAction {
  readonly selected: string | undefined;
  readonly scrollTop: number;
  readonly drafts: readonly Draft[];
  readonly foot: boolean;
  /** Whether the section of left-out items is open. */
  readonly leftOut: boolean;
  readonly grouping: Grouping;
}

export const initialModel: Model = {
  root: "",
  name: "",
  restricted: false,
  list: undefined,
  candidates: new Map(),
  options: { filter: "", grouping: "none", showOlder: false },
  arrangement: { rows: [], order: [], older: [] },
  marked: new Set(),
  rangeStart: undefined,
  referenceProblems: undefined,
  leftOut: undefined,
  selected: undefined,
  selectWhenListed: undefined,
  drafts: [],
  chosenNeighbour: undefined,
  pendingRequests: new Map(),
  undoRequested: false,
  sync: { running: false, text: "" },
};

/** The ids of the candidates that the list shows, in this order. */
export function candidateOrder({ arrangement }: Model): readonly string[] {
  return arrangement.order;
}

/** The ids of all candidates that wait. */
export function pendingIds(model: Model): readonly string[] {
  return model.list?.order ?? [];
}

/** Arranges the list again after its candidates or options changed. The selection moves to the nearest that is shown. */
function rearrange(model: Model, before: Model = model): Model {
  const arrangement = arrange(pendingIds(model), model.candidates, model.options, Date.now());
  const marked = new Set(arrangement.order.filter((id) => model.marked.has(id)));
  return { ...model, arrangement, marked, selected: nearestSelection(before, arrangement.order) };
}

/** Changes what the list shows. */
export function setListOptions(model: Model, options: Partial<ListOptions>): Model {
  return rearrange({ ...model, options: { ...model.options, ...options } });
}

/** Marks a candidate or takes the mark off; the selected one is marked, too, if none was. */
export function toggleMark(model: Model, id: string): Model {
  const marked = new Set(model.marked);
  if (marked.size === 0 && model.selected !== undefined && model.selected !== id) marked.add(model.selected);
  if (!marked.delete(id)) marked.add(id);
  return { ...model, marked, selected: id, selectWhenListed: undefined, rangeStart: id };
}

/** Marks every candidate from where the last marking began to this one. */
export function markRange(model: Model, id: string): Model {
  const order = candidateOrder(model);
  const start = model.rangeStart ?? model.selected ?? id;
  const [from, to] = [order.indexOf(start), order.indexOf(id)].sort((first, second) => first - second) as [number, number];
  return { ...model, marked: new Set(order.slice(Math.max(from, 0), to + 1)), selected: id, selectWhenListed: undefined, rangeStart: start };
}

/** Marks every candidate that is shown. */
export function markAll(model: Model): Model {
  return { ...model, marked: new Set(candidateOrder(model)) };
}

export function clearMarks(model: Model): Model {
  return { ...model, marked: new Set(), rangeStart: undefined };
}

export function selectedCandidate(model: Model): CandidateView | undefined {
  return model.selected === undefined ? undefined : model.candidates.get(model.selected);
}

/** The action to undo: null is the one being requested right now, undefined means none. */
export function actionToUndo(model: Model): string | null | undefined {
  if (model.restricted || model.undoRequested) return undefined;
  return model.pendingRequests.size > 0 ? null : model.list?.undo?.action;
}

/** What the Undo buttons undo, for their titles; "" if that is nothing, or not known until an action is answered. */
export function undoLabel(model: Model): string {
  return typeof actionToUndo(model) === "string" ? spellOutHidden(model.list?.undo?.label ?? "") : "";
}

export function findDraft(model: Model, id: string | undefined): Draft | undefined {
  return model.drafts.find((draft) => draft.root === model.root && draft.id === id);
}

/** Edits of this root whose candidate no longer exists, because it was decided elsewhere or withdrawn. */
export function lostDrafts(model: Model): readonly Draft[] {
  if (model.list === undefined) return [];
  return model.drafts.filter(({ root, id }) => root === model.root && !model.candidates.has(id) && !model.pendingRequests.has(id));
}

/** Shows another root. The selection is kept only for the same root; drafts are always kept. */
export function switchRoot(model: Model, root: string, name: string, restricted: boolean): Model {
  const selected = model.root === root ? model.selected : undefined;
  const options = { ...initialModel.options, grouping: model.options.grouping };
  return { ...initialModel, options, root, name, restricted, selected, drafts: model.drafts };
}

/** Applies a listing. The selection is kept, or moves to the nearest remaining candidate. */
export function applyList(model: Model, message: ListMessage): Model {
  if (message.root !== model.root) return model;
  const changed = new Map(message.changed.map((candidate) => [candidate.id, candidate]));
  const candidates = new Map<string, CandidateView>();
  for (const id of message.order) {
    const candidate = changed.get(id) ?? model.candidates.get(id);
    if (candidate !== undefined) candidates.set(id, candidate);
  }
  const order = [...candidates.keys()];
  const { root, blocked, leftOut, problems, undo } = message;
  const list = { root, order, blocked, leftOut, problems, undo };
  const removed = [...model.candidates.values()].filter(({ id }) => !candidates.has(id));
  const listed = rearrange({ ...model, candidates, list, undoRequested: false, drafts: dropUnchangedDrafts(model, removed) }, model);
  return model.selectWhenListed === undefined ? listed : selectCandidate(listed, model.selectWhenListed);
}

/** Applies a list of left-out items. */
export function applyLeftOut(model: Model, root: string, items: readonly LeftOutView[], total: number): Model {
  if (root !== model.root) return model;
  const updatedList = model.list === undefined ? undefined : { ...model.list, leftOut: total };
  return { ...model, list: updatedList, leftOut: items };
}

/** The drafts without unchanged ones of removed candidates. */
function dropUnchangedDrafts(model: Model, removed: readonly CandidateView[]): readonly Draft[] {
  return model.drafts.filter((draft) => !removed.some((candidate) => draft === findDraft(model, candidate.id) && isUnchanged(draft, candidate)));
}

function isUnchanged(draft: Draft, candidate: CandidateView): boolean {
  const { title, body, tags, references } = candidate;
  if (draft.kind && draft.kind !== kindOf(candidate)) return false;
  return draft.title === title && draft.body === body && draft.tags.join("\n") === tags.join("\n") && (draft.references ?? references).join("\n") === references.join("\n");
}

function nearestSelection(model: Model, order: readonly string[]): string | undefined {
  if (model.selected !== undefined && order.includes(model.selected)) return model.selected;
  const previousPosition = model.selected === undefined ? -1 : candidateOrder(model).indexOf(model.selected);
  if (previousPosition < 0) return order[0];
  const remaining = new Set(order);
  const following = candidateOrder(model).slice(previousPosition);
  return following.find((id) => remaining.has(id)) ?? order.at(-1);
}

/** Records a request to the host about a candidate, with the draft sent along. */
export function addRequest(model: Model, id: string, draft: Draft | undefined, successText = ""): Model {
  return { ...model, pendingRequests: new Map(model.pendingRequests).set(id, { draft, successText, candidate: model.candidates.get(id) }) };
}

/** The candidate of a request as it was sent. The list may come without it before the result. */
export function sentCandidate(model: Model, id: string): CandidateView | undefined {
  const request = model.pendingRequests.get(id);
  const candidate = model.candidates.get(id) ?? request?.candidate;
  const { title = candidate?.title, references = candidate?.references } = request?.draft ?? {};
  return candidate === undefined ? undefined : { ...candidate, title: title ?? "", references: [...(references ?? [])] };
}

/** Applies the result of an action. A performed action becomes the one to undo; a draft edited after it was sent is kept. */
export function applyResult(model: Model, result: ActionResultMessage): Model {
  const sentDraft = model.pendingRequests.get(result.id)?.draft;
  const pendingRequests = new Map(model.pendingRequests);
  pendingRequests.delete(result.id);
  const settled: Model = { ...model, pendingRequests };
  if (result.action === "undo") return { ...settled, undoRequested: result.ok, selectWhenListed: result.waiting[0] ?? settled.selectWhenListed };
  if (!result.ok) return settled;
  const list = settled.list === undefined || result.undo === null ? settled.list : { ...settled.list, undo: result.undo };
  const drafts = settled.drafts.filter((draft) => draft !== sentDraft);
  const updated = { ...settled, list, drafts };
  if (result.action === "propose") return result.waiting.reduce(selectCandidate, removeLeftOut(updated, result.id));
  return result.action === "edit" ? updated : removeCandidates(updated, result.decided);
}

/** Removes a proposed item from the left-out items. */
function removeLeftOut(model: Model, id: string): Model {
  const { list } = model;
  const remaining = model.leftOut?.filter((item) => item.id !== id);
  return { ...model, leftOut: remaining, list: list === undefined ? undefined : { ...list, leftOut: Math.max(list.leftOut - 1, 0) } };
}

function removeCandidates(model: Model, ids: readonly string[]): Model {
  const removed = ids.flatMap((id) => model.candidates.get(id) ?? []);
  if (model.list === undefined || removed.length === 0) return model;
  const gone = new Set(ids);
  const order = model.list.order.filter((id) => !gone.has(id));
  const candidates = new Map([...model.candidates].filter(([id]) => !gone.has(id)));
  return rearrange({ ...model, candidates, list: { ...model.list, order }, drafts: dropUnchangedDrafts(model, removed) }, model);
}

/** Selects a candidate now, also if the filter hides it, or as soon as it is listed. */
export function selectCandidate(model: Model, id: string): Model {
  if (!model.candidates.has(id)) return { ...model, selectWhenListed: id };
  const showing = candidateOrder(model).includes(id) ? model : setListOptions(model, { filter: "", showOlder: true });
  return { ...showing, selected: id, selectWhenListed: undefined };
}

/** Moves the selection by `step`, kept inside the list. */
export function moveSelection(model: Model, step: number): Model {
  const order = candidateOrder(model);
  if (order.length === 0) return model;
  const position = model.selected === undefined ? -1 : order.indexOf(model.selected);
  const next = Math.min(Math.max(position + step, 0), order.length - 1);
  return { ...model, selected: order[next] };
}

/** Whether accepting a candidate writes text of its own, which a person may edit first. */
export function isEditable({ action }: CandidateView): boolean {
  return action !== "archive" && action !== "refer" && action !== "close";
}

/** The kind of a candidate, if it can be of another; undefined for the others. */
function changeableKind(candidate: CandidateView): MemoryKind | undefined {
  return candidate.canChangeKind ? memoryKinds.find((kind) => kind === kindOf(candidate)) : undefined;
}

/** What a draft asks for: its text, and the references and the kind if they were changed. */
export function draftEdit({ title, body, tags, references, kind }: Draft, candidate: CandidateView): Edit {
  const newReferences = references && references.join("\n") !== candidate.references.join("\n") ? { references } : {};
  return { title, body, tags, ...newReferences, ...(kind && kind !== kindOf(candidate) ? { kind } : {}) };
}

/** Starts editing the selected candidate, or continues an earlier edit. */
export function startDraft(model: Model): Model {
  const candidate = selectedCandidate(model);
  if (candidate === undefined || model.restricted || !isEditable(candidate) || findDraft(model, candidate.id) !== undefined) return model;
  const { id, title, body, tags, references } = candidate;
  const kind = changeableKind(candidate);
  return replaceDraft(model, { root: model.root, id, title, body, tags: [...tags], references: [...references], ...(kind === undefined ? {} : { kind }) });
}

/** The neighbour that keys act on: the one the person chose, else the first. */
export function activeNeighbour(model: Model): NeighbourView | undefined {
  const candidate = selectedCandidate(model);
  if (candidate === undefined) return undefined;
  const neighbours = rankedNeighbours(candidate);
  return neighbours.find(({ id }) => model.chosenNeighbour?.candidate === candidate.id && model.chosenNeighbour.memory === id) ?? neighbours[0];
}

/** Makes keys act on this neighbour of the selected candidate. */
export function chooseNeighbour(model: Model, memory: string): Model {
  return model.selected === undefined ? model : { ...model, chosenNeighbour: { candidate: model.selected, memory } };
}

/** Starts changing a memory to the candidate's text, unless an edit has already begun. */
export function startMemoryChange(model: Model, { id: memory, hash }: NeighbourView): Model {
  const candidate = selectedCandidate(model);
  if (candidate === undefined || model.restricted || findDraft(model, candidate.id) !== undefined) return model;
  const { id, title, body, tags } = candidate;
  return replaceDraft(model, { root: model.root, id, title, body, tags: [...tags], change: { memory, hash } });
}

/** The memory that a draft changes, in its current state. */
export function changedMemory(draft: Draft | undefined, candidate: CandidateView | undefined): NeighbourView | undefined {
  return candidate?.neighbours.find(({ id }) => id === draft?.change?.memory);
}

/** The choice that a draft implies about a memory; null if it only edits the candidate. */
export function draftChoice(draft: Draft | undefined, candidate: CandidateView): Choice | null {
  if (draft?.change === undefined) return null;
  const { memory, hash } = draft.change;
  return { answer: "changes", memory, hash: changedMemory(draft, candidate)?.hash ?? hash };
}

/** Replaces a draft by its new text. */
export function replaceDraft(model: Model, draft: Draft): Model {
  return { ...model, drafts: [...removeDraft(model, draft).drafts, draft] };
}

export function removeDraft(model: Model, { root, id }: Pick<Draft, "root" | "id">): Model {
  return { ...model, drafts: model.drafts.filter((draft) => draft.root !== root || draft.id !== id) };
}

export function parseTags(text: string): string[] {
  return [...new Set(text.split(/[,\n]/).map((tag) => tag.trim()).filter((tag) => tag !== ""))];
}

/** The references of a text with one in each line. */
export function parseReferences(text: string): string[] {
  return [...new Set(text.split("\n").map((line) => line.trim()).filter((line) => line !== ""))];
}

/** Parses the result of `getState`; undefined if it is not a saved state. */
export function parseSavedState(value: unknown): SavedState | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { root, selected, scrollTop, drafts, foot, leftOut, grouping, lastAction } = value as Record<string, unknown>;
  if (typeof root !== "string" || typeof scrollTop !== "number") return undefined;
  const validDrafts = Array.isArray(drafts) ? drafts.map(parseDraft).filter((draft) => draft !== undefined) : [];
  return { root, selected: typeof selected === "string" ? selected : undefined, scrollTop, drafts: validDrafts, foot: foot === true, leftOut: leftOut === true, grouping: groupings.find((known) => known === grouping) ?? "none", lastAction: parseLastAction(lastAction) };
}

function parseDraft(value: unknown): Draft | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { root, id, title, body, tags, references, kind, change } = value as Record<string, unknown>;
  if (typeof root !== "string" || typeof id !== "string" || typeof title !== "string" || typeof body !== "string" || !Array.isArray(tags)) return undefined;
  const kept = Array.isArray(references) ? { references: references.filter((one): one is string => typeof one === "string") } : {};
  const keptKind = memoryKinds.find((known) => known === kind);
  const draft = { root, id, title, body, tags: tags.filter((tag): tag is string => typeof tag === "string"), ...kept, ...(keptKind === undefined ? {} : { kind: keptKind }) };
  if (typeof change !== "object" || change === null) return draft;
  const { memory, hash } = change as Record<string, unknown>;
  return typeof memory === "string" && typeof hash === "string" ? { ...draft, change: { memory, hash } } : draft;
}
