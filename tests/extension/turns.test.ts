import { beforeEach, expect, test } from "vitest";
import * as protocol from "../../extension/protocol";
import { Turns } from "../../extension/turns";
import { FakeContext } from "./fakes/sidecar";
import { act, reset, shown, Uri, workspace } from "./fakes/vscode";

let context: FakeContext;
let text: string;
let line: number;
let turns: Turns;

beforeEach(() => {
  reset();
  context = new FakeContext();
  text = "one\ntwo\nthree";
  line = 1;
  context.answer(protocol.turn, (params) => {
    const turn = "handle" in params ? "t1" : params.turn;
    return { title: "Claude Code session s1 / 10:00", text, line, found: "catalog", session: "s1", turn };
  });
  turns = new Turns(context);
});

function finish(stage: protocol.SyncStage): void {
  context.progress.fire({ root: "file:///repo", stage, sessionsDone: 1, sessionsTotal: 1, candidates: 0, message: "" });
}

/** The text of the only open document. */
function open(): string | undefined {
  expect(workspace.textDocuments).toHaveLength(1);
  return workspace.textDocuments[0]?.getText();
}

test("a turn is a read-only document with the cursor on the turn's line, asked for once, and again after its tab was closed", async () => {
  await turns.open({ handle: "t1" });
  const [document] = shown.documents;
  expect(document).toMatchObject({ line: 1, uri: { scheme: "lerim-turn", path: "/Claude Code session s1 10:00.txt" } });
  expect(context.asked).toHaveLength(1);
  if (document === undefined) throw new Error("unreachable");
  act.close(document.uri);
  expect(await workspace.openTextDocument(document.uri).then((again) => again.getText())).toBe("one\ntwo\nthree");
  expect(context.asked).toHaveLength(2);
});

test("a turn is the same tab wherever it is opened from, another turn is another", async () => {
  await turns.open({ handle: "h1" });
  await turns.open({ root: "file:///repo", session: "s1", turn: "t1" });
  await turns.open({ root: null, session: "s1", turn: "t2" });
  const tabs = shown.documents.map(({ uri }) => uri.toString());
  expect(tabs[0]).toBe(tabs[1]);
  expect(tabs[2]).not.toBe(tabs[0]);
  expect(shown.documents[2]?.uri.path).toBe(shown.documents[0]?.uri.path);
});

test("a turn opened again while its tab is open shows what its session says by now", async () => {
  await turns.open({ handle: "h1" });
  [text, line] = ["zero\none\ntwo\nthree\nfour", 4];
  await turns.open({ handle: "h1" });
  expect(open()).toBe(text);
  expect(shown.documents.at(-1)?.line).toBe(4);
});

test.each(["done", "cancelled"] as const)("an open turn follows its session after a sync that is %s, and is asked for only then", async (stage) => {
  await turns.open({ handle: "h1" });
  text = "one\ntwo\nthree\nfour";
  finish("learning");
  expect(context.asked).toHaveLength(1);
  finish(stage);
  await expect.poll(open).toBe(text);
  expect(context.asked.at(-1)).toEqual({ method: "lerim/turn", params: { root: null, session: "s1", turn: "t1" } });
});

test.each(['{"session":"s1","turn":"gone"}', "{}", "no json"])("a tab restored with the address %s that cannot be shown says why instead of failing", async (query) => {
  context.answer(protocol.turn, () => {
    throw new Error("The catalog is locked.");
  });
  const uri = Uri.from({ scheme: "lerim-turn", path: "/x.txt", query });
  expect(await workspace.openTextDocument(uri).then((document) => document.getText())).toMatch(/^This turn cannot be shown: .+\n\nOpen it again/);
});
