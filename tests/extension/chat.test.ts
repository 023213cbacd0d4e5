import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { parseMemory, registerParticipant } from "../../extension/src/chat/participant";
import { registerTools } from "../../extension/src/chat/tools";
import { copyFileMemories, copyMemories } from "../../extension/src/commands/copycontext";
import * as protocol from "../../extension/src/protocol";
import { invokeTool, say } from "./fakes/chat";
import { FakeContext, memory } from "./fakes/sidecar";
import { act, lm, shown, Uri, window, workspace } from "./fakes/vscode";

const root = "file:///repo";
const fenced = "<lerim-memories>\n[1] decision: Use uv\n</lerim-memories>";
const ofMemory: protocol.Citation = { number: 1, ref: "m:x", kind: "memory", title: "Use [uv](command:evil)", handle: "h1", session: "", turn: "" };

let context: FakeContext;

beforeEach(() => {
  context = new FakeContext();
  registerTools(context.as());
  registerParticipant(context.as());
});

test("a tool hands the sidecar only what fits its arguments, and gives its text to the agent", async () => {
  context.answer(protocol.agentTool, () => ({ text: fenced, isError: false }));
  expect(await invokeTool("lerim_recall", { question: "How?", files: ["src/a.py", 7, "b\n"], limit: "x" })).toBe(fenced);
  await invokeTool("lerim_why", { path: "src/a.py", symbol: null });
  await invokeTool("lerim_propose", { kind: "pitfall", title: "The tests need a clock" });
  expect(context.params(protocol.agentTool)).toEqual([
    { root, tool: "recall", agent: "vscode-chat", question: "How?", files: ["src/a.py"] },
    { root, tool: "why", agent: "vscode-chat", path: "src/a.py", symbol: "" },
    { root, tool: "propose", agent: "vscode-chat", kind: "pitfall", title: "The tests need a clock", why: "", files: [] },
  ]);
});

test("without a folder a tool says so", async () => {
  act.folders();
  expect(await invokeTool("lerim_recall", { question: "How?" })).toMatch(/No repository is open/);
  expect(context.asked).toEqual([]);
});

test("a tool and @lerim look into a folder in a repository, also beside one that is in none", async () => {
  const repository = mkdtempSync(join(tmpdir(), "lerim-chat-"));
  mkdirSync(join(repository, ".git"));
  act.folders("/plain", repository);
  window.activeTextEditor = { document: { uri: Uri.file("/plain/notes.txt") } };
  context.answer(protocol.agentTool, () => ({ text: fenced, isError: false }));
  await invokeTool("lerim_recall", { question: "How?" });
  await say("lerim.chat", "How?");
  const roots = context.asked.flatMap(({ params }) => (typeof params === "object" && params !== null && "root" in params ? [params.root] : []));
  expect(new Set(roots)).toEqual(new Set([Uri.file(repository).toString()]));
  rmSync(repository, { recursive: true });
});

test("an editor without tools for its chat has none of ours", () => {
  const { registerTool } = lm;
  Reflect.deleteProperty(lm, "registerTool");
  expect(() => registerTools(context.as())).not.toThrow();
  Object.assign(lm, { registerTool });
});

test("@lerim answers sentence by sentence, with sources that open a memory and nothing else", async () => {
  const ofTurn = { ...ofMemory, number: 2, kind: "turn" as const, title: "Set up", handle: "", session: "s", turn: "t" };
  const sentence = { text: "It is **uv** ![x](http://evil).", citations: [ofMemory, ofTurn] };
  const passages = [{ citation: ofTurn, text: "Use uv", detail: "Codex", time: "", path: "", flags: [], role: "user" as const }];
  const made = { model: "m", leftOut: 0, spent: [], steps: [], problems: [], message: "", seconds: 1, known: true, state: "done" as const };
  context.answer(protocol.ask, ({ token }) => {
    context.notify(protocol.answer, { token, sentence });
    context.notify(protocol.answer, { token: "another", sentence: { text: "Not this.", citations: [] } });
    return { question: "", sentences: [sentence], passages, ...made };
  });
  const { text, trusted } = await say("lerim.chat", "Which tool?");
  expect(text.match(/It is/g)).toHaveLength(1);
  expect(text).not.toMatch(/Not this|\*\*uv|!\[x\]\(|\]\(command:evil/);
  expect(text).toContain(`](command:lerim.openMemory?${encodeURIComponent(JSON.stringify(["h1"]))})`);
  expect(text).toMatch(/ \\\[1, 2\\\] [^]*\\\[2\\\] You, in \[Set up\]\(command:lerim\.openTurn/);
  expect(trusted).toEqual([{ enabledCommands: ["lerim.openMemory", "lerim.openTurn"] }]);
});

test("without a model @lerim shows the passages, and an error is said", async () => {
  const made = { model: "", leftOut: 0, spent: [], steps: [], problems: [], message: "No model is chosen.", seconds: 1, known: true, state: "done" as const };
  context.answer(protocol.ask, () => ({ question: "", sentences: [], passages: [{ citation: ofMemory, text: "Use uv", detail: "", time: "", path: "", flags: [], role: null }], ...made }));
  expect((await say("lerim.chat", "Which tool?")).text).toMatch(/No model is chosen[^]*Use uv/);
  context.refuse(protocol.ask, "The catalog is locked.");
  expect((await say("lerim.chat", "Which tool?")).text).toMatch(/The catalog is locked/);
});

test("/remember writes what was said, with the kind that comes first", async () => {
  context.answer(protocol.memoryAdd, ({ title }) => ({ ok: true, code: "done", message: `Written: ${title}`, action: "a", path: "/repo/.lerim/memory/x.md", root }));
  const { text, files } = await say("lerim.chat", "pitfall: The tests need a clock\nThey flake.", "remember");
  expect([text, files]).toEqual(["Written: The tests need a clock", ["/repo/.lerim/memory/x.md"]]);
  expect(context.params(protocol.memoryAdd)).toEqual([{ root, kind: "pitfall", title: "The tests need a clock", body: "They flake.", files: [] }]);
  expect((await say("lerim.chat", "  ", "remember")).text).toMatch(/Say what to remember/);
  expect(parseMemory("Note: this")).toEqual({ kind: "decision", title: "Note: this", body: "" });
});

test("/why shows the memories about the active file", async () => {
  expect((await say("lerim.chat", "", "why")).text).toMatch(/Open a file first/);
  window.activeTextEditor = { document: { uri: Uri.file("/repo/src/a.py") } };
  context.answer(protocol.memoryForFile, () => ({ memories: [memory("one", { title: "Use [uv]" })] }));
  expect((await say("lerim.chat", "", "why")).text).toMatch(/Use \\\[uv\\\]/);
});

test("copied memories are on the clipboard, and a message says if there is nothing to copy", async () => {
  context.answer(protocol.memoryContext, ({ ids }) => ({ text: `${fenced} ${ids.length}` }));
  await copyMemories(context.as(), ["h1", "h2"]);
  expect(shown.copied).toEqual([`${fenced} 2`]);
  window.activeTextEditor = { document: { uri: Uri.file("/repo/src/a.py"), getText: () => "def load" }, selection: {} };
  context.answer(protocol.agentTool, () => ({ text: fenced, isError: false }));
  await copyFileMemories(context.as(), undefined, true);
  expect(context.params(protocol.agentTool)).toEqual([{ root, tool: "recall", agent: "clipboard", files: ["/repo/src/a.py"], question: "def load" }]);
  context.answer(protocol.agentTool, () => ({ text: "No reviewed memory is about this.", isError: false }));
  await copyFileMemories(context.as(), undefined, false);
  expect(shown.copied).toHaveLength(2);
  expect(shown.messages.at(-1)?.text).toMatch(/No reviewed memory/);
  expect(workspace.isTrusted).toBe(true);
});
