import { expect, test } from "vitest";
import { isFileUri, isToken, parseReference, parseTurn } from "../../extension/src/editor/arguments";

test.each(["abc123", "20260101-use-uv", "x".repeat(4096)])("%.20s is a token", (value) => {
  expect(isToken(value)).toBe(true);
});

test.each(["", "a\nb", "a\u0000b", "x".repeat(4097), 3, null, undefined, {}, ["a"]])("%j is no token", (value) => {
  expect(isToken(value)).toBe(false);
});

test("a turn is named by a handle, or by root, session and turn", () => {
  expect(parseTurn("h1")).toEqual({ handle: "h1" });
  expect(parseTurn({ session: "s", turn: "t" })).toEqual({ root: null, session: "s", turn: "t" });
  expect(parseTurn({ root: "file:///repo", session: "s", turn: "t", extra: 1 })).toEqual({ root: "file:///repo", session: "s", turn: "t" });
});

test.each([undefined, null, 3, {}, { session: "s" }, { root: "https://x", session: "s", turn: "t" }, { root: 1, session: "s", turn: "t" }, []])("%j names no turn", (value) => {
  expect(parseTurn(value)).toBeUndefined();
});

test.each(["file:///repo", "file:///c%3A/repo", "file:///c%3A/a%20b", "file://server/share", "file://server/share/repo/a.py", "file://wsl.localhost/Ubuntu/home/me", "file://wsl%24/Ubuntu/home/me", "file://10.0.0.2/share"])(
  "%s is a file's address",
  (uri) => {
    expect(isFileUri(uri)).toBe(true);
  },
);

test.each(["command:evil", "https://server/share", "file:/repo", "file:repo", "file://server", "file://server/", "file://server//share", "file://me@server/share", "file://server:80/share", "file://ser ver/share", "FILE-x:///a", "", 3])(
  "%j is no file's address",
  (uri) => {
    expect(isFileUri(uri)).toBe(false);
  },
);

test("a turn of a repository on a share is named by it", () => {
  expect(parseTurn({ root: "file://server/share/repo", session: "s", turn: "t" })).toEqual({ root: "file://server/share/repo", session: "s", turn: "t" });
});

test.each([
  ["src/app.py", { path: "src/app.py", symbol: "" }],
  ["src/app.py#App.run", { path: "src/app.py", symbol: "App.run" }],
  ["a.py#b#c", { path: "a.py", symbol: "b#c" }],
])("the reference %s is a place in the repository", (reference, expected) => {
  expect(parseReference(reference)).toEqual(expected);
});

test.each(["../secrets", "a/../../b", "/etc/passwd", "C:/Windows", "a\\..\\b", "https://x/y", "", "#main", "a//b", 5])("the reference %j is refused", (reference) => {
  expect(parseReference(reference)).toBeUndefined();
});
