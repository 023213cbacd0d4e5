import { expect, test } from "vitest";
import { pageHtml } from "../../extension/src/views/shared/html";
import { findEditError, parseFromWebview, parseToWebview } from "../../extension/src/views/review/messages";
import { candidate, leftOut } from "./fakes/sidecar";

const edit = { title: "Use uv", body: "b", tags: ["build"] };

test.each([
  { type: "ready" },
  { type: "undo", action: "a1" },
  { type: "undo", action: null },
  { type: "copy", text: "t" },
  { type: "sync" },
  { type: "manageTrust" },
  { type: "showLog" },
  { type: "act", id: "c1", action: "accept", edit: null, choice: null },
  { type: "act", id: "c1", action: "accept", edit, choice: { answer: "changes", memory: "m1", hash: "h1" } },
  { type: "act", id: "c1", action: "accept", edit: null, choice: { answer: "keep", memory: "", hash: "" } },
  { type: "act", id: "c1", action: "edit", edit, choice: null },
  { type: "act", id: "c1", action: "reject", edit: null, choice: null },
  { type: "openTurn", session: "s", turn: "t" },
  { type: "openReference", reference: "a.py" },
  { type: "leftOut", most: 0 },
  { type: "leftOut", most: 200 },
  { type: "propose", id: "l1", scope: "global" },
])("the panel may say %j", (message) => {
  expect(parseFromWebview(message)).toEqual(message);
});

test.each([
  null,
  "ready",
  [],
  {},
  { type: "run" },
  { type: "act", id: "c1", action: "delete", edit: null, choice: null },
  { type: "act", id: 1, action: "accept", edit: null, choice: null },
  { type: "act", id: "c1", action: "edit", edit: null, choice: null },
  { type: "act", id: "c1", action: "reject", edit, choice: null },
  { type: "act", id: "c1", action: "delete", edit: { ...edit, tags: [1] }, choice: null },
  { type: "act", id: "c1", action: "accept", edit: null, choice: { answer: "merge", memory: "m1", hash: "h1" } },
  { type: "act", id: "c1", action: "accept", edit: null, choice: { answer: "same", memory: "", hash: "" } },
  { type: "act", id: "c1", action: "reject", edit: null, choice: { answer: "same", memory: "m1", hash: "h1" } },
  { type: "undo" },
  { type: "undo", action: 1 },
  { type: "copy", text: 1 },
  { type: "openTurn", session: "s" },
  { type: "leftOut", most: 1e9 },
  { type: "leftOut", most: 1.5 },
  { type: "propose", id: "l1" },
  { type: "openReference", reference: "x".repeat(5000) },
])("%j from the panel is refused", (message) => {
  expect(parseFromWebview(message)).toBeUndefined();
});

test("fields that are not asked for are left behind", () => {
  expect(parseFromWebview({ type: "sync", command: "evil" })).toEqual({ type: "sync" });
  expect(parseFromWebview({ type: "act", id: "c1", action: "edit", edit: { ...edit, path: "evil" }, choice: null })).toEqual({ type: "act", id: "c1", action: "edit", edit, choice: null });
});

test.each([
  [{ ...edit, title: "  " }, /title is empty/],
  [{ ...edit, title: "x".repeat(301) }, /title has 301 characters/],
  [{ ...edit, body: "x".repeat(50_001) }, /body has 50001 characters/],
  [{ ...edit, tags: Array.from({ length: 51 }, (_, at) => `t${at}`) }, /51 tags/],
  [{ ...edit, tags: [1] }, /could not be read/],
  [{ ...edit, body: "x".repeat(1_000_001) }, /could not be read/],
  [undefined, /could not be read/],
])("an edit that does not fit is told apart, with the reason", (misfit, reason) => {
  expect(parseFromWebview({ type: "act", id: "c1", action: "accept", edit: misfit, choice: null })).toEqual({ type: "invalidEdit", id: "c1", action: "accept", reason: expect.stringMatching(reason) as string });
});

test("an edit at every limit fits", () => {
  expect(findEditError({ title: "x".repeat(300), body: "x".repeat(50_000), tags: Array.from({ length: 50 }, (_, at) => `t${at}`) })).toBeUndefined();
});

const list = { type: "list", root: "file:///repo", order: ["c1"], changed: [candidate("c1")], blocked: 0, leftOut: 2, problems: [], undo: null };

test.each([
  list,
  { ...list, undo: { action: "a", label: "l" }, problems: [{ code: "c", path: "p", message: "m" }] },
  { type: "root", root: "file:///repo", name: "repo", restricted: false },
  { type: "sync", running: true, text: "3 of 12 sessions" },
  { type: "actionResult", id: "c1", action: "undo", ok: true, message: "", undo: null, diff: "" },
  { type: "actionResult", id: "c1", action: "accept", ok: false, message: "m", undo: { action: "a", label: "l" }, diff: "+x" },
  { type: "leftOut", root: "file:///repo", items: [leftOut("l1"), leftOut("l2", { score: 0.3, kind: "pitfall" })], total: 7 },
  { type: "actionResult", id: "l1", action: "propose", ok: true, message: "Proposed: x", undo: { action: "a", label: "l" }, diff: "" },
  { type: "failed", operation: "list", message: "m" },
])("the host may say $type", (message) => {
  expect(parseToWebview(message)).toEqual(message);
});

test.each([
  { ...list, changed: [{ ...candidate("c1"), evidence: [{ quote: 1 }] }] },
  { ...list, changed: [{ ...candidate("c1"), action: "drop" }] },
  { ...list, leftOut: "2" },
  { type: "leftOut", root: "file:///repo", items: [{ ...leftOut("l1"), scope: "all" }], total: 1 },
  { type: "leftOut", root: "file:///repo", items: [leftOut("l1")] },
  { ...list, undo: {} },
  { type: "actionResult", id: "c1", action: "explode", ok: true, message: "", undo: null, diff: "" },
  { type: "actionResult", id: "c1", action: "undo", ok: true, message: "" },
  { type: "failed", message: "m" },
  { type: "root", root: "file:///repo", name: "repo" },
  7,
])("a broken message of the host is not drawn", (message) => {
  expect(parseToWebview(message)).toBeUndefined();
});

test("the page allows its own style and its own script with a nonce, and nothing else", () => {
  const html = pageHtml({ main: "review", title: "Lerim Review", cspSource: "https://panel.test", nonce: "n0nce", script: "https://panel.test/review.js", style: "https://panel.test/review.css" });
  expect(html).toContain(
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src https://panel.test; script-src 'nonce-n0nce'; base-uri 'none'; form-action 'none'">`,
  );
  expect(html.match(/<script/g)).toHaveLength(1);
  expect(html).toContain('<script nonce="n0nce" src="https://panel.test/review.js"></script>');
  expect(html).not.toMatch(/unsafe|<style|\son\w+=|style=/);
});

test("nothing put into the page can leave its attribute", () => {
  const html = pageHtml({ main: "review", title: "Lerim Review", cspSource: "x", nonce: "n", script: '"><script>alert(1)</script>', style: "s" });
  expect(html.match(/<script/g)).toHaveLength(1);
});
