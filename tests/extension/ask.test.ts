import { beforeEach, expect, test } from "vitest";
import * as protocol from "../../extension/src/protocol";
import { AskPanel } from "../../extension/src/views/ask/host";
import type { AnswerState, ToAsk } from "../../extension/src/views/ask/messages";
import { FakeContext, memory, startedPanel } from "./fakes/sidecar";
import { act, type FakePanel, shown, workspace } from "./fakes/vscode";

const root = "file:///repo";
const ofMemory: protocol.Citation = { number: 1, ref: "m:x", kind: "memory", title: "Use uv", handle: "h1", session: "", turn: "" };
const ofTurn: protocol.Citation = { number: 2, ref: "t:s#t", kind: "turn", title: "A session", handle: "", session: "s", turn: "t" };
const fromMemory = { text: "It is uv.", citations: [ofMemory] };
const fromTurn = { text: "Since May.", citations: [ofTurn] };

let context: FakeContext;
let opened: unknown[];

beforeEach(() => {
  context = new FakeContext();
  opened = [];
});

async function open(): Promise<FakePanel> {
  await new AskPanel(context.as(), { open: (target) => Promise.resolve(void opened.push(target)) }).show();
  return startedPanel();
}

function states(panel: FakePanel): AnswerState[] {
  return (panel.posted as ToAsk[]).flatMap((message) => (message.type === "state" ? [message.state] : []));
}

test("sentences are shown as they come, and what is cited opens", async () => {
  context.answer(protocol.memoryShow, ({ id }) => memory(id));
  context.answer(protocol.ask, ({ token }) => {
    context.notify(protocol.answer, { token, sentence: fromMemory });
    context.notify(protocol.answer, { token: "another", sentence: fromTurn });
    const made = { model: "m", leftOut: 0, spent: [], steps: [], problems: [], message: "", seconds: 1 };
    return { question: "", sentences: [fromMemory, fromTurn], passages: [], known: true, state: "done" as const, ...made };
  });
  const panel = await open();
  panel.send({ type: "ask", question: "Which tool?", all: false });
  await expect.poll(() => states(panel).at(-1)?.state).toBe("done");
  expect((panel.posted as ToAsk[]).filter(({ type }) => type === "sentence")).toEqual([{ type: "sentence", question: "Which tool?", sentence: fromMemory }]);
  expect(context.asked[0]?.params).toMatchObject({ root, question: "Which tool?", all: false });
  panel.send({ type: "open", number: 2 });
  await expect.poll(() => opened).toEqual([{ root, session: "s", turn: "t" }]);
  panel.send({ type: "open", number: 1 });
  await expect.poll(() => shown.documents.length).toBe(1);
  panel.send({ type: "open", number: 9 });
  expect(opened).toHaveLength(1);
});

test("cancel ends what is asked; a later answer of it is not shown", async () => {
  let cancelled = 0;
  context.answer(protocol.ask, (_params, token) => new Promise((_resolve, reject) => token?.onCancellationRequested(() => {
    cancelled += 1;
    reject(new Error("Request cancelled"));
  })));
  const panel = await open();
  panel.send({ type: "ask", question: "First?", all: true });
  await expect.poll(() => states(panel).at(-1)?.state).toBe("asking");
  panel.send({ type: "cancel" });
  await expect.poll(() => states(panel).at(-1)?.state).toBe("cancelled");
  expect(cancelled).toBe(1);
  panel.send({ type: "ask", question: "Second?", all: false });
  panel.send({ type: "ask", question: "Third?", all: false });
  await expect.poll(() => cancelled).toBe(2);
  expect(states(panel).at(-1)).toMatchObject({ question: "Third?", state: "asking" });
});

test("a panel that is closed while it answers begins anew, and so does one that is opened for another folder", async () => {
  context.answer(protocol.ask, (_params, token) => new Promise((_resolve, reject) => token?.onCancellationRequested(() => reject(new Error("Request cancelled")))));
  const ask = new AskPanel(context.as(), { open: () => Promise.resolve() });
  await ask.show();
  const closed = startedPanel();
  closed.send({ type: "ask", question: "First?", all: false });
  await expect.poll(() => states(closed).at(-1)?.state).toBe("asking");
  closed.dispose();
  await new Promise((resolve) => setImmediate(resolve));
  await ask.show();
  const panel = startedPanel();
  expect(states(panel).at(-1)).toMatchObject({ question: "", state: "none" });
  panel.send({ type: "ask", question: "Second?", all: false });
  await expect.poll(() => states(panel).at(-1)?.state).toBe("asking");
  act.folders("/other");
  await ask.show();
  await expect.poll(() => states(panel).at(-1)).toMatchObject({ question: "", state: "none" });
});

test("a failure is told in the panel", async () => {
  context.refuse(protocol.ask, "The catalog is locked.");
  const panel = await open();
  panel.send({ type: "ask", question: "What?", all: false });
  await expect.poll(() => states(panel).at(-1)).toMatchObject({ state: "failed", note: "The catalog is locked." });
  context.answer(protocol.ask, () => {
    throw Object.assign(new Error("Pending response rejected since connection got disposed"), { code: -32097 }); // the sidecar died
  });
  panel.send({ type: "ask", question: "What?", all: false });
  await expect.poll(() => states(panel).at(-1)).toMatchObject({ state: "failed", note: "Lerim's background process ended before it answered. Try again." });
});

test("in Restricted Mode nothing is asked", async () => {
  workspace.isTrusted = false;
  const panel = await open();
  panel.send({ type: "ask", question: "What?", all: false });
  expect((panel.posted as ToAsk[]).at(-1)).toMatchObject({ type: "state", restricted: true });
  expect(context.asked).toEqual([]);
});

test("a question that nothing answers can be searched by meaning", async () => {
  context.answer(protocol.ask, () => ({ question: "", sentences: [], passages: [], known: false, state: "done" as const, model: "none", leftOut: 0, spent: [], steps: [], problems: [], message: "", seconds: 1 }));
  const panel = await open();
  panel.send({ type: "ask", question: "Which number type for prices?", all: false });
  await expect.poll(() => states(panel).at(-1)?.known).toBe(false);
  panel.send({ type: "searchByMeaning" });
  await expect.poll(() => shown.commands).toContainEqual({ id: "lerim.searchMemories", args: ["Which number type for prices?", true] });
});
