import { beforeEach, expect, test, vi } from "vitest";
import { actOnMemory, changeKind, editMemory, promoteMemory, undoLastAction } from "../../extension/src/commands/acts";
import { decideCandidate } from "../../extension/src/commands/candidates";
import { maintainRoot } from "../../extension/src/commands/maintain";
import { ConflictMerger } from "../../extension/src/commands/merging";
import { chooseWhereQuotesGo } from "../../extension/src/editor/quotes";
import * as protocol from "../../extension/src/protocol";
import { candidate, FakeContext, heldBack, memory, noMeaning } from "./fakes/sidecar";
import { act, answers, cancelProgress, shown, Uri, window, workspace } from "./fakes/vscode";

const root = "file:///repo";
const done: protocol.MemoryActView = { ok: true, code: "archive", message: "Archived: Use uv", action: "a1", path: "/repo/x.md", root };
let context: FakeContext;

beforeEach(() => {
  context = new FakeContext();
  context.answer(protocol.memoryShow, ({ id }) => memory("m", { handle: id.startsWith("file:") ? "h-of-file" : id, title: "Use uv" }));
  context.answer(protocol.memoryAct, () => done);
});

const acted = (): unknown[] => context.params(protocol.memoryAct);

test("a candidate is accepted on its row after the question where quotes go, and the message says what was not found and leads to the places", async () => {
  const result: protocol.ReviewResult = { ok: true, code: "accepted", message: "Accepted: Use uv", action: "a1", path: "/repo/x.md", askQuotes: false, note: "load was not found in a.py", missing: [], waiting: [] };
  context.answer(protocol.reviewAct, ({ quotes }) => (quotes === undefined ? { ...result, ok: false, askQuotes: true } : result));
  context.answer(protocol.reviewReferences, () => ({ problems: [] }));
  answers.choices.push("Keep quotes on this machine", "Show Places");
  const target = { root, id: "c1", scope: "project" } as const;
  await decideCandidate(context, target, "accept");
  expect(context.params(protocol.reviewAct)).toEqual([{ ...target, action: "accept" }, { ...target, action: "accept", quotes: "local" }]);
  expect(shown.messages.at(-1)).toMatchObject({ text: "Lerim: Accepted: Use uv. load was not found in a.py", choices: ["Show Places", "Undo"] });
  await expect.poll(() => shown.documents.at(-1)?.uri.path).toBe("/repo/x.md");
  act.diagnose("/repo/x.md", { code: "drifted", line: 3 }, { code: "reference-gone", line: 8 });
  await expect.poll(() => shown.commands.at(-1)?.id).toBe("editor.action.quickFix"); // it lists the places
  expect(shown.documents.at(-1)).toMatchObject({ uri: { path: "/repo/x.md" }, line: 8 });
});

test("a memory that is not marked as still true, as a reference was not found, says so shortly and leads to the places", async () => {
  context.answer(protocol.memoryAct, () => ({ ...done, ok: false, code: "missing-reference", message: "Not marked as still true: load was not found in a.py.", action: null }));
  answers.choices.push("Show Places");
  await actOnMemory(context, "h1", { action: "verify" });
  expect(shown.messages.at(-1)).toMatchObject({ severity: "error", text: "Lerim: Not marked as still true: load was not found in a.py.", choices: ["Show Places"] });
  await expect.poll(() => shown.documents.at(-1)?.uri.path).toBe("/repo/x.md");
  act.diagnose("/repo/x.md", { code: "reference-gone", line: 8 });
  await expect.poll(() => shown.commands.at(-1)?.id).toBe("editor.action.quickFix");
});

test("a command looks for what it can act on, and says kindly that there is nothing", async () => {
  context.answer(protocol.memorySearch, () => ({ memories: [], ...noMeaning }));
  for (const action of ["restore", "delete", "archive"] as const) await actOnMemory(context, undefined, { action });
  await promoteMemory(context, undefined);
  expect(shown.messages.map(({ severity, text }) => [severity, text])).toEqual([
    ["info", "Lerim: There are no archived, superseded or resolved memories."],
    ["info", "Lerim: There are no themes."],
    ["info", "Lerim: There are no memories yet. Run Lerim: Sync, then accept candidates in Lerim: Open Review."],
    ["info", "Lerim: There are no open questions."],
  ]);
  expect(shown.quickPicks).toEqual([]);
  await expect.poll(() => context.params(protocol.memorySearch).map((params) => params.query)).toEqual(["is:archived is:superseded is:resolved", "kind:theme is:any", "", "kind:question"]);
});

test("where quotes are kept is changed by a command, which shows the answer given before", async () => {
  context.answer(protocol.reviewQuotes, ({ quotes }) => ({ quotes: quotes ?? "shared" }));
  answers.picks.push("Keep quotes on this machine");
  await chooseWhereQuotesGo(context);
  await chooseWhereQuotesGo(context);
  expect(shown.lists[0]?.items.map(({ label, description }) => [label, description])).toEqual([["Share quotes in git", "current"], ["Keep quotes on this machine", ""]]);
  context.answer(protocol.reviewQuotes, () => ({ quotes: "local" }));
  await chooseWhereQuotesGo(context);
  expect(shown.lists.at(-1)?.items[0]).toMatchObject({ label: "Keep quotes on this machine", description: "current" }); // Enter changes nothing
  expect(context.params(protocol.reviewQuotes)).toEqual([{ root }, { root, quotes: "local" }, { root }, { root }]);
  expect(shown.messages.map(({ text }) => text)).toEqual([expect.stringContaining("kept on this machine")]);
});

test("an act is carried out on what the link names, and its message can undo it or say why not", async () => {
  context.answer(protocol.reviewUndo, () => ({ ok: true, code: "undone", message: "Undone", action: null, path: null, askQuotes: false, note: "", missing: [], waiting: [] }));
  answers.choices.push("Undo", "Undo");
  await actOnMemory(context, "h1", { action: "archive" });
  expect(acted()).toEqual([{ id: "h1", action: "archive" }]);
  expect(shown.messages[0]).toMatchObject({ text: "Lerim: Archived: Use uv", choices: ["Open", "Undo"] });
  await expect.poll(() => shown.messages.at(-1)?.text).toBe("Lerim: Undone");
  expect(context.params(protocol.reviewUndo)).toEqual([{ root, action: "a1" }]);
  context.refuse(protocol.reviewUndo, "[Use uv](command:evil) was changed meanwhile.");
  await actOnMemory(context, "h1", { action: "archive" });
  await expect.poll(() => shown.messages.at(-1)).toMatchObject({ severity: "error", text: "Lerim: [Use uv] (command:evil) was changed meanwhile." }); // no link
});

test("the last action is undone from the palette, and what was undone is said; if there is none, that is said", async () => {
  const undone: protocol.ReviewResult = { ok: true, code: "undone", message: "Undone. It waits for review again: Use uv", action: "a1", path: null, askQuotes: false, note: "", missing: [], waiting: ["c1"] };
  context.answer(protocol.reviewUndo, () => undone);
  await undoLastAction(context);
  context.answer(protocol.reviewUndo, () => ({ ...undone, ok: false, code: "nothing", message: "There is nothing to undo." }));
  await undoLastAction(context);
  expect(context.params(protocol.reviewUndo)).toEqual([{ root }, { root }]);
  expect(shown.messages.map(({ severity, text }) => [severity, text])).toEqual([["info", "Lerim: Undone. It waits for review again: Use uv"], ["info", "Lerim: There is nothing to undo."]]);
});

test("without a link the memory open in the editor is meant, else the one the person finds, if any", async () => {
  window.activeTextEditor = { document: { uri: Uri.file("/repo/.lerim/memory/archived/decisions/m.md") } };
  await actOnMemory(context, undefined, { action: "restore" });
  window.activeTextEditor = { document: { uri: Uri.file("/repo/src/a.py") } };
  context.answer(protocol.memorySearch, () => ({ memories: [memory("found")], ...noMeaning }));
  const acting = actOnMemory(context, undefined, { action: "verify" });
  await expect.poll(() => shown.quickPicks[0]?.items.length).toBe(1);
  expect(shown.quickPicks[0]?.placeholder).toContain("kind: tag: file: is: since:");
  shown.quickPicks[0]?.accept(0);
  await acting;
  const another = actOnMemory(context, undefined, { action: "archive" });
  await expect.poll(() => shown.quickPicks.length).toBe(2);
  shown.quickPicks[1]?.hide();
  await another;
  expect(acted()).toEqual([{ id: "h-of-file", action: "restore" }, { id: "h-found", action: "verify" }]);
});

test("edit opens the file, or changes the title or the tags in a box", async () => {
  answers.picks.push("Edit the text");
  await editMemory(context, "h1");
  expect(shown.documents.map(({ uri }) => uri.path)).toEqual(["/repo/.lerim/memory/decisions/m.md"]);
  answers.picks.push("Change the title", "Change the tags", "Change the title");
  answers.inputs.push(" Use uv alone ", "build, ci,build", "  ");
  await editMemory(context, "h1");
  await editMemory(context, "h1");
  await editMemory(context, "h1");
  expect(acted()).toEqual([{ id: "h1", action: "edit", title: "Use uv alone" }, { id: "h1", action: "edit", tags: ["build", "ci"] }]);
  expect(shown.inputs.at(-1)?.refused).toBe("A memory needs a title.");
});

test("a question becomes a decision under the words the person gives, a memory another kind", async () => {
  answers.inputs.push("We use uv");
  context.answer(protocol.memoryShow, ({ id }) => memory(id, { handle: id, title: "[Which tool](command:evil)?" }));
  await promoteMemory(context, "h1");
  expect(shown.inputs[0]?.prompt).toBe("Answers “[Which tool] (command:evil)?”"); // the editor makes no link of it
  answers.picks.push("pitfall");
  await changeKind(context, "h1");
  expect(shown.lists[0]?.items.map(({ label }) => label)).not.toContain("$(law) decision");
  expect(shown.lists[0]?.items.map(({ description }) => description)).toContain("What to avoid.");
  expect(acted()).toEqual([{ id: "h1", action: "promote", title: "We use uv" }, { id: "h1", action: "kind", primitive: "learning", kind: "pitfall" }]);
});

test("both sides of a conflict are joined once the person has seen how", async () => {
  context.answer(protocol.memoryMerge, ({ preview, path }) => ({ kind: path.startsWith("/repo/") ? "sides" : "memories", diff: path.startsWith("/repo/") ? "-<<<<<<<" : "another", acted: preview ? null : done }));
  const merging = new ConflictMerger(context);
  const conflict = { root, path: "/repo/.lerim/memory/decisions/m.md" };
  await merging.merge(conflict);
  expect(context.params(protocol.memoryMerge).map(({ preview }) => preview)).toEqual([true]);
  expect(workspace.textDocuments.at(-1)?.getText()).toBe("-<<<<<<<");
  expect(shown.lists.at(-1)).toMatchObject({ placeHolder: "Merge both sides of the conflict as shown?", items: [{ label: "$(check) Merge Both Sides" }, { label: "$(go-to-file) Open File" }] });
  answers.picks.push("Merge Both Sides");
  await merging.merge(conflict);
  expect(context.params(protocol.memoryMerge).map(({ preview }) => preview)).toEqual([true, true, false]);
  await merging.merge({ root: "file:///other", path: "/other/.lerim/memory/decisions/m.md" });
  expect(workspace.textDocuments.map((document) => document.getText())).toEqual(["-<<<<<<<", "another"]);
  expect(shown.lists.at(-1), "no word of a conflict where there is none").toMatchObject({ title: "Merge with Duplicate", placeHolder: "Merge the memories that say the same as shown?", items: [{ label: "$(check) Merge Memories" }, { label: "$(go-to-file) Open File" }] });
  await merging.merge(undefined);
  expect(shown.messages.at(-1)).toMatchObject({ severity: "info", text: "Lerim: First open the memory file that has the merge conflict." });
  merging.dispose();
});

const report: protocol.MaintainReport = {
  project: "repo", proposals: [candidate("c1", { action: "merge" }), candidate("c2", { action: "archive" }), candidate("c3", { action: "merge" })],
  done: [], counts: {}, stale: [], problems: [], state: "done", message: "", dryRun: false, seconds: 1, run: "",
};

test("maintain says how far it is and what it proposes, and leads to the review", async () => {
  const opened: unknown[] = [];
  const { released, release } = heldBack();
  context.answer(protocol.maintain, async () => {
    context.notify(protocol.maintainProgress, { root, stage: "freshness", done: 3, total: 9 });
    context.notify(protocol.maintainProgress, { root: "file:///other", stage: "links", done: 0, total: 0 });
    await released;
    return report;
  });
  answers.choices.push("Open Review");
  vi.useFakeTimers();
  const done = maintainRoot(context.as(), { show: (folder) => Promise.resolve(void opened.push(folder)) });
  await vi.waitUntil(() => cancelProgress.isShown);
  release();
  await done;
  expect(shown.progress).toEqual(["Looking for memories to merge or archive in repo: comparing with the code (3 of 9)"]);
  expect(shown.messages[0]?.text).toBe("Lerim: 3 new candidates to review (2 to merge, 1 to archive).");
  await expect.poll(() => opened.length).toBe(1);
});

test("a maintain that is cancelled says so", async () => {
  context.answer(protocol.maintain, (_params, token) => new Promise((_resolve, reject) => {
    token?.onCancellationRequested(() => reject(new Error("Request cancelled")));
  }));
  vi.useFakeTimers();
  const done = maintainRoot(context.as(), { show: () => Promise.resolve() });
  await vi.waitUntil(() => cancelProgress.isShown);
  cancelProgress.press();
  await done;
  expect(shown.messages[0]?.text).toBe("Lerim: The search for memories to merge or archive was cancelled.");
});
