import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { actOnJob, connectAgent, disconnectAgent } from "../../extension/src/commands/connect";
import * as protocol from "../../extension/src/protocol";
import { type AgentsNode, AgentsTree, jobOf, platformOf } from "../../extension/src/views/agents/host";
import { agent, FakeContext, present } from "./fakes/sidecar";
import { act, answers, shown, type TreeItem, workspace } from "./fakes/vscode";

const job: protocol.JobView = { job: 7, kind: "extract", state: "dead", tries: 3, id: "s1", title: "Mend the cart", error: "It is torn." };
const done: protocol.OutcomeView = { ok: true, message: "Done." };

let context: FakeContext;
let tree: AgentsTree;

beforeEach(() => {
  context = new FakeContext();
  const broken = agent("cursor", {
    skipped: [{ reason: "failed", count: 2, example: "/home/me/.cursor/a", message: "It is torn." }],
    lastError: { message: "It is torn.", where: "/home/me/.cursor/a", time: "" },
  });
  context.answer(protocol.agents, () => ({ project: "shop", agents: [agent("codex"), broken, agent("gemini", { state: "removed" })], queue: { dead: 1, pending: 2 }, jobs: [job] }));
  context.answer(protocol.connect, () => done);
  context.answer(protocol.queueAct, () => done);
  tree = new AgentsTree(context.as());
});

function itemOf(node: AgentsNode): TreeItem {
  return tree.getTreeItem(node) as unknown as TreeItem;
}

test("each agent has a row that says how it stands, and below them the queue", async () => {
  const rows = await tree.getChildren();
  expect(rows.map((row) => [itemOf(row).label, itemOf(row).description, itemOf(row).contextValue])).toEqual([
    ["CODEX", "3 sessions · 1 to read", "lerim.agent.connected"],
    ["CURSOR", "3 sessions · 1 to read · 2 not read", "lerim.agent.connected"],
    ["GEMINI", "not read", "lerim.agent.removed"],
    ["Queue", "2 waiting, 1 given up", "lerim.queue"],
  ]);
  expect(shown.trees[0]?.description).toBe("shop");
  expect(shown.commands).toContainEqual({ id: "setContext", args: ["lerim.hasFailedJobs", true] }); // the palette offers to retry
});

test("of several repositories each is a row, with its own counts below it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lerim-agents-"));
  for (const name of ["shop", "till"]) mkdirSync(join(folder, name, ".git"), { recursive: true });
  act.folders(join(folder, "shop"), folder, join(folder, "till"));
  context.answer(protocol.agents, ({ root }) => ({ project: "one", agents: [agent("codex", { found: root?.endsWith("till") ? 7 : 3 })], queue: {}, jobs: root?.endsWith("shop") ? [job] : [] }));
  const roots = await tree.getChildren();
  expect(roots.map((row) => basename(itemOf(row).label))).toEqual(["shop", "till"]);
  const agents = await Promise.all(roots.map((row) => tree.getChildren(row)));
  expect(agents.map(([row]) => itemOf(present(row)).description)).toEqual(["3 sessions · 1 to read", "7 sessions · 1 to read"]);
  expect(new Set(agents.flat().map((row) => itemOf(row).id)).size, "the editor refuses rows of the same id").toBe(agents.flat().length);
  expect(shown.commands.at(-1)).toEqual({ id: "setContext", args: ["lerim.hasFailedJobs", true] });
  answers.picks.push(0);
  await actOnJob(context, undefined, "retry");
  expect(context.params(protocol.queueAct), "the palette offers the jobs of all").toEqual([{ job: 7, action: "retry" }]);
  rmSync(folder, { recursive: true });
});

test("below the agents it is said in words that no session waits", async () => {
  context.answer(protocol.agents, () => ({ project: "shop", agents: [], queue: {}, jobs: [] }));
  expect((await tree.getChildren()).map((row) => [itemOf(row).label, itemOf(row).description])).toEqual([["No sessions waiting to be read", ""]]);
  context.answer(protocol.agents, () => ({ project: "shop", agents: [agent("codex", { waiting: 6 })], queue: {}, jobs: [] }));
  expect((await tree.getChildren()).map((row) => itemOf(row).contextValue), "sessions that wait for a sync are in no queue yet").toEqual(["lerim.agent.connected"]);
});

test("an agent's facts name its store, what is not read with the reason, and the last error", async () => {
  const rows = await tree.getChildren();
  const facts = await tree.getChildren(rows[1]);
  const texts = facts.map((fact) => `${itemOf(fact).label}|${itemOf(fact).description}`);
  expect(texts).toEqual([
    "/home/me/.cursor|",
    "3 sessions of this repository|1 to read",
    "12 sessions on this machine|",
    "2 not read: could not be parsed|/home/me/.cursor/a",
    "It is torn.|",
    "4 secrets removed|",
    "Not synced yet|",
  ]);
  expect(facts.every((fact) => typeof itemOf(fact).tooltip === "string")).toBe(true);
});

test("of an agent that is disconnected only its store is told, and a path at home is short; of secrets nothing is said where none were cut out", async () => {
  const agents = [agent("gemini", { state: "removed", stores: [{ path: `${homedir()}/.gemini`, exists: false }] }), agent("codex", { redactions: 0 })];
  context.answer(protocol.agents, () => ({ project: "shop", agents, queue: {}, jobs: [] }));
  const [removed, connected] = await tree.getChildren();
  expect((await tree.getChildren(removed)).map((fact) => `${itemOf(fact).label}|${itemOf(fact).description}`)).toEqual(["~/.gemini|not found", "Its sessions are not read|what was read before is kept"]);
  expect((await tree.getChildren(connected)).filter((fact) => itemOf(fact).label.includes("secret"))).toEqual([]);
});

test("a job in trouble says why, opens its session, and can be acted on; from the palette it is chosen first", async () => {
  const rows = await tree.getChildren();
  const row = present((await tree.getChildren(rows[3]))[0]);
  expect(itemOf(row)).toMatchObject({ label: "Mend the cart", description: "given up after 3 tries", contextValue: "lerim.job", command: { command: "lerim.openSession", arguments: ["s1"] } });
  expect(itemOf(row).tooltip).toContain("It is torn.");
  expect(await actOnJob(context, jobOf(row), "retry")).toBe(true);
  answers.picks.push(0);
  expect(await actOnJob(context, undefined, "skip")).toBe(true);
  expect(context.params(protocol.queueAct)).toEqual([{ job: 7, action: "retry" }, { job: 7, action: "skip" }]);
  context.answer(protocol.agents, () => ({ project: "shop", agents: [], queue: {}, jobs: [] }));
  expect(await actOnJob(context, undefined, "skip")).toBe(false);
  expect(shown.messages.at(-1)?.text).toContain("No session of this repository waits to be retried");
});

test("an agent is connected at its usual place or at a folder that is picked, and one that is connected is disconnected", async () => {
  const [row] = await tree.getChildren();
  answers.picks.push(0);
  expect(await connectAgent(context, platformOf(row))).toBe(true);
  answers.picks.push("GEMINI", 1);
  answers.files.push("/else/where");
  expect(await connectAgent(context, undefined)).toBe(true);
  expect(shown.messages.at(-1)?.text).toBe("Lerim: Done.");
  answers.picks.push(1);
  expect(await disconnectAgent(context, undefined)).toBe(true);
  expect(context.params(protocol.connect)).toEqual([
    { platform: "codex", action: "connect", path: null },
    { platform: "gemini", action: "connect", path: "/else/where" },
    { platform: "cursor", action: "disconnect", path: null },
  ]);
});

test("agents that are not read are offered to be read, and below them those that can be read from another folder; only agents that are read are offered to be read no longer", async () => {
  const agents = [agent("codex"), agent("cursor", { state: "not-found" }), agent("gemini", { state: "removed" })];
  context.answer(protocol.agents, () => ({ project: "shop", agents, queue: {}, jobs: [] }));
  answers.picks.push("CODEX", "Another folder");
  answers.files.push("/else/where");
  expect(await connectAgent(context, undefined)).toBe(true);
  expect(await disconnectAgent(context, undefined)).toBe(false);
  expect(shown.lists.map(({ items }) => items.map(({ label }) => label))).toEqual([
    ["CURSOR", "GEMINI", "Read from Another Folder", "CODEX"],
    ["Default location", "Another folder…"],
    ["CODEX"],
  ]);
  expect(shown.lists[1]?.placeHolder).toBe("CODEX is read from /home/me/.codex. Read it from");
  expect(context.params(protocol.connect)).toEqual([{ platform: "codex", action: "connect", path: "/else/where" }]);
});

test("Escape at any question connects nothing, and an agent that is disconnected already is not offered again", async () => {
  expect(await connectAgent(context, undefined)).toBe(false);
  expect(await connectAgent(context, "codex")).toBe(false);
  answers.picks.push(1);
  expect(await connectAgent(context, "codex")).toBe(false);
  expect(await disconnectAgent(context, undefined)).toBe(false);
  answers.picks.push(2);
  expect(await disconnectAgent(context, undefined)).toBe(false);
  expect(context.params(protocol.connect)).toEqual([]);
});

test("if no agent is connected, that is said and no list is shown", async () => {
  context.answer(protocol.agents, () => ({ project: "shop", agents: [], queue: {}, jobs: [] }));
  expect(await disconnectAgent(context, undefined)).toBe(false);
  expect(shown.lists).toEqual([]);
  expect(shown.messages.at(-1)?.text).toBe("Lerim: No agent's sessions are read.");
});

test("a list of agents that fails says so, and in Restricted Mode none is asked", async () => {
  context.refuse(protocol.agents, "platforms.json is broken.");
  expect(await tree.getChildren()).toEqual([]);
  expect(shown.trees[0]?.message).toBe("The agents could not be listed: platforms.json is broken.");
  workspace.isTrusted = false;
  const before = context.asked.length;
  expect(await tree.getChildren()).toEqual([]);
  expect(context.asked).toHaveLength(before);
});

test("rows that are none name no agent and no job", () => {
  for (const value of [undefined, null, 1, {}, { agent: 1 }, { job: {} }]) expect([platformOf(value), jobOf(value)]).toEqual([undefined, undefined]);
});

test("below each agent stands what it gets, when it last asked, and what keeps it from working; of Copilot for each of its programs", async () => {
  const hooks: protocol.ChannelView = { channel: "hooks", level: "user", state: "untrusted", path: "/home/me/.codex/hooks.json", note: "Run /hooks." };
  const bare: Omit<protocol.ConnectionView, "agent" | "name"> = { isHere: true, isUsed: true, sessions: 1, projectSessions: 1, channels: [], lastCall: "", p95Ms: null, findings: [] };
  context.answer(protocol.agentConnections, () => ({
    project: "shop",
    agents: [
      { ...bare, agent: "codex", name: "Codex", channels: [hooks, { ...hooks, channel: "mcp", state: "missing" }], lastCall: "2026-11-01T10:00:00Z", p95Ms: 41.5, findings: ["Run /hooks."] },
      { ...bare, agent: "copilot", name: "GitHub Copilot CLI" },
      { ...bare, agent: "vscode", name: "GitHub Copilot in VS Code" },
    ],
  }));
  context.answer(protocol.agents, () => ({ project: "shop", agents: [agent("codex"), agent("copilot")], queue: {}, jobs: [] }));
  const [codex, copilot] = await tree.getChildren();
  const facts = (await tree.getChildren(codex)).map((fact) => `${itemOf(fact).label}|${itemOf(fact).description}`);
  expect(facts.slice(-3)).toEqual(["Hooks|installed, untrusted · your files", expect.stringMatching(/^Last asked\|1 Nov 2026.* · 95 % within 42 ms$/), "Run /hooks.|"]);
  expect(String(itemOf(present(codex)).tooltip)).toContain("Run /hooks.");
  const bareRows = (await tree.getChildren(copilot)).slice(-2).map((fact) => itemOf(fact));
  expect(bareRows.map(({ label }) => label)).toEqual(["GitHub Copilot CLI: Gets no memories", "GitHub Copilot in VS Code: Gets no memories"]);
  const [clicked] = bareRows.map(({ command }) => command);
  expect([clicked?.command, platformOf(clicked?.arguments?.[0])]).toEqual(["lerim.connectAgentsToMemory", "copilot"]);
});
