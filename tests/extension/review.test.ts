import { beforeEach, expect, test } from "vitest";
import * as protocol from "../../extension/protocol";
import { ReviewPanel } from "../../extension/views/review";
import type { ToWebview } from "../../extension/views/messages";
import { candidate, FakeContext } from "./fakes/sidecar";
import { act, answers, type FakePanel, reset, shown, Uri, workspace } from "./fakes/vscode";

type Parts = ConstructorParameters<typeof ReviewPanel>;

const root = Uri.file("/repo").toString();
const done: protocol.ReviewResult = { ok: true, code: "", message: "", action: "a1", path: null, askQuotes: false };

let context: FakeContext;
let waiting: protocol.CandidateView[];
let opened: unknown[];

beforeEach(() => {
  reset();
  context = new FakeContext();
  waiting = [candidate("c1"), candidate("c2")];
  opened = [];
  context.answer(protocol.reviewList, () => ({ candidates: [...waiting], blocked: 1, dropped: { refuted: 2 }, problems: [], undo: null }));
});

/** A panel on the only folder whose browser side has started. */
async function open(): Promise<FakePanel> {
  const turns = {
    open: (target: unknown) => {
      opened.push(target);
      return Promise.resolve();
    },
  };
  // SAFETY: the fakes have every member the panel uses; their classes are other ones than VS Code's
  const review = new ReviewPanel(context as unknown as Parts[0], turns);
  const [folder] = workspace.workspaceFolders;
  await review.show(folder as unknown as Parameters<ReviewPanel["show"]>[0]);
  const panel = shown.panels[0];
  if (panel === undefined) throw new Error("no panel was opened");
  panel.send({ type: "ready" });
  return panel;
}

async function message<T extends ToWebview["type"]>(panel: FakePanel, type: T, place = 0): Promise<ToWebview & { type: T }> {
  const all = (): (ToWebview & { type: T })[] => (panel.posted as ToWebview[]).filter((posted): posted is ToWebview & { type: T } => posted.type === type);
  await expect.poll(() => all().length).toBeGreaterThan(place);
  const found = all()[place];
  if (found === undefined) throw new Error("unreachable");
  return found;
}

test("the panel shows what waits, what was dropped and what was blocked", async () => {
  const panel = await open();
  expect(await message(panel, "root")).toMatchObject({ name: "repo", restricted: false });
  expect(await message(panel, "list")).toMatchObject({ order: ["c1", "c2"], blocked: 1, dropped: { refuted: 2 } });
  expect(context.pending.get(root)).toBe(2);
});

test("while candidates come in only new and changed ones are sent", async () => {
  const panel = await open();
  await message(panel, "list");
  waiting = [candidate("c1"), candidate("c2", { title: "Changed" }), candidate("c3")];
  context.candidates.fire({ root, pending: 3 });
  const next = await message(panel, "list", 1);
  expect(next.order).toEqual(["c1", "c2", "c3"]);
  expect(next.changed.map(({ id }) => id)).toEqual(["c2", "c3"]);
});

test("another root's candidates are not this panel's matter", async () => {
  const panel = await open();
  await message(panel, "list");
  const before = context.asked.length;
  context.candidates.fire({ root: "file:///other", pending: 9 });
  expect(context.asked.length).toBe(before);
});

test("accept is carried out and reported", async () => {
  context.answer(protocol.reviewAct, () => done);
  const panel = await open();
  panel.send({ type: "act", id: "c1", action: "accept", edit: null });
  expect(await message(panel, "acted")).toEqual({ type: "acted", id: "c1", action: "accept", ok: true, message: "" });
  expect(context.asked).toContainEqual({ method: "lerim/review/act", params: { root, id: "c1", action: "accept" } });
});

test("an edit goes along with what is asked", async () => {
  context.answer(protocol.reviewAct, () => done);
  const panel = await open();
  const edit = { title: "Better", body: "b", tags: [] };
  panel.send({ type: "act", id: "c1", action: "edit", edit });
  await message(panel, "acted");
  expect(context.asked).toContainEqual({ method: "lerim/review/act", params: { root, id: "c1", action: "edit", edit } });
});

test.each([
  ["Share quotes in git", "shared"],
  ["Keep quotes local", "local"],
] as const)("the first accept asks where quotes go: %s", async (choice, quotes) => {
  context.answer(protocol.reviewAct, (params) => (params.quotes === undefined ? { ...done, ok: false, askQuotes: true } : done));
  answers.choices.push(choice);
  const panel = await open();
  panel.send({ type: "act", id: "c1", action: "accept", edit: null });
  expect(await message(panel, "acted")).toMatchObject({ ok: true });
  expect(shown.messages).toMatchObject([{ modal: true, choices: ["Share quotes in git", "Keep quotes local"] }]);
  expect(context.asked.filter(({ method }) => method === "lerim/review/act").map(({ params }) => (params as protocol.ActParams).quotes)).toEqual([undefined, quotes]);
});

test("Escape on that question accepts nothing", async () => {
  context.answer(protocol.reviewAct, () => ({ ...done, ok: false, askQuotes: true }));
  const panel = await open();
  panel.send({ type: "act", id: "c1", action: "accept", edit: null });
  expect(await message(panel, "acted")).toMatchObject({ ok: false });
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
  panel.send({ type: "act", id: "c1", action: "accept", edit: null });
  panel.send({ type: "act", id: "c2", action: "reject", edit: null });
  await message(panel, "acted", 1);
  expect(order).toEqual(["begin c1", "end c1", "begin c2", "end c2"]);
});

test("a listing begun before an act does not bring the candidate back", async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  context.answer(protocol.reviewList, async () => {
    const before = [...waiting];
    await held;
    return { candidates: before, blocked: 0, dropped: {}, problems: [], undo: null };
  });
  context.answer(protocol.reviewAct, () => {
    waiting = [candidate("c2")];
    return done;
  });
  const panel = await open();
  panel.send({ type: "act", id: "c1", action: "accept", edit: null });
  await message(panel, "acted");
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
  panel.send({ type: "act", id: "c1", action: "reject", edit: null });
  await message(panel, "acted");
  panel.send({ type: "undo" });
  await expect.poll(() => (panel.posted as ToWebview[]).filter((posted) => posted.type === "list").at(-1)?.order).toEqual(["c1", "c2"]);
});

test("an error of the sidecar is shown in the panel and written to the log", async () => {
  context.answer(protocol.reviewAct, () => {
    throw new Error("The file changed since you looked at it.");
  });
  const panel = await open();
  panel.send({ type: "act", id: "c1", action: "accept", edit: null });
  expect(await message(panel, "acted")).toMatchObject({ ok: false, message: "The file changed since you looked at it." });
  await expect.poll(() => context.logged).toContain("The file changed since you looked at it.");
});

test("the panel opens turns, and refuses references that lead outside", async () => {
  const panel = await open();
  panel.send({ type: "openTurn", session: "s1", turn: "t1" });
  await expect.poll(() => opened).toEqual([{ root, session: "s1", turn: "t1" }]);
  panel.send({ type: "openReference", reference: "../../etc/passwd" });
  expect((await message(panel, "failed")).message).toContain("does not name a file of this repository");
  expect(shown.documents).toEqual([]);
});

test("a message that is none is noted and nothing more", async () => {
  const panel = await open();
  const before = context.asked.length;
  panel.send({ type: "act", id: "c1", action: "delete", edit: null });
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
