import { expect, test } from "vitest";
import { consentText, dollarText, modelSummary, modelText, sessionTrialText, waitingText } from "../../extension/src/text/modelwording";
import type { WaitingWork } from "../../extension/src/protocol";
import { statusDisplay } from "../../extension/src/sidecar/status";
import { modelView, report } from "./fakes/sidecar";

const nano = "openrouter:openai/gpt-5-nano";
const waits: WaitingWork = { sessions: 3, tokens: 41_000, cost: 0.021, model: nano, why: "consent" };
const problem = (code: string, message: string): { code: string; path: string; message: string } => ({ code, path: "", message });

test("amounts are told in cents, and consent is asked with what would be sent and what it costs", () => {
  expect([0, 0.004, 0.02, 1].map(dollarText)).toEqual(["$0.00", "less than $0.01", "$0.02", "$1.00"]);
  expect([waits, { sessions: 1, cost: 0.001 }, { sessions: 2, cost: null }].map(waitingText)).toEqual(["3 sessions waiting, about $0.02", "1 session waiting, less than $0.01", "2 sessions waiting"]);
  expect(consentText(waits)).toBe(`Let ${nano} read 3 sessions (about 41,000 tokens, about $0.02)? Secrets are removed before anything is sent.`);
  expect(consentText({ ...waits, cost: null })).toContain("at an unknown price");
});

test("the tooltip names the model, what today cost and what waits; the text stays short", () => {
  const face = modelSummary([modelView({ model: nano, provider: "openrouter", allowed: true, todayUsd: 0.12, waits: { ...waits, why: "" } })]);
  expect(face).toEqual({ lines: [`Model: ${nano}`, "Spent today: $0.12 of $1.00", "3 sessions waiting, about $0.02"], usedUp: false });
  expect(statusDisplay({ kind: "ready" }, 3, "", face)).toMatchObject({
    text: "$(checklist) Lerim: 3 to review",
    tooltip: `Lerim: 3 candidates to review\nLerim reads new sessions by itself\nModel: ${nano}\nSpent today: $0.12 of $1.00\n3 sessions waiting, about $0.02`,
  });
});

test("a budget that is used up shows in the status bar", () => {
  const face = modelSummary([modelView({ model: nano, provider: "openrouter", todayUsd: 1, waits: { ...waits, why: "budget" } })]);
  expect(face.lines.at(-1)).toBe("3 sessions waiting, about $0.02: today's budget is used up");
  expect(statusDisplay({ kind: "ready" }, 3, "", face)?.text).toBe("$(checklist) Lerim: 3 to review $(circle-slash)");
  expect(modelSummary([modelView({ model: nano, waits: { ...waits, sessions: 0, why: "budget" } })]).lines).toContain("Today's budget is used up");
});

test("what waits in several projects is summed, and their model named once", () => {
  const view = modelView({ model: nano, provider: "openrouter", waits });
  expect(modelSummary([view, view]).lines).toEqual([`Model: ${nano}`, "Spent today: $0.00 of $1.00", "6 sessions waiting, about $0.04: Lerim asks for your approval when you next run Sync"]);
});

test("without a model nothing is said to wait, and without a limit that is told", () => {
  expect(modelSummary([modelView({ waits: { ...waits, cost: null, model: "", why: "none" } })]).lines).toEqual(["Model: none"]);
  expect(modelSummary([modelView({ provider: "auto" })]).lines).toEqual(["Model: auto"]);
  expect(modelSummary([modelView({ model: nano, todayUsd: 0.5, budgetUsd: 0 })]).lines[1]).toBe("Spent today: $0.50, no limit");
  expect(modelSummary([])).toEqual({ lines: [], usedUp: false });
  expect(modelSummary([modelView({ provider: "zai", problems: [problem("model-key", "There is no key for zai.")] })]).lines).toEqual(["Model: zai", "There is no key for zai."]);
});

const usage = { calls: 12, inputTokens: 1, outputTokens: 1, cachedTokens: 0, cost: 0.034, unpriced: 0, seconds: 1 };

test.each([
  [{}, "", []],
  [{ model: nano, usage }, `Called ${nano} 12 times, about $0.03.`, []],
  [{ model: "editor:m", usage: { ...usage, calls: 1, cost: 0 } }, "Called editor:m once.", []],
  [{ model: nano, waits: { ...waits, why: "budget" } }, "Today's budget is used up: 3 sessions waiting, about $0.02.", ["Change Budget"]],
  [{ waits }, `3 sessions waiting for your approval to use ${nano} (about $0.02).`, []],
  [{ problems: [problem("model-key", "The key was refused.")] }, "The key was refused.", ["Set API Key", "Choose Model"]],
  [{ problems: [problem("x", "other"), problem("model-gone", "The editor took it away.")] }, "The editor took it away.", ["Choose Model"]],
] as const)("a sync %j says of the model %j", (changes, text, actions) => {
  expect(modelText(report(changes as unknown as Parameters<typeof report>[0]))).toEqual({ text, actions });
});

test("who never chose is told what was read without a model; who chose none is not", () => {
  const waits = { sessions: 3, tokens: 0, cost: null, model: "", why: "none" as const };
  expect(modelText(report({ waits }), true)).toEqual({ text: "With a model, Lerim usually finds more.", actions: ["Choose Model"] });
  expect(modelText(report({ waits }), false)).toEqual({ text: "", actions: [] });
  expect(modelText(report({ waits: { ...waits, sessions: 0 } }), true)).toEqual({ text: "", actions: [] });
});

test("a trial's finds stand beside those of the rules", () => {
  const { message, detail } = sessionTrialText({ ok: true, message: "1 answer could not be read.", code: "", model: "claude-code:sonnet", session: "s", rules: [], found: [{ primitive: "decision", title: "Cents", quote: "" }], seconds: 3, tokens: 900, cost: null, again: 1 });
  expect(message).toBe("In one session, Lerim found 0 candidates without a model, and claude-code:sonnet found 1 more.");
  expect(detail).toBe("Without a model:\n• nothing\n\nclaude-code:sonnet:\n• Cents\n\n1 answer could not be read.\n\nIt took 3.0 s and 900 tokens. Nothing has been proposed yet. 1 more session is waiting.");
});
