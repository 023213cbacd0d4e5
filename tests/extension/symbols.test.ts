import { expect, test } from "vitest";
import { placeLensesOnSymbols, findSymbolRange } from "../../extension/src/editor/symbols";
import { answers, Range, Uri } from "./fakes/vscode";

type Symbols = Parameters<typeof findSymbolRange>[0];

function symbol(name: string, line: number, ...children: unknown[]): unknown {
  const range = new Range(line, 0, line, name.length);
  return { name, range, selectionRange: range, children };
}

const nested = [symbol("load", 0), symbol("Store", 4, symbol("save", 5)), symbol("Cache", 9, symbol("clear", 10)), symbol("A", 12, symbol("run", 13)), symbol("B", 15, symbol("run", 16))];

test.each([
  ["a name", nested, "load", 0],
  ["a name within another", nested, "save", 5],
  ["a name with its owner", nested, "Cache.clear", 10],
  ["C++'s separator", nested, "Cache::clear", 10],
  ["one of several, with its owner", nested, "B.run", 16],
  ["one of several", nested, "run", undefined],
  ["a name that is not there", nested, "gone", undefined],
  ["parameters in a provider's name", [symbol("run(args: string[])", 2)], "run", 2],
  ["a receiver in a provider's name", [symbol("(*Server).Run", 3)], "Run", 3],
  ["flat symbol information", [{ name: "save", containerName: "Store", location: { range: new Range(7, 0, 7, 4) } }], "Store.save", 7],
])("a symbol's place is told, if only one is meant: %s", (_what, symbols, name, line) => {
  // SAFETY: a document symbol is read by its name, selection range and children only
  expect(findSymbolRange(symbols as Symbols, name)?.start.line).toBe(line);
});

interface Lens {
  range: Range;
  readonly command: { readonly arguments: readonly string[] };
}

/** The lines on which lenses stand when the sidecar found `save` on line 7, and not `lost`; the first is the file's own. */
async function lensLines(middleware: ReturnType<typeof placeLensesOnSymbols>, document: unknown, ...more: string[]): Promise<number[]> {
  const lens = (line: number, ...subject: string[]): Lens => ({ range: new Range(line, 0, line, 0), command: { arguments: ["file:///repo/a.py", ...subject] } });
  const lenses = [lens(0), ...more.map((name) => lens(7, name)), lens(7, "save"), lens(0, "lost")];
  type Provide = NonNullable<typeof middleware.provideCodeLenses>;
  // SAFETY: the middleware reads a document's address, and a lens's range and command only
  const found = await middleware.provideCodeLenses?.(document as Parameters<Provide>[0], undefined as unknown as Parameters<Provide>[1], (() => lenses) as unknown as Parameters<Provide>[2]);
  return (found as unknown as Lens[]).map(({ range }) => range.start.line);
}

test("a lens stands where VS Code sees its symbol", async () => {
  answers.symbols.push([symbol("load", 0), symbol("save", 5)]);
  expect(await lensLines(placeLensesOnSymbols(), { uri: Uri.file("/repo/a.py") })).toEqual([0, 5]);
});

test("a symbol VS Code does not see, or sees twice, is left to the file's own lens", async () => {
  answers.symbols.push([symbol("load", 0)], [symbol("A", 0, symbol("save", 1)), symbol("B", 3, symbol("save", 4))]);
  expect(await lensLines(placeLensesOnSymbols(), { uri: Uri.file("/repo/a.py") })).toEqual([0]);
  expect(await lensLines(placeLensesOnSymbols(), { uri: Uri.file("/repo/b.py") })).toEqual([0]);
});

test("where VS Code knows no symbols the sidecar's place is taken, until VS Code knew some once", async () => {
  const middleware = placeLensesOnSymbols();
  const document = { uri: Uri.file("/repo/a.py") };
  answers.symbols.push(undefined, [], [symbol("save", 5)], undefined);
  expect(await lensLines(middleware, document)).toEqual([0, 7]);
  expect(await lensLines(middleware, document)).toEqual([0, 7]);
  expect(await lensLines(middleware, document)).toEqual([0, 5]);
  expect(await lensLines(middleware, document)).toEqual([0]);
});

test("a symbol that memories name in two ways has one lens, and its owner's on the same line stays", async () => {
  answers.symbols.push([], [symbol("Store", 5, symbol("save", 5))]);
  expect(await lensLines(placeLensesOnSymbols(), { uri: Uri.file("/repo/a.py") }, "Store.save", "Store")).toEqual([0, 7, 7]);
  expect(await lensLines(placeLensesOnSymbols(), { uri: Uri.file("/repo/b.py") }, "Store.save", "Store")).toEqual([0, 5, 5]);
});
