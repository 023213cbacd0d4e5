// The pure parts of the review panel's browser side.
import { expect, test } from "vitest";
import { diffRows } from "../../extension/src/views/review/web/difference";
import { answersFor, acceptedText, firstLines, isNear, keepBoth, neighbourMeta, rankedNeighbours, suggestedAnswerText, suggestionText } from "../../extension/src/views/review/web/answers";
import { isFindKey, reviewKeyAction, reviewHelpRows } from "../../extension/src/views/shared/web/keys";
import { arrange } from "../../extension/src/views/review/web/arrangement";
import { evidenceHeading } from "../../extension/src/views/review/web/detail";
import { keptAction, lastAction } from "../../extension/src/views/review/web/results";
import { drawnPositions, rowId, rowTops, visibleRange } from "../../extension/src/views/review/web/list";
import { draftText } from "../../extension/src/views/review/web/lostdrafts";
import { sentCandidate, applyResult, applyLeftOut, applyList, addRequest, draftChoice, draftEdit, chooseNeighbour, findDraft, removeDraft, initialModel, replaceDraft, lostDrafts, type Model, moveSelection, activeNeighbour, candidateOrder, parseReferences, parseSavedState, parseTags, selectCandidate, selectedCandidate, setListOptions, markAll, markRange, toggleMark, switchRoot, startMemoryChange, startDraft, actionToUndo, undoLabel } from "../../extension/src/views/review/web/state";
import { splitHiddenCharacters, spellOutHidden } from "../../extension/src/views/shared/web/text";
import type * as protocol from "../../extension/src/protocol";
import type { ActionResultMessage, ListMessage } from "../../extension/src/views/review/messages";
import { candidate, leftOut, neighbour, present } from "./fakes/sidecar";

const root = "file:///repo";

function listing(order: string[], changed = order): ListMessage {
  return { type: "list", root, order, changed: changed.map((id) => candidate(id)), blocked: 0, leftOut: 0, problems: [], undo: null };
}

function modelOf(...order: string[]): Model {
  return applyList(switchRoot(initialModel, root, "repo", false), listing(order));
}

function actionResult(id: string, changes: Partial<ActionResultMessage> = {}): ActionResultMessage {
  const nothing = { diff: "", note: "", waiting: [] };
  return { type: "actionResult", id, action: "accept", ok: true, message: "", undo: { action: `of-${id}`, label: `Accepted: ${id}` }, decided: [id], ...nothing, ...changes };
}

/** The model with the selected candidate's title typed over. */
function typed(model: Model, title: string): Model {
  return replaceDraft(startDraft(model), { ...present(findDraft(startDraft(model), model.selected)), title });
}

function titles(drafts: readonly { readonly title: string }[]): string[] {
  return drafts.map(({ title }) => title);
}

test("the first candidate is selected, what comes while a sync runs leaves the selection and the draft alone, and the selection stays inside the list", () => {
  expect([modelOf("a", "b").selected, modelOf().selected, moveSelection(modelOf(), 1).selected]).toEqual(["a", undefined, undefined]);
  const editing = startDraft(moveSelection(modelOf("a", "b"), 1));
  const after = applyList(editing, listing(["n", "a", "b"], ["n"]));
  expect([candidateOrder(after), after.selected]).toEqual([["n", "a", "b"], "b"]);
  expect(findDraft(after, "b")).toBe(findDraft(editing, "b"));
  expect([moveSelection(after, -9).selected, moveSelection(after, 9).selected]).toEqual(["n", "b"]);
});

test("what was accepted goes and the next one is selected, at the end the one before", () => {
  const model = moveSelection(modelOf("a", "b", "c"), 1);
  const once = applyResult(model, actionResult("b"));
  expect([candidateOrder(once), once.selected]).toEqual([["a", "c"], "c"]);
  const twice = applyResult(once, actionResult("c", { action: "reject" }));
  expect([candidateOrder(twice), twice.selected]).toEqual([["a"], "a"]);
  expect(applyResult(twice, actionResult("a")).selected).toBeUndefined();
});

test("what was accepted is known with the references that were sent, also if the list came before the result", () => {
  const model = modelOf("a", "b");
  const sent = applyList(addRequest(model, "a", undefined), listing(["b"], []));
  expect(sentCandidate(sent, "a")).toEqual(candidate("a"));
  const editing = replaceDraft(startDraft(model), { ...present(findDraft(startDraft(model), "a")), title: "Mine", references: ["c.py"] });
  expect(sentCandidate(addRequest(editing, "a", findDraft(editing, "a")), "a")).toMatchObject({ title: "Mine", references: ["c.py"] });
  expect(sentCandidate(applyResult(sent, actionResult("a")), "a")).toBeUndefined();
});

test("each candidate has a draft of its own, and editing again goes on with it", () => {
  const first = typed(modelOf("a", "b"), "Mine of a");
  expect(startDraft(first)).toBe(first);
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
  expect(lostDrafts(after).map(draftText)).toEqual(["Mine\n\nThe project installs with uv.\n\n#build"]);
  const back = applyList(after, listing(["a", "b"], ["a"]));
  expect([lostDrafts(back), findDraft(back, "a")?.title]).toEqual([[], "Mine"]);
  expect(lostDrafts(removeDraft(after, { root, id: "a" }))).toEqual([]);
});

test("a draft goes with its candidate where nothing was typed, and is kept where something was, also if it is rejected", () => {
  expect(applyList(startDraft(modelOf("a", "b")), listing(["b"], [])).drafts).toEqual([]);
  const rejected = actionResult("a", { action: "reject" });
  expect(applyResult(startDraft(modelOf("a")), rejected).drafts).toEqual([]);
  expect(titles(lostDrafts(applyResult(addRequest(typed(modelOf("a"), "Mine"), "a", undefined), rejected)))).toEqual(["Mine"]);
});

test.each(["accept", "edit"] as const)("a draft that was sent along with %s is done with; what was typed since is not", (action) => {
  const editing = typed(modelOf("a"), "Mine");
  const sent = addRequest(editing, "a", findDraft(editing, "a"));
  const left = (model: Model, ok: boolean): string[] => titles(applyResult(model, actionResult("a", { action, ok })).drafts);
  expect([left(sent, true), left(typed(sent, "Mine, and more"), true), left(sent, false)]).toEqual([[], ["Mine, and more"], ["Mine"]]);
});

test("a candidate that is gone from the list before its accept is answered is not taken for one decided elsewhere", () => {
  const editing = typed(modelOf("a"), "Mine");
  const sent = applyList(addRequest(editing, "a", findDraft(editing, "a")), listing([]));
  expect([sent, applyResult(sent, actionResult("a")), applyResult(sent, actionResult("a", { ok: false }))].map((model) => lostDrafts(model).length)).toEqual([0, 0, 1]);
});

test("an undo takes back what was done last here, as soon as that is known, and waits for the list after another", () => {
  const earlier = { ...listing(["a", "b"]), undo: { action: "old", label: "l" } };
  const model = applyList(modelOf("a", "b"), earlier);
  const asked = addRequest(model, "a", undefined);
  const done = applyResult(asked, actionResult("a"));
  const undoing = { ...done, undoRequested: true };
  const undone = applyResult(undoing, actionResult("", { action: "undo", undo: null }));
  const refused = applyResult(undoing, actionResult("", { action: "undo", ok: false, undo: null }));
  expect([modelOf("a"), model, asked, done, undoing, undone, applyList(undone, earlier), refused, { ...model, restricted: true }].map(actionToUndo)).toEqual([undefined, "old", null, "of-a", undefined, undefined, "old", "of-a", undefined]);
  expect([modelOf("a"), model, asked, done, undoing].map(undoLabel), "a button says what it undoes, and does nothing before that is known").toEqual(["", "l", "", "Accepted: a", ""]);
  expect(startDraft({ ...model, restricted: true }).drafts, "in Restricted Mode nothing is edited either").toEqual([]);
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
  const proposed = applyResult(sent, actionResult("l1", { action: "propose", waiting: ["b"] }));
  expect(applyList(proposed, listing(["a", "b"], ["b"])).selected, "the candidate it became is selected once it is listed").toBe("b");
});

test("another root starts empty and its listing is its own, but no draft is lost on the way", () => {
  const editing = startDraft(modelOf("a"));
  expect(applyList(editing, { ...listing(["x"]), root: "file:///other" })).toBe(editing);
  expect(switchRoot(editing, root, "repo", false)).toMatchObject({ selected: "a", drafts: [{ id: "a" }], list: undefined });
  const other = switchRoot(editing, "file:///other", "other", false);
  expect([other.selected, findDraft(other, "a"), lostDrafts(applyList(other, { ...listing([]), root: "file:///other" }))]).toEqual([undefined, undefined, []]);
  expect(findDraft(switchRoot(other, root, "repo", false), "a")).toBeDefined();
});

const accepted = lastAction(actionResult("a", { message: "Accepted: `a`" }), "`a`", "", candidate("a", { references: ["src/app.py#run", "b.py"] }));

test("what was done last is said again after another tab covered the panel, unless something else was done since", () => {
  expect(accepted).toMatchObject({ isMemory: true, reference: "src/app.py#run" });
  expect(accepted.text).toMatch(/^Accepted: a\./);
  const saved = { root, lastAction: accepted };
  const list = { root, undo: accepted.undo };
  expect(keptAction(saved, list, true)).toBe(accepted);
  expect(keptAction(saved, list, false), "a new window does not know the memory").toBeUndefined();
  expect(keptAction(saved, { root, undo: { action: "later", label: "" } }, true)).toBeUndefined();
  expect(keptAction(saved, { root, undo: null }, true)).toBeUndefined();
  expect(keptAction(saved, { ...list, root: "file:///other" }, true)).toBeUndefined();
  expect(keptAction(undefined, list, true)).toBeUndefined();
});

test("what was saved comes back, and anything else is nothing", () => {
  const draft = { root, id: "a", title: "t", body: "b", tags: ["x"], change: { memory: "m1", hash: "h1" } };
  const saved = { root, selected: "a", scrollTop: 12, leftOut: true, drafts: [draft, { root, id: "b", title: "t", body: "b", tags: [], references: ["a.py"] }], foot: true, grouping: "file", lastAction: accepted };
  expect(parseSavedState(structuredClone(saved))).toEqual(saved);
  expect(parseSavedState({ ...saved, selected: 3, drafts: [{ id: "a" }, draft, 7] })).toEqual({ ...saved, selected: undefined, drafts: [draft] });
  for (const broken of ["x", { ...accepted, undo: null }]) expect(parseSavedState({ ...saved, lastAction: broken })).toEqual({ ...saved, lastAction: undefined });
  expect(parseSavedState({ ...saved, drafts: "x" })).toEqual({ ...saved, drafts: [] });
  for (const broken of [null, "x", { root: 1, scrollTop: 0 }]) expect(parseSavedState(broken)).toBeUndefined();
});

test("tags and references are split, trimmed and said once", () => {
  expect(parseTags(" build, ci ,,build\nuv")).toEqual(["build", "ci", "uv"]);
  expect(parseReferences(" src/a.py#load\n\nsrc/a, b.py\nsrc/a.py#load")).toEqual(["src/a.py#load", "src/a, b.py"]);
});

test("an edit begins with the references of the candidate", () => {
  const editing = startDraft(modelOf("a"));
  expect(findDraft(editing, "a")?.references).toEqual(selectedCandidate(editing)?.references);
});

test("an edit asks for other references and another kind only where they were changed", () => {
  const editing = startDraft(modelOf("a"));
  const [draft, shown] = [findDraft(editing, "a"), selectedCandidate(editing)];
  if (draft === undefined || shown === undefined) throw new Error("There is no draft.");
  const words = { title: draft.title, body: draft.body, tags: draft.tags };
  expect(draft.kind).toBe("decision");
  expect(draftEdit(draft, shown)).toEqual(words);
  expect(draftEdit({ ...draft, references: ["src/new.py"], kind: "pitfall" }, shown)).toEqual({ ...words, references: ["src/new.py"], kind: "pitfall" });
  const changing = applyList(switchRoot(initialModel, root, "repo", false), { ...listing(["a"]), changed: [candidate("a", { action: "update", canChangeKind: false })] });
  expect(findDraft(startDraft(changing), "a"), "a change of a memory leaves its kind").not.toHaveProperty("kind");
});

test("a difference is read line by line without its file names", () => {
  const diff = "--- before\n+++ after\n@@ -1,3 +1,3 @@\n # Title\n-- an old item\n+++ counts up\n\\ No newline at end of file\n";
  expect(diffRows(diff).map(({ kind, sign, text }) => `${kind} ${sign} ${text}`)).toEqual(["hunk   @@ -1,3 +1,3 @@", "context   # Title", "removed - - an old item", "added + ++ counts up"]);
  expect(diffRows("")).toEqual([]);
});

test("characters that hide or turn the text around are written out, emoji stay whole", () => {
  expect(spellOutHidden("a\u200bb\u202ec")).toBe("a⟨U+200B⟩b⟨U+202E⟩c");
  expect(spellOutHidden("tag\u{e0041}")).toBe("tag⟨U+E0041⟩");
  expect(spellOutHidden("\u{1f469}\u200d\u{1f4bb} ✔\ufe0f\u200d\u{1f525}")).toBe("\u{1f469}\u200d\u{1f4bb} ✔\ufe0f\u200d\u{1f525}");
  expect(spellOutHidden("x\u200dy")).toBe("x⟨U+200D⟩y");
  expect(splitHiddenCharacters("plain\ttext\r\nlines")).toEqual([{ text: "plain\ttext\r\nlines", hidden: false }]);
});

test("keys act alone, arrows scroll inside a candidate, and the help names each letter", () => {
  const press = (name: string, place: "list" | "detail" | "elsewhere", changes = {}) => reviewKeyAction({ key: name, ctrlKey: false, metaKey: false, altKey: false, ...changes }, place);
  const actions = { j: "next", k: "previous", a: "accept", r: "reject", e: "edit", u: "undo", o: "openTurn", "?": "help", s: "same", p: "replaces", c: "changes", w: "answers", b: "keepBoth", 1: "neighbour1", 2: "neighbour2", 3: "neighbour3" };
  expect(Object.fromEntries(Object.keys(actions).map((name) => [name, press(name, "detail")]))).toEqual(actions);
  expect([press("ArrowDown", "list"), press("ArrowDown", "detail"), press("a", "detail", { ctrlKey: true }), press("x", "list")]).toEqual(["next", undefined, undefined, undefined]);
  expect([press("s", "list", { repeat: true }), press("j", "list", { repeat: true })], "a key that is held down decides nothing").toEqual([undefined, "next"]);
  expect(["a", "r", "e", "1", "b", "o", "j", "u", "?"].map((name) => press(name, "elsewhere")), "letters act on a candidate only where it is focused").toEqual([...Array<undefined>(6), "next", "undo", "help"]);
  expect([press(" ", "list"), press(" ", "detail"), press("a", "list", { ctrlKey: true }), press("Escape", "list")]).toEqual(["mark", undefined, "markAll", "unmark"]);
  expect(isFindKey({ key: "f", ctrlKey: true, metaKey: false, altKey: false })).toBe(true);
  const named = reviewHelpRows.flatMap(([keys]) => keys.split(/, | or /));
  for (const name of Object.keys(actions)) expect(named).toContain(name);
});

const near = [neighbour("m1"), neighbour("m2", { title: "Which installer?", primitive: "question" }), neighbour("m3")] as const;
const suggested = { answer: "answers", memory: "m2", reason: "It names one.", by: "model" } as const;

test("the memory that an answer is suggested for comes first, and says who suggests what", () => {
  const one = candidate("c1", { neighbours: near.slice(), suggested });
  expect(rankedNeighbours(one).map(({ id }) => id)).toEqual(["m2", "m1", "m3"]);
  expect(suggestionText(one)).toBe("Suggested by a model: answer “Which installer?”.");
  expect(suggestionText({ ...one, suggested: { answer: "keep", memory: "", reason: "", by: "claim" } })).toBe("Suggested by the session's wording: keep both.");
  expect(suggestedAnswerText({ ...one, suggested: null })).toBe("");
});

test("only a question can be answered, and not by another question", () => {
  const offered = (primitive: "decision" | "question", memory: typeof near[0]): boolean => answersFor(candidate("c1", { primitive }), memory).includes("answers");
  expect([offered("decision", near[0]), offered("decision", near[1]), offered("question", near[1])]).toEqual([false, true, false]);
});

test("a memory that is only a little similar stands below the quotes, unless an answer about it is suggested", () => {
  const [far, close] = [neighbour("m1", { similarity: 0.18 }), neighbour("m2", { similarity: 0.3 })];
  const one = candidate("c1", { neighbours: [far, close] });
  expect([isNear(one, far), isNear(one, close)]).toEqual([false, true]);
  const suggested = { answer: "replaces", memory: "m1", reason: "", by: "claim" } as const;
  expect(isNear({ ...one, suggested }, far)).toBe(true);
});

test("the keys act on the first similar memory, or on the one that was chosen for this candidate", () => {
  const changed = ["a", "b"].map((id) => candidate(id, { neighbours: near.slice() }));
  const model = applyList(modelOf(), { ...listing(["a", "b"]), changed });
  const chosen = chooseNeighbour(model, "m3");
  expect([model, chosen, moveSelection(chosen, 1), modelOf("a")].map((one) => activeNeighbour(one)?.id)).toEqual(["m1", "m3", "m1", undefined]);
});

test("to change a memory the candidate's words are edited and sent with what the memory said when it was shown last", () => {
  const listed = (hash: string): ListMessage => ({ ...listing(["a"]), changed: [candidate("a", { neighbours: [neighbour("m1", { hash })] })] });
  const model = applyList(modelOf(), listed("h1"));
  const editing = startMemoryChange(model, neighbour("m1", { hash: "h1" }));
  const sent = (of: Model): unknown => draftChoice(findDraft(of, "a"), present(selectedCandidate(of)));
  expect(findDraft(editing, "a")).toMatchObject({ title: "Use uv, not pip (a)", change: { memory: "m1", hash: "h1" } });
  const change = { answer: "changes", memory: "m1", hash: "h1" };
  expect([editing, applyList(editing, listed("h2")), applyList(editing, listing(["a"])), startDraft(model)].map(sent)).toEqual([change, { ...change, hash: "h2" }, change, null]);
});

test("what was done is told in words: what the person chose, else what was suggested", () => {
  const one = candidate("c1", { title: "Use uv", neighbours: near.slice(), suggested });
  const told = (answer: protocol.NeighbourAnswer, memory: string): string => acceptedText(one, { answer, memory, hash: "" });
  expect(told("replaces", "m1")).toBe("Replaced “Use pip (m1)” with “Use uv”");
  expect(told("same", "m3")).toBe("Added the quote to “Use pip (m3)”");
  expect(told("changes", "m3")).toBe("Changed “Use pip (m3)”");
  expect(told("replaces", "20260801-not-shown")).toBe("Replaced a memory with “Use uv”");
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

test("of two thousand candidates those in sight are drawn and the selected one, whose id is its candidate's", () => {
  const tops = (count: number): number[] => rowTops(Array.from({ length: count }, (_, at) => ({ type: "candidate", id: `c${at}` })));
  const { first, last } = visibleRange(66 * 1000, 480, tops(2000));
  expect(first).toBeLessThanOrEqual(1000);
  expect(last - first).toBeLessThan(30);
  expect([visibleRange(66 * 5000, 480, tops(10)), visibleRange(0, 480, tops(0))]).toEqual([{ first: 10, last: 10 }, { first: 0, last: 0 }]);
  const inSight = drawnPositions(0, 96, tops(100), 1);
  expect(inSight).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(drawnPositions(0, 96, tops(100), 90)).toEqual([...inSight, 90]);
  expect([drawnPositions(4800, 96, tops(200), 2)[0], drawnPositions(0, 96, tops(0), -1)]).toEqual([2, []]);
  expect([rowId("20260301-use-uv"), rowId("by hand 1")]).toEqual(["row-20260301-use-uv", expect.not.stringMatching(/\s/)]);
});

const now = Date.parse("2026-11-27T12:00:00Z");

test("a session's group is named by its agent and its time", () => {
  const { rows } = arrange(["a"], new Map([["a", candidate("a", { time: "2026-01-02T12:04:05" })]]), { filter: "claude code", grouping: "session", showOlder: true }, 0);
  expect(rows[0]).toMatchObject({ text: "Claude Code · session of 2 Jan 2026, 12:04" });
});

test("the list is filtered, best first and in groups, and what has waited for more than 30 days is folded away", () => {
  const all = [
    candidate("a", { confidence: 0.5, references: ["src/app.py#load"], waitingSince: "2026-11-20T00:00:00Z" }),
    candidate("b", { confidence: 0.9, references: ["src/other.py"], waitingSince: "2026-11-20T00:00:00Z" }),
    candidate("c", { confidence: 0.7, references: ["src/app.py"], title: "Keep it small", waitingSince: "" }),
    candidate("old", { confidence: 1, waitingSince: "2026-10-01T00:00:00Z" }),
  ];
  const candidates = new Map(all.map((one) => [one.id, one]));
  const list = (changes = {}) => arrange([...candidates.keys()], candidates, { filter: "", grouping: "none", showOlder: false, ...changes }, now);
  expect([list().order, list().older]).toEqual([["b", "c", "a"], ["old"]]);
  expect(list({ showOlder: true }).order).toEqual(["old", "b", "c", "a"]);
  expect(list({ filter: "SMALL app" }).order).toEqual(["c"]);
  const theme = candidate("theme", { primitive: "theme", confidence: 0.95, waitingSince: "2026-11-20T00:00:00Z" });
  candidates.set("theme", theme);
  expect(list().order, "nobody said it").toEqual(["b", "c", "a", "theme"]);
  candidates.delete("theme");
  expect(list({ grouping: "file" }).rows.map((row) => (row.type === "heading" ? `${row.text} ${row.count}` : row.id))).toEqual(["src/other.py 1", "b", "src/app.py 2", "c", "a"]);
});

test("several are marked with Ctrl or Shift, decided together, and what an undo restored is selected, also behind a filter", () => {
  const model = modelOf("a", "b", "c", "d");
  expect([...toggleMark(model, "c").marked], "the selected one is marked, too").toEqual(["a", "c"]);
  expect([...toggleMark(toggleMark(model, "c"), "c").marked]).toEqual(["a"]);
  expect([...markRange(moveSelection(model, 1), "d").marked]).toEqual(["b", "c", "d"]);
  const after = applyResult(addRequest(markAll(model), "", undefined), actionResult("", { action: "reject", decided: ["a", "b", "c"] }));
  expect([candidateOrder(after), [...after.marked], after.selected]).toEqual([["d"], ["d"], "d"]);
  const undone = applyResult(after, actionResult("", { action: "undo", decided: [], waiting: ["b", "c"] }));
  expect(applyList(undone, listing(["a", "b", "c", "d"])).selected).toBe("b");
  const filtered = setListOptions(model, { filter: "(c)" });
  expect([candidateOrder(filtered), filtered.selected]).toEqual([["c"], "c"]);
  const shown = selectCandidate(filtered, "b");
  expect([shown.selected, candidateOrder(shown)]).toEqual(["b", ["a", "b", "c", "d"]]);
});

test("a quote says who said it, and that a person replied to it", () => {
  const quote = (who: string): protocol.Evidence => ({ quote: "Words.", turn: "t", who }) as protocol.Evidence;
  const [yours, theirs] = [quote("user"), quote("assistant")];
  const reply = { evidence: [yours, theirs], body: "Use uv. In reply to: “I'll use pip.”" };
  expect([evidenceHeading(yours, reply), evidenceHeading(theirs, reply)]).toEqual(["You said:", "In reply to the agent:"]);
  expect(evidenceHeading(theirs, { ...reply, body: "Use uv." })).toBe("The agent said:");
  expect(evidenceHeading(theirs, { evidence: [theirs], body: reply.body })).toBe("The agent said:");
});
