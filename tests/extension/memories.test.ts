import { beforeEach, expect, test } from "vitest";
import { fileUri, openMemory, searchMemories, showFileMemories } from "../../extension/src/commands/memories";
import * as protocol from "../../extension/src/protocol";
import { FakeContext, memory } from "./fakes/sidecar";
import { act, answers, type FakeQuickPick, reset, shown, workspace } from "./fakes/vscode";

let context: FakeContext;

beforeEach(() => {
  reset();
  context = new FakeContext();
});

function title(id: string): protocol.TitleView {
  const { primitive, kind, confidence, created, references, path, scope } = memory(id);
  return { id, primitive, kind, title: id, confidence, created, references, path, scope };
}

async function search(): Promise<FakeQuickPick> {
  await searchMemories(context);
  const [pick] = shown.quickPicks;
  if (pick === undefined) throw new Error("no list was shown");
  return pick;
}

test("search keeps the sidecar's order and Enter opens the file", async () => {
  context.answer(protocol.memorySearch, ({ query }) => ({ memories: query === "" ? [] : [memory("second"), memory("first")] }));
  const pick = await search();
  pick.type("uv");
  await expect.poll(() => pick.items.length).toBe(2);
  expect(pick.items.map(({ description, alwaysShow }) => [description, alwaysShow])).toEqual([
    ["Use uv, not pip (second)", true],
    ["Use uv, not pip (first)", true],
  ]);
  pick.accept(1);
  expect(shown.documents.map(({ uri }) => uri.path)).toEqual(["/repo/.lerim/memory/decisions/first.md"]);
  expect(pick.visible).toBe(false);
});

test("a memory that cannot be opened is told, not swallowed", async () => {
  context.answer(protocol.memorySearch, () => ({ memories: [memory("gone")] }));
  answers.broken.push("/repo/.lerim/memory/decisions/gone.md");
  const pick = await search();
  pick.accept(0);
  await expect.poll(() => shown.messages).toMatchObject([{ severity: "error", text: "Lerim: cannot open /repo/.lerim/memory/decisions/gone.md" }]);
});

test("who chooses no folder searches nothing", async () => {
  act.folders("/one", "/two");
  await searchMemories(context);
  await openMemory(context, undefined);
  expect([context.asked, shown.quickPicks]).toEqual([[], []]);
});

test("while a person types only the last query is asked for", async () => {
  context.answer(protocol.memorySearch, () => ({ memories: [memory("m")] }));
  const pick = await search();
  for (const value of ["u", "uv", "uv l"]) pick.type(value);
  await expect.poll(() => context.asked.length).toBe(2);
  expect(context.asked.map(({ params }) => (params as protocol.SearchParams).query)).toEqual(["", "uv l"]);
});

test("a slow answer does not replace a newer one", async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  context.answer(protocol.memorySearch, async ({ query }) => {
    if (query === "slow") await held;
    return { memories: query === "" ? [] : [memory(query)] };
  });
  const pick = await search();
  pick.type("slow");
  await expect.poll(() => context.asked.length).toBe(2);
  pick.type("fast");
  await expect.poll(() => pick.items.length).toBe(1);
  release();
  await held;
  await new Promise((resolve) => setImmediate(resolve));
  expect(pick.items[0]?.description).toContain("(fast)");
});

test("a failing search says so in the list", async () => {
  context.answer(protocol.memorySearch, () => {
    throw new Error("The index is broken.");
  });
  const pick = await search();
  expect(pick.title).toBe("Search failed: The index is broken.");
});

test("without a folder the person's own memories are searched", async () => {
  workspace.workspaceFolders = [];
  context.answer(protocol.memorySearch, () => ({ memories: [] }));
  await search();
  expect((context.asked[0]?.params as protocol.SearchParams).root).toBeNull();
});

test("a link opens its memory, a lens lists those of its file", async () => {
  context.answer(protocol.memoryShow, ({ id }) => memory(id));
  context.answer(protocol.memoryForFile, () => ({ memories: [memory("a"), memory("b")] }));
  await openMemory(context, "h1");
  answers.picks.push(1);
  await showFileMemories(context, "file:///repo/a.py");
  expect(shown.documents.map(({ uri }) => uri.path)).toEqual(["/repo/.lerim/memory/decisions/h1.md", "/repo/.lerim/memory/decisions/b.md"]);
});

test("every memory is in the list to open, however many answers it takes", async () => {
  const all = Array.from({ length: 5 }, (_, at) => title(`m${at}`));
  context.answer(protocol.memoryTitles, ({ start = 0 }) => ({ memories: all.slice(start, start + 2), total: all.length }));
  answers.picks.push(4);
  await openMemory(context, undefined);
  expect(context.asked.map(({ params }) => (params as protocol.TitlesParams).start)).toEqual([0, 2, 4]);
  expect(shown.documents.map(({ uri }) => uri.path)).toEqual(["/repo/.lerim/memory/decisions/m4.md"]);
});

test("memories that are removed while they are listed end the list", async () => {
  context.answer(protocol.memoryTitles, ({ start = 0 }) => ({ memories: start === 0 ? [title("m0")] : [], total: 3 }));
  answers.picks.push(0);
  await openMemory(context, undefined);
  expect(shown.documents).toHaveLength(1);
});

test("without memories a person is told how to get some", async () => {
  context.answer(protocol.memoryTitles, () => ({ memories: [], total: 0 }));
  await openMemory(context, undefined);
  expect(shown.messages[0]?.text).toContain("Lerim: Sync");
});

test("a memory's path is taken as it is, or from its root", () => {
  expect(fileUri("/repo/a.md", "file:///other").path).toBe("/repo/a.md");
  expect(fileUri("C:\\repo\\a.md", "file:///other").path).toBe("C:\\repo\\a.md");
  expect(fileUri(".lerim/a.md", "file:///repo").path).toBe("/repo/.lerim/a.md");
});
