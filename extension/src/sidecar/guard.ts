// Makes sure that processes of the setup end with the editor, however it ends: each gets a guard that watches a pipe from the editor.
import { win32 } from "node:path";
import type { Command, Environ } from "./environment";

// Runs in the editor's own Node as the leader of a process group. The pipe at its stdin closes when the editor ends. Then, or once it was asked
// to end and its child has ended, it kills the whole group. Windows has no process groups, so the process tree is ended instead.
const guardScript = `
const { spawn, spawnSync } = require("node:child_process");
const { writeSync } = require("node:fs");
const [taskkill, file, ...args] = process.argv.slice(1);
delete process.env.ELECTRON_RUN_AS_NODE;
const child = spawn(file, args, { stdio: ["ignore", "inherit", "inherit"], windowsHide: true });
let asked = false;
function endAll() {
  if (process.platform !== "win32") process.kill(0, "SIGKILL");
  spawnSync(taskkill, ["/pid", String(child.pid), "/T", "/F"], { stdio: "ignore", windowsHide: true });
  process.exit(1);
}
child.on("error", (error) => {
  writeSync(2, error.message + "\\n");
  process.exit(127);
});
child.on("exit", (code, signal) => {
  if (asked) endAll();
  if (signal !== null) writeSync(2, "ended by " + signal + "\\n");
  process.exit(code ?? 1);
});
process.on("SIGTERM", () => { asked = true; });
process.stdin.on("end", endAll).on("error", endAll).resume();
`;

/** Wraps `command` in a guard run by `node`, the editor's executable. It must be started detached, with a pipe as stdin. */
export function withGuard(command: Command, node: string, environ: Environ): Command {
  return { file: node, args: ["-e", guardScript, "--", taskkill(environ), command.file, ...command.args] };
}

/** Variables the guard's process needs in addition to the command's environment; the command does not get them. */
export const guardEnvironment = { ELECTRON_RUN_AS_NODE: "1" } as const;

/** The absolute path of taskkill on Windows: PATH or the current folder may contain another program of that name. */
export function taskkill(environ: Environ): string {
  const root = Object.entries(environ).find(([name]) => name.toUpperCase() === "SYSTEMROOT")?.[1];
  return win32.join(root === undefined || root === "" ? "C:\\Windows" : root, "System32", "taskkill.exe");
}
