import { beforeEach, expect, test } from "vitest";
import * as protocol from "../../extension/src/protocol";
import { ReviewPanel } from "../../extension/src/views/review/host";
import type { ToWebview } from "../../extension/src/views/review/messages";
import { candidate, FakeContext, leftOut, neighbour } from "./fakes/sidecar";
import { act, answers, type FakePanel, reset, shown, Uri, workspace } from "./fakes/vscode";

type Parts = ConstructorParameters<typeof ReviewPanel>;

const root = Uri.file("/repo").toString();
const done: protocol.ReviewResult = { ok: true, code: "", message: "Accepted: c1", action: "a1", path: null, askQuotes: false };

let context: FakeContext;
let waiting: protocol.CandidateView[];
let opened: unknown[];
let review: ReviewPanel;

beforeEach(() => {
  reset();
  context = new FakeContext();
  waiting = [candidate("c1"), candidate("c2")];
  opened = [];
  context.answer(protocol.reviewList, () => ({ candidates: [...waiting], blocked: 1, leftOut: 2, problems: [], undo: null }));
});

/** A panel on the only folder whose browser side has started. */
async function open(): Promise<FakePanel> {
  const panel = await openedSilently();
  panel.send({ type: "ready" });
  return panel;
}

/** The same, before its browser side listens; `id` is the candidate it was opened on. */
async function openedSilently(id?: string): Promise<FakePanel> {
  const turns = {
    open: (target: unknown) => {
      opened.push(target);
      return Promise.resolve();
    },
  };
  // SAFETY: the fakes have every member the panel uses; their classes are other ones than VS Code's
  review = new ReviewPanel(context as unknown as Parts[0], turns);
  const [folder] = workspace.workspaceFolders;
  await review.show(folder as unknown as Parameters<ReviewPanel["show"]>[0], id);
  const panel = shown.panels[0];
  if (panel === undefined) throw new Error("no panel was opened");
  return panel;
}

async function message<T extends ToWebview["type"]>(panel: FakePanel, type: T, place = 0): Promise<ToWebview & { type: T }> {
  const all = (): (ToWebview & { type: T })[] => (panel.posted as ToWebview[]).filter((posted): posted is ToWebview & { type: T } => posted.type === type);
  await expect.poll(() => all().length).toBeGreaterThan(place);
  const found = all()[place];
  if (found === undefined) throw new Error("unreachable");
  return found;
}

test("the panel shows what waits, how much was left out and what was blocked", async () => {
  const panel = await open();
  expect(await message(panel, "root")).toMatchObject({ name: "repo", restricted: false });
  expect(await message(panel, "list")).toMatchObject({ order: ["c1", "c2"], blocked: 1, leftOut: 2 });
  expect(context.pending.get(root)).toBe(2);
});

test("a candidate that was asked for before the panel listens is selected once it does, whoever opens the panel meanwhile", async () => {
  const panel = await openedSilently("c2");
  const [folder] = workspace.workspaceFolders;
  await review.show(folder as unknown as Parameters<ReviewPanel["show"]>[0]);
  expect(panel.posted.some((posted) => (posted as ToWebview).type === "select")).toBe(false);
  panel.send({ type: "ready" });
  expect(await message(panel, "select")).toMatchObject({ id: "c2" });
});

test("what was left out is asked for while its section is open, and again with every listing", async () => {
  let kept = [leftOut("l1"), leftOut("l2")];
  context.answer(protocol.reviewLeftOut, () => ({ items: kept, total: 7 }));
  const panel = await open();
  await message(panel, "list");
  expect(panel.posted.some((posted) => (posted as ToWebview).type === "leftOut")).toBe(false);
  panel.send({ type: "leftOut", most: 100 });
  expect(await message(panel, "leftOut")).toMatchObject({ root, total: 7, items: [{ id: "l1" }, { id: "l2" }] });
  kept = [leftOut("l2")];
  context.answer(protocol.reviewPropose, () => ({ ...done, message: "Proposed: l1", action: "p1" }));
  panel.send({ type: "propose", id: "l1", scope: "project" });
  expect(await message(panel, "actionResult")).toMatchObject({ id: "l1", action: "propose", ok: true, undo: { action: "p1", label: "Proposed: l1" } });
  expect(await message(panel, "leftOut", 1)).toMatchObject({ items: [{ id: "l2" }] });
});

test("what cannot be proposed is answered with the reason", async () => {
  context.answer(protocol.reviewPropose, () => {
    throw new Error("It cannot be proposed.");
  });
  const panel = await open();
  panel.send({ type: "propose", id: "l1", scope: "project" });
  expect(await message(panel, "actionResult")).toMatchObject({ id: "l1", action: "propose", ok: false, message: "It cannot be proposed." });
});

test("while candidates come in only new and changed ones are sent", async () => {
  const panel = await open();
  await message(panel, "list");
  waiting = [candidate("c1"), candidate("c2", { title: "Changed" }), candidate("c3")];
  context.candidates.fire({ root, project: "p", pending: 3 });
  const next = await message(panel, "list", 1);
  expect(next.order).toEqual(["c1", "c2", "c3"]);
  expect(next.changed.map(({ id }) => id)).toEqual(["c2", "c3"]);
});

test("a candidate decided elsewhere that comes back as it was is sent again", async () => {
  const panel = await open();
  await message(panel, "list");
  waiting = [candidate("c2")];
  context.candidates.fire({ root, project: "p", pending: 1 });
  await message(panel, "list", 1);
  waiting = [candidate("c1"), candidate("c2")];
  context.candidates.fire({ root, project: "p", pending: 2 });
  const back = await message(panel, "list", 2);
  expect([back.order, back.changed.map(({ id }) => id)]).toEqual([["c1", "c2"], ["c1"]]);
});

test("another root's candidates are not this panel's matter", async () => {
  const panel = await open();
  await message(panel, "list");
  const before = context.asked.length;
  context.candidates.fire({ root: "file:///other", project: "q", pending: 9 });
  expect(context.asked.length).toBe(before);
});

test("accept is carried out and reported", async () => {
  context.answer(protocol.reviewAct, () => done);
  const panel = await open();
  panel.send({ type: "act", id: "c1", action: "accept", edit: null, choice: null });
  expect(await message(panel, "actionResult")).toEqual({ type: "actionResult", id: "c1", action: "accept", ok: true, message: "Accepted: c1", undo: { action: "a1", label: "Accepted: c1" }, diff: "" });
  expect(context.asked).toContainEqual({ method: "lerim/review/act", params: { root, id: "c1", scope: "project", action: "accept" } });
});

test("an edit goes along with what is asked", async () => {
  context.answer(protocol.reviewAct, () => done);
  const panel = await open();
  const edit = { title: "Better", body: "b", tags: [] };
  panel.send({ type: "act", id: "c1", action: "edit", edit, choice: null });
  await message(panel, "actionResult");
  expect(context.asked).toContainEqual({ method: "lerim/review/act", params: { root, id: "c1", scope: "project", action: "edit", edit } });
});

test("the answer for a similar memory goes along, also after the question about quotes", async () => {
  context.answer(protocol.reviewAct, (params) => (params.quotes === undefined ? { ...done, ok: false, askQuotes: true } : done));
  answers.choices.push("Keep quotes on this machine");
  const panel = await open();
  const choice = { answer: "replaces", memory: "m1", hash: "h1" } as const;
  panel.send({ type: "act", id: "c1", action: "accept", edit: null, choice });
  await message(panel, "actionResult");
  expect(context.asked.filter(({ method }) => method === "lerim/review/act").map(({ params }) => (params as protocol.ActParams).choice)).toEqual([choice, choice]);
});

test("a similar memory opens in the editor, and only one that the sidecar named", async () => {
  waiting = [candidate("c1", { neighbours: [neighbour("m1")] })];
  const panel = await open();
  await message(panel, "list");
  panel.send({ type: "openTarget", id: "c1", target: "elsewhere" });
  panel.send({ type: "openTarget", id: "c1", target: "m1" });
  await expect.poll(() => shown.documents.length).toBe(1);
  expect(JSON.stringify(shown.documents[0])).toContain("m1.md");
});

test.each([
  ["Share quotes in git", "shared"],
  ["Keep quotes on this machine", "local"],
] as const)("the first accept asks where quotes go: %s", async (choice, quotes) => {
  context.answer(protocol.reviewAct, (params) => (params.quotes === undefined ? { ...done, ok: false, askQuotes: true } : done));
  answers.choices.push(choice);
  const panel = await open();
  panel.send({ type: "act", id: "c1", action: "accept", edit: null, choice: null });
  expect(await message(panel, "actionResult")).toMatchObject({ ok: true });
  expect(shown.messages).toMatchObject([{ modal: true, choices: ["Share quotes in git", "Keep quotes on this machine"] }]);
  expect(context.asked.filter(({ method }) => method === "lerim/review/act").map(({ params }) => (params as protocol.ActParams).quotes)).toEqual([undefined, quotes]);
});

test("Escape on that question accepts nothing", async () => {
  context.answer(protocol.reviewAct, () => ({ ...done, ok: false, askQuotes: true }));
  const panel = await open();
  panel.send({ type: "act", id: "c1", action: "accept", edit: null, choice: null });
  expect(await message(panel, "actionResult")).toMatchObject({ ok: false });
  expect(context.asked.filter(({ method }) => method === "lerim/review/act")).toHaveLength(1);
});

test("acts are carried out one after the other", async () => {
  const order: string[] = [];
  context.answer(protocol.reviewAct, async ({ id }) => {
    order.push(`begin ${id}`);
    await new Promise((resolve) => setImmediate(resolve));
    order.push(`end ${id}`);
    return done;
  });
  const panel = await open();
  panel.send({ type: "act", id: "c1", action: "accept", edit: null, choice: null });
  panel.send({ type: "act", id: "c2", action: "reject", edit: null, choice: null });
  await message(panel, "actionResult", 1);
  expect(order).toEqual(["begin c1", "end c1", "begin c2", "end c2"]);
});

test("a listing begun before an act does not bring the candidate back", async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  context.answer(protocol.reviewList, async () => {
    const before = [...waiting];
    await held;
    return { candidates: before, blocked: 0, leftOut: 0, problems: [], undo: null };
  });
  context.answer(protocol.reviewAct, () => {
    waiting = [candidate("c2")];
    return done;
  });
  const panel = await open();
  panel.send({ type: "act", id: "c1", action: "accept", edit: null, choice: null });
  await message(panel, "actionResult");
  release();
  expect((await message(panel, "list")).order).toEqual(["c2"]);
});

test("undo brings a candidate back", async () => {
  context.answer(protocol.reviewAct, () => {
    waiting = [candidate("c2")];
    return done;
  });
  context.answer(protocol.reviewUndo, () => {
    waiting = [candidate("c1"), candidate("c2")];
    return done;
  });
  const panel = await open();
  await message(panel, "list");
  panel.send({ type: "act", id: "c1", action: "reject", edit: null, choice: null });
  await message(panel, "actionResult");
  panel.send({ type: "undo", action: "a1" });
  await expect.poll(() => (panel.posted as ToWebview[]).filter((posted) => posted.type === "list").at(-1)?.order).toEqual(["c1", "c2"]);
});

function undone(): protocol.UndoParams["action"][] {
  return context.asked.filter(({ method }) => method === "lerim/review/undo").map(({ params }) => (params as protocol.UndoParams).action);
}

test("undo takes back the action that is shown, never another window's last one", async () => {
  context.answer(protocol.reviewUndo, () => done);
  const panel = await open();
  panel.send({ type: "undo", action: "a7" });
  await message(panel, "actionResult");
  expect(undone()).toEqual(["a7"]);
});

test("undo pressed before an act was answered takes back that act", async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  context.answer(protocol.reviewAct, async () => {
    await held;
    return { ...done, action: "a8" };
  });
  context.answer(protocol.reviewUndo, () => done);
  const panel = await open();
  panel.send({ type: "act", id: "c1", action: "accept", edit: null, choice: null });
  panel.send({ type: "undo", action: null });
  release();
  await message(panel, "actionResult", 1);
  expect(undone()).toEqual(["a8"]);
});

test("undo pressed before an act was refused takes nothing back", async () => {
  context.answer(protocol.reviewAct, () => {
    throw new Error("It changed.");
  });
  const panel = await open();
  panel.send({ type: "act", id: "c1", action: "accept", edit: null, choice: null });
  panel.send({ type: "undo", action: null });
  expect(await message(panel, "actionResult", 1)).toMatchObject({ action: "undo", ok: false, message: expect.stringContaining("There is nothing to undo") as string });
  expect(undone()).toEqual([]);
});

test.each(["act", "undo"] as const)("an error of the sidecar at an %s is shown in the panel once, with what changed, and written to the log", async (type) => {
  const refuse = (): never => {
    throw Object.assign(new Error("The file changed since you looked at it."), { data: { kind: "stale", diff: "-old\n+new\n" } });
  };
  context.answer(protocol.reviewAct, refuse);
  context.answer(protocol.reviewUndo, refuse);
  const panel = await open();
  await message(panel, "list");
  panel.send(type === "act" ? { type, id: "c1", action: "accept", edit: null, choice: null } : { type, action: "a1" });
  expect(await message(panel, "actionResult")).toMatchObject({ ok: false, message: "The file changed since you looked at it.", diff: "-old\n+new\n" });
  await message(panel, "list", 1);
  expect(context.logged.filter((line) => line.includes("The file changed"))).toHaveLength(1);
  expect((panel.posted as ToWebview[]).filter((posted) => posted.type === "failed")).toEqual([]);
});

test("an edit that does not fit is answered with the reason and goes no further", async () => {
  const panel = await open();
  panel.send({ type: "act", id: "c1", action: "edit", edit: { title: " ", body: "b", tags: [] }, choice: null });
  expect(await message(panel, "actionResult")).toMatchObject({ id: "c1", action: "edit", ok: false, message: expect.stringContaining("title is empty") as string });
  expect(context.asked.filter(({ method }) => method === "lerim/review/act")).toEqual([]);
});

test("a text that was kept is copied", async () => {
  const panel = await open();
  panel.send({ type: "copy", text: "Better words" });
  await expect.poll(() => shown.copied).toEqual(["Better words"]);
});

test("a list that cannot be had says so as such", async () => {
  context.answer(protocol.reviewList, () => {
    throw new Error("The review is locked.");
  });
  expect(await message(await open(), "failed")).toEqual({ type: "failed", operation: "list", message: "The review is locked." });
});

test("an act that ends after the panel went to another root is not taken for one of that root", async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  context.answer(protocol.reviewAct, async () => {
    await held;
    return done;
  });
  const panel = await open();
  panel.send({ type: "act", id: "c1", action: "accept", edit: null, choice: null });
  const other = { uri: Uri.file("/other"), name: "other", index: 1 };
  await review.show(other as unknown as Parameters<ReviewPanel["show"]>[0]);
  await message(panel, "root", 1);
  release();
  await expect.poll(() => context.asked.filter(({ method }) => method === "lerim/review/list").length).toBeGreaterThan(1);
  expect((panel.posted as ToWebview[]).filter((posted) => posted.type === "actionResult")).toEqual([]);
});

test("the panel opens turns, and refuses references that lead outside", async () => {
  const panel = await open();
  panel.send({ type: "openTurn", session: "s1", turn: "t1" });
  await expect.poll(() => opened).toEqual([{ root, session: "s1", turn: "t1" }]);
  panel.send({ type: "openReference", reference: "../../etc/passwd" });
  expect((await message(panel, "failed")).message).toContain("does not name a file in this repository");
  expect(shown.documents).toEqual([]);
});

test("a message that is none is noted and nothing more", async () => {
  const panel = await open();
  const before = context.asked.length;
  panel.send({ type: "act", id: "c1", action: "delete", edit: null, choice: null });
  expect(context.asked.length).toBe(before);
  expect(context.logged.at(-1)).toContain("not understood");
});

test("in Restricted Mode the sidecar is asked for nothing until the workspace is trusted", async () => {
  workspace.isTrusted = false;
  const panel = await open();
  expect(await message(panel, "root")).toMatchObject({ restricted: true });
  expect(context.asked).toEqual([]);
  act.trust();
  expect(await message(panel, "root", 1)).toMatchObject({ restricted: false });
  expect((await message(panel, "list")).order).toEqual(["c1", "c2"]);
});

test("progress of a sync is shown and its end lists again", async () => {
  const panel = await open();
  await message(panel, "list");
  const progress = { root, sessionsDone: 3, sessionsTotal: 12, candidates: 2, message: "" };
  context.progress.fire({ ...progress, stage: "learning" });
  expect(await message(panel, "sync")).toEqual({ type: "sync", running: true, text: "3 of 12 sessions, 2 candidates" });
  context.progress.fire({ ...progress, stage: "done" });
  expect(await message(panel, "sync", 1)).toMatchObject({ running: false });
  await message(panel, "list", 1);
});
