// A memory that the person writes by hand: about the selected code, or from words of a session.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { addMemoryFromWords, addMemoryHere, addMemoryInRepository } from "../../extension/src/commands/addmemory";
import * as protocol from "../../extension/src/protocol";
import { FakeContext } from "./fakes/sidecar";
import { act, answers, Range, shown, SymbolKind, Uri, window } from "./fakes/vscode";

const root = "file:///repo";
let context: FakeContext;

beforeEach(() => {
  context = new FakeContext();
  context.answer(protocol.memoryAdd, ({ title }) => ({ ok: true, code: "done", message: `Added: ${title}`, action: "a1", path: "/repo/.lerim/memory/x.md", root }));
  context.answer(protocol.symbol, () => ({ symbol: "" }));
});

function symbol(name: string, kind: number, first: number, last: number, ...children: unknown[]): unknown {
  return { name, kind, range: new Range(first, 0, last, 0), children };
}

/** Selects these lines of a file that has a class, its method, and a variable within that. */
function select(path: string, first: number, last: number): void {
  window.activeTextEditor = { document: { uri: Uri.file(path) }, selection: new Range(first, 0, last, 0) };
  answers.symbols = [[symbol("Store", SymbolKind.Class, 2, 9, symbol("save(path)", SymbolKind.Method, 3, 6, symbol("text", SymbolKind.Variable, 4, 4)))]];
}

test.each([
  [4, 4, "src/app.py#Store.save", "Store.save in app.py"],
  [3, 8, "src/app.py#Store", "Store in app.py"],
  [0, 0, "src/app.py", "app.py"],
])("the memory is about the symbol that contains lines %i to %i", async (first, last, reference, place) => {
  select("/repo/src/app.py", first, last);
  answers.picks = ["pitfall"];
  answers.inputs = ["Save before you close", "It is lost otherwise."];
  await addMemoryHere(context.as());
  expect(context.params(protocol.memoryAdd)).toEqual([{ root, kind: "pitfall", title: "Save before you close", body: "It is lost otherwise.", files: [reference] }]);
  expect([shown.lists[0]?.title, ...shown.inputs.map((input) => input.title)]).toEqual([1, 2, 3].map((step) => `Add Memory about ${place} (${step}/3)`));
  expect(shown.inputs.map(({ prompt }) => prompt)).toEqual(["Title of the pitfall: one sentence that says it all", "Why? This can stay empty."]);
  expect(shown.messages.at(-1)).toMatchObject({ text: "Lerim: Added: Save before you close", choices: ["Open", "Undo"] });
});

test("where the editor knows no symbols, the sidecar says which one contains the selection", async () => {
  for (const symbol of ["Store.save", ""]) {
    select("/repo/src/app.zig", 4, 5);
    answers.symbols = [[]];
    context.answer(protocol.symbol, () => ({ symbol }));
    answers.picks = ["pitfall"];
    answers.inputs = ["Save before you close", ""];
    await addMemoryHere(context.as());
  }
  expect(context.params(protocol.symbol)[0]).toEqual({ uri: "file:///repo/src/app.zig", first: 4, last: 4 });
  expect(context.params(protocol.memoryAdd).map(({ files }) => files)).toEqual([["src/app.zig#Store.save"], ["src/app.zig"]]);
});

test("Escape at any question writes nothing, and an empty title is refused", async () => {
  select("/repo/src/app.py", 0, 0);
  await addMemoryHere(context.as());
  answers.picks = ["decision", "decision", "decision"];
  await addMemoryHere(context.as());
  answers.inputs = ["  "];
  await addMemoryHere(context.as());
  answers.inputs = ["Use uv"];
  await addMemoryHere(context.as());
  expect(context.params(protocol.memoryAdd)).toEqual([]);
});

test("in a folder without a repository nothing is asked", async () => {
  await expect(addMemoryInRepository(context.as())).rejects.toThrow("not in a git repository");
  expect(shown.lists).toEqual([]);
  const folder = mkdtempSync(join(tmpdir(), "lerim-add-"));
  mkdirSync(join(folder, ".git"));
  act.folders(folder);
  await addMemoryInRepository(context.as());
  expect(shown.lists).toHaveLength(1);
  rmSync(folder, { recursive: true });
});

test("a file outside the repository is no reference, and the person is told so", async () => {
  select("/elsewhere/app.py", 0, 0);
  await addMemoryHere(context.as());
  expect(shown.messages.at(-1)?.text).toBe("Lerim: /elsewhere/app.py is not in /repo. The memory will not refer to it.");
  expect(shown.lists[0]?.title).toBe("Add Memory (1/3)");
});

test("a memory of no file, and one that is open itself, has no reference", async () => {
  for (const editor of [undefined, "/repo/.lerim/memory/decisions/x.md"]) {
    if (editor === undefined) window.activeTextEditor = undefined;
    else select(editor, 0, 0);
    answers.picks = ["decision"];
    answers.inputs = ["Use uv", ""];
    await addMemoryHere(context.as());
  }
  expect(context.params(protocol.memoryAdd).map(({ files }) => files)).toEqual([[], []]);
});

const origin = { session: "/home/a.jsonl", turn: "0123456789ab" };

test("the selected words go along with their turn, and the first quote in a repository asks where quotes are kept", async () => {
  context.answer(protocol.memoryAdd, ({ title, quotes }) =>
    quotes === undefined ? { ok: false, code: "ask-quotes", message: "?", action: null, path: null, root } : { ok: true, code: "done", message: `Added: ${title}`, action: "a1", path: "/x.md", root },
  );
  for (const choice of ["Keep quotes on this machine", undefined]) {
    answers.picks = ["decision"];
    answers.inputs = ["Round late", ""];
    answers.choices = choice === undefined ? [] : [choice];
    await addMemoryFromWords(context.as(), { ...origin, text: "Round late" });
  }
  const sent = context.params(protocol.memoryAdd).map(({ selected, quotes }) => ({ selected, quotes }));
  const selected = { ...origin, text: "Round late" };
  expect(sent).toEqual([{ selected, quotes: undefined }, { selected, quotes: "local" }, { selected, quotes: undefined }]);
});

test("words of a session become the title and, where they are more than a line, the reason, with their lines", async () => {
  answers.picks = ["decision", "decision"];
  answers.inputs = ["Round only where a price is printed", "", "Round late", "Round late. Cents are exact."];
  await addMemoryFromWords(context.as(), { ...origin, text: "Round only where a price is printed\n" });
  await addMemoryFromWords(context.as(), { ...origin, text: "Round late.\nCents are exact." });
  expect(shown.inputs.map(({ value }) => value)).toEqual(["Round only where a price is printed", "", "Round late.", "Round late. Cents are exact."]);
  expect(context.params(protocol.memoryAdd).map(({ body }) => body)).toEqual(["", "Round late.\nCents are exact."]);
});
