import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import * as protocol from "../../extension/src/protocol";
import type { ToTranscript } from "../../extension/src/views/transcript/messages";
import { Transcripts } from "../../extension/src/views/transcript/host";
import { findFile } from "../../extension/src/views/transcript/sessionfiles";
import { FakeContext, heldBack, messagesOf, session, sessionTurn, startedPanel } from "./fakes/sidecar";
import { act, answers, type FakePanel, providers, shown, type Uri, window, workspace } from "./fakes/vscode";

const message = messagesOf<ToTranscript>();
let context: FakeContext;
let transcripts: Transcripts;

beforeEach(() => {
  context = new FakeContext();
  context.answer(protocol.sessionOpen, ({ id, turn }) => ({ session: session(id), kinds: "prpr", sizes: [1, 2, 3, 4], at: turn === "" ? -1 : Number(turn), note: "", summary: "", resume: id === "s1" ? "codex resume s1-0000" : "" }));
  context.answer(protocol.sessionTurns, ({ start = 0, count = 200 }) => ({ start, turns: ["0", "1", "2", "3"].slice(start, start + count).map(sessionTurn) }));
  transcripts = new Transcripts(context.as());
});

async function open(id: string, turn = ""): Promise<FakePanel> {
  await transcripts.open(id, turn);
  return startedPanel();
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
  panel.send({ type: "paste", text: "x" });
  expect(context.logged.at(-1)).toContain("not understood");
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

test("a session whose tab was covered jumps once its page has loaded again", async () => {
  const panel = await open("s1");
  await message(panel, "session");
  panel.cover();
  await transcripts.open("s1", "3");
  expect(context.asked).toHaveLength(1); // nobody would receive the answer yet
  panel.send({ type: "ready" });
  expect((await message(panel, "session", 1)).outline.at).toBe(3);
});

test("after a sync an open session is asked for anew, and stays where the person is", async () => {
  const panel = await open("s1", "2");
  await message(panel, "session");
  context.progress.fire({ root: "file:///repo", stage: "done", sessionsDone: 1, sessionsTotal: 1, candidates: 0, message: "", settling: 0 });
  expect((await message(panel, "session", 1)).outline.at).toBe(-1);
});

test("what is looked for is found by the sidecar", async () => {
  context.answer(protocol.sessionFind, () => ({ positions: [1, 3] }));
  const panel = await open("s1");
  panel.send({ type: "find", text: "cart" });
  expect(await message(panel, "findResult")).toEqual({ type: "findResult", text: "cart", positions: [1, 3] });
});

test("a session that is gone says so, and the log has it", async () => {
  context.refuse(protocol.sessionOpen, "This session is not on this machine.");
  expect(await message(await open("s1"), "failed")).toMatchObject({ message: "This session is not on this machine." });
  expect(context.logged.at(-1)).toContain("not on this machine");
});

test("a viewer that is closed before its session has loaded is forgotten", async () => {
  const { released, release } = heldBack();
  context.answer(protocol.sessionOpen, async ({ id }) => {
    await released;
    return { session: session(id), kinds: "p", sizes: [1], at: -1, note: "", summary: "", resume: "" };
  });
  const panel = await open("s1");
  await expect.poll(() => context.asked.length).toBe(1);
  panel.dispose();
  release();
  await new Promise((resolve) => setImmediate(resolve));
  expect(context.logged).toEqual([]);
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
  await transcripts.deserializeWebviewPanel(window.createWebviewPanel("lerim.transcript", "Session") as never, { id: "s9", position: { row: 7, offset: 0 }, open: [], summaryOpen: false });
  expect((await message(startedPanel(), "session")).outline.session.place).toBe("s9");
  const broken = window.createWebviewPanel("lerim.transcript", "Session");
  let disposed = false;
  broken.onDidDispose(() => (disposed = true));
  await transcripts.deserializeWebviewPanel(broken as never, { id: 3 });
  expect(disposed).toBe(true);
});

test("a message is copied, and a session is continued with its agent once the person has seen the command", async () => {
  const panel = await open("s1");
  await message(panel, "session");
  panel.send({ type: "copy", text: "make test" });
  await expect.poll(() => shown.copied).toEqual(["make test"]);
  panel.send({ type: "copyWholeTurn", position: 3 });
  await expect.poll(() => shown.copied.at(-1)).toBe(sessionTurn("3").text);
  expect(context.asked.at(-1)?.params).toEqual({ id: "s1", start: 3, count: 1, whole: true });
  answers.choices = ["Copy Command", "Run in Terminal"];
  panel.send({ type: "resume" });
  await expect.poll(() => shown.copied.at(-1)).toBe("codex resume s1-0000");
  expect(shown.messages.at(-1)).toMatchObject({ text: "Continue this session with Codex?", modal: true });
  panel.send({ type: "resume" });
  await expect.poll(() => shown.terminals).toEqual([{ name: "Codex", lines: ["codex resume s1-0000"] }]);
  panel.send({ type: "resume" }); // Escape
  await expect.poll(() => shown.messages.length).toBe(3);
  expect(shown.terminals).toHaveLength(1);
});

test("what a call changed opens in the editor's own difference view, and several files in one editor", async () => {
  const one = { path: "/work/src/app.py", old: "a = 1\n", new: "a = 2\n" };
  context.answer(protocol.sessionCall, ({ call }) => ({ edits: [[one], [one, { path: "C:\\work\\new.py", old: "", new: "b = 1\n" }]][call] ?? [], output: "", outputCut: 0 }));
  const panel = await open("s1");
  await message(panel, "session");
  panel.send({ type: "openDiff", turn: "1", call: 0 });
  await expect.poll(() => shown.commands.at(-1)?.id).toBe("vscode.diff");
  const [before, after, title] = shown.commands.at(-1)?.args as [Uri, Uri, string];
  expect(title).toBe("app.py (edit by Codex)");
  const text = (uri: Uri): unknown => providers.get("lerim-edit")?.provideTextDocumentContent(uri);
  expect([text(before), text(after), before.path]).toEqual([one.old, one.new, "/work/src/app.py"]);
  panel.send({ type: "openDiff", turn: "1", call: 1 });
  await expect.poll(() => shown.commands.at(-1)?.id).toBe("vscode.changes");
  panel.send({ type: "openDiff", turn: "1", call: 2 });
  expect(await message(panel, "failed")).toMatchObject({ message: "The text of this edit is not in the transcript. Open the file instead." });
  panel.send({ type: "openDiff", turn: "", call: -1 });
  await expect.poll(() => context.logged.at(-1)).toContain("not understood");
});

test("what calls printed is read one after the other, and what prevents it is said in its place", async () => {
  let running = 0;
  context.answer(protocol.sessionCall, async ({ call }) => {
    running += 1;
    expect(running).toBe(1);
    await Promise.resolve();
    running -= 1;
    if (call === 1) throw new Error("This call is not in the transcript.");
    return { edits: [], output: `printed ${call}`, outputCut: 7 };
  });
  const panel = await open("s1");
  await message(panel, "session");
  for (const call of [0, 1, 2]) panel.send({ type: "loadOutput", turn: "1", call });
  const answers = (): unknown[] => panel.posted.filter((one) => (one as { type: string }).type === "output");
  await expect.poll(() => answers()).toEqual([
    { type: "output", turn: "1", call: 0, text: "printed 0", cut: 7, failed: "" },
    { type: "output", turn: "1", call: 1, text: "", cut: 0, failed: "This call is not in the transcript." },
    { type: "output", turn: "1", call: 2, text: "printed 2", cut: 7, failed: "" },
  ]);
});

test("of a session that its agent cannot continue that is said", async () => {
  const panel = await open("s2");
  await message(panel, "session");
  panel.send({ type: "resume" });
  await expect.poll(() => shown.messages.map(({ text }) => text)).toEqual(["Lerim: Codex has no command that continues this session."]);
  expect(shown.terminals).toEqual([]);
});

test("only files of the window's folders are found, from the session's folder first", async () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "lerim-files-")));
  const [root, other, outside] = ["root", "other", "outside"].map((name) => join(home, name)) as [string, string, string];
  for (const folder of [join(root, "sub"), other, outside]) mkdirSync(folder, { recursive: true });
  for (const file of [join(root, "app.py"), join(root, "sub", "app.py"), join(other, "only.py"), join(outside, "secret.txt")]) writeFileSync(file, "");
  symlinkSync(join(outside, "secret.txt"), join(root, "link.txt"));
  expect(await findFile("app.py", join(root, "sub"), [root, other])).toBe(join(root, "sub", "app.py"));
  expect(await findFile("app.py", outside, [root, other])).toBe(join(root, "app.py"));
  expect(await findFile("only.py", root, [root, other])).toBe(join(other, "only.py"));
  expect(await findFile(join(root, "app.py"), "", [root])).toBe(join(root, "app.py"));
  for (const path of ["secret.txt", join(outside, "secret.txt"), "link.txt", "sub", "none.py"]) expect(await findFile(path, outside, [root, other]), path).toBeUndefined();
  rmSync(home, { recursive: true });
});
