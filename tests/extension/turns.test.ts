import { beforeEach, expect, test } from "vitest";
import * as protocol from "../../extension/src/protocol";
import { TurnOpener } from "../../extension/src/commands/turns";
import { FakeContext } from "./fakes/sidecar";
import { shown, Uri, workspace } from "./fakes/vscode";

let context: FakeContext;
let opened: [string, string][];
let turns: TurnOpener;

beforeEach(() => {
  context = new FakeContext();
  opened = [];
  turns = new TurnOpener(context, { open: (id, turn) => Promise.resolve(void opened.push([id, turn])) });
});

test("a turn in the catalog is shown in its session's transcript", async () => {
  context.answer(protocol.turn, () => ({ found: "catalog", id: "/place", title: "", text: "", session: "s1", turn: "t1" }));
  await turns.open({ handle: "h1" });
  expect(opened).toEqual([["/place", "t1"]]);
  expect(context.asked).toEqual([{ method: "lerim/turn", params: { handle: "h1" } }]);
  expect(shown.documents).toEqual([]);
});

test("of a turn that is gone a document says whose it was", async () => {
  context.answer(protocol.turn, () => ({ found: "gone", id: "", title: "Session a/b", text: "This turn is not on this machine.", session: "s1", turn: "t1" }));
  await turns.open({ root: null, session: "s1", turn: "t1" });
  expect(opened).toEqual([]);
  expect(shown.documents).toMatchObject([{ uri: { scheme: "lerim-turn", path: "/Session a b.txt" } }]);
  expect(workspace.textDocuments[0]?.getText()).toBe("This turn is not on this machine.");
});

test("a tab restored with the window says how to open its turn again", async () => {
  const uri = Uri.from({ scheme: "lerim-turn", path: "/x.txt", query: "{}" });
  expect((await workspace.openTextDocument(uri)).getText()).toContain("Open this part of the transcript again");
});
