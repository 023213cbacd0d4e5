import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import * as protocol from "../../extension/src/protocol";
import { syncRoot } from "../../extension/src/commands/sync";
import { offerRepository } from "../../extension/src/editor/roots";
import { FakeContext, heldBack, report } from "./fakes/sidecar";
import { act, answers, cancelProgress, shown, Uri, window, workspace } from "./fakes/vscode";

const root = Uri.file("/repo").toString();
const waits = { sessions: 3, tokens: 41_000, cost: 0.021, model: "openrouter:openai/gpt-5-nano", why: "consent" } as const;
let context: FakeContext;

beforeEach(() => void (context = new FakeContext()));

function sync(): Promise<void> {
  return syncRoot(context.as(), undefined);
}

test("a sync shows its counts while it runs and offers the review at its end", async () => {
  const { released, release } = heldBack();
  context.answer(protocol.sync, async () => {
    context.progress.fire({ root, stage: "learning", sessionsDone: 3, sessionsTotal: 12, candidates: 2, message: "", settling: 0 });
    context.progress.fire({ root: "file:///other", stage: "learning", sessionsDone: 9, sessionsTotal: 9, candidates: 9, message: "", settling: 0 });
    await released;
    return report();
  });
  answers.choices.push("Open Review");
  vi.useFakeTimers();
  const done = sync();
  await vi.waitUntil(() => cancelProgress.isShown);
  release();
  await done;
  expect(context.asked).toEqual([{ method: "lerim/sync", params: { root } }]);
  expect(shown.progress).toEqual(["Lerim: Looking for sessions…", "Lerim: Finding candidates (3 of 12 sessions, 2 candidates)"]);
  expect(shown.messages).toMatchObject([{ severity: "info", text: "Lerim: 3 sessions read, 2 new candidates to review.", choices: ["Open Review"] }]);
  expect(shown.commands).toEqual([{ id: "lerim.openReview", args: [] }]);
  expect(context.syncing.at(-1)).toBe("");
});

test("a double click on Sync in a notification does not press the Cancel that comes in its place", async () => {
  const { released, release } = heldBack();
  context.answer(protocol.sync, () => released.then(() => report()));
  vi.useFakeTimers();
  const done = sync();
  await vi.waitUntil(() => context.asked.length === 1);
  await vi.advanceTimersByTimeAsync(500); // as long as a double click may take
  expect(cancelProgress.isShown).toBe(false);
  release();
  await done;
  expect(cancelProgress.isShown, "and what ends that soon shows none at all").toBe(false);
});

test("a sync that finds nothing new says so, and offers the review only if something waits there", async () => {
  context.answer(protocol.sync, () => report({ sessions: { found: 3, new: 0, changed: 0, unchanged: 3, failed: 0 }, candidates: [], dropped: {}, waits: { ...waits, why: "none" } }));
  await sync();
  context.pending.set(root, 1);
  await sync();
  expect(shown.messages.map(({ text, choices }) => [text, choices])).toEqual([
    ["Lerim: Nothing new was said in your sessions.", []],
    ["Lerim: Nothing new was said in your sessions.", ["Open Review"]],
  ]);
});

test("a sync that finds no session offers those of another folder, uses them and syncs again", async () => {
  context.answer(protocol.sync, () => report({ sessions: { found: 0, new: 0, changed: 0, unchanged: 0, failed: 0 }, candidates: [], dropped: {} }));
  context.answer(protocol.sessionsElsewhere, () => ({ folders: [{ path: "/old/path", sessions: 26, reason: "remote" as const }] }));
  context.answer(protocol.sessionsUse, () => ({ ok: true, message: "" }));
  answers.choices.push("Use Them");
  await sync();
  expect(shown.messages).toMatchObject([{ severity: "info", text: "Lerim: No sessions were found for this repository. 26 sessions ran in /old/path: use them here?", choices: ["Use Them"] }]);
  expect(context.asked.at(-1)).toEqual({ method: "lerim/sessions/use", params: { root, folder: "/old/path" } });
  expect(shown.commands).toEqual([{ id: "lerim.restart", args: [] }, { id: "lerim.sync", args: [root] }]);
});

test("Cancel reaches the sidecar, and what was found is said to be kept", async () => {
  context.answer(protocol.sync, (_params, token) => new Promise((_resolve, reject) => {
    token?.onCancellationRequested(() => reject(new Error("Request cancelled")));
  }));
  vi.useFakeTimers();
  const done = sync();
  await vi.waitUntil(() => cancelProgress.isShown);
  cancelProgress.press();
  await done;
  expect(shown.messages[0]?.text).toContain("Sync cancelled");
  expect(context.syncing.at(-1)).toBe("");
});

test("a sync that failed is an error with the log at hand, which has the problems and what was dropped", async () => {
  context.answer(protocol.sync, () => report({ state: "failed", message: "The catalog is locked.", problems: [{ code: "bad-line", path: "a.jsonl:3", message: "not JSON" }] }));
  answers.choices.push("Show Log");
  await sync();
  expect(shown.messages).toMatchObject([{ severity: "error", text: "Lerim: Sync failed. The catalog is locked.", choices: ["Show Log"] }]);
  expect(context.logged.slice(-3)).toEqual(["left out 1: refuted", "a.jsonl:3: not JSON [bad-line]", "(shown)"]);
});

test("in Restricted Mode and without a folder nothing is synced, and the person is told", async () => {
  workspace.isTrusted = false;
  await sync();
  workspace.isTrusted = true;
  workspace.workspaceFolders = [];
  await sync();
  expect(context.asked).toEqual([]);
  expect(shown.messages.map(({ text }) => text)).toEqual([expect.stringContaining("Restricted Mode"), expect.stringContaining("Open a folder")]);
});

test("a command that needs a repository offers to make one where the window has none, and only there", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lerim-sync-"));
  act.folders(folder);
  const none = Object.assign(new Error("This folder is not in a git repository. Run `git init` in it."), { data: { kind: "project" } });
  answers.choices.push("Initialize Repository");
  expect(await offerRepository(none)).toBe(true);
  expect(shown.messages).toMatchObject([{ severity: "warning", text: "Lerim: This folder is not in a git repository. Lerim keeps the memories of a project in its repository.", choices: ["Initialize Repository"] }]);
  const commands = shown.commands.filter(({ id }) => id !== "setContext"); // the views set theirs at any time
  expect(commands).toEqual([{ id: "git.init", args: [] }]);
  expect(await offerRepository(new Error("The catalog is locked."))).toBe(false);
  mkdirSync(join(folder, ".git"));
  expect(await offerRepository(none)).toBe(false);
  rmSync(folder, { recursive: true });
});

test("of several folders only those in a repository are asked about, and the only one is synced without a question", async () => {
  const repository = mkdtempSync(join(tmpdir(), "lerim-sync-"));
  mkdirSync(join(repository, ".git"));
  act.folders("/plain", repository);
  window.activeTextEditor = { document: { uri: Uri.file("/plain/notes.txt") } };
  context.answer(protocol.sync, () => report());
  await sync();
  expect([shown.lists, context.params(protocol.sync)]).toEqual([[], [{ root: Uri.file(repository).toString() }]]);
  rmSync(repository, { recursive: true });
});

test("of several folders the active editor's is synced, else the person is asked", async () => {
  act.folders("/one", "/two");
  context.answer(protocol.sync, () => report());
  answers.picks.push(0);
  await sync();
  window.activeTextEditor = { document: { uri: Uri.file("/two/a.py") } };
  await sync();
  expect(context.params(protocol.sync).map(({ root }) => root)).toEqual(["file:///one", "file:///two"]);
});


test("the first sync that would be paid for asks, and with a yes syncs again", async () => {
  const reports = [report({ waits }), report({ model: waits.model, usage: { calls: 2, inputTokens: 1, outputTokens: 1, cachedTokens: 0, cost: 0.02, unpriced: 0, seconds: 1 } })];
  context.answer(protocol.sync, () => reports.shift() ?? report());
  context.answer(protocol.modelAllow, () => ({ ok: true, message: "" }));
  answers.choices.push("Approve");
  await sync();
  expect(context.asked.map(({ method }) => method)).toEqual(["lerim/sync", "lerim/model/allow", "lerim/sync"]);
  expect(context.asked[1]?.params).toEqual({ label: waits.model });
  expect(shown.messages[0]).toMatchObject({ modal: true, choices: ["Approve"] });
  expect(shown.messages[0]?.text).toContain("about $0.02");
  expect(shown.messages[1]?.text).toBe(`Lerim: 3 sessions read, 2 new candidates to review. Called ${waits.model} 2 times, about $0.02.`);
});

test("with a no the sessions wait, and the next sync asks again; where nothing waits nobody is asked", async () => {
  context.answer(protocol.sync, () => report({ waits }));
  await sync();
  await sync();
  expect(shown.messages[1]?.text).toContain("for your approval");
  context.answer(protocol.sync, () => report({ waits: { ...waits, sessions: 0 } }));
  await sync();
  expect(context.asked.map(({ method }) => method)).toEqual(["lerim/sync", "lerim/sync", "lerim/sync"]);
  expect(shown.messages.map(({ modal }) => modal)).toEqual([true, false, true, false, false]);
});

test.each([
  ["Change Budget", { waits: { ...waits, why: "budget" } }, { id: "workbench.action.openSettings", args: ["lerim.budget.perDayUsd"] }],
  ["Set API Key", { problems: [{ code: "model-key", path: "", message: "The key was refused." }] }, { id: "lerim.enterModelKey", args: [] }],
  ["Choose Model", { problems: [{ code: "model-gone", path: "", message: "It is gone." }] }, { id: "lerim.chooseModel", args: [] }],
] as const)("what stopped the model is told with what mends it: %s", async (action, changes, command) => {
  context.answer(protocol.sync, () => report(changes as unknown as Parameters<typeof report>[0]));
  answers.choices.push(action);
  await sync();
  expect(shown.messages[0]?.choices).toContain(action);
  expect(shown.commands).toEqual([command]);
});
