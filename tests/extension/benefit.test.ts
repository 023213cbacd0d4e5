import { beforeEach, expect, test } from "vitest";
import * as protocol from "../../extension/src/protocol";
import { BenefitPanel } from "../../extension/src/views/benefit/host";
import type { BenefitState, ToBenefit } from "../../extension/src/views/benefit/messages";
import { FakeContext, memory, startedPanel } from "./fakes/sidecar";
import { type FakePanel, shown } from "./fakes/vscode";

const root = "file:///repo";
const figures: protocol.BenefitFigures = { id: "20260801-use-uv", title: "Use uv", kind: "decision", served: 2, mcp: 0, hook: 2, editor: 0, sessions: 1, followed: 1, contradicted: 0, corrected: 0, notSeen: 0, unknown: 0, missed: 0, last: "2026-08-02T10:00:00Z" };
const view: protocol.BenefitView = {
  memories: [{ handle: "h1", figures }, { handle: "", figures: { ...figures, id: "20260801-gone", title: "" } }],
  total: { ...figures, id: "", title: "", served: 4 },
  servings: 4,
  unknown: { noSession: 0, notRead: 0, older: 0, nothingToSee: 0 },
  problems: [],
};

let context: FakeContext;

beforeEach(() => {
  context = new FakeContext();
});

async function open(): Promise<FakePanel> {
  await new BenefitPanel(context.as()).show();
  return startedPanel();
}

function last(panel: FakePanel): BenefitState | undefined {
  return (panel.posted as ToBenefit[]).at(-1)?.state;
}

test("the figures are computed when the panel opens and again on request", async () => {
  context.answer(protocol.benefit, () => view);
  const panel = await open();
  await expect.poll(() => last(panel)).toEqual({ state: "done", view, message: "" });
  expect(context.asked[0]?.params).toEqual({ root });
  panel.send({ type: "refresh" });
  await expect.poll(() => context.asked.length).toBe(2);
});

test("before any agent was given a memory, the page leads to where agents are connected", async () => {
  context.answer(protocol.benefit, () => ({ ...view, memories: [] }));
  const panel = await open();
  panel.send({ type: "connect" });
  await expect.poll(() => shown.commands.map(({ id }) => id)).toContain("lerim.connectAgentsToMemory");
});

test("a row opens its memory, and a memory that is no longer active has nothing to open", async () => {
  context.answer(protocol.benefit, () => view);
  context.answer(protocol.memoryShow, ({ id }) => memory(id));
  const panel = await open();
  panel.send({ type: "open", row: 1 });
  panel.send({ type: "open", row: 7 });
  panel.send({ type: "open", row: "0" });
  panel.send({ type: "open", row: 0 });
  await expect.poll(() => shown.documents.length).toBe(1);
});

test("a failure is said in the panel", async () => {
  context.answer(protocol.benefit, () => Promise.reject(new Error("The catalog is from a newer version.")));
  const panel = await open();
  await expect.poll(() => last(panel)?.state).toBe("failed");
  expect(last(panel)?.message).toContain("newer version");
});
