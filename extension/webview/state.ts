// What the panel knows, changed only by these functions; drawing is elsewhere.
import type { CandidateView, Edit } from "../protocol";
import type { ListMessage } from "../views/messages";

export interface Model {
  readonly root: string;
  readonly name: string;
  readonly restricted: boolean;
  /** undefined until the first listing came. */
  readonly list: Omit<ListMessage, "type" | "changed"> | undefined;
  readonly candidates: ReadonlyMap<string, CandidateView>;
  readonly selected: string | undefined;
  readonly draft: Draft | undefined;
  readonly sync: { readonly running: boolean; readonly text: string };
}

/** An edit under way; kept while the panel is hidden. */
export interface Draft extends Edit {
  readonly id: string;
}

/** What survives hiding the panel. */
export interface Saved {
  readonly root: string;
  readonly selected: string | undefined;
  readonly scrollTop: number;
  readonly draft: Draft | undefined;
  readonly foot: boolean;
}

export const emptyModel: Model = {
  root: "",
  name: "",
  restricted: false,
  list: undefined,
  candidates: new Map(),
  selected: undefined,
  draft: undefined,
  sync: { running: false, text: "" },
};

export function orderOf(model: Model): readonly string[] {
  return model.list?.order ?? [];
}

export function selectedOf(model: Model): CandidateView | undefined {
  return model.selected === undefined ? undefined : model.candidates.get(model.selected);
}

export function mayUndo(model: Model): boolean {
  return !model.restricted && model.list !== undefined && model.list.undo !== null;
}

/** The panel shows another root; the selection and a draft survive only for the same one. */
export function showRoot(model: Model, root: string, name: string, restricted: boolean): Model {
  const same = model.root === root;
  return { ...emptyModel, root, name, restricted, selected: same ? model.selected : undefined, draft: same ? model.draft : undefined };
}

/** Takes a listing over; the selection stays, or goes to what now stands in its place. */
export function applyList(model: Model, message: ListMessage): Model {
  if (message.root !== model.root) return model;
  const changed = new Map(message.changed.map((candidate) => [candidate.id, candidate]));
  const candidates = new Map<string, CandidateView>();
  for (const id of message.order) {
    const candidate = changed.get(id) ?? model.candidates.get(id);
    if (candidate !== undefined) candidates.set(id, candidate);
  }
  const order = [...candidates.keys()];
  const { root, blocked, dropped, problems, undo } = message;
  return {
    ...model,
    candidates,
    list: { root, order, blocked, dropped, problems, undo },
    selected: keepSelection(model, order),
    draft: model.draft !== undefined && candidates.has(model.draft.id) ? model.draft : undefined,
  };
}

function keepSelection(model: Model, order: readonly string[]): string | undefined {
  if (model.selected !== undefined && order.includes(model.selected)) return model.selected;
  const before = model.selected === undefined ? -1 : orderOf(model).indexOf(model.selected);
  if (before < 0) return order[0];
  const left = new Set(order);
  const after = orderOf(model).slice(before);
  return after.find((id) => left.has(id)) ?? order.at(-1);
}

/** A candidate was accepted or rejected: it goes, and the next one is selected. */
export function removeCandidate(model: Model, id: string): Model {
  if (model.list === undefined || !model.candidates.has(id)) return model;
  const order = model.list.order.filter((other) => other !== id);
  const candidates = new Map(model.candidates);
  candidates.delete(id);
  return {
    ...model,
    candidates,
    list: { ...model.list, order },
    selected: keepSelection(model, order),
    draft: model.draft?.id === id ? undefined : model.draft,
  };
}

/** Moves the selection by `step`, kept inside the list. */
export function moveSelection(model: Model, step: number): Model {
  const order = orderOf(model);
  if (order.length === 0) return model;
  const position = model.selected === undefined ? -1 : order.indexOf(model.selected);
  const next = Math.min(Math.max(position + step, 0), order.length - 1);
  return { ...model, selected: order[next] };
}

export function startDraft(model: Model): Model {
  const candidate = selectedOf(model);
  if (candidate === undefined || model.restricted) return model;
  const { id, title, body, tags } = candidate;
  return { ...model, draft: { id, title, body, tags: [...tags] } };
}

export function parseTags(text: string): string[] {
  return [...new Set(text.split(/[,\n]/).map((tag) => tag.trim()).filter((tag) => tag !== ""))];
}

/** What `getState` gave back; undefined when it is not what was saved. */
export function parseSaved(value: unknown): Saved | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { root, selected, scrollTop, draft, foot } = value as Record<string, unknown>;
  if (typeof root !== "string" || typeof scrollTop !== "number") return undefined;
  return { root, selected: typeof selected === "string" ? selected : undefined, scrollTop, draft: parseDraft(draft), foot: foot === true };
}

function parseDraft(value: unknown): Draft | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { id, title, body, tags } = value as Record<string, unknown>;
  if (typeof id !== "string" || typeof title !== "string" || typeof body !== "string" || !Array.isArray(tags)) return undefined;
  return { id, title, body, tags: tags.filter((tag): tag is string => typeof tag === "string") };
}
