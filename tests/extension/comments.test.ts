import { afterEach, beforeEach, expect, test } from "vitest";
import { decideCandidate } from "../../extension/src/commands/candidates";
import * as protocol from "../../extension/src/protocol";
import { CandidateComments } from "../../extension/src/views/comments/host";
import { editableText, parseEditableText } from "../../extension/src/views/comments/text";
import { CommentMode, commentThreads, CommentThreadCollapsibleState } from "./fakes/comments";
import { FakeContext, present } from "./fakes/sidecar";
import { act, answers, Range, shown, SymbolKind } from "./fakes/vscode";

const root = "file:///repo";
const result: protocol.ReviewResult = { ok: true, code: "accepted", message: "Accepted: Use uv", action: "a1", path: null, askQuotes: false, note: "", missing: [], waiting: [] };
let context: FakeContext;
let comments: CandidateComments;
let waiting: protocol.CandidateComment[];

function candidate(id: string, changes: Partial<protocol.CandidateComment> = {}): protocol.CandidateComment {
  return { id, heading: "Lerim proposes a decision", text: "**Use uv**", title: "Use uv", body: "It is fast.", tags: ["build"], time: "2026-01-02T03:04:05Z", line: 0, symbol: "", found: false, choice: false, ...changes };
}

beforeEach(() => {
  context = new FakeContext();
  waiting = [candidate("c1")];
  context.answer(protocol.reviewForFile, ({ uri }) => ({ root, comments: uri.endsWith("/a.py") ? waiting : [] }));
  context.answer(protocol.reviewReferences, () => ({ problems: [] }));
  context.answer(protocol.reviewAct, () => result);
  comments = new CandidateComments(context.as());
});

afterEach(() => comments.dispose());

const texts = (): unknown[] => commentThreads.map(({ comments }) => (comments[0]?.body as { value?: string } | undefined)?.value ?? comments[0]?.body);
const changed = (): void => context.candidates.fire({ root, project: "repo", pending: waiting.length });

test("a candidate stands folded on its line while its file is open, and as long as it waits", async () => {
  const symbol = { name: "load", kind: SymbolKind.Function, range: new Range(7, 0, 9, 0), selectionRange: new Range(7, 4, 7, 8), children: [] };
  answers.symbols.push([symbol], [symbol]);
  waiting = [candidate("c1", { symbol: "load", line: 3, found: true }), candidate("c2", { text: "**Use ruff**" })];
  await act.look("/repo/a.py", "/repo/b.py");
  await expect.poll(() => commentThreads.map(({ range }) => range.start.line)).toEqual([7, 0]);
  expect(texts()).toEqual(["**Use uv**", "**Use ruff**"]);
  expect(commentThreads[0]).toMatchObject({ canReply: false, collapsibleState: CommentThreadCollapsibleState.Collapsed, label: "Lerim proposes a decision" });
  expect(commentThreads[0]?.comments[0]?.body).not.toMatchObject({ isTrusted: true });
  const kept = commentThreads[1];
  waiting = [candidate("c2", { text: "**Use ruff**" })];
  changed();
  await expect.poll(texts).toEqual(["**Use ruff**"]);
  expect(commentThreads[0]).toBe(kept);
  await act.look("/repo/b.py");
  await expect.poll(texts).toEqual([]);
});

test("the setting turns the comments off", async () => {
  await act.look("/repo/a.py");
  await expect.poll(texts).toHaveLength(1);
  Object.assign(context.settings, { reviewComments: false });
  context.model.fire();
  await expect.poll(texts).toEqual([]);
});

test("a comment is edited in its place, and nothing that comes meanwhile takes what is being written", async () => {
  await act.look("/repo/a.py");
  await expect.poll(texts).toHaveLength(1);
  comments.startEditing(commentThreads[0]?.comments[0]);
  const edited = present(commentThreads[0]?.comments[0]);
  expect([edited.body, edited.mode]).toEqual(["Use uv\n\nIt is fast.", CommentMode.Editing]);
  edited.body = "\nUse uv alone\n\nIt is faster.\n";
  let wasSeen = false; // that the sidecar has ended; it starts again
  Object.defineProperty(context, "isRunning", { get: () => !(wasSeen = true), configurable: true });
  context.model.fire();
  await expect.poll(() => wasSeen).toBe(true);
  Object.defineProperty(context, "isRunning", { value: true });
  waiting = [];
  changed();
  await expect.poll(() => context.params(protocol.reviewForFile)).toHaveLength(2);
  expect(commentThreads[0]?.comments[0]).toBe(edited);
  await comments.saveEditing(edited);
  expect(context.params(protocol.reviewAct)).toEqual([{ root, id: "c1", scope: "project", action: "edit", edit: { title: "Use uv alone", body: "It is faster.", tags: ["build"] } }]);
  await expect.poll(texts).toEqual([]);
});

test("what is being written stays while its file is closed", async () => {
  await act.look("/repo/a.py");
  await expect.poll(texts).toHaveLength(1);
  comments.startEditing(commentThreads[0]?.comments[0]);
  const edited = present(commentThreads[0]?.comments[0]);
  await act.look("/repo/b.py"); // it took the place of the preview
  expect(commentThreads[0]?.comments[0]).toBe(edited);
  comments.cancelEditing(edited);
  await expect.poll(texts).toEqual([]);
});

test("an edit without a title, or one that is refused, goes on; cancelling shows the candidate again", async () => {
  await act.look("/repo/a.py");
  await expect.poll(texts).toHaveLength(1);
  comments.startEditing(commentThreads[0]?.comments[0]);
  const edited = present(commentThreads[0]?.comments[0]);
  edited.body = " \n ";
  await expect(comments.saveEditing(edited)).rejects.toThrow("The title is empty. Enter a title.");
  edited.body = "Use pip";
  context.refuse(protocol.reviewAct, "The candidate was decided meanwhile.");
  await expect(comments.saveEditing(edited)).rejects.toThrow("The candidate was decided meanwhile.");
  expect(commentThreads[0]?.comments[0]).toBe(edited);
  comments.cancelEditing(edited);
  expect(texts()).toEqual(["**Use uv**"]);
});

test("accepting checks the references first, and leads to the panel where there is a choice", async () => {
  await act.look("/repo/a.py");
  await expect.poll(texts).toHaveLength(1);
  const target = comments.targetOf(commentThreads[0]);
  expect([target?.id, comments.targetOf({})]).toEqual(["c1", undefined]);
  context.answer(protocol.reviewReferences, () => ({ problems: [{ reference: "a.py#load", state: "not-found", likely: ["b.py#load", "[x](command:evil)"] }] }));
  answers.choices.push("Open in Review", "Accept Anyway");
  await decideCandidate(context, target, "accept");
  expect(shown.messages[0]).toMatchObject({ severity: "warning", text: "a.py#load was not found. The review shows where it may be.", modal: true }); // a notification would go by itself, and nothing would be accepted
  expect([shown.commands.at(-1), context.params(protocol.reviewAct)]).toEqual([{ id: "lerim.openReview", args: [{ root, id: "c1" }] }, []]);
  await decideCandidate(context, target, "accept");
  expect(context.params(protocol.reviewAct)).toEqual([{ root, id: "c1", scope: "project", action: "accept" }]);
  expect(shown.messages.at(-1)).toMatchObject({ text: "Lerim: Accepted: Use uv", choices: ["Undo"] });
  await decideCandidate(context, { root, id: "c2", scope: "project", needsChoice: true }, "accept");
  expect([shown.commands.at(-1)?.args, context.params(protocol.reviewAct).length]).toEqual([[{ root, id: "c2" }], 1]);
});

test("the first line of an edited comment is the title, the rest the body", () => {
  expect(editableText({ title: "A", body: " " })).toBe("A");
  expect(parseEditableText("A\r\n\r\nB\r\nC")).toEqual({ title: "A", body: "B\nC" });
});
