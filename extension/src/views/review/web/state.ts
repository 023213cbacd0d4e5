// The state of the panel, changed only by these functions; drawing is elsewhere.
import type { CandidateView, Edit, LeftOutView, NeighbourView } from "../../../protocol";
import type { ActedMessage as Answer, ListMessage } from "../messages";
import { type Choice, neighboursOf } from "./answers";
import { plain } from "../../shared/web/text";

export interface Model {
  readonly root: string;
  readonly name: string;
  readonly restricted: boolean;
  /** undefined until the first listing. */
  readonly list: Omit<ListMessage, "type" | "changed"> | undefined;
  readonly candidates: ReadonlyMap<string, CandidateView>;
  /** The left-out items, as many as requested; undefined until they arrive. */
  readonly leftOut: readonly LeftOutView[] | undefined;
  readonly selected: string | undefined;
  /** The candidate to select once it is listed. */
  readonly wanted: string | undefined;
  /** Unsaved edits, also of other roots and of removed candidates: a person's text is only discarded on request. */
  readonly drafts: readonly Draft[];
  /** The neighbour that keys act on, and its candidate. */
  readonly chosen: { readonly candidate: string; readonly memory: string } | undefined;
  /** Requests to the host that are not answered yet, by the candidate's id. */
  readonly asked: ReadonlyMap<string, Asked>;
  /** Whether an undo was requested since the last listing: only another listing says what can be undone next. */
  readonly undoing: boolean;
  readonly sync: { readonly running: boolean; readonly text: string };
}

/** An unsaved edit of a candidate; kept while the panel is hidden. */
export interface Draft extends Edit {
  readonly root: string;
  readonly id: string;
  /** The memory that gets this text, and the hash of its text as shown; undefined: the candidate itself. */
  readonly change?: { readonly memory: string; readonly hash: string } | undefined;
}

/** A request to the host: the draft sent with it, and the message to show on success. */
export interface Asked {
  readonly draft: Draft | undefined;
  readonly done: string;
}

/** The state kept while the panel is hidden. */
export interface Saved {
  readonly root: string;
  readonly selected: string | undefined;
  readonly scrollTop: number;
  readonly drafts: readonly Draft[];
  readonly foot: boolean;
  /** Whether the section of left-out items is open. */
  readonly leftOut: boolean;
}

export const emptyModel: Model = {
  root: "",
  name: "",
  restricted: false,
  list: undefined,
  candidates: new Map(),
  leftOut: undefined,
  selected: undefined,
  wanted: undefined,
  drafts: [],
  chosen: undefined,
  asked: new Map(),
  undoing: false,
  sync: { running: false, text: "" },
};

export function orderOf(model: Model): readonly string[] {
  return model.list?.order ?? [];
}

export function selectedOf(model: Model): CandidateView | undefined {
  return model.selected === undefined ? undefined : model.candidates.get(model.selected);
}

/** The action to undo: null is the one being requested right now, undefined means none. */
export function undoOf(model: Model): string | null | undefined {
  if (model.restricted || model.undoing) return undefined;
  return model.asked.size > 0 ? null : model.list?.undo?.action;
}

/** The title of the Undo button; "" if there is nothing to undo. */
export function undoTitleOf(model: Model): string {
  const action = undoOf(model);
  if (action === undefined) return "";
  return action === null ? "Undo the last action (u)" : `Undo “${plain(model.list?.undo?.label ?? "")}” (u)`;
}

export function draftOf(model: Model, id: string | undefined): Draft | undefined {
  return model.drafts.find((draft) => draft.root === model.root && draft.id === id);
}

/** Edits of this root whose candidate no longer exists, because it was decided elsewhere or withdrawn. */
export function lostDrafts(model: Model): readonly Draft[] {
  if (model.list === undefined) return [];
  return model.drafts.filter(({ root, id }) => root === model.root && !model.candidates.has(id) && !model.asked.has(id));
}

/** Shows another root. The selection is kept only for the same root; drafts are always kept. */
export function showRoot(model: Model, root: string, name: string, restricted: boolean): Model {
  const selected = model.root === root ? model.selected : undefined;
  return { ...emptyModel, root, name, restricted, selected, drafts: model.drafts };
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
  const gone = [...model.candidates.values()].filter(({ id }) => !candidates.has(id));
  const wanted = model.wanted !== undefined && candidates.has(model.wanted);
  const selected = wanted ? model.wanted : keepSelection(model, order);
  return { ...model, candidates, list, undoing: false, selected, wanted: wanted ? undefined : model.wanted, drafts: withoutUnchanged(model, gone) };
}

/** Applies a list of left-out items. */
export function applyLeftOut(model: Model, root: string, items: readonly LeftOutView[], total: number): Model {
  if (root !== model.root) return model;
  const list = model.list === undefined ? undefined : { ...model.list, leftOut: total };
  return { ...model, list, leftOut: items };
}

/** The drafts without unchanged ones of removed candidates. */
function withoutUnchanged(model: Model, gone: readonly CandidateView[]): readonly Draft[] {
  return model.drafts.filter((draft) => !gone.some((candidate) => draft === draftOf(model, candidate.id) && isSame(draft, candidate)));
}

function isSame(draft: Draft, { title, body, tags }: CandidateView): boolean {
  return draft.title === title && draft.body === body && draft.tags.join("\n") === tags.join("\n");
}

function keepSelection(model: Model, order: readonly string[]): string | undefined {
  if (model.selected !== undefined && order.includes(model.selected)) return model.selected;
  const before = model.selected === undefined ? -1 : orderOf(model).indexOf(model.selected);
  if (before < 0) return order[0];
  const left = new Set(order);
  const after = orderOf(model).slice(before);
  return after.find((id) => left.has(id)) ?? order.at(-1);
}

/** Records a request to the host about a candidate, with the draft sent along. */
export function ask(model: Model, id: string, draft: Draft | undefined, done = ""): Model {
  return { ...model, asked: new Map(model.asked).set(id, { draft, done }) };
}

/** Applies the host's answer. A performed action becomes the one to undo; a draft edited after it was sent is kept. */
export function answered(model: Model, answer: Answer): Model {
  const sent = model.asked.get(answer.id)?.draft;
  const asked = new Map(model.asked);
  asked.delete(answer.id);
  const after: Model = { ...model, asked };
  if (answer.action === "undo") return { ...after, undoing: answer.ok };
  if (!answer.ok) return after;
  const list = after.list === undefined || answer.undo === null ? after.list : { ...after.list, undo: answer.undo };
  const drafts = after.drafts.filter((draft) => draft !== sent);
  const done = { ...after, list, drafts };
  if (answer.action === "propose") return withoutLeftOut(done, answer.id);
  return answer.action === "edit" ? done : removeCandidate(done, answer.id);
}

/** Removes a proposed item from the left-out items. */
function withoutLeftOut(model: Model, id: string): Model {
  const { list } = model;
  const left = model.leftOut?.filter((item) => item.id !== id);
  return { ...model, leftOut: left, list: list === undefined ? undefined : { ...list, leftOut: Math.max(list.leftOut - 1, 0) } };
}

function removeCandidate(model: Model, id: string): Model {
  const candidate = model.candidates.get(id);
  if (model.list === undefined || candidate === undefined) return model;
  const order = model.list.order.filter((other) => other !== id);
  const candidates = new Map(model.candidates);
  candidates.delete(id);
  return { ...model, candidates, list: { ...model.list, order }, selected: keepSelection(model, order), drafts: withoutUnchanged(model, [candidate]) };
}

/** Selects a candidate now, or as soon as it is listed. */
export function want(model: Model, id: string): Model {
  return model.candidates.has(id) ? { ...model, selected: id, wanted: undefined } : { ...model, wanted: id };
}

/** Moves the selection by `step`, kept inside the list. */
export function moveSelection(model: Model, step: number): Model {
  const order = orderOf(model);
  if (order.length === 0) return model;
  const position = model.selected === undefined ? -1 : order.indexOf(model.selected);
  const next = Math.min(Math.max(position + step, 0), order.length - 1);
  return { ...model, selected: order[next] };
}

/** Whether accepting a candidate writes text of its own, which a person may edit first. */
export function isEditable({ action }: CandidateView): boolean {
  return action !== "archive" && action !== "refer" && action !== "close";
}

/** Starts editing the selected candidate, or continues an earlier edit. */
export function startDraft(model: Model): Model {
  const candidate = selectedOf(model);
  if (candidate === undefined || model.restricted || !isEditable(candidate) || draftOf(model, candidate.id) !== undefined) return model;
  const { id, title, body, tags } = candidate;
  return keepDraft(model, { root: model.root, id, title, body, tags: [...tags] });
}

/** The neighbour that keys act on: the one the person chose, else the first. */
export function neighbourOf(model: Model): NeighbourView | undefined {
  const candidate = selectedOf(model);
  if (candidate === undefined) return undefined;
  const all = neighboursOf(candidate);
  return all.find(({ id }) => model.chosen?.candidate === candidate.id && model.chosen.memory === id) ?? all[0];
}

/** Makes keys act on this neighbour of the selected candidate. */
export function chooseNeighbour(model: Model, memory: string): Model {
  return model.selected === undefined ? model : { ...model, chosen: { candidate: model.selected, memory } };
}

/** Starts changing a memory to the candidate's text, unless an edit has already begun. */
export function startChange(model: Model, { id: memory, hash }: NeighbourView): Model {
  const candidate = selectedOf(model);
  if (candidate === undefined || model.restricted || draftOf(model, candidate.id) !== undefined) return model;
  const { id, title, body, tags } = candidate;
  return keepDraft(model, { root: model.root, id, title, body, tags: [...tags], change: { memory, hash } });
}

/** The memory that a draft changes, in its current state. */
export function changedMemory(draft: Draft | undefined, candidate: CandidateView | undefined): NeighbourView | undefined {
  return candidate?.neighbours.find(({ id }) => id === draft?.change?.memory);
}

/** The choice that a draft implies about a memory; null if it only edits the candidate. */
export function choiceOf(draft: Draft | undefined, candidate: CandidateView): Choice | null {
  if (draft?.change === undefined) return null;
  const { memory, hash } = draft.change;
  return { answer: "changes", memory, hash: changedMemory(draft, candidate)?.hash ?? hash };
}

/** Replaces a draft by its new text. */
export function keepDraft(model: Model, draft: Draft): Model {
  return { ...model, drafts: [...dropDraft(model, draft).drafts, draft] };
}

export function dropDraft(model: Model, { root, id }: Pick<Draft, "root" | "id">): Model {
  return { ...model, drafts: model.drafts.filter((draft) => draft.root !== root || draft.id !== id) };
}

export function parseTags(text: string): string[] {
  return [...new Set(text.split(/[,\n]/).map((tag) => tag.trim()).filter((tag) => tag !== ""))];
}

/** Parses the result of `getState`; undefined if it is not a saved state. */
export function parseSaved(value: unknown): Saved | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { root, selected, scrollTop, drafts, foot, leftOut } = value as Record<string, unknown>;
  if (typeof root !== "string" || typeof scrollTop !== "number") return undefined;
  const kept = Array.isArray(drafts) ? drafts.map(parseDraft).filter((draft) => draft !== undefined) : [];
  return { root, selected: typeof selected === "string" ? selected : undefined, scrollTop, drafts: kept, foot: foot === true, leftOut: leftOut === true };
}

function parseDraft(value: unknown): Draft | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { root, id, title, body, tags, change } = value as Record<string, unknown>;
  if (typeof root !== "string" || typeof id !== "string" || typeof title !== "string" || typeof body !== "string" || !Array.isArray(tags)) return undefined;
  const draft = { root, id, title, body, tags: tags.filter((tag): tag is string => typeof tag === "string") };
  if (typeof change !== "object" || change === null) return draft;
  const { memory, hash } = change as Record<string, unknown>;
  return typeof memory === "string" && typeof hash === "string" ? { ...draft, change: { memory, hash } } : draft;
}
