// The pure parts of the panel's browser side.
import { expect, test } from "vitest";
import { diffRows } from "../../extension/webview/diff";
import { actionOf } from "../../extension/webview/keys";
import { visibleRange } from "../../extension/webview/list";
import { applyList, emptyModel, mayUndo, type Model, moveSelection, orderOf, parseSaved, parseTags, removeCandidate, showRoot, startDraft } from "../../extension/webview/state";
import { pieces, plain } from "../../extension/webview/text";
import type { ListMessage } from "../../extension/views/messages";
import { candidate } from "./fakes/sidecar";

const root = "file:///repo";

function listing(order: string[], changed = order): ListMessage {
  return { type: "list", root, order, changed: changed.map((id) => candidate(id)), blocked: 0, dropped: {}, problems: [], undo: null };
}

function modelOf(...order: string[]): Model {
  return applyList(showRoot(emptyModel, root, "repo", false), listing(order));
}

test("the first candidate of the first listing is selected", () => {
  expect(modelOf("a", "b").selected).toBe("a");
  expect(modelOf().selected).toBeUndefined();
});

test("candidates that come while a sync runs leave the selection and the draft alone", () => {
  const editing = startDraft(moveSelection(modelOf("a", "b"), 1));
  const after = applyList(editing, listing(["n", "a", "b"], ["n"]));
  expect(orderOf(after)).toEqual(["n", "a", "b"]);
  expect(after.selected).toBe("b");
  expect(after.draft?.id).toBe("b");
});

test("what was accepted goes and the next one is selected, at the end the one before", () => {
  const model = moveSelection(modelOf("a", "b", "c"), 1);
  const once = removeCandidate(model, "b");
  expect([orderOf(once), once.selected]).toEqual([["a", "c"], "c"]);
  const twice = removeCandidate(once, "c");
  expect([orderOf(twice), twice.selected]).toEqual([["a"], "a"]);
  expect(removeCandidate(twice, "a").selected).toBeUndefined();
});

test("a withdrawn candidate takes its draft with it", () => {
  const editing = startDraft(modelOf("a", "b"));
  const after = applyList(editing, listing(["b"], []));
  expect(after.draft).toBeUndefined();
  expect(after.selected).toBe("b");
});

test("a listing of another root is not taken", () => {
  const model = modelOf("a");
  expect(applyList(model, { ...listing(["x"]), root: "file:///other" })).toBe(model);
});

test("another root starts empty; the same one keeps what was selected and being edited", () => {
  const editing = startDraft(modelOf("a"));
  expect(showRoot(editing, root, "repo", false)).toMatchObject({ selected: "a", draft: { id: "a" }, list: undefined });
  expect(showRoot(editing, "file:///other", "other", false)).toMatchObject({ selected: undefined, draft: undefined });
});

test("the selection stays inside the list", () => {
  const model = modelOf("a", "b", "c");
  expect(moveSelection(model, -1).selected).toBe("a");
  expect(moveSelection(model, 99).selected).toBe("c");
  expect(moveSelection(modelOf(), 1).selected).toBeUndefined();
});

test("in Restricted Mode nothing is edited or undone", () => {
  const model = { ...modelOf("a"), restricted: true };
  expect(startDraft(model).draft).toBeUndefined();
  expect(mayUndo({ ...model, list: { ...listing(["a"]), undo: { action: "x", label: "y" } } })).toBe(false);
});

test("tags are split, trimmed and said once", () => {
  expect(parseTags(" build, ci ,,build\nuv")).toEqual(["build", "ci", "uv"]);
});

test("what was saved comes back, and anything else is nothing", () => {
  const saved = { root, selected: "a", scrollTop: 12, draft: { id: "a", title: "t", body: "b", tags: ["x"] }, foot: true };
  expect(parseSaved(structuredClone(saved))).toEqual(saved);
  expect(parseSaved({ ...saved, selected: 3, draft: { id: "a" } })).toEqual({ ...saved, selected: undefined, draft: undefined });
  for (const broken of [undefined, null, "x", {}, { root: 1, scrollTop: 0 }]) expect(parseSaved(broken)).toBeUndefined();
});

test("a difference is read line by line without its file names", () => {
  const diff = "--- before\n+++ after\n@@ -1,3 +1,3 @@\n # Title\n-- an old item\n+++ counts up\n\\ No newline at end of file\n";
  expect(diffRows(diff)).toEqual([
    { kind: "place", sign: " ", text: "@@ -1,3 +1,3 @@" },
    { kind: "context", sign: " ", text: "# Title" },
    { kind: "removed", sign: "-", text: "- an old item" },
    { kind: "added", sign: "+", text: "++ counts up" },
  ]);
  expect(diffRows("")).toEqual([]);
});

test("characters that hide or turn the text around are written out, emoji stay whole", () => {
  expect(plain("a\u200bb\u202ec")).toBe("a⟨U+200B⟩b⟨U+202E⟩c");
  expect(plain("tag\u{e0041}")).toBe("tag⟨U+E0041⟩");
  expect(plain("\u{1f469}\u200d\u{1f4bb} ✔\ufe0f\u200d\u{1f525}")).toBe("\u{1f469}\u200d\u{1f4bb} ✔\ufe0f\u200d\u{1f525}");
  expect(plain("x\u200dy")).toBe("x⟨U+200D⟩y");
  expect(pieces("plain\ttext\nlines")).toEqual([{ text: "plain\ttext\nlines", hidden: false }]);
});

test("keys act alone, and arrows scroll inside a candidate", () => {
  const key = (name: string, ctrlKey = false) => ({ key: name, ctrlKey, metaKey: false, altKey: false });
  expect(Array.from("jkareuo?").map((name) => actionOf(key(name), true))).toEqual(["next", "previous", "accept", "reject", "edit", "undo", "openTurn", "help"]);
  expect(actionOf(key("ArrowDown"), false)).toBe("next");
  expect(actionOf(key("ArrowDown"), true)).toBeUndefined();
  expect(actionOf(key("a", true), false)).toBeUndefined();
  expect(actionOf(key("x"), false)).toBeUndefined();
});

test("of two thousand candidates only those in sight are drawn", () => {
  const { first, last } = visibleRange(48 * 1000, 480, 2000);
  expect(first).toBeLessThanOrEqual(1000);
  expect(last - first).toBeLessThan(30);
  expect(visibleRange(48 * 5000, 480, 10)).toEqual({ first: 10, last: 10 });
  expect(visibleRange(0, 480, 0)).toEqual({ first: 0, last: 0 });
});
