// What a panel's browser side may say to the extension, and the page it runs in.
import { expect, test } from "vitest";
import { parseFromAsk } from "../../extension/src/views/ask/messages";
import { findEditError, parseFromWebview } from "../../extension/src/views/review/messages";
import { pageHtml } from "../../extension/src/views/shared/html";
import { parseFromTranscript } from "../../extension/src/views/transcript/messages";

const edit = { title: "Use uv", body: "b", tags: ["build"] };
const act = { type: "act", id: "c1", action: "accept", edit: null, choice: null };
const choice = { answer: "changes", memory: "m1", hash: "h1" };

test.each([
  ...["ready", "openAccepted", "sync", "manageTrust", "showLog"].map((type) => ({ type })),
  { type: "undo", action: "a1" },
  { type: "undo", action: null },
  { type: "copy", text: "t" },
  act,
  { ...act, edit, choice },
  { ...act, choice: { answer: "keep", memory: "", hash: "" } },
  { ...act, action: "edit", edit },
  { ...act, action: "edit", edit: { ...edit, references: ["src/a.py#load"] } },
  { ...act, action: "edit", edit: { ...edit, kind: "pitfall" } },
  { ...act, action: "reject" },
  { type: "openTurn", session: "s", turn: "t" },
  { type: "openReference", reference: "a.py" },
  { type: "openTarget", id: "c1", target: "m1" },
  { type: "leftOut", most: 0 },
  { type: "propose", id: "l1", scope: "global" },
])("the review panel may say %j", (message) => {
  expect(parseFromWebview(message)).toEqual(message);
});

test.each([
  null,
  "ready",
  [],
  { type: "run" },
  { ...act, action: "delete" },
  { ...act, id: 1 },
  { ...act, action: "edit" },
  { ...act, action: "reject", edit },
  { ...act, choice: { ...choice, answer: "merge" } },
  { ...act, choice: { answer: "same", memory: "", hash: "" } },
  { ...act, choice: { ...choice, answer: "keep" } },
  { ...act, action: "reject", choice },
  { type: "undo" },
  { type: "copy", text: 1 },
  { type: "openTurn", session: "s" },
  { type: "openTarget", id: "c1" },
  { type: "leftOut", most: 1e9 },
  { type: "leftOut", most: 1.5 },
  { type: "leftOut", most: -1 },
  { type: "propose", id: "l1", scope: "all" },
  { type: "openReference", reference: "x".repeat(5000) },
])("%j from the review panel is refused", (message) => {
  expect(parseFromWebview(message)).toBeUndefined();
});

test("fields that are not asked for are left behind", () => {
  expect(parseFromWebview({ type: "sync", command: "evil" })).toEqual({ type: "sync" });
  expect(parseFromWebview({ ...act, edit: { ...edit, path: "evil" } })).toEqual({ ...act, edit });
});

test.each([
  [{ ...edit, title: "  " }, /title is empty/],
  [{ ...edit, title: "x".repeat(301) }, /title has 301 characters/],
  [{ ...edit, body: "x".repeat(50_001) }, /body has 50001 characters/],
  [{ ...edit, tags: Array.from({ length: 51 }, (_, at) => `t${at}`) }, /51 tags/],
  [{ ...edit, tags: [1] }, /could not be read/],
  [{ ...edit, references: [1] }, /could not be read/],
  [{ ...edit, references: Array.from({ length: 51 }, (_, at) => `${at}.py`) }, /at most 50 references/],
  [{ ...edit, body: "x".repeat(1_000_001) }, /could not be read/],
  [undefined, /could not be read/],
  [{ ...edit, references: ["x".repeat(2001)] }, /each of 2000 characters or less/],
])("an edit that does not fit is told apart, with the reason", (misfit, reason) => {
  expect(parseFromWebview({ ...act, edit: misfit })).toEqual({ type: "invalidEdit", id: "c1", action: "accept", reason: expect.stringMatching(reason) as string });
});

test("an edit at every limit fits", () => {
  expect(findEditError({ title: "x".repeat(300), body: "x".repeat(50_000), tags: Array.from({ length: 50 }, (_, at) => `t${at}`) })).toBeUndefined();
});

test.each([{ type: "ready" }, { type: "cancel" }, { type: "chooseModel" }, { type: "searchByMeaning" }, { type: "ask", question: "Why?", all: true }, { type: "open", number: 1 }])("the panel of questions may say %j", (message) => {
  expect(parseFromAsk(message)).toEqual(message);
});

test.each([null, {}, { type: "ask", question: " ", all: false }, { type: "ask", question: "x".repeat(5000), all: false }, { type: "ask", question: "Why?" }, { type: "open", number: 1.5 }])("%j from the panel of questions is refused", (message) => {
  expect(parseFromAsk(message)).toBeUndefined();
});

test.each([{ type: "ready" }, { type: "manageTrust" }, { type: "loadTurns", start: 0, count: 60 }, { type: "loadWholeTurn", position: 4 }, { type: "find", text: "x" }, { type: "resume" }, { type: "remember", text: "x", turn: "a" }, { type: "copy", text: "x" }, { type: "openFile", path: "src/app.py", line: 3 }])("the transcript viewer may say %j", (message) => {
  expect(parseFromTranscript(message)).toEqual(message);
});

const loadTurns = { type: "loadTurns", start: 0, count: 1 };

test.each([null, { type: "run" }, { ...loadTurns, start: -1 }, { ...loadTurns, count: 0 }, { ...loadTurns, start: 0.5 }, { type: "loadWholeTurn" }, { type: "find", text: "x".repeat(2000) }, { type: "copy" }, { type: "remember", text: " ", turn: "a" }, { type: "remember", text: "x" }, { type: "openFile", path: "src/app.py", line: -1 }, { type: "openFile" }])("%j from the transcript viewer is refused", (message) => {
  expect(parseFromTranscript(message)).toBeUndefined();
});

test("the page allows its own style and its own script with a nonce, nothing else, and nothing put into it can leave its attribute", () => {
  const page = { main: "review", title: "Lerim Review", cspSource: "https://panel.test", nonce: "n0nce", script: "https://panel.test/review.js", style: "https://panel.test/review.css" };
  const html = pageHtml(page);
  expect(html).toContain(`content="default-src 'none'; style-src https://panel.test; script-src 'nonce-n0nce'; base-uri 'none'; form-action 'none'">`);
  expect(html).toContain('<script nonce="n0nce" src="https://panel.test/review.js"></script>');
  expect(html).not.toMatch(/unsafe|<style|\son\w+=|style=/);
  for (const one of [html, pageHtml({ ...page, script: '"><script>alert(1)</script>' })]) expect(one.match(/<script/g)).toHaveLength(1);
});
