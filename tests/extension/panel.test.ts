// The pure parts of the panel's browser side.
import { expect, test } from "vitest";
import { diffRows } from "../../extension/src/views/review/web/diff";
import { answersFor, acceptedText, firstLines, keepBoth, neighbourMeta, rankedNeighbours, suggestedAnswerText, suggestionText } from "../../extension/src/views/review/web/answers";
import { reviewKeyAction, reviewHelpRows } from "../../extension/src/views/shared/web/keys";
import { drawnPositions, rowId, visibleRange } from "../../extension/src/views/review/web/list";
import { draftText } from "../../extension/src/views/review/web/lost";
import { applyResult, applyLeftOut, applyList, addRequest, draftChoice, chooseNeighbour, findDraft, removeDraft, initialModel, replaceDraft, lostDrafts, type Model, moveSelection, activeNeighbour, candidateOrder, parseSavedState, parseTags, selectedCandidate, switchRoot, startMemoryChange, startDraft, actionToUndo } from "../../extension/src/views/review/web/state";
import { splitHiddenCharacters, spellOutHidden } from "../../extension/src/views/shared/web/text";
import type { ActionResultMessage, ListMessage } from "../../extension/src/views/review/messages";
import { candidate, leftOut, neighbour } from "./fakes/sidecar";

const root = "file:///repo";

function listing(order: string[], changed = order): ListMessage {
  return { type: "list", root, order, changed: changed.map((id) => candidate(id)), blocked: 0, leftOut: 0, problems: [], undo: null };
}

function modelOf(...order: string[]): Model {
  return applyList(switchRoot(initialModel, root, "repo", false), listing(order));
}

test("the first candidate of the first listing is selected", () => {
  expect(modelOf("a", "b").selected).toBe("a");
  expect(modelOf().selected).toBeUndefined();
});

test("candidates that come while a sync runs leave the selection and the draft alone", () => {
  const editing = startDraft(moveSelection(modelOf("a", "b"), 1));
  const after = applyList(editing, listing(["n", "a", "b"], ["n"]));
  expect(candidateOrder(after)).toEqual(["n", "a", "b"]);
  expect(after.selected).toBe("b");
  expect(findDraft(after, "b")).toBe(findDraft(editing, "b"));
});

function actionResult(id: string, changes: Partial<ActionResultMessage> = {}): ActionResultMessage {
  return { type: "actionResult", id, action: "accept", ok: true, message: "", undo: { action: `of-${id}`, label: `Accepted: ${id}` }, diff: "", ...changes };
}

/** The model with the selected candidate's title typed over. */
function typed(model: Model, title: string): Model {
  const draft = findDraft(startDraft(model), model.selected);
  if (draft === undefined) throw new Error("nothing is selected");
  return replaceDraft(startDraft(model), { ...draft, title });
}

test("what was accepted goes and the next one is selected, at the end the one before", () => {
  const model = moveSelection(modelOf("a", "b", "c"), 1);
  const once = applyResult(model, actionResult("b"));
  expect([candidateOrder(once), once.selected]).toEqual([["a", "c"], "c"]);
  const twice = applyResult(once, actionResult("c", { action: "reject" }));
  expect([candidateOrder(twice), twice.selected]).toEqual([["a"], "a"]);
  expect(applyResult(twice, actionResult("a")).selected).toBeUndefined();
});

test("editing again goes on with what was typed", () => {
  const model = typed(modelOf("a", "b"), "Mine");
  expect(startDraft(model)).toBe(model);
  expect(findDraft(startDraft(model), "a")?.title).toBe("Mine");
});

test("each candidate has a draft of its own", () => {
  const first = typed(modelOf("a", "b"), "Mine of a");
  const both = typed(moveSelection(first, 1), "Mine of b");
  expect([findDraft(both, "a")?.title, findDraft(both, "b")?.title]).toEqual(["Mine of a", "Mine of b"]);
  const one = removeDraft(both, { root, id: "b" });
  expect([findDraft(one, "a")?.title, findDraft(one, "b")]).toEqual(["Mine of a", undefined]);
});

test("the text of a draft is kept when its candidate was decided elsewhere, and is in its form again when it comes back", () => {
  const editing = typed(modelOf("a", "b"), "Mine");
  expect(lostDrafts(editing)).toEqual([]);
  const after = applyList(editing, listing(["b"], []));
  expect(after.selected).toBe("b");
  expect(lostDrafts(after).map(({ title }) => title)).toEqual(["Mine"]);
  expect(lostDrafts(after).map(draftText)).toEqual(["Mine\n\nThe project installs with uv.\n\n#build"]);
  const back = applyList(after, listing(["a", "b"], ["a"]));
  expect([lostDrafts(back), findDraft(back, "a")?.title]).toEqual([[], "Mine"]);
  expect(lostDrafts(removeDraft(after, { root, id: "a" }))).toEqual([]);
});

test("a draft in which nothing was typed goes with its candidate", () => {
  expect(applyList(startDraft(modelOf("a", "b")), listing(["b"], [])).drafts).toEqual([]);
  expect(applyResult(startDraft(modelOf("a")), actionResult("a", { action: "reject" })).drafts).toEqual([]);
});

test("what was typed into a candidate that is rejected is kept", () => {
  const model = addRequest(typed(modelOf("a"), "Mine"), "a", undefined);
  expect(lostDrafts(applyResult(model, actionResult("a", { action: "reject" }))).map(({ title }) => title)).toEqual(["Mine"]);
});

test.each(["accept", "edit"] as const)("a draft that was sent along with %s is done with; what was typed since is not", (action) => {
  const editing = typed(modelOf("a"), "Mine");
  const sent = addRequest(editing, "a", findDraft(editing, "a"));
  expect(applyResult(sent, actionResult("a", { action })).drafts).toEqual([]);
  expect(applyResult(typed(sent, "Mine, and more"), actionResult("a", { action })).drafts.map(({ title }) => title)).toEqual(["Mine, and more"]);
  expect(applyResult(sent, actionResult("a", { action, ok: false })).drafts.map(({ title }) => title)).toEqual(["Mine"]);
});

test("a candidate that is gone from the list before its accept is answered is not taken for one decided elsewhere", () => {
  const editing = typed(modelOf("a"), "Mine");
  const sent = applyList(addRequest(editing, "a", findDraft(editing, "a")), listing([]));
  expect(lostDrafts(sent)).toEqual([]);
  expect(lostDrafts(applyResult(sent, actionResult("a"))).length).toBe(0);
  expect(lostDrafts(applyResult(sent, actionResult("a", { ok: false }))).length).toBe(1);
});

test("an undo takes back what was done last here, as soon as that is known, and waits for the list after another", () => {
  const model = applyList(modelOf("a", "b"), { ...listing(["a", "b"], []), undo: { action: "old", label: "l" } });
  expect(actionToUndo(modelOf("a"))).toBeUndefined();
  expect(actionToUndo(model)).toBe("old");
  const asked = addRequest(model, "a", undefined);
  expect(actionToUndo(asked)).toBeNull();
  const done = applyResult(asked, actionResult("a"));
  expect(actionToUndo(done)).toBe("of-a");
  const undoing = { ...done, undoRequested: true };
  expect(actionToUndo(undoing)).toBeUndefined();
  const undone = applyResult(undoing, actionResult("", { action: "undo", undo: null }));
  expect(actionToUndo(undone)).toBeUndefined();
  expect(actionToUndo(applyList(undone, { ...listing(["a", "b"]), undo: { action: "old", label: "l" } }))).toBe("old");
  expect(actionToUndo(applyResult(undoing, actionResult("", { action: "undo", ok: false, undo: null })))).toBe("of-a");
});

test("what was left out is shown with its count, and goes from there when it is proposed", () => {
  const items = [leftOut("l1"), leftOut("l2")];
  const model = applyLeftOut(modelOf("a"), root, items, 5);
  expect([model.list?.leftOut, model.leftOut]).toEqual([5, items]);
  expect(applyLeftOut(model, "file:///other", [], 0)).toBe(model);
  const sent = addRequest(model, "l1", undefined);
  const refused = applyResult(sent, actionResult("l1", { action: "propose", ok: false, undo: null }));
  expect([refused.leftOut?.length, refused.pendingRequests.size]).toEqual([2, 0]);
  const done = applyResult(sent, actionResult("l1", { action: "propose" }));
  expect([done.list?.leftOut, done.leftOut?.map(({ id }) => id), done.selected, actionToUndo(done)]).toEqual([4, ["l2"], "a", "of-l1"]);
});

test("a listing of another root is not taken", () => {
  const model = modelOf("a");
  expect(applyList(model, { ...listing(["x"]), root: "file:///other" })).toBe(model);
});

test("another root starts empty, but no draft is lost on the way", () => {
  const editing = startDraft(modelOf("a"));
  expect(switchRoot(editing, root, "repo", false)).toMatchObject({ selected: "a", drafts: [{ id: "a" }], list: undefined });
  const other = switchRoot(editing, "file:///other", "other", false);
  expect([other.selected, findDraft(other, "a"), lostDrafts(applyList(other, { ...listing([]), root: "file:///other" }))]).toEqual([undefined, undefined, []]);
  expect(findDraft(switchRoot(other, root, "repo", false), "a")).toBeDefined();
});

test("the selection stays inside the list", () => {
  const model = modelOf("a", "b", "c");
  expect(moveSelection(model, -1).selected).toBe("a");
  expect(moveSelection(model, 99).selected).toBe("c");
  expect(moveSelection(modelOf(), 1).selected).toBeUndefined();
});

test("in Restricted Mode nothing is edited or undone", () => {
  const model = { ...modelOf("a"), restricted: true };
  expect(startDraft(model).drafts).toEqual([]);
  expect(actionToUndo({ ...model, list: { ...listing(["a"]), undo: { action: "x", label: "y" } } })).toBeUndefined();
});

test("tags are split, trimmed and said once", () => {
  expect(parseTags(" build, ci ,,build\nuv")).toEqual(["build", "ci", "uv"]);
});

test("what was saved comes back, and anything else is nothing", () => {
  const draft = { root, id: "a", title: "t", body: "b", tags: ["x"] };
  const saved = { root, selected: "a", scrollTop: 12, leftOut: true, drafts: [draft, { ...draft, id: "b" }], foot: true };
  expect(parseSavedState(structuredClone(saved))).toEqual(saved);
  expect(parseSavedState({ ...saved, selected: 3, drafts: [{ id: "a" }, draft, 7] })).toEqual({ ...saved, selected: undefined, drafts: [draft] });
  expect(parseSavedState({ ...saved, drafts: "x" })).toEqual({ ...saved, drafts: [] });
  for (const broken of [undefined, null, "x", {}, { root: 1, scrollTop: 0 }]) expect(parseSavedState(broken)).toBeUndefined();
});

test("a difference is read line by line without its file names", () => {
  const diff = "--- before\n+++ after\n@@ -1,3 +1,3 @@\n # Title\n-- an old item\n+++ counts up\n\\ No newline at end of file\n";
  expect(diffRows(diff)).toEqual([
    { kind: "hunk", sign: " ", text: "@@ -1,3 +1,3 @@" },
    { kind: "context", sign: " ", text: "# Title" },
    { kind: "removed", sign: "-", text: "- an old item" },
    { kind: "added", sign: "+", text: "++ counts up" },
  ]);
  expect(diffRows("")).toEqual([]);
});

test("characters that hide or turn the text around are written out, emoji stay whole", () => {
  expect(spellOutHidden("a\u200bb\u202ec")).toBe("a⟨U+200B⟩b⟨U+202E⟩c");
  expect(spellOutHidden("tag\u{e0041}")).toBe("tag⟨U+E0041⟩");
  expect(spellOutHidden("\u{1f469}\u200d\u{1f4bb} ✔\ufe0f\u200d\u{1f525}")).toBe("\u{1f469}\u200d\u{1f4bb} ✔\ufe0f\u200d\u{1f525}");
  expect(spellOutHidden("x\u200dy")).toBe("x⟨U+200D⟩y");
  expect(splitHiddenCharacters("plain\ttext\nlines")).toEqual([{ text: "plain\ttext\nlines", hidden: false }]);
});

test("keys act alone, and arrows scroll inside a candidate", () => {
  const key = (name: string, ctrlKey = false) => ({ key: name, ctrlKey, metaKey: false, altKey: false });
  expect(Array.from("jkareuo?").map((name) => reviewKeyAction(key(name), true))).toEqual(["next", "previous", "accept", "reject", "edit", "undo", "openTurn", "help"]);
  expect(reviewKeyAction(key("ArrowDown"), false)).toBe("next");
  expect(reviewKeyAction(key("ArrowDown"), true)).toBeUndefined();
  expect(reviewKeyAction(key("a", true), false)).toBeUndefined();
  expect(reviewKeyAction(key("x"), false)).toBeUndefined();
});

test("each answer for a similar memory has a key of its own, which the help names", () => {
  const key = (name: string) => ({ key: name, ctrlKey: false, metaKey: false, altKey: false });
  expect(Array.from("spcwb123").map((name) => reviewKeyAction(key(name), true))).toEqual(["same", "replaces", "changes", "answers", "keepBoth", "neighbour1", "neighbour2", "neighbour3"]);
  expect(reviewKeyAction({ ...key("s"), repeat: true }, true)).toBeUndefined();
  const named = reviewHelpRows.flatMap(([keys]) => keys.split(/, | or /));
  for (const name of "jkaersucpwbo?123") expect(named).toContain(name);
});

const near = [neighbour("m1"), neighbour("m2", { title: "Which installer?", primitive: "question" }), neighbour("m3")];
const suggested = { answer: "answers", memory: "m2", reason: "It names one.", by: "model" } as const;

test("the memory that an answer is suggested for comes first, and says who suggests what", () => {
  const one = candidate("c1", { neighbours: near, suggested });
  expect(rankedNeighbours(one).map(({ id }) => id)).toEqual(["m2", "m1", "m3"]);
  expect(suggestionText(one)).toBe("Suggested by a model: answer “Which installer?”.");
  expect(suggestionText(candidate("c1", { neighbours: near, suggested: { answer: "keep", memory: "", reason: "", by: "claim" } }))).toBe("Suggested by the session's wording: keep both.");
  expect(suggestedAnswerText(candidate("c1", { neighbours: near }))).toBe("");
});

test("only a question can be answered, and not by another question", () => {
  const [decision, question] = near as [typeof near[0], typeof near[0]];
  expect(answersFor(candidate("c1"), decision)).not.toContain("answers");
  expect(answersFor(candidate("c1"), question)).toContain("answers");
  expect(answersFor(candidate("c1", { primitive: "question" }), question)).not.toContain("answers");
});

test("the keys act on the first similar memory, or on the one that was chosen for this candidate", () => {
  const changed = ["a", "b"].map((id) => candidate(id, { neighbours: near }));
  const model = applyList(switchRoot(initialModel, root, "repo", false), { ...listing(["a", "b"]), changed });
  expect(activeNeighbour(model)?.id).toBe("m1");
  const chosen = chooseNeighbour(model, "m3");
  expect(activeNeighbour(chosen)?.id).toBe("m3");
  expect(activeNeighbour(moveSelection(chosen, 1))?.id).toBe("m1");
  expect(activeNeighbour(modelOf("a"))).toBeUndefined();
});

test("to change a memory the candidate's words are edited and sent with what the memory said when it was shown last", () => {
  const listed = (hash: string): ListMessage => ({ ...listing(["a"]), changed: [candidate("a", { neighbours: [neighbour("m1", { hash })] })] });
  const model = applyList(switchRoot(initialModel, root, "repo", false), listed("h1"));
  const editing = startMemoryChange(model, neighbour("m1", { hash: "h1" }));
  const sent = (of: Model): unknown => draftChoice(findDraft(of, "a"), selectedCandidate(of) ?? candidate("a"));
  expect(findDraft(editing, "a")).toMatchObject({ title: "Use uv, not pip (a)", change: { memory: "m1", hash: "h1" } });
  expect(sent(editing)).toEqual({ answer: "changes", memory: "m1", hash: "h1" });
  expect(sent(applyList(editing, listed("h2")))).toEqual({ answer: "changes", memory: "m1", hash: "h2" });
  expect(sent(applyList(editing, listing(["a"])))).toEqual({ answer: "changes", memory: "m1", hash: "h1" });
  expect(sent(startDraft(model))).toBeNull();
  const saved = { root, selected: "a", scrollTop: 0, foot: false, leftOut: false, drafts: editing.drafts };
  expect(parseSavedState(structuredClone(saved))).toEqual(saved);
});

test("what was done is told in words: what the person chose, else what was suggested", () => {
  const one = candidate("c1", { title: "Use uv", neighbours: near, suggested });
  expect(acceptedText(one, { answer: "replaces", memory: "m1", hash: "" })).toBe("Replaced “Use pip (m1)” with “Use uv”");
  expect(acceptedText(one, { answer: "same", memory: "m3", hash: "" })).toBe("Added the quote to “Use pip (m3)”");
  expect(acceptedText(one, { answer: "changes", memory: "m3", hash: "" })).toBe("Changed “Use pip (m3)”");
  expect(acceptedText(one, keepBoth)).toBe("Kept both: “Use uv” is a new memory");
  expect(acceptedText(one, null)).toBe("Answered “Which installer?” with “Use uv”");
  expect(acceptedText(candidate("c1"), null)).toBe("");
});

test("a similar memory is shown by its kind, how similar it is and its first lines", () => {
  expect(neighbourMeta(neighbour("m1", { primitive: "learning", kind: "pitfall" }))).toBe("pitfall · 72 % similar");
  expect(firstLines("One.\n\nTwo.\nThree.\nFour.")).toBe("One.\nTwo.\nThree. …");
  expect(firstLines("x".repeat(400))).toHaveLength(300);
  expect(firstLines("One.")).toBe("One.");
});

test("of two thousand candidates only those in sight are drawn", () => {
  const { first, last } = visibleRange(66 * 1000, 480, 2000);
  expect(first).toBeLessThanOrEqual(1000);
  expect(last - first).toBeLessThan(30);
  expect(visibleRange(66 * 5000, 480, 10)).toEqual({ first: 10, last: 10 });
  expect(visibleRange(0, 480, 0)).toEqual({ first: 0, last: 0 });
});

test("a row's id is its candidate's, wherever it stands", () => {
  expect(rowId("20260301-use-uv")).toBe("row-20260301-use-uv");
  expect(rowId("by hand 1")).not.toMatch(/\s/);
});

test("the selected row exists wherever it stands, for what points at it", () => {
  const inSight = drawnPositions(0, 96, 100, 1);
  expect(inSight).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(drawnPositions(0, 96, 100, 90)).toEqual([...inSight, 90]);
  expect(drawnPositions(4800, 96, 200, 2)[0]).toBe(2);
  expect(drawnPositions(0, 96, 0, -1)).toEqual([]);
});
