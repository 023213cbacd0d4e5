import { beforeEach, expect, test } from "vitest";
import * as protocol from "../../extension/src/protocol";
import { AskPanel } from "../../extension/src/views/ask/host";
import { type AnswerState, parseFromAsk, parseToAsk, type ToAsk } from "../../extension/src/views/ask/messages";
import { FakeContext, memory } from "./fakes/sidecar";
import { act, type FakePanel, reset, shown, workspace } from "./fakes/vscode";

type Parts = ConstructorParameters<typeof AskPanel>;

const root = "file:///repo";
const ofMemory: protocol.Citation = { number: 1, ref: "m:x", kind: "memory", title: "Use uv", handle: "h1", session: "", turn: "" };
const ofTurn: protocol.Citation = { number: 2, ref: "t:s#t", kind: "turn", title: "A session", handle: "", session: "s", turn: "t" };
const sentence = (text: string, ...citations: protocol.Citation[]): protocol.Sentence => ({ text, citations });

let context: FakeContext;
let opened: unknown[];
let ask: AskPanel;

function answer(changes: Partial<protocol.Answer> = {}): protocol.Answer {
  return { question: "", sentences: [], passages: [], known: true, model: "m", leftOut: 0, spent: [], steps: [], problems: [], state: "done", message: "", seconds: 1, ...changes };
}

beforeEach(() => {
  reset();
  act.folders("/repo");
  workspace.isTrusted = true;
  context = new FakeContext();
  opened = [];
  // SAFETY: the fakes have every member the panel uses
  ask = new AskPanel(context as unknown as Parts[0], { open: (target) => Promise.resolve(void opened.push(target)) });
});

async function open(): Promise<FakePanel> {
  await ask.show();
  const panel = shown.panels[0];
  if (panel === undefined) throw new Error("no panel was opened");
  panel.send({ type: "ready" });
  return panel;
}

function states(panel: FakePanel): AnswerState[] {
  return (panel.posted as ToAsk[]).flatMap((message) => (message.type === "state" ? [message.state] : []));
}

test("sentences are shown as they come, and what is cited opens", async () => {
  context.answer(protocol.memoryShow, ({ id }) => memory(id));
  context.answer(protocol.ask, ({ token }) => {
    context.tell(protocol.answer, { token, sentence: sentence("It is uv.", ofMemory) });
    context.tell(protocol.answer, { token: "another", sentence: sentence("Not mine.", ofTurn) });
    return answer({ sentences: [sentence("It is uv.", ofMemory), sentence("Since May.", ofTurn)] });
  });
  const panel = await open();
  panel.send({ type: "ask", question: "Which tool?", all: false });
  await expect.poll(() => states(panel).at(-1)?.state).toBe("done");
  expect((panel.posted as ToAsk[]).filter(({ type }) => type === "sentence")).toEqual([{ type: "sentence", question: "Which tool?", sentence: sentence("It is uv.", ofMemory) }]);
  expect(context.asked[0]?.params).toMatchObject({ root, question: "Which tool?", all: false, passages: false });
  panel.send({ type: "open", number: 2 });
  await expect.poll(() => opened).toEqual([{ root, session: "s", turn: "t" }]);
  panel.send({ type: "open", number: 1 });
  await expect.poll(() => shown.documents.length).toBe(1);
  panel.send({ type: "open", number: 9 });
  expect(opened).toHaveLength(1);
});

test("cancel ends what is asked; a later answer of it is not shown", async () => {
  let cancelled = 0;
  context.answer(protocol.ask, (_params, token) => {
    return new Promise((_resolve, reject) => token?.onCancellationRequested(() => {
      cancelled += 1;
      reject(new Error("Request cancelled"));
    }));
  });
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

test("a failure is told in the panel", async () => {
  context.answer(protocol.ask, () => {
    throw new Error("The catalog is locked.");
  });
  const panel = await open();
  panel.send({ type: "ask", question: "What?", all: false });
  await expect.poll(() => states(panel).at(-1)).toMatchObject({ state: "failed", note: "The catalog is locked." });
});

test("in Restricted Mode nothing is asked", async () => {
  workspace.isTrusted = false;
  const panel = await open();
  panel.send({ type: "ask", question: "What?", all: false });
  expect((panel.posted as ToAsk[]).at(-1)).toMatchObject({ type: "state", restricted: true });
  expect(context.asked).toEqual([]);
});

test("messages of another shape are none", () => {
  for (const bad of [null, {}, { type: "ask", question: " ", all: false }, { type: "ask", question: "x".repeat(5000), all: false }, { type: "open", number: 1.5 }]) expect(parseFromAsk(bad)).toBeUndefined();
  const state = { question: "", state: "none", sentences: [], passages: [], known: true, model: "", note: "", all: false };
  expect(parseToAsk({ type: "state", state, restricted: false })).toBeDefined();
  for (const bad of [{ ...state, state: "odd" }, { ...state, sentences: [{ text: 1 }] }, { ...state, known: "yes" }]) expect(parseToAsk({ type: "state", state: bad, restricted: false })).toBeUndefined();
});
