// The pure parts of the transcript viewer's browser side.
import { expect, test } from "vitest";
import { parseFilePlace } from "../../extension/src/views/transcript/web/fileplaces";
import { estimateTurnHeight, RowHeights } from "../../extension/src/views/transcript/web/heights";
import { splitColumns } from "../../extension/src/views/transcript/web/columns";
import { parseMarkdown } from "../../extension/src/views/transcript/web/markdown";
import { callStatus, shortTitle } from "../../extension/src/views/transcript/web/turn";
import { nextMatch, nextPrompt, turnKeyAction } from "../../extension/src/views/transcript/web/turnkeys";

test("heights are summed as they become known, and each place has its row", () => {
  const plain = Array.from({ length: 100 }, (_, at) => 10 + (at % 7));
  const heights = new RowHeights(plain);
  for (const [at, height] of [[0, 50], [42, 1], [99, 300]] as const) {
    plain[at] = height;
    heights.set(at, height);
  }
  const tops = plain.map((_, at) => plain.slice(0, at).reduce((sum, height) => sum + height, 0));
  expect(tops.map((_, at) => heights.top(at))).toEqual(tops);
  expect(heights.total).toBe((tops[99] ?? 0) + 300);
  for (const [at, top] of tops.entries()) {
    expect(heights.rowAt(top)).toBe(at);
    expect(heights.rowAt(top + (plain[at] ?? 0) - 0.5)).toBe(at);
  }
  expect([heights.rowAt(-5), heights.rowAt(1e9)]).toEqual([0, 99]);
  heights.set(500, 3);
  expect(heights.count).toBe(100);
});

test("without rows there is nothing to find", () => {
  const none = new RowHeights([]);
  expect([none.total, none.rowAt(10), none.top(3)]).toEqual([0, 0, 0]);
});

test("a guess grows with the text, and not without end", () => {
  expect(estimateTurnHeight(0)).toBeLessThan(estimateTurnHeight(900));
  expect(estimateTurnHeight(10_000_000)).toBe(estimateTurnHeight(1_000_000));
});

test("what a person typed is markdown in which paths and names stay as they were typed", () => {
  const texts = (text: string, typed: boolean): unknown[] => {
    const [paragraph] = parseMarkdown(text, typed)?.children ?? [];
    return paragraph?.type === "paragraph" ? paragraph.children.map((child) => ("value" in child ? child.value : [child.type, ..."children" in child ? child.children.map((one) => "value" in one && one.value) : []])) : [];
  };
  expect(texts("**Never** touch C:\\work\\_old\\.git &amp; __init__.py", true)).toEqual([["strong", "Never"], " touch C:\\work\\_old\\.git &amp; ", "__init__", ".py"]);
  expect(texts("**Never** \\*this\\* &amp; __init__.py", false)).toEqual([["strong", "Never"], " *this* & ", "__init__", ".py"]);
  expect(parseMarkdown("## Task\n\n- one", true)?.children.map(({ type }) => type)).toEqual(["heading", "list"]);
  expect(parseMarkdown("## A\n\n#### B\n\n# C\n\n## D")?.children.map((node) => node.type === "heading" && node.depth)).toEqual([1, 2, 1, 2]);
});

test("what was pasted into a prompt keeps its columns, and what was typed around it is markdown", () => {
  const parts = (text: string): unknown[] => splitColumns(text, parseMarkdown(text, true)?.children ?? []).map(({ text: part, hasColumns }) => (hasColumns ? [part] : part));
  const pods = "NAME     READY   AGE\n----------------\nweb-1    1/1     3d\nweb-22   0/1     4m";
  expect(parts(`Why is **one** not ready?\n${pods}\nplease fix`)).toEqual(["Why is **one** not ready?", [pods], "please fix"]);
  const trace = '  File "a.py", line 3, in <module>\n    total(None)';
  expect(parts(`It fails:\n\nTraceback:\n${trace}\nTypeError\n\n- one\n    - two\n    - three`)).toEqual(["It fails:\n\nTraceback:", [trace], "TypeError\n\n- one\n    - two\n    - three"]);
  expect(parts(`50 %\r100 %\rdone\r\n\r\n${pods.replaceAll("\n", "\r\n")}\r\n\r\nend`), "a carriage return ends a line").toEqual(["50 %\n100 %\ndone\n", [pods], "\nend"]);
  expect(parts("if a:\n    b()\nelse:\n    c()"), "code between indented lines").toEqual(["if a:", ["    b()\nelse:\n    c()"]]);
  for (const text of ["One.  Two.\nThree:  four.", "| a   | b   |\n|-----|-----|\n| 1   | 2   |", "- a    b\n  c    d", "```\na    b\nc    d\n```", "one    gap"]) expect(parts(text)).toEqual([text]);
});

test("sentences between two lines with columns are markdown", () => {
  const parts = (text: string): unknown[] => splitColumns(text, parseMarkdown(text, true)?.children ?? []).map(({ text: part, hasColumns }) => (hasColumns ? [part] : part));
  const sentences = "Then say **why** that is\nso, in your own words.";
  expect(parts(`left    right\n${sentences}\nup    down`)).toEqual([`left    right\n${sentences}\nup    down`]);
  expect(parts(`a    b\nc    d\n${sentences}\ne    f\ng    h`)).toEqual([["a    b\nc    d"], sentences, ["e    f\ng    h"]]);
});

test("a prompt with a line of millions of spaces is not searched for columns without end", () => {
  const text = `text\n${" ".repeat(4_000_000)}\u00a0`;
  expect(splitColumns(text, parseMarkdown("text\nmore", true)?.children ?? [])).toEqual([{ text, hasColumns: false }]);
});

test("markup that is nested without end is shown as it is written, and what people write is not", () => {
  const nested = (mark: string, count: number): string => `${mark.repeat(count)}a${mark.repeat(count)}`;
  const endless = [">".repeat(5000), "> ".repeat(2500) + "a", `text\n${"- ".repeat(40)}a`, nested("*", 5000), nested("_", 5000), nested("**a ", 1001), "x".repeat(60_001)];
  for (const text of endless) expect(parseMarkdown(text, true), text.slice(0, 20)).toBeUndefined();
  const usual = ["*".repeat(80), "_".repeat(80), "-".repeat(80), "> > > a", "- - 1. a", "snake_case_name ".repeat(2000), "**bold** and *more*\n\n".repeat(1000)];
  for (const text of usual) expect(parseMarkdown(text, true), text.slice(0, 20)).toBeDefined();
});

test("a call names files as they are named in the folder of its session", () => {
  expect(shortTitle("Edit /work/shop/src/a.py", "/work/shop")).toBe("Edit src/a.py");
  expect(shortTitle("Grep /work/shop · total", "/work/shop")).toBe("Grep · total");
  expect(shortTitle("Edit C:\\work\\shop\\a.py", "C:\\work\\shop\\")).toBe("Edit a.py");
  expect(shortTitle("$ cat /work/shop2/a.py", "/work/shop")).toBe("$ cat /work/shop2/a.py");
  expect(shortTitle("Edit /work/a.py", "")).toBe("Edit /work/a.py");
});

test("the name of a file opens it, at its line if it says one; other code does not", () => {
  const cases: [string, { path: string; line?: number } | undefined][] = [
    ["src/app.py", { path: "src/app.py" }],
    ["app.py:12", { path: "app.py", line: 12 }],
    ["./src/app.ts:12:3", { path: "./src/app.ts", line: 12 }],
    ["src/app.go#L7-L9", { path: "src/app.go", line: 7 }],
    ["C:\\work\\app.cs:3", { path: "C:/work/app.cs", line: 3 }],
    ["/home/ana/app/notes.md", { path: "/home/ana/app/notes.md" }],
    ["console.log", undefined],
    ["1.2.3", undefined],
    ["https://example.org/app.py", undefined],
    ["../../etc/passwd.txt", undefined],
    ["cat app.py", undefined],
    ["x".repeat(500) + ".py", undefined],
  ];
  for (const [text, place] of cases) expect(parseFilePlace(text), text).toEqual(place === undefined ? undefined : { line: undefined, ...place });
});

test("a call says how it ended where that is worth a word", () => {
  const call = { title: "$ make", text: "", exitCode: null, edits: false };
  expect(callStatus({ ...call, status: "error", exitCode: 2 })).toBe("exit code 2");
  expect((["ok", "", "error", "denied", "interrupted", "pending"] as const).map((status) => callStatus({ ...call, status }))).toEqual(["", "", "failed", "denied by you", "interrupted", "no result recorded"]);
});

test("keys move from turn to turn and from prompt to prompt, and find", () => {
  const key = (name: string, changes = {}) => turnKeyAction({ key: name, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...changes });
  expect(Array.from("jknp/o?").map((name) => key(name))).toEqual(["next", "previous", "nextPrompt", "previousPrompt", "find", "toggle", "help"]);
  expect([key("f", { ctrlKey: true }), key("F3"), key("F3", { shiftKey: true }), key("j", { ctrlKey: true }), key("x")]).toEqual(["find", "nextMatch", "previousMatch", undefined, undefined]);
});

test("what a person typed comes next, shell and slash commands too", () => {
  const kinds = "prrsrcrp";
  expect([nextPrompt(kinds, 0, 1), nextPrompt(kinds, 3, 1), nextPrompt(kinds, 7, 1), nextPrompt(kinds, 3, -1), nextPrompt(kinds, 0, -1)]).toEqual([3, 5, undefined, 0, undefined]);
});

test("matches are gone through in a circle", () => {
  expect([nextMatch([2, 5, 9], 5, 1), nextMatch([2, 5, 9], 9, 1), nextMatch([2, 5, 9], 2, -1), nextMatch([2, 5, 9], -1, 1), nextMatch([], 3, 1)]).toEqual([9, 2, 9, 2, undefined]);
});
