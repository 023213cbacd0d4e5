import { expect, test } from "vitest";
import { agentDescription, clockText, dayLabel, durationText, hitDetail, jobDescription, jobTooltip, passageText, queueText, saidText, sessionDescription, sessionTooltip, tokensText, workText } from "../../extension/src/text/sessionwording";
import { agent, session } from "./fakes/sidecar";

const noon = new Date(2026, 10, 21, 12).getTime();

test.each([
  ["2026-11-21", "Today"],
  ["2026-11-20", "Yesterday"],
  ["2026-11-02", "Mon 2 Nov"],
  ["2025-11-02", "Sun 2 Nov 2025"],
  ["", "At an unknown time"],
])("the day %s is called %s", (day, label) => {
  expect(dayLabel(day, noon).replace(",", "")).toBe(label);
});

test("of a message it is said who wrote it and when", () => {
  const said = [{ role: "user", detail: "Codex" }, { role: "assistant", detail: "Codex" }, { role: "assistant", detail: "" }] as const;
  expect(said.map((one) => saidText({ ...one, time: "2026-11-02T12:00:00Z" }).replace(/\d\d:\d\d/, "time"))).toEqual(["You, 2 Nov 2026, time", "Codex, 2 Nov 2026, time", "The agent, 2 Nov 2026, time"]);
  expect(saidText({ role: "assistant", detail: "Codex", time: "" })).toBe("Codex");
});

test("a passage has no marks of markdown, also where it begins in the middle of a message", () => {
  expect(passageText("… ## Changes\n```go\nx := 1\n```\n**Why:** # 1 is taken")).toBe("… Changes\nx := 1\nWhy: # 1 is taken");
});

test("durations are said in two units at most", () => {
  expect([45, 59.6, 90, 12 * 60, 3600, 2 * 3600 + 300, 86_400, 86_400 * 3 + 3600 * 4].map(durationText)).toEqual(["45 s", "1 min", "2 min", "12 min", "1 h", "2 h 5 min", "1 d", "3 d 4 h"]);
});

test("a session says how long it took and how many files it touched", () => {
  const changes = [{}, { started: "", files: 0 }, { files: 0 }, { gone: true, files: 1 }];
  expect(changes.map((change) => sessionDescription(session("a", change)))).toEqual(["12 min · 5 files", "", "12 min", "12 min · 1 file · deleted by its agent"]);
});

test("a subagent's session whose parent is missing says so", () => {
  const alone = session("a", { files: 0, parent: "ses_1", parentMissing: true });
  expect(sessionDescription(alone)).toBe("12 min · subagent, parent missing");
  expect(sessionTooltip(alone)).toContain("The session that started it (ses_1) is not on this machine");
  expect(sessionTooltip(session("a", { parent: "ses_1" }))).not.toContain("ses_1");
});

test("what is not recorded is said to be so", () => {
  const tooltip = sessionTooltip(session("a", { tokens: null, models: [], branches: [], cost: 0.5, error: "It is torn." }));
  for (const line of ["Tokens: not recorded", "Model: not recorded", "Branch: not recorded", "Cost: $0.50", "It is torn."]) expect(tooltip).toContain(line);
  expect(tokensText(session("a"))).toBe("1,200 in, 300 out, 9,000 cached");
});

test("a turn of the day its session began says the time alone", () => {
  const began = new Date(2026, 10, 21, 9, 5).toISOString();
  expect(clockText(new Date(2026, 10, 21, 23, 59).toISOString(), began)).toBe("23:59");
  expect(clockText(new Date(2026, 10, 22, 0, 1).toISOString(), began)).toBe("22 Nov 2026, 00:01");
  expect(clockText(began, "")).toBe("21 Nov 2026, 09:05");
  expect([clockText("", ""), clockText("", began)]).toEqual(["", ""]);
});

test("of what a session had none nothing is said", () => {
  expect(workText(session("a", { prompts: 1, toolCalls: 0, toolErrors: 0, denials: 0 }))).toBe("1 prompt");
  expect(workText(session("a", { prompts: 4, toolCalls: 2, toolErrors: 1, denials: 1 }))).toBe("4 prompts, 2 tool calls, 1 error, 1 denied");
});

test("a match says whose words it found", () => {
  const hit = { id: "a", turn: "t", platform: "codex", agent: "Codex", title: "T", time: "", role: "user" as const, snippet: "s" };
  expect(hitDetail(hit)).toBe("Codex · you");
});

test("an agent's row says what is to be read, and what is not read", () => {
  expect(agentDescription(agent("codex"))).toBe("3 sessions · 1 to read");
  const skipped = [{ reason: "failed", count: 2, example: "", message: "" }, { reason: "no-folder", count: 5, example: "", message: "" }];
  expect(agentDescription(agent("codex", { waiting: 0, found: 1, skipped }))).toBe("1 session · 2 not read");
  expect(agentDescription(agent("codex", { state: "removed" }))).toBe("not read");
  expect(agentDescription(agent("codex", { state: "not-found", found: 0 }))).toBe("not found");
});

test("the queue says how many jobs are where, a job why it failed", () => {
  expect(queueText({ failed: 1, pending: 3, done: 0 })).toBe("3 waiting, 1 failed");
  expect(queueText({})).toBe("");
  const job = { job: 1, kind: "extract", state: "dead" as const, tries: 3, id: "a", title: "T", error: "It is torn." };
  expect(jobDescription(job)).toBe("given up after 3 tries");
  expect(jobDescription({ ...job, state: "failed", tries: 1 })).toBe("failed after 1 try, will be retried");
  expect(jobTooltip(job)).toContain("It is torn.");
});
