// What the set-up starts must not outlive the editor, however that ends: each process gets a guard that watches the editor's end of a pipe.
import { win32 } from "node:path";
import type { Command, Environ } from "./environment";

// Runs in the editor's own Node as the leader of a process group. The pipe at its stdin ends with the editor; then, or once it was asked to end
// and what it started has ended, it kills the whole group. On Windows, where there are no groups, the tree of processes is ended instead.
const guard = `
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

/** `command` under a guard that `node`, the editor's own executable, runs; to be started detached with a pipe as its stdin. */
export function guarded(command: Command, node: string, environ: Environ): Command {
  return { file: node, args: ["-e", guard, "--", taskkill(environ), command.file, ...command.args] };
}

/** What the guard's own process needs beside the command's environment; it is not handed on to the command. */
export const guardEnvironment = { ELECTRON_RUN_AS_NODE: "1" } as const;

/** Windows' own program that ends a tree of processes, by its path: what stands on PATH or in the current folder may be another. */
export function taskkill(environ: Environ): string {
  const root = Object.entries(environ).find(([name]) => name.toUpperCase() === "SYSTEMROOT")?.[1];
  return win32.join(root === undefined || root === "" ? "C:\\Windows" : root, "System32", "taskkill.exe");
}
