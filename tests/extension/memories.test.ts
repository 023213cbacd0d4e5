import { beforeEach, expect, test } from "vitest";
import { fileUri, openMemory, searchMemories, showFileMemories } from "../../extension/memories";
import * as protocol from "../../extension/protocol";
import { Turns } from "../../extension/turns";
import { FakeContext, memory } from "./fakes/sidecar";
import { act, answers, type FakeQuickPick, reset, shown, Uri, workspace } from "./fakes/vscode";

let context: FakeContext;

beforeEach(() => {
  reset();
  context = new FakeContext();
});

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

test("without memories a person is told how to get some", async () => {
  context.answer(protocol.memorySearch, () => ({ memories: [] }));
  await openMemory(context, undefined);
  expect(shown.messages[0]?.text).toContain("Lerim: Sync");
});

test("a memory's path is taken as it is, or from its root", () => {
  expect(fileUri("/repo/a.md", "file:///other").path).toBe("/repo/a.md");
  expect(fileUri("C:\\repo\\a.md", "file:///other").path).toBe("C:\\repo\\a.md");
  expect(fileUri(".lerim/a.md", "file:///repo").path).toBe("/repo/.lerim/a.md");
});

test("a turn is a read-only document with the cursor on the turn's line, asked for again after its tab was closed", async () => {
  let asked = 0;
  context.answer(protocol.turn, () => {
    asked++;
    return { title: "Session s1 / turn 4", text: "one\ntwo\nthree", line: 1, found: "catalog" };
  });
  const turns = new Turns(context);
  await turns.open({ handle: "t1" });
  const [document] = shown.documents;
  expect(document).toMatchObject({ line: 1, uri: { scheme: "lerim-turn", path: "/Session s1 turn 4.txt" } });
  expect(asked).toBe(1);
  if (document === undefined) throw new Error("unreachable");
  act.close(document.uri);
  expect(await workspace.openTextDocument(document.uri).then((again) => again.getText())).toBe("one\ntwo\nthree");
  expect(asked).toBe(2);
});

test("a tab restored after its link expired says so instead of failing", async () => {
  context.answer(protocol.turn, () => {
    throw new Error("This link is no longer valid.");
  });
  const turns = new Turns(context);
  const text = await turns.provideTextDocumentContent(Uri.from({ scheme: "lerim-turn", path: "/x.txt", query: '{"handle":"old"}' }) as unknown as Parameters<Turns["provideTextDocumentContent"]>[0]);
  expect(text).toContain("cannot be shown any more");
});
