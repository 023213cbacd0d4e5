import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";

interface Part {
  type: string;
  text: string;
  synthetic?: boolean;
  messageID?: string;
}

interface Hooks {
  "experimental.chat.system.transform": (input: object, output: { system: string[] }) => Promise<void>;
  "chat.message": (input: object, output: { parts: Part[] }) => Promise<void>;
  "tool.execute.before": (input: object, output: { args: object }) => Promise<void>;
  "tool.execute.after": (input: object, output: { output?: string; content?: Part[]; metadata?: object; args?: object }) => Promise<void>;
}

let home: string;
let asked: string;
let hooks: Hooks;

/** The hook program answers with this, and keeps what it was asked. */
function answer(text: string, before = ""): void {
  const program = join(home, "bin", "hook");
  mkdirSync(join(home, "bin"), { recursive: true });
  writeFileSync(program, `#!/bin/sh\n[ "$1" = opencode ] || exit 3\ncat >> '${asked}'\necho >> '${asked}'\n${before}\nprintf '%s' '${text}'\n`);
  chmodSync(program, 0o755);
}

function questions(): unknown[] {
  return existsSync(asked) ? readFileSync(asked, "utf8").trim().split("\n").map((line) => JSON.parse(line) as unknown) : [];
}

/** Loads a copy of the plugin, which takes the home from its start and waits so many milliseconds for the program. */
async function load(milliseconds: number): Promise<void> {
  const plugin = join(home, `lerim${milliseconds}.mjs`);
  const text = readFileSync("server/lerim/agents/files/opencode_plugin.js", "utf8");
  expect(text).toContain("const LIMIT_MS = 300\n");
  writeFileSync(plugin, text.replace("const LIMIT_MS = 300\n", `const LIMIT_MS = ${milliseconds}\n`));
  const { Lerim } = (await import(/* @vite-ignore */ pathToFileURL(plugin).href)) as { Lerim: (input: object) => Promise<Hooks> };
  hooks = await Lerim({ directory: "/repo", worktree: "/repo" });
}

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "lerim-test-"));
  asked = join(home, "asked");
  process.env["LERIM_HOME"] = home;
  await load(60_000); // a busy machine may need long to start a program
});

afterEach(() => {
  delete process.env["LERIM_HOME"];
  rmSync(home, { recursive: true, force: true });
});

const session = { sessionID: "s1" };

test("the start is asked for once a session and put before the model with every request", async () => {
  answer('{"text": "Decided: uv."}');
  for (const sessionID of ["s1", "s1", "s2"]) {
    const output = { system: ["You are OpenCode."] };
    await hooks["experimental.chat.system.transform"]({ sessionID }, output);
    expect(output.system).toEqual(["You are OpenCode.", "Decided: uv."]);
  }
  expect(questions()).toEqual([{ event: "start", session: "s1", cwd: "/repo" }, { event: "start", session: "s2", cwd: "/repo" }]);
});

test("with a prompt comes a part of its own, which is marked as not typed by the person", async () => {
  answer('{"text": "Decided: uv."}');
  const output = { parts: [{ type: "text", text: "install it", messageID: "m1" }] as Part[] };
  await hooks["chat.message"](session, output);
  expect(output.parts[1]).toMatchObject({ type: "text", text: "Decided: uv.", synthetic: true, messageID: "m1", sessionID: "s1" });
  await hooks["chat.message"](session, { parts: [{ type: "text", text: "a".repeat(1000), synthetic: true }] });
  expect(questions()).toEqual([{ event: "prompt", session: "s1", cwd: "/repo", prompt: "install it" }]);
});

test("after a read and a failed command the text is added to the result, after others nothing is asked", async () => {
  answer('{"text": "Known fix."}');
  const read = { output: "x = 1" };
  await hooks["tool.execute.after"]({ ...session, tool: "read", args: { filePath: "/repo/a.py" } }, read);
  expect(read.output).toBe("x = 1\nKnown fix.");
  const failed = { output: "no module", metadata: { exit: 1 } };
  await hooks["tool.execute.after"]({ ...session, tool: "bash", args: { command: "pytest" } }, failed);
  expect(failed.output).toBe("no module\nKnown fix.");
  const passed = { output: "ok", metadata: { exit: 0 } };
  await hooks["tool.execute.after"]({ ...session, tool: "bash", args: { command: "pytest" } }, passed);
  await hooks["tool.execute.after"]({ ...session, tool: "grep", args: {} }, passed);
  expect(passed.output).toBe("ok");
  expect(questions()).toEqual([
    { event: "read", session: "s1", cwd: "/repo", path: "/repo/a.py" },
    { event: "failure", session: "s1", cwd: "/repo", command: "pytest", output: "no module" },
  ]);
});

test("an edit is held up only if the program says so", async () => {
  answer('{"deny": "Before this edit: prices are Decimal."}');
  const edit = hooks["tool.execute.before"]({ ...session, tool: "edit" }, { args: { filePath: "/repo/a.py" } });
  await expect(edit).rejects.toThrow("Before this edit: prices are Decimal.");
  answer("");
  await hooks["tool.execute.before"]({ ...session, tool: "write" }, { args: { filePath: "/repo/a.py" } });
  await hooks["tool.execute.before"]({ ...session, tool: "bash" }, { args: { command: "ls" } });
});

test("a program that is missing, crashes, is slow or answers nonsense stops nothing", async () => {
  const ask = async (): Promise<number> => {
    const began = performance.now();
    const output = { parts: [{ type: "text", text: "hello", messageID: "m1" }] as Part[] };
    await hooks["chat.message"](session, output);
    expect(output.parts.length).toBe(1);
    return performance.now() - began;
  };
  await ask();
  answer("", "exit 3");
  await ask();
  answer("", "kill -SEGV $$");
  await ask();
  answer("[1");
  await ask();
  answer('{"text": 3}');
  await ask();
  await load(300);
  answer('{"text": "late"}', "exec sleep 30");
  await ask(); // would take longer than the test may
});

test("odd inputs of the agent stop nothing", async () => {
  answer('{"text": "Decided: uv."}');
  await hooks["chat.message"](session, { parts: [] });
  await hooks["tool.execute.after"]({ ...session, tool: "read" }, {});
  await hooks["tool.execute.before"]({ ...session, tool: "edit" }, { args: {} });
  expect(questions()).toEqual([]);
});
