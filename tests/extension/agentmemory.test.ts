import { beforeEach, expect, test } from "vitest";
import { connectAgentsToMemory, disconnectAgentsFromMemory } from "../../extension/src/commands/agentmemory";
import { showActionResult, undoLastAction } from "../../extension/src/commands/acts";
import { giveMemoryToAgents } from "../../extension/src/commands/agentfiles";
import { forgetFileChanges } from "../../extension/src/commands/filechanges";
import * as protocol from "../../extension/src/protocol";
import { channelDescription, connectionDescription } from "../../extension/src/text/agentwording";
import { showDifferences } from "../../extension/src/views/shared/differences";
import { FakeContext, heldBack } from "./fakes/sidecar";
import { openTab } from "./fakes/tabs";
import { answers, differences, shown, TabInputTextDiff, Uri, window, workspace } from "./fakes/vscode";

const edits: protocol.AgentEditView[] = [
  { path: "/home/me/.gemini/settings.json", before: "{}", after: '{"mcpServers": {}}', reason: "MCP server of Gemini CLI", hash: "h1" },
  { path: "/home/me/.cursor/mcp.json", before: null, after: "{}", reason: "MCP server of Cursor", hash: "h2" },
];

function connection(agent: protocol.AgentName, changes: Partial<protocol.ConnectionView> = {}): protocol.ConnectionView {
  return { agent, name: agent.toUpperCase(), isHere: true, isUsed: true, sessions: 3, projectSessions: 1, channels: [], lastCall: "", p95Ms: null, findings: [], ...changes };
}

function channel(changes: Partial<protocol.ChannelView> = {}): protocol.ChannelView {
  return { channel: "mcp", level: "user", state: "installed", path: "/home/me/.gemini/settings.json", note: "", ...changes };
}

let context: FakeContext;
let changes: number;
const countChange = (): void => {
  changes += 1;
};

beforeEach(() => {
  context = new FakeContext();
  forgetFileChanges();
  changes = 0;
  context.answer(protocol.agentConnections, () => ({ project: "shop", agents: [connection("gemini"), connection("cursor", { channels: [channel()] })] }));
  context.answer(protocol.agentPlan, ({ level }) => ({ edits: level === "user" ? edits : edits.slice(0, 1), manual: [], unchanged: 0 }));
  context.answer(protocol.agentApply, () => ({ ok: true, message: "2 files changed.", undo: "u1" }));
  context.answer(protocol.agentUndo, () => ({ ok: true, message: "2 files were restored." }));
});

test("the differences are shown, then asked about, then written, and can be undone from the message", async () => {
  answers.many.push(["GEMINI"], ["MCP server", "Hooks"], ["Your own files"]);
  answers.picks.push("Change 2 files");
  answers.choices.push("Undo");
  window.tabGroups.activeTabGroup.activeTab = { input: undefined, isPreview: true };
  await connectAgentsToMemory(context, undefined, countChange);
  expect(context.params(protocol.agentPlan)).toEqual([{ action: "install", level: "user", agents: ["gemini"], channels: ["mcp", "hooks"], root: "file:///repo" }]);
  expect(differences()).toEqual([
    ["{}", '{"mcpServers": {}}'],
    ["", "{}"],
  ]);
  expect(shown.lists.map(({ title }) => title)).toEqual(["Give Memories to Agents (1 of 3)", "Give Memories to Agents (2 of 3)", "Give Memories to Agents (3 of 3)", "Give Memories to Agents"]);
  expect(context.params(protocol.agentApply).map(({ hashes }) => hashes)).toEqual([["h1", "h2"]]);
  await expect.poll(() => changes).toBe(2);
  expect(shown.commands.map(({ id }) => id).slice(0, 2)).toEqual(["workbench.action.keepEditor", "vscode.changes"]); // the person's own preview stays
  expect(context.params(protocol.agentUndo)).toEqual([{ undo: "u1" }]);
  expect(shown.messages.map(({ text }) => text)).toContain("Lerim: 2 files changed. Agents read this when they start.");
});

test("the last action is undone from the palette also if it changed agents' files, until a memory is acted on", async () => {
  const undone: protocol.ReviewResult = { ok: true, code: "undone", message: "Undone.", action: "a1", path: null, askQuotes: false, note: "", missing: [], waiting: [] };
  context.answer(protocol.reviewUndo, () => undone);
  const give = async (): Promise<void> => {
    answers.many.push(["GEMINI"], ["MCP server"], ["Your own files"]);
    answers.picks.push("Change 2 files");
    await connectAgentsToMemory(context, undefined, countChange);
  };
  await give();
  await undoLastAction(context);
  expect(shown.messages.at(-1)?.text).toBe("Lerim: 2 files were restored.");
  expect([context.params(protocol.agentUndo), context.params(protocol.reviewUndo), changes]).toEqual([[{ undo: "u1" }], [], 2]);
  await undoLastAction(context);
  expect(context.params(protocol.reviewUndo).length).toBe(1);
  await give();
  showActionResult(context, { ok: true, code: "archive", message: "Archived", action: "a2", path: null, root: "file:///repo" });
  await undoLastAction(context);
  expect([context.params(protocol.agentUndo).length, context.params(protocol.reviewUndo).length]).toEqual([1, 2]);
});

test("written rules files are restored by the undo of the palette, or by their message, once", async () => {
  const plan = { files: [{ path: "AGENTS.md", before: "", after: "x", added: 1, removed: 0, editedByHand: false }], notes: [], problems: [], memories: 1, keeps: false, stamp: "s1" };
  context.answer(protocol.exportPlan, () => plan as never);
  context.answer(protocol.exportApply, () => ({ files: 1, candidates: 0, undo: "e1" }));
  context.answer(protocol.exportUndo, () => ({ files: 1, candidates: 0, undo: "" }));
  context.answer(protocol.reviewUndo, () => ({ ok: false, code: "nothing", message: "There is nothing to undo.", action: null, path: null, askQuotes: false, note: "", missing: [], waiting: [] }));
  const write = async (): Promise<void> => {
    answers.picks.push("Write Files");
    await giveMemoryToAgents(context.as(), false);
  };
  await write();
  await undoLastAction(context);
  expect(shown.messages.at(-1)?.text).toBe("Lerim: 1 file restored.");
  answers.choices.push("Undo");
  await write();
  await expect.poll(() => context.params(protocol.exportUndo)).toEqual([{ root: "file:///repo", undo: "e1" }, { root: "file:///repo", undo: "e1" }]);
  await undoLastAction(context);
  expect(context.params(protocol.reviewUndo).length).toBe(1);
});

test("two questions at once leave each other's differences alone", async () => {
  const [first, second] = [heldBack(), heldBack()];
  const one = showDifferences(edits.slice(0, 1), () => first.released);
  const two = showDifferences([{ path: "/home/me/.gemini/settings.json", before: "{}", after: "[]" }], () => second.released);
  await expect.poll(() => differences()).toEqual([["{}", '{"mcpServers": {}}'], ["{}", "[]"]]);
  const diffs = shown.commands.map(({ args }) => new TabInputTextDiff(args[0] as Uri, args[1] as Uri));
  for (const input of diffs) openTab(input.modified, { input });
  first.release();
  await one;
  expect(window.tabGroups.all[0]?.tabs.map(({ input }) => input)).toEqual(diffs.slice(1));
  second.release();
  await two;
  expect(window.tabGroups.all[0]?.tabs).toEqual([]);
});

test("your own files and the repository's are asked apart, and one refused leaves the other", async () => {
  answers.many.push(["CURSOR"], ["MCP server"], ["Your own files", "Files of this repository"]);
  answers.picks.push("Change nothing", "Change 1 file");
  await connectAgentsToMemory(context, undefined, countChange);
  expect(context.params(protocol.agentApply).map(({ level }) => level)).toEqual(["project"]);
  const questions = shown.lists.map(({ placeHolder }) => placeHolder).filter((text) => text.endsWith("shown?") || text.includes("Everybody"));
  expect(questions).toEqual(["Change your own files as shown?", "Change this repository's files as shown? Everybody who works in it gets the changes."]);
});

test("whoever leaves one of the questions has changed nothing", async () => {
  for (const given of [[], [["GEMINI"]], [["GEMINI"], ["MCP server"]]]) {
    answers.many.push(...given);
    await connectAgentsToMemory(context, undefined, countChange);
  }
  answers.many.push(["GEMINI"], ["MCP server"], ["Your own files"]);
  await connectAgentsToMemory(context, undefined, countChange);
  expect([context.params(protocol.agentApply), changes]).toEqual([[], 0]);
});

test("from an agent's row only that agent is meant, and outside a folder only your own files", async () => {
  workspace.workspaceFolders = [];
  answers.many.push(["Skill"], ["Your own files"]);
  answers.picks.push("Change nothing");
  await connectAgentsToMemory(context, "gemini", countChange);
  expect(context.params(protocol.agentPlan).map(({ agents, root }) => [agents, root])).toEqual([[["gemini"], null]]);
  expect(shown.lists.map(({ title }) => title).slice(0, 2)).toEqual(["Give Memories to Agents (1 of 2)", "Give Memories to Agents (2 of 2)"]); // the row has chosen the agent
  expect(shown.lists.find(({ placeHolder }) => placeHolder === "Choose which files to change")?.items.length).toBe(1);
});

test("of several folders, the files of the one that the person chooses are changed", async () => {
  workspace.workspaceFolders = ["/repo", "/shop"].map((path, index) => ({ uri: Uri.file(path), name: path.slice(1), index }));
  await connectAgentsToMemory(context, "gemini", countChange);
  expect(context.asked).toEqual([]);
  answers.picks.push("shop");
  answers.many.push(["Skill"], ["Files of this repository"]);
  answers.picks.push("Change nothing");
  await connectAgentsToMemory(context, "gemini", countChange);
  expect(context.params(protocol.agentPlan).map(({ level, root }) => [level, root])).toEqual([["project", "file:///shop"]]);
});

test("a file that cannot be changed comes with what to add by hand", async () => {
  context.answer(protocol.agentPlan, () => ({ edits: [], manual: [{ path: "/p/opencode.jsonc", reason: "It has comments.", snippet: '{"mcp": 1}' }], unchanged: 0 }));
  answers.many.push(["GEMINI"], ["MCP server"], ["Your own files"]);
  answers.choices.push("Show What to Do");
  await connectAgentsToMemory(context, undefined, countChange);
  await Promise.resolve();
  expect(shown.messages.at(-1)?.text).toContain("1 file cannot be changed");
});

test("agents that get memories are disconnected in the same way, and if there are none that is said", async () => {
  answers.many.push(["CURSOR"]);
  answers.picks.push("Change 2 files", "Change 1 file");
  await disconnectAgentsFromMemory(context, undefined, countChange);
  expect(shown.lists[0]?.items.map(({ label }) => label)).toEqual(["CURSOR"]);
  expect(context.params(protocol.agentApply).map(({ action, level }) => [action, level])).toEqual([["remove", "user"], ["remove", "project"]]);
  context.answer(protocol.agentConnections, () => ({ project: "shop", agents: [connection("gemini")] }));
  await disconnectAgentsFromMemory(context, undefined, countChange);
  expect(shown.messages.at(-1)?.text).toContain("No agent gets memories");
});

test("what an agent gets is said in a few words", () => {
  expect(channelDescription(channel())).toBe("installed · your files");
  expect(channelDescription(channel({ state: "untrusted", level: "project" }))).toBe("installed, untrusted · this repository");
  expect(channelDescription(channel({ state: "extension" }))).toBe("by this extension");
  expect(connectionDescription(connection("codex"))).toBe("gets no memories");
  expect(connectionDescription(connection("codex", { isHere: false }))).toBe("not found on this machine");
  expect(connectionDescription(connection("vscode", { channels: [channel({ state: "extension" })] }))).toBe("MCP server of this extension");
  const channels = [channel(), channel({ channel: "hooks" }), channel({ channel: "skill", state: "missing" })];
  expect(connectionDescription(connection("codex", { channels, findings: ["Run /hooks."] }))).toBe("MCP server, hooks · needs attention");
});
