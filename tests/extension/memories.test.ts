import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { fileUri, openFileOfMemory, openMemory, searchMemories, showFileMemories } from "../../extension/src/commands/memories";
import * as protocol from "../../extension/src/protocol";
import { FakeContext, heldBack, memory, noMeaning, present } from "./fakes/sidecar";
import { act, answers, type FakeQuickPick, shown, Uri, workspace } from "./fakes/vscode";
import { openWalkthroughTab, tabGroups } from "./fakes/tabs";

let context: FakeContext;

beforeEach(() => void (context = new FakeContext()));

function title(id: string): protocol.TitleView {
  const { primitive, kind, confidence, created, references, path, scope } = memory(id);
  return { id, primitive, kind, title: id, confidence, created, references, path, scope };
}

async function search(): Promise<FakeQuickPick> {
  await searchMemories(context);
  return present(shown.quickPicks[0]);
}

const opened = (): string[] => shown.documents.map(({ uri }) => uri.path.replace("/repo/.lerim/memory/decisions/", ""));

test("search asks for the last query while a person types, keeps the sidecar's order, and Enter opens the file", async () => {
  context.answer(protocol.memorySearch, ({ query }) => ({ memories: query === "" ? [] : [memory("second"), memory("first")], ...noMeaning }));
  const pick = await search();
  for (const value of ["u", "uv", "uv l"]) pick.type(value);
  await expect.poll(() => pick.items.length).toBe(2);
  expect(context.params(protocol.memorySearch).map(({ query }) => query)).toEqual(["", "uv l"]);
  expect(pick.items.map(({ description, alwaysShow }) => [description, alwaysShow])).toEqual([["Use uv, not pip (second)", true], ["Use uv, not pip (first)", true]]);
  pick.accept(1);
  expect([opened(), pick.visible]).toEqual([["first.md"], false]);
});

test("where words find nothing, a search by meaning is offered; once the person agrees, the same query finds what means something similar, marked", async () => {
  context.answer(protocol.memorySearch, ({ query, meaning }) => {
    const isFound = query !== "" && meaning === true;
    return { memories: isFound ? [memory("decimal")] : [], byMeaning: isFound ? ["h-decimal"] : [], isWeak: query !== "", note: isFound ? "3 more memories are still being read for their meaning." : "" };
  });
  const pick = await search();
  expect(pick.items).toEqual([]);
  pick.type("which number type");
  await expect.poll(() => pick.items.map(({ label }) => label)).toEqual(["$(sparkle) Search by meaning…"]);
  pick.accept(0);
  await expect.poll(() => shown.messages.map(({ text }) => text)).toEqual(["Search by meaning downloads 65 MB of packages, once."]);
  expect([context.searchesByMeaning, shown.quickPicks.length]).toEqual([false, 1]); // the question was closed without an answer

  answers.choices.push("Download");
  await searchMemories(context, "which number type");
  present(shown.quickPicks[1]).accept(0);
  await expect.poll(() => shown.quickPicks.length).toBe(3);
  const again = present(shown.quickPicks[2]);
  await expect.poll(() => again.items.map(({ detail }) => detail?.startsWith("similar meaning · "))).toEqual([true]);
  expect([again.value, again.title]).toEqual(["which number type", "3 more memories are still being read for their meaning."]);
  expect(context.params(protocol.memorySearch).at(-1)?.meaning).toBe(true);
});

test("the offer to search by meaning is in sight above weak matches, and who asks for such a search is told at once what it needs", async () => {
  const weak = ["a", "b", "c", "d", "e"].map((id) => memory(id));
  context.answer(protocol.memorySearch, ({ query }) => ({ memories: weak, byMeaning: [], isWeak: query !== "", note: "" }));
  const pick = await search();
  expect(pick.items).toHaveLength(5);
  pick.type("which number type");
  await expect.poll(() => pick.items.map(({ label }) => label).indexOf("$(sparkle) Search by meaning…")).toBe(3);

  await searchMemories(context, "which number type", true);
  expect([shown.messages.at(-1)?.text, shown.quickPicks.length]).toEqual(["Search by meaning downloads 65 MB of packages, once.", 1]);
  answers.choices.push("Download");
  await searchMemories(context, "which number type", true);
  await searchMemories(context, "and again", true);
  expect([shown.messages.length, shown.quickPicks.map(({ value }) => value)]).toEqual([2, ["", "which number type", "and again"]]);
});

test("a search by meaning is not offered in Restricted Mode", async () => {
  workspace.isTrusted = false;
  context.answer(protocol.memorySearch, () => ({ memories: [], byMeaning: [], isWeak: true, note: "" }));
  await searchMemories(context, "which number type");
  expect([present(shown.quickPicks[0]).items, context.params(protocol.memorySearch)[0]?.meaning]).toEqual([[], false]);
});

test("a memory that cannot be opened is told, not swallowed, and a failing search says so in the list", async () => {
  context.answer(protocol.memorySearch, () => ({ memories: [memory("gone")], ...noMeaning }));
  answers.broken.push("/repo/.lerim/memory/decisions/gone.md");
  (await search()).accept(0);
  await expect.poll(() => shown.messages).toMatchObject([{ severity: "error", text: "Lerim: cannot open /repo/.lerim/memory/decisions/gone.md" }]);
  context.refuse(protocol.memorySearch, "The index is broken.");
  await searchMemories(context);
  expect(shown.quickPicks[1]?.title).toBe("Search failed: The index is broken.");
});

test("who chooses no folder searches nothing; without a folder the person's own memories are searched", async () => {
  act.folders("/one", "/two");
  await searchMemories(context);
  await openMemory(context, undefined);
  expect([context.asked, shown.quickPicks]).toEqual([[], []]);
  workspace.workspaceFolders = [];
  context.answer(protocol.memorySearch, () => ({ memories: [], ...noMeaning }));
  await search();
  expect(context.params(protocol.memorySearch)[0]?.root).toBeNull();
});

test("a slow answer does not replace a newer one", async () => {
  const { released, release } = heldBack();
  context.answer(protocol.memorySearch, async ({ query }) => {
    if (query === "slow") await released;
    return { memories: query === "" ? [] : [memory(query)], ...noMeaning };
  });
  const pick = await search();
  pick.type("slow");
  await expect.poll(() => context.asked.length).toBe(2);
  pick.type("fast");
  await expect.poll(() => pick.items.length).toBe(1);
  release();
  await new Promise((resolve) => setImmediate(resolve));
  expect(pick.items[0]?.description).toContain("(fast)");
});

test("a link opens its memory, a lens lists those of its file", async () => {
  context.answer(protocol.memoryShow, ({ id }) => memory(id));
  context.answer(protocol.memoryForFile, () => ({ memories: [memory("a"), memory("b")] }));
  await openMemory(context, "h1");
  openWalkthroughTab();
  await openMemory(context, "h1");
  expect(shown.documents.splice(1)).toMatchObject([{ preview: false }]); // so that the walkthrough stays
  tabGroups.all = [];
  answers.picks.push(1);
  await showFileMemories(context, "file:///repo/a.py");
  expect(opened()).toEqual(["h1.md", "b.md"]);
  expect(shown.lists.at(-1)?.placeHolder).toBe("Memories of this file");
  await showFileMemories(context, "file:///repo/a.py", { line: 3, character: 4 });
  expect(context.params(protocol.memoryForFile).at(-1)).toEqual({ uri: "file:///repo/a.py", line: 3, character: 4 });
  context.answer(protocol.memoryForFile, () => ({ memories: [] })); // archived since its lens was shown
  await showFileMemories(context, "file:///repo/a.py");
  expect(shown.messages.at(-1)?.text).toBe("Lerim: No memory is about this file.");
});

test("every memory is in the list to open, however many answers it takes; memories that are removed meanwhile end it", async () => {
  const all = Array.from({ length: 5 }, (_, at) => title(`m${at}`));
  context.answer(protocol.memoryTitles, ({ start = 0 }) => ({ memories: all.slice(start, start + 2), total: all.length }));
  answers.picks.push(4, 0);
  await openMemory(context, undefined);
  expect(context.params(protocol.memoryTitles).map(({ start }) => start)).toEqual([0, 2, 4]);
  context.answer(protocol.memoryTitles, ({ start = 0 }) => ({ memories: start === 0 ? [title("m0")] : [], total: 3 }));
  await openMemory(context, undefined);
  expect(opened()).toEqual(["m4.md", "m0.md"]);
});

test("without memories a person is told how to get some", async () => {
  context.answer(protocol.memoryTitles, () => ({ memories: [], total: 0 }));
  await openMemory(context, undefined);
  expect(shown.messages[0]?.text).toContain("Lerim: Sync");
});

test("a memory's path is taken as it is, or from its root", () => {
  expect(["/repo/a.md", "C:\\repo\\a.md", ".lerim/a.md"].map((path) => fileUri(path, "file:///repo").path)).toEqual(["/repo/a.md", "C:\\repo\\a.md", "/repo/.lerim/a.md"]);
});

test("the file of the newest memory about code that is there is opened, and none is an answer", async () => {
  const repo = await realpath(await mkdtemp(join(tmpdir(), "lerim-test-")));
  await writeFile(join(repo, "app.py"), "x = 1\n");
  workspace.workspaceFolders = [{ uri: Uri.file(repo), name: "repo", index: 0 }];
  const about = (...references: string[]): protocol.TitleView => ({ ...title(`about ${references.join(" ")}`), references });
  let memories = [about(), about("gone.py", "app.py"), about("other.py")];
  context.answer(protocol.memoryTitles, () => ({ memories, total: memories.length }));
  await openFileOfMemory(context);
  expect(opened()).toEqual([join(repo, "app.py")]);
  memories = [about("gone.py")];
  await openFileOfMemory(context);
  memories = [];
  await openFileOfMemory(context);
  expect(shown.messages.map(({ text }) => text)).toEqual(["Lerim: No memory is about a file of this checkout.", expect.stringContaining("There are no memories yet")]);
  await rm(repo, { recursive: true });
});
