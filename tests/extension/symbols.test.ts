import { expect, test } from "vitest";
import { placeOf } from "../../extension/symbols";
import { Range } from "./fakes/vscode";

type Symbols = Parameters<typeof placeOf>[0];

function symbol(name: string, line: number, ...children: unknown[]): unknown {
  const range = new Range(line, 0, line, name.length);
  return { name, range, selectionRange: range, children };
}

function lineOf(symbols: unknown[], name: string): number | undefined {
  // SAFETY: a document symbol is read by its name, selection range and children only
  return placeOf(symbols as Symbols, name)?.start.line;
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
