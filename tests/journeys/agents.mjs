// Sessions of agents beside Claude Code, in their own envelopes and places, for what a journey needs to have been said.
import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { finish } from "./rebuild.mjs";

const stepMs = 9000;

/** Times that follow each other. */
function clock(at) {
  let now = at.getTime();
  return () => new Date((now += stepMs)).toISOString();
}

function write(file, lines) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  finish(file);
  return file;
}

/** Codex: a rollout in which each exchange is a prompt, perhaps a command with its exit code, and an answer. */
export function codex(home, cwd, exchanges, at) {
  const id = randomUUID();
  const time = clock(at);
  const line = (type, payload) => ({ timestamp: time(), type, payload });
  const message = (role, text) => line("response_item", { type: "message", role, content: [{ type: role === "user" ? "input_text" : "output_text", text }] });
  const lines = [line("session_meta", { id, timestamp: at.toISOString(), cwd, cli_version: "0.142.5", source: "cli", git: { branch: "main" } }), line("turn_context", { cwd, model: "gpt-5.2-codex" })];
  exchanges.forEach(({ prompt, command, code = 0, output = "", answer }, number) => {
    lines.push(message("user", prompt), line("event_msg", { type: "user_message", message: prompt, images: [] }));
    if (command !== undefined) {
      const call = `call_${number}`;
      lines.push(
        line("response_item", { type: "function_call", name: "exec_command", arguments: JSON.stringify({ cmd: command, workdir: cwd }), call_id: call }),
        line("response_item", { type: "function_call_output", call_id: call, output: `Chunk ID: 1a2b3c\nWall time: 0.1 seconds\nProcess exited with code ${code}\nOriginal token count: 1\nOutput:\n${output}` }),
      );
    }
    lines.push(line("event_msg", { type: "agent_message", message: answer, phase: "commentary" }), message("assistant", answer));
  });
  const stamp = at.toISOString().slice(0, 19).replaceAll(":", "-");
  return write(join(home, ".codex", "sessions", ...at.toISOString().slice(0, 10).split("-"), `rollout-${stamp}-${id}.jsonl`), lines);
}

/** GitHub Copilot's command line. */
export function copilot(home, cwd, exchanges, at) {
  const id = randomUUID();
  const time = clock(at);
  const event = (type, data) => ({ type, data, id: randomUUID(), timestamp: time(), parentId: null });
  const lines = [event("session.start", { sessionId: id, copilotVersion: "1.0.64", context: { cwd, gitRoot: cwd, branch: "main" } })];
  for (const { prompt, answer } of exchanges) {
    lines.push(event("user.message", { content: prompt, transformedContent: prompt, attachments: [] }));
    lines.push(event("assistant.message", { messageId: randomUUID(), content: answer, toolRequests: [], model: "gpt-5.4", outputTokens: 7 }));
  }
  return write(join(home, ".copilot", "session-state", id, "events.jsonl"), lines);
}

/** Gemini CLI: a log below the digest of the folder it ran in. */
export function gemini(home, cwd, exchanges, at) {
  const id = randomUUID();
  const time = clock(at);
  const projectHash = createHash("sha256").update(cwd).digest("hex");
  const message = (type, content, more = {}) => ({ id: randomUUID(), timestamp: time(), type, content, ...more });
  const tokens = { input: 900, output: 60, cached: 0, thoughts: 0, tool: 0, total: 960 };
  const lines = [{ sessionId: id, projectHash, startTime: at.toISOString(), lastUpdated: at.toISOString(), kind: "main" }];
  for (const { prompt, answer } of exchanges) lines.push(message("user", [{ text: prompt }]), message("gemini", answer, { model: "gemini-3-flash", thoughts: [], tokens }));
  const stamp = at.toISOString().slice(0, 16).replaceAll(":", "-");
  return write(join(home, ".gemini", "tmp", projectHash, "chats", `session-${stamp}-${id.slice(0, 8)}.jsonl`), lines);
}

/** A database of OpenCode's name that no program can read. */
export function brokenOpenCode(home) {
  const file = join(home, ".local", "share", "opencode", "opencode.db");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "SQLite format 3\0 and then nothing that could be one".padEnd(8192, "x"));
  return file;
}
