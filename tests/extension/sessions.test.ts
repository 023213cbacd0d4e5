import { beforeEach, expect, test, vi } from "vitest";
import { useOtherSessions } from "../../extension/src/commands/othersessions";
import { copyResumeCommand, resumeSession } from "../../extension/src/commands/resume";
import * as protocol from "../../extension/src/protocol";
import { dayOf, folderOf, sessionIdOf, type SessionsNode, SessionsView } from "../../extension/src/views/sessions/host";
import { FakeContext, present, session } from "./fakes/sidecar";
import { act, answers, shown, type TreeItem, TreeItemCollapsibleState, workspace } from "./fakes/vscode";

let context: FakeContext;
let view: SessionsView;

beforeEach(() => {
  context = new FakeContext();
  context.answer(protocol.sessionsDays, () => ({ days: [{ day: "2026-03-02", sessions: 3 }, { day: "", sessions: 1 }] }));
  context.answer(protocol.sessionsList, ({ start }) => ({ sessions: start === 0 ? [session("a"), session("b")] : [session("c")], total: 3 }));
  view = new SessionsView(context.as());
});

const itemOf = (node: SessionsNode | undefined): TreeItem => view.getTreeItem(present(node)) as unknown as TreeItem;

/** What the welcome text was told last. */
function state(): unknown {
  return shown.commands.filter(({ id, args }) => id === "setContext" && args[0] === "lerim.sessionsState").at(-1)?.args[1];
}

test("days are listed first, and a day's sessions only once it is opened", async () => {
  const days = await view.getChildren();
  expect(context.asked).toEqual([{ method: "lerim/sessions/days", params: { everywhere: false } }]);
  expect(days.map((day) => [itemOf(day).label, itemOf(day).description])).toEqual([
    [expect.stringMatching(/^Mon,? 2 Mar/), "3"],
    ["At an unknown time", "1"],
  ]);
  expect(days.map((day) => [itemOf(day).contextValue, dayOf(day)])).toEqual([["lerim.day", "2026-03-02"], [undefined, undefined]]); // the journal has no page of unknown times
  expect(state()).toBe("listed");
  const sessions = await view.getChildren(days[0]);
  expect(context.asked.at(-1)).toEqual({ method: "lerim/sessions/list", params: { day: "2026-03-02", everywhere: false, start: 0 } });
  expect(sessions.map((node) => itemOf(node).label)).toEqual(["Mend the cart (a)", "Mend the cart (b)", "Show more (1 left)"]);
});

test("the newest days are open until a screen of sessions is listed, the newest always", async () => {
  const open = async (...numbers: number[]): Promise<boolean[]> => {
    context.answer(protocol.sessionsDays, () => ({ days: numbers.map((sessions, at) => ({ day: `2026-03-${20 - at}`, sessions })) }));
    return (await view.getChildren()).map((day) => itemOf(day).collapsibleState === TreeItemCollapsibleState.Expanded);
  };
  expect(await open(1, 4, 5, 1)).toEqual([true, true, true, false]);
  expect(await open(300, 1)).toEqual([true, false]);
});

test("a session's row opens it, and what it is made of is said as plain text", async () => {
  const hostile = "[x](command:evil) <b>hi</b>";
  context.answer(protocol.sessionsList, () => ({ sessions: [session("a", { title: hostile, tokens: null, files: 0 })], total: 1 }));
  const [day] = await view.getChildren();
  const item = itemOf((await view.getChildren(day))[0]);
  expect(item).toMatchObject({ label: hostile, description: "12 min", command: { command: "lerim.openSession", arguments: ["a"] }, contextValue: "lerim.session" });
  expect(item.tooltip).toBeTypeOf("string");
  expect(item.tooltip).toContain("Tokens: not recorded");
  expect(item.iconPath).toMatchObject({ dark: { path: "/extension/extension/media/codex-dark.svg" } });
});

test("a session's row can be opened, resumed in a terminal, and its command copied", async () => {
  context.answer(protocol.sessionOpen, ({ id }) => ({ session: session(id, { folder: "" }), kinds: "", sizes: [], at: -1, note: "", summary: "", resume: `codex resume ${id}` }));
  const [day] = await view.getChildren();
  const [row] = await view.getChildren(day);
  expect([sessionIdOf(row), sessionIdOf(day), sessionIdOf("nonsense")]).toEqual(["a", undefined, undefined]);
  await copyResumeCommand(context, sessionIdOf(row));
  answers.choices.push("Run in Terminal");
  await resumeSession(context, sessionIdOf(row));
  await resumeSession(context, undefined);
  expect([shown.copied, shown.terminals]).toEqual([["codex resume a"], [{ name: "Codex", lines: ["codex resume a"] }]]);
});

test("the sessions of a row whose folder is not known cannot be used, which is said", async () => {
  context.answer(protocol.sessionsList, () => ({ sessions: [session("a", { folder: "" })], total: 1 }));
  const [day] = await view.getChildren();
  const [row] = await view.getChildren(day);
  await useOtherSessions(context, folderOf(row));
  expect(shown.messages.map(({ text }) => text)).toEqual(["Lerim: It is not known in which folder this session ran."]);
  expect(context.params(protocol.sessionsUse)).toEqual([]);
});

test("more of a day is listed when the person asks, and only that is asked for", async () => {
  const [day] = await view.getChildren();
  const first = await view.getChildren(day);
  // a session that a sync has just found comes first, which moves the others on
  context.answer(protocol.sessionsList, () => ({ sessions: [session("b"), session("c")], total: 4 }));
  await view.loadMore(first.at(-1));
  expect(context.asked.at(-1)?.params).toMatchObject({ start: 2 });
  const asked = context.asked.length;
  const all = await view.getChildren(day);
  expect(all.map((node) => itemOf(node).label)).toEqual(["Mend the cart (a)", "Mend the cart (b)", "Mend the cart (c)"]);
  expect(context.asked).toHaveLength(asked);
  await view.loadMore("nonsense");
  expect(context.asked).toHaveLength(asked);
});

test("the whole machine's sessions are shown when asked for", async () => {
  view.showEverywhere(true);
  await view.getChildren();
  expect(context.asked.at(-1)?.params).toEqual({ everywhere: true });
  expect(shown.trees[0]?.description).toBe("this machine");
  expect(shown.commands).toContainEqual({ id: "setContext", args: ["lerim.everywhere", true] });
});

test("in Restricted Mode, turned off, or without a sidecar nothing is asked", async () => {
  workspace.isTrusted = false;
  expect(await view.getChildren()).toEqual([]);
  workspace.isTrusted = true;
  context.settings.enabled = false;
  expect(await view.getChildren()).toEqual([]);
  context.settings.enabled = true;
  context.isRunning = false;
  expect(await view.getChildren()).toEqual([]);
  expect(context.asked).toEqual([]);
  expect(state()).toBe("stopped");
});

test("an empty list has its own welcome, a failure says what went wrong", async () => {
  context.answer(protocol.sessionsDays, () => ({ days: [] }));
  expect(await view.getChildren()).toEqual([]);
  expect(state()).toBe("outside"); // there is no repository at /repo
  act.folders(process.cwd());
  expect(await view.getChildren()).toEqual([]);
  expect(state()).toBe("empty");
  context.refuse(protocol.sessionsDays, "The catalog is locked.");
  expect(await view.getChildren()).toEqual([]);
  expect(shown.trees[0]?.message).toBe("The sessions could not be listed: The catalog is locked.");
  expect(context.logged.at(-1)).toContain("The catalog is locked.");
});

test("the list is refreshed when a sync ended, at most once a second, and never for its steps", () => {
  vi.useFakeTimers();
  let changes = 0;
  view.onDidChangeTreeData(() => changes++);
  const progress = { root: "file:///repo", sessionsDone: 1, sessionsTotal: 1, candidates: 0, message: "", settling: 0 };
  context.progress.fire({ ...progress, stage: "learning" });
  expect(changes).toBe(0);
  context.progress.fire({ ...progress, stage: "done" });
  expect(changes).toBe(1);
  for (let n = 0; n < 5; n++) context.candidates.fire({ root: "file:///repo", project: "p", pending: n });
  expect(changes).toBe(1);
  vi.advanceTimersByTime(1000);
  expect(changes).toBe(2);
  vi.advanceTimersByTime(5000);
  expect(changes).toBe(2);
  act.trust();
  expect(changes).toBe(3);
  view.dispose();
});
