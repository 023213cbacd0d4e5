import { beforeEach, expect, test } from "vitest";
import * as protocol from "../../extension/src/protocol";
import { ReviewPanel } from "../../extension/src/views/review/host";
import type { FromWebview, ToWebview } from "../../extension/src/views/review/messages";
import { candidate, FakeContext, heldBack, leftOut, messagesOf, neighbour, startedPanel } from "./fakes/sidecar";
import { openTab } from "./fakes/tabs";
import { act, answers, type FakePanel, shown, TabInputWebview, Uri, window, workspace } from "./fakes/vscode";

const message = messagesOf<ToWebview>();
const root = Uri.file("/repo").toString();
const done: protocol.ReviewResult = { ok: true, code: "", message: "Accepted: c1", action: "a1", path: null, askQuotes: false, note: "", missing: [], waiting: [] };
const accept: FromWebview & { type: "act" } = { type: "act", id: "c1", action: "accept", edit: null, choice: null };

let context: FakeContext;
let waiting: protocol.CandidateView[];
let opened: unknown[];
let review: ReviewPanel;

beforeEach(() => {
  context = new FakeContext();
  waiting = [candidate("c1"), candidate("c2")];
  opened = [];
  context.answer(protocol.reviewList, () => ({ candidates: [...waiting], blocked: 1, leftOut: 2, problems: [], undo: null }));
  context.answer(protocol.reviewAct, () => done);
  context.answer(protocol.reviewUndo, () => done);
  review = new ReviewPanel(context.as(), { open: (target) => Promise.resolve(void opened.push(target)) });
});

function show(id?: string, folder: unknown = workspace.workspaceFolders[0]): Promise<void> {
  return review.show(folder as Parameters<ReviewPanel["show"]>[0], id);
}

/** A panel on the only folder whose browser side has started. */
async function open(): Promise<FakePanel> {
  await show();
  return startedPanel();
}

/** The same, once it has its first list. */
async function openWithList(): Promise<FakePanel> {
  const panel = await open();
  await message(panel, "list");
  return panel;
}

function posted(panel: FakePanel, type: ToWebview["type"]): ToWebview[] {
  return (panel.posted as ToWebview[]).filter((one) => one.type === type);
}

const undone = (): unknown[] => context.params(protocol.reviewUndo).map(({ action }) => action);

test("the panel shows what waits, how much was left out and what was blocked", async () => {
  const panel = await open();
  expect(await message(panel, "root")).toMatchObject({ name: "repo", restricted: false });
  expect(await message(panel, "list")).toMatchObject({ order: ["c1", "c2"], blocked: 1, leftOut: 2 });
  expect(context.pending.get(root)).toBe(2);
});

test("a candidate that is asked for while another tab covers the panel is selected once its page has loaded again", async () => {
  const panel = await openWithList();
  panel.cover();
  await show("c2");
  expect(posted(panel, "select")).toEqual([]);
  panel.send({ type: "ready" });
  expect(await message(panel, "select")).toMatchObject({ id: "c2" });
});

test("a panel restored with the window that was not loaded yet is brought to the front instead of a second one", async () => {
  openTab(Uri.file("/repo/app.py"));
  openTab(Uri.file("/unused"), { input: new TabInputWebview("mainThreadWebview-lerim.review") });
  await show("c2");
  expect(shown.panels).toEqual([]);
  expect(shown.commands).toEqual([{ id: "workbench.action.focusFirstEditorGroup", args: [] }, { id: "workbench.action.openEditorAtIndex", args: [1] }]);
  await review.deserializeWebviewPanel(window.createWebviewPanel("lerim.review", "Lerim Review") as never, { root });
  expect(await message(startedPanel(), "select")).toMatchObject({ id: "c2" });
  await show();
  expect([shown.panels.length, shown.panels[0]?.revealed]).toEqual([1, 1]);
});

test("a candidate that was asked for before the panel listens is selected once it does, whoever opens the panel meanwhile", async () => {
  await show("c2");
  await show();
  expect(shown.panels[0]?.posted.some((one) => (one as ToWebview).type === "select")).toBe(false);
  expect(await message(startedPanel(), "select")).toMatchObject({ id: "c2" });
});

test("what was left out is asked for while its section is open, and again with every listing", async () => {
  let kept = [leftOut("l1"), leftOut("l2")];
  context.answer(protocol.reviewLeftOut, () => ({ items: kept, total: 7 }));
  const panel = await openWithList();
  expect(posted(panel, "leftOut")).toEqual([]);
  panel.send({ type: "leftOut", most: 100 });
  expect(await message(panel, "leftOut")).toMatchObject({ root, total: 7, items: [{ id: "l1" }, { id: "l2" }] });
  kept = [leftOut("l2")];
  context.answer(protocol.reviewPropose, () => ({ ...done, message: "Proposed: l1", action: "p1" }));
  panel.send({ type: "propose", id: "l1", scope: "project" });
  expect(await message(panel, "actionResult")).toMatchObject({ id: "l1", action: "propose", ok: true, undo: { action: "p1", label: "Proposed: l1" } });
  expect(await message(panel, "leftOut", 1)).toMatchObject({ items: [{ id: "l2" }] });
});

test("while candidates come in, only new and changed ones are sent, and one that comes back as it was", async () => {
  const panel = await openWithList();
  const lists = async (place: number, ...candidates: protocol.CandidateView[]): Promise<unknown> => {
    waiting = candidates;
    context.candidates.fire({ root, project: "p", pending: candidates.length });
    const { order, changed } = await message(panel, "list", place);
    return [order, changed.map(({ id }) => id)];
  };
  const second = candidate("c2", { title: "Changed" });
  expect(await lists(1, candidate("c1"), second, candidate("c3"))).toEqual([["c1", "c2", "c3"], ["c2", "c3"]]);
  await lists(2, second, candidate("c3"));
  expect(await lists(3, candidate("c1"), second, candidate("c3"))).toEqual([["c1", "c2", "c3"], ["c1"]]);
});

test("another root's candidates are not this panel's matter, and a message that is none is noted and nothing more", async () => {
  const panel = await openWithList();
  const before = context.asked.length;
  context.candidates.fire({ root: "file:///other", project: "q", pending: 9 });
  panel.send({ ...accept, action: "delete" });
  expect(context.asked.length).toBe(before);
  expect(context.logged.at(-1)).toContain("not understood");
});

test("accept is carried out and reported, and an edit goes along with what is asked", async () => {
  const panel = await open();
  panel.send(accept);
  expect(await message(panel, "actionResult")).toEqual({ type: "actionResult", id: "c1", action: "accept", ok: true, message: "Accepted: c1", decided: ["c1"], waiting: [], note: "", undo: { action: "a1", label: "Accepted: c1" }, diff: "" });
  const edit = { title: "Better", body: "b", tags: [] };
  panel.send({ ...accept, id: "c2", action: "edit", edit });
  await message(panel, "actionResult", 1);
  const common = { root, scope: "project" };
  expect(context.params(protocol.reviewAct)).toEqual([{ ...common, id: "c1", action: "accept" }, { ...common, id: "c2", action: "edit", edit }]);
});

test("a similar memory opens in the editor, and only one that the sidecar named", async () => {
  waiting = [candidate("c1", { neighbours: [neighbour("m1")] })];
  const panel = await openWithList();
  panel.send({ type: "openTarget", id: "c1", target: "elsewhere" });
  panel.send({ type: "openTarget", id: "c1", target: "m1" });
  await expect.poll(() => shown.documents.map(({ uri }) => uri.path)).toEqual(["/repo/.lerim/memory/decisions/m1.md"]);
});

test("the memory that an accepted candidate became opens", async () => {
  const path = "/repo/.lerim/memory/decisions/m1.md";
  context.answer(protocol.reviewAct, () => ({ ...done, path }));
  const panel = await openWithList();
  panel.send(accept);
  await message(panel, "actionResult");
  panel.send({ type: "openAccepted" });
  await expect.poll(() => shown.documents.map(({ uri }) => uri.path)).toEqual([path]);
  panel.send({ type: "ready" }); // another tab covered the panel, and its page was made anew
  expect(posted(panel, "root")).toMatchObject([{ knowsAccepted: false }, { knowsAccepted: true }]);
});

test.each([
  ["Share quotes in git", "shared"],
  ["Keep quotes on this machine", "local"],
  ["", undefined],
] as const)("the first accept asks where quotes go, and does nothing before: %s", async (button, quotes) => {
  context.answer(protocol.reviewAct, (params) => (params.quotes === undefined ? { ...done, ok: false, askQuotes: true } : done));
  if (button !== "") answers.choices.push(button);
  const panel = await open();
  const choice = { answer: "replaces", memory: "m1", hash: "h1" } as const;
  panel.send({ ...accept, choice });
  expect(await message(panel, "actionResult")).toMatchObject({ ok: quotes !== undefined });
  expect(shown.messages).toMatchObject([{ modal: true, choices: ["Keep quotes on this machine", "Share quotes in git"] }]);
  const detail = shown.messages[0]?.detail ?? "";
  expect(detail).toContain("everyone with access to the repository");
  expect(detail.split(/\s+/).length).toBeLessThanOrEqual(48); // it stands between a person and the first memory
  for (const part of [/exact quotes/, /may repeat what was said/, /You can change this later/]) expect(detail).toMatch(part);
  const sent = context.params(protocol.reviewAct).map((params) => [params.quotes, params.choice]);
  expect(sent).toEqual([[undefined, choice], [quotes, choice]].slice(0, quotes === undefined ? 1 : 2));
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
  panel.send(accept);
  panel.send({ ...accept, id: "c2", action: "reject" });
  await message(panel, "actionResult", 1);
  expect(order).toEqual(["begin c1", "end c1", "begin c2", "end c2"]);
});

test("a listing begun before an act does not bring the candidate back, undo does", async () => {
  const { released, release } = heldBack();
  context.answer(protocol.reviewList, async () => {
    const before = [...waiting];
    await released;
    return { candidates: before, blocked: 0, leftOut: 0, problems: [], undo: null };
  });
  context.answer(protocol.reviewAct, () => {
    waiting = [candidate("c2")];
    return done;
  });
  context.answer(protocol.reviewUndo, () => {
    waiting = [candidate("c1"), candidate("c2")];
    return done;
  });
  const panel = await open();
  panel.send(accept);
  await message(panel, "actionResult");
  release();
  expect((await message(panel, "list")).order).toEqual(["c2"]);
  panel.send({ type: "undo", action: "a7" });
  await expect.poll(() => posted(panel, "list").at(-1)).toMatchObject({ order: ["c1", "c2"] });
  expect(undone(), "the action that is shown, not another window's last one").toEqual(["a7"]);
});

test("undo pressed before an act was answered takes back that act, and nothing where it is refused", async () => {
  const { released, release } = heldBack();
  context.answer(protocol.reviewAct, async () => {
    await released;
    return { ...done, action: "a8" };
  });
  const panel = await open();
  panel.send(accept);
  panel.send({ type: "undo", action: null });
  release();
  await message(panel, "actionResult", 1);
  expect(undone()).toEqual(["a8"]);
  context.refuse(protocol.reviewAct, "It changed.");
  panel.send(accept);
  panel.send({ type: "undo", action: null });
  expect(await message(panel, "actionResult", 3)).toMatchObject({ action: "undo", ok: false, message: expect.stringContaining("There is nothing to undo") as string });
  expect(undone()).toEqual(["a8"]);
});

test.each([accept, { type: "undo", action: "a1" }, { type: "propose", id: "l1", scope: "project" }])("an error of the sidecar at %j is shown in the panel once, with what changed, and written to the log", async (request) => {
  const refuse = (): never => {
    throw Object.assign(new Error("The file changed since you looked at it."), { data: { kind: "stale", diff: "-old\n+new\n" } });
  };
  for (const type of [protocol.reviewAct, protocol.reviewUndo, protocol.reviewPropose]) context.answer(type as protocol.Request<unknown, never>, refuse);
  const panel = await openWithList();
  panel.send(request);
  expect(await message(panel, "actionResult")).toMatchObject({ ok: false, message: "The file changed since you looked at it.", diff: "-old\n+new\n" });
  await message(panel, "list", 1);
  expect(context.logged.filter((line) => line.includes("The file changed"))).toHaveLength(1);
  expect(posted(panel, "failed")).toEqual([]);
});

test("an edit that does not fit is answered with the reason and goes no further", async () => {
  const panel = await open();
  panel.send({ ...accept, action: "edit", edit: { title: " ", body: "b", tags: [] } });
  expect(await message(panel, "actionResult")).toMatchObject({ id: "c1", action: "edit", ok: false, message: expect.stringContaining("title is empty") as string });
  expect(context.params(protocol.reviewAct)).toEqual([]);
});

test("a list that cannot be had says so as such", async () => {
  context.refuse(protocol.reviewList, "The review is locked.");
  expect(await message(await open(), "failed")).toEqual({ type: "failed", operation: "list", message: "The review is locked." });
});

test("an act that ends after the panel went to another root is not taken for one of that root", async () => {
  const { released, release } = heldBack();
  context.answer(protocol.reviewAct, async () => {
    await released;
    return done;
  });
  const panel = await open();
  panel.send(accept);
  await show(undefined, { uri: Uri.file("/other"), name: "other", index: 1 });
  await message(panel, "root", 1);
  release();
  await expect.poll(() => context.params(protocol.reviewList).length).toBeGreaterThan(1);
  expect(posted(panel, "actionResult")).toEqual([]);
});

test("the panel copies texts, opens turns, and refuses references that lead outside", async () => {
  const panel = await open();
  panel.send({ type: "copy", text: "Better words" });
  await expect.poll(() => shown.copied).toEqual(["Better words"]);
  panel.send({ type: "openTurn", session: "s1", turn: "t1" });
  await expect.poll(() => opened).toEqual([{ root, session: "s1", turn: "t1" }]);
  panel.send({ type: "openReference", reference: "../../etc/passwd" });
  expect((await message(panel, "failed")).message).toContain("does not name a file in this repository");
  expect(shown.documents).toEqual([]);
});

test("what is typed in the form of a candidate is completed by the sidecar", async () => {
  context.answer(protocol.reviewComplete, ({ typed }) => ({ items: [{ value: `src/${typed}.py`, note: "" }] }));
  const panel = await openWithList();
  panel.send({ type: "complete", id: "c1", field: "references", typed: "cart", present: ["src/tax.py"] });
  expect(await message(panel, "suggestions")).toEqual({ type: "suggestions", field: "references", typed: "cart", items: [{ value: "src/cart.py", note: "" }] });
  expect(context.params(protocol.reviewComplete)).toEqual([{ root, scope: "project", field: "references", typed: "cart", present: ["src/tax.py"] }]);
});

test("while what was typed is completed, the sidecar is asked only for what is typed last", async () => {
  const first = heldBack();
  context.answer(protocol.reviewComplete, async ({ typed }) => {
    if (typed === "c") await first.released;
    return { items: [{ value: `src/${typed}.py`, note: "" }] };
  });
  const panel = await openWithList();
  for (const typed of ["c", "ca", "car", "cart"]) panel.send({ type: "complete", id: "c1", field: "references", typed, present: [] });
  first.release();
  expect([(await message(panel, "suggestions")).typed, (await message(panel, "suggestions", 1)).typed]).toEqual(["c", "cart"]);
  expect(context.params(protocol.reviewComplete).map(({ typed }) => typed)).toEqual(["c", "cart"]);
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
  const panel = await openWithList();
  const progress = { root, sessionsDone: 3, sessionsTotal: 12, candidates: 2, message: "", settling: 0 };
  context.progress.fire({ ...progress, stage: "learning" });
  expect(await message(panel, "sync")).toEqual({ type: "sync", running: true, text: "Finding candidates (3 of 12 sessions, 2 candidates)" });
  context.progress.fire({ ...progress, stage: "done" });
  expect(await message(panel, "sync", 1)).toMatchObject({ running: false });
  await message(panel, "list", 1);
});
