import { expect, test } from "vitest";
import { isFileUri, isToken, parsePlace, parseReference, parseTurn } from "../../extension/src/editor/arguments";

test("a token is a text that is not empty, not without end, and has no control characters", () => {
  expect(["abc123", "x".repeat(4096), "", "a\nb", "a\u0000b", "x".repeat(4097), 3, undefined, ["a"]].map(isToken)).toEqual([true, true, ...Array.from({ length: 7 }, () => false)]);
});

test("a turn is named by a handle, or by root, session and turn", () => {
  expect(parseTurn("h1")).toEqual({ handle: "h1" });
  expect(parseTurn({ session: "s", turn: "t" })).toEqual({ root: null, session: "s", turn: "t" });
  for (const root of ["file:///repo", "file://server/share/repo"]) expect(parseTurn({ root, session: "s", turn: "t", extra: 1 })).toEqual({ root, session: "s", turn: "t" });
});

test.each([undefined, null, 3, {}, { session: "s" }, { root: "https://x", session: "s", turn: "t" }, { root: 1, session: "s", turn: "t" }, []])("%j names no turn", (value) => {
  expect(parseTurn(value)).toBeUndefined();
});

test.each(["file:///repo", "file:///c%3A/a%20b", "file://server/share/repo/a.py", "file://wsl.localhost/Ubuntu/home/me", "file://wsl%24/Ubuntu/home/me"])("%s is a file's address", (uri) => {
  expect(isFileUri(uri)).toBe(true);
});

test.each(["command:evil", "https://server/share", "file:/repo", "file://server/", "file://server//share", "file://me@server/share", "file://server:80/share", "file://ser ver/share", "FILE-x:///a", 3])("%j is no file's address", (uri) => {
  expect(isFileUri(uri)).toBe(false);
});

test.each([
  ["src/app.py", { path: "src/app.py", symbol: "" }],
  ["src/app.py#App.run", { path: "src/app.py", symbol: "App.run" }],
  ["a.py#b#c", { path: "a.py", symbol: "b#c" }],
])("the reference %s is a place in the repository", (reference, expected) => {
  expect(parseReference(reference)).toEqual(expected);
});

test("a place in a file is a symbol, or a line and a character", () => {
  expect([["Store.save"], [3, 0], [3], [], [-1, 0], ["a\nb"]].map(([line, character]) => parsePlace(line, character))).toEqual([{ symbol: "Store.save" }, { line: 3, character: 0 }, undefined, undefined, undefined, undefined]);
});

test.each(["../secrets", "a/../../b", "/etc/passwd", "C:/Windows", "a\\..\\b", "https://x/y", "", "#main", "a//b", 5])("the reference %j is refused", (reference) => {
  expect(parseReference(reference)).toBeUndefined();
});
