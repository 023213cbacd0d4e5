import { expect, test } from "vitest";
import { placeLensesOnSymbols, findSymbolRange } from "../../extension/src/editor/symbols";
import { answers, Range, Uri } from "./fakes/vscode";

type Symbols = Parameters<typeof findSymbolRange>[0];

function symbol(name: string, line: number, ...children: unknown[]): unknown {
  const range = new Range(line, 0, line, name.length);
  return { name, range, selectionRange: range, children };
}

function lineOf(symbols: unknown[], name: string): number | undefined {
  // SAFETY: a document symbol is read by its name, selection range and children only
  return findSymbolRange(symbols as Symbols, name)?.start.line;
}

test("a symbol is found by its name, or by its name within another", () => {
  const symbols = [symbol("load", 0), symbol("Store", 4, symbol("save", 5)), symbol("Cache", 9, symbol("clear", 10))];
  expect(lineOf(symbols, "load")).toBe(0);
  expect(lineOf(symbols, "save")).toBe(5);
  expect(lineOf(symbols, "Cache.clear")).toBe(10);
  expect(lineOf(symbols, "Cache::clear")).toBe(10);
});

test("a symbol that may be one of several, or is not there, has no place", () => {
  const symbols = [symbol("A", 0, symbol("save", 1)), symbol("B", 3, symbol("save", 4))];
  expect(lineOf(symbols, "save")).toBeUndefined();
  expect(lineOf(symbols, "B.save")).toBe(4);
  expect(lineOf(symbols, "gone")).toBeUndefined();
});

test("parameters and receivers in a provider's names do not matter", () => {
  expect(lineOf([symbol("run(args: string[])", 2)], "run")).toBe(2);
  expect(lineOf([symbol("(*Server).Run", 3)], "Run")).toBe(3);
});

test("flat symbol information is read as well", () => {
  const flat = [{ name: "save", containerName: "Store", location: { range: new Range(7, 0, 7, 4) } }];
  expect(lineOf(flat, "Store.save")).toBe(7);
});

interface Lens {
  range: Range;
  readonly data?: { readonly symbol: string; readonly found: boolean };
}

/** The lines on which lenses stand when the sidecar found `save` on line 7; the first is the file's own. */
async function lensLines(middleware: ReturnType<typeof placeLensesOnSymbols>, document: unknown): Promise<number[]> {
  const lenses: Lens[] = [{ range: new Range(0, 0, 0, 0) }, { range: new Range(7, 0, 7, 0), data: { symbol: "save", found: true } }];
  type Provide = NonNullable<typeof middleware.provideCodeLenses>;
  // SAFETY: the middleware reads a document's address, and a lens's range and data only
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
