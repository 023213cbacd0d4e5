import { beforeEach, expect, test } from "vitest";
import * as protocol from "../../extension/src/protocol";
import { parseFromTranscript, parseToTranscript, type ToTranscript } from "../../extension/src/views/transcript/messages";
import { Transcripts } from "../../extension/src/views/transcript/host";
import { FakeContext, session, sessionTurn } from "./fakes/sidecar";
import { act, type FakePanel, reset, shown, window, workspace } from "./fakes/vscode";

type Owner = ConstructorParameters<typeof Transcripts>[0];

let context: FakeContext;
let transcripts: Transcripts;

beforeEach(() => {
  reset();
  context = new FakeContext();
  context.answer(protocol.sessionOpen, ({ id, turn }) => ({ session: session(id), kinds: "prpr", sizes: [1, 2, 3, 4], at: turn === "" ? -1 : Number(turn), note: "", summary: "" }));
  context.answer(protocol.sessionTurns, ({ start = 0, count = 200 }) => ({ start, turns: ["0", "1", "2", "3"].slice(start, start + count).map((turn) => sessionTurn(turn)) }));
  // SAFETY: the fake has every member the viewers use
  transcripts = new Transcripts(context as unknown as Owner);
});

async function open(id: string, turn = ""): Promise<FakePanel> {
  await transcripts.open(id, turn);
  const panel = shown.panels.at(-1);
  if (panel === undefined) throw new Error("no panel was opened");
  panel.send({ type: "ready" });
  return panel;
}

async function message<T extends ToTranscript["type"]>(panel: FakePanel, type: T, place = 0): Promise<ToTranscript & { type: T }> {
  const all = (): (ToTranscript & { type: T })[] => (panel.posted as ToTranscript[]).filter((posted): posted is ToTranscript & { type: T } => posted.type === type);
  await expect.poll(() => all().length).toBeGreaterThan(place);
  const found = all()[place];
  if (found === undefined) throw new Error("unreachable");
  expect(parseToTranscript(found)).toEqual(found);
  return found;
}

test("a session opens at its turn, without its text; the turns in sight are asked for", async () => {
  const panel = await open("s1", "2");
  expect(await message(panel, "session")).toMatchObject({ outline: { at: 2, kinds: "prpr", session: { title: "Mend the cart (s1)" } } });
  expect(panel.title).toBe("Mend the cart (s1)");
  expect(context.asked.map(({ method }) => method)).toEqual(["lerim/session/open"]);
  panel.send({ type: "loadTurns", start: 1, count: 2 });
  expect((await message(panel, "turns")).turns.map(({ turn }) => turn)).toEqual(["1", "2"]);
  panel.send({ type: "loadWholeTurn", position: 3 });
  await message(panel, "turns", 1);
  expect(context.asked.at(-1)?.params).toEqual({ id: "s1", start: 3, count: 1, whole: true });
});

test("a session that is open is brought to the front and jumps, another has a panel of its own", async () => {
  const panel = await open("s1");
  expect((await message(panel, "session")).outline.at).toBe(-1);
  await transcripts.open("s1", "3");
  expect((await message(panel, "session", 1)).outline.at).toBe(3);
  expect([panel.revealed, shown.panels.length]).toEqual([1, 1]);
  await open("s2");
  expect(shown.panels).toHaveLength(2);
  panel.dispose();
  await open("s1");
  expect(shown.panels).toHaveLength(3);
});

test("after a sync an open session is asked for anew, and stays where the person is", async () => {
  const panel = await open("s1", "2");
  await message(panel, "session");
  context.progress.fire({ root: "file:///repo", stage: "done", sessionsDone: 1, sessionsTotal: 1, candidates: 0, message: "" });
  expect((await message(panel, "session", 1)).outline.at).toBe(-1);
});

test("what is looked for is found by the sidecar", async () => {
  context.answer(protocol.sessionFind, () => ({ positions: [1, 3] }));
  const panel = await open("s1");
  panel.send({ type: "find", text: "cart" });
  expect(await message(panel, "findResult")).toEqual({ type: "findResult", text: "cart", positions: [1, 3] });
});

test("a session that is gone says so, and the log has it", async () => {
  context.answer(protocol.sessionOpen, () => {
    throw new Error("This session is not on this machine.");
  });
  expect(await message(await open("s1"), "failed")).toMatchObject({ message: "This session is not on this machine." });
  expect(context.logged.at(-1)).toContain("not on this machine");
});

test("in Restricted Mode nothing is asked until the workspace is trusted", async () => {
  workspace.isTrusted = false;
  const panel = await open("s1");
  await message(panel, "restricted");
  expect(context.asked).toEqual([]);
  panel.send({ type: "manageTrust" });
  await expect.poll(() => shown.commands.map(({ id }) => id)).toEqual(["workbench.trust.manage"]);
  act.trust();
  await message(panel, "session");
});

test("a panel restored with the window shows its session again, and one without a session goes", async () => {
  const panel = window.createWebviewPanel("lerim.transcript", "Session");
  await transcripts.deserializeWebviewPanel(panel as never, { id: "s9", position: 7 });
  panel.send({ type: "ready" });
  expect((await message(panel, "session")).outline.session.id).toBe("s9");
  const broken = window.createWebviewPanel("lerim.transcript", "Session");
  let disposed = false;
  broken.onDidDispose(() => (disposed = true));
  await transcripts.deserializeWebviewPanel(broken as never, { id: 3 });
  expect(disposed).toBe(true);
});

test.each([{ type: "ready" }, { type: "manageTrust" }, { type: "loadTurns", start: 0, count: 60 }, { type: "loadWholeTurn", position: 4 }, { type: "find", text: "x" }])("the viewer may say %j", (value) => {
  expect(parseFromTranscript(value)).toEqual(value);
});

test.each([null, 7, [], {}, { type: "run" }, { type: "loadTurns", start: -1, count: 1 }, { type: "loadTurns", start: 0, count: 0 }, { type: "loadTurns", start: 0.5, count: 1 }, { type: "loadWholeTurn" }, { type: "find", text: "x".repeat(2000) }, { type: "copy", text: "x" }])("%j from the viewer is refused", async (value) => {
  expect(parseFromTranscript(value)).toBeUndefined();
  const panel = await open("s1");
  panel.send(value);
  expect(context.logged.at(-1)).toContain("not understood");
});

const outline = { session: session("a"), kinds: "pr", sizes: [1, 2], at: -1, note: "", summary: "" };
const turn = sessionTurn("t", { calls: [{ title: "$ make", status: "error", exitCode: 2, text: "" }] });

test.each([
  { type: "session", outline: { ...outline, kinds: "px" } },
  { type: "session", outline: { ...outline, sizes: [1] } },
  { type: "session", outline: { ...outline, session: { ...session("a"), tokens: 4 } } },
  { type: "turns", start: 0, turns: [{ ...turn, role: "system" }] },
  { type: "turns", start: 0, turns: [{ ...turn, calls: [{ ...turn.calls[0], status: "fine" }] }] },
  { type: "findResult", text: "x", positions: ["1"] },
  { type: "failed" },
  3,
])("a broken message of the host is not drawn", (value) => {
  expect(parseToTranscript(value)).toBeUndefined();
});

test.each([{ type: "session", outline }, { type: "turns", start: 0, turns: [turn] }, { type: "restricted" }])("the host may say $type", (value) => {
  expect(parseToTranscript(value)).toEqual(value);
});
