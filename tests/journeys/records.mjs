// Records in Claude Code's own envelopes, for what a journey needs a person and an agent to have said.
import { randomUUID } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { finish, sessionsFolder } from "./rebuild.mjs";

/** One transcript being written: `say` and `edit` add whole exchanges to the file, as the agent itself would. */
export class Transcript {
  #parent = null;
  #clock;
  #cwd;
  #live;

  /** `live`: the session has just been written to, so its last exchange is not over yet. */
  constructor(claude, cwd, at = new Date("2026-05-04T09:00:00Z"), { live = false } = {}) {
    this.#live = live;
    this.id = randomUUID();
    this.file = join(sessionsFolder(claude, cwd), `${this.id}.jsonl`);
    this.#cwd = cwd;
    this.#clock = at.getTime();
    mkdirSync(dirname(this.file), { recursive: true });
    writeFileSync(this.file, "");
  }

  /** The person types; the agent answers in words. */
  say(prompt, answer) {
    this.#prompt(prompt);
    this.#reply([{ type: "text", text: answer }]);
  }

  /** The person types; the agent changes a file, which is really changed, and says so. */
  edit(prompt, path, before, after, answer) {
    const file = join(this.#cwd, path);
    const original = existsSync(file) ? readFileSync(file, "utf8") : "";
    if (!original.includes(before)) throw new Error(`${path} does not hold ${before}`);
    const call = `toolu_${randomUUID().replaceAll("-", "").slice(0, 24)}`;
    const input = { file_path: file, old_string: before, new_string: after, replace_all: false };
    this.#prompt(prompt);
    this.#reply([{ type: "tool_use", id: call, name: "Edit", input }]);
    writeFileSync(file, original.replace(before, () => after));
    const content = `The file ${file} has been updated successfully.`;
    this.#add("user", {
      message: { role: "user", content: [{ tool_use_id: call, type: "tool_result", content }] },
      toolUseResult: {
        filePath: file, oldString: before, newString: after, originalFile: original,
        structuredPatch: [], userModified: false, replaceAll: false,
      },
    });
    this.#reply([{ type: "text", text: answer }]);
  }

  #prompt(content) {
    this.#add("user", { message: { role: "user", content }, permissionMode: "default", origin: { kind: "human" } });
  }

  #reply(content) {
    const id = randomUUID().replaceAll("-", "");
    const usage = { input_tokens: 4, cache_creation_input_tokens: 0, cache_read_input_tokens: 900, output_tokens: 60 };
    const message = { model: "claude-opus-4-6", id: `msg_${id}`, type: "message", role: "assistant", content, usage };
    this.#add("assistant", { message, requestId: `req_${id}` });
  }

  #add(type, fields) {
    this.#clock += 7000;
    const uuid = randomUUID();
    const record = {
      parentUuid: this.#parent, isSidechain: false, userType: "external", cwd: this.#cwd, sessionId: this.id,
      version: "2.1.100", gitBranch: "main", type, ...fields, uuid, timestamp: new Date(this.#clock).toISOString(),
    };
    this.#parent = uuid;
    appendFileSync(this.file, `${JSON.stringify(record)}\n`);
    if (!this.#live) finish(this.file);
  }
}
