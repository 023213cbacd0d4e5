import { type ChildProcess, execFile, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import type { Command, Platform } from "./environment";
import { guarded, guardEnvironment, taskkill } from "./guard";

export interface RunOptions {
  readonly env: Record<string, string>;
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** Milliseconds; the process is killed after them. */
  readonly timeout?: number;
  readonly onLine?: (line: string) => void;
}

/** `code` is null when the process was killed by us, and 127 when it could not be started. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  /** The last lines of both streams. */
  readonly tail: string;
}

export type Run = (command: Command, options: RunOptions) => Promise<Outcome>;

const tailLines = 200;
const graceMs = 1000;

/** Runs a process without a shell or a window; aborting the signal, or the end of this process, ends it and its children. Never rejects. */
export const run: Run = (command, options) =>
  new Promise((resolve) => {
    const lines: string[] = [];
    const stdout: string[] = [];
    if (options.signal.aborted) {
      resolve({ code: null, stdout: "", tail: "" });
      return;
    }
    const { file, args } = guarded(command, process.execPath, process.env);
    const child = spawn(file, args, {
      cwd: options.cwd,
      env: { ...options.env, ...guardEnvironment },
      stdio: "pipe",
      windowsHide: true,
      detached: true, // a group of its own; on Windows: not ended with this process, before it could end its children
    });
    child.stdin.on("error", () => undefined); // nothing is written; the guard may be gone before the pipe is
    const keep = (line: string): void => {
      lines.push(line);
      if (lines.length > tailLines) lines.shift();
      options.onLine?.(line);
    };
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (stdout.length < tailLines) stdout.push(line);
      keep(line);
    });
    createInterface({ input: child.stderr }).on("line", keep);
    let ended = false;
    const end = (): void => {
      ended = true;
      killTree(child);
    };
    const timer = options.timeout === undefined ? undefined : setTimeout(end, options.timeout);
    options.signal.addEventListener("abort", end, { once: true });
    let settled = false;
    const settle = (code: number | null): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      options.signal.removeEventListener("abort", end);
      // the guard may learn of its child's end before it is signalled itself, and then exits with a code
      resolve({ code: ended ? null : code, stdout: stdout.join("\n"), tail: lines.join("\n") });
    };
    child.on("error", (error) => {
      lines.push(error.message);
      settle(null);
    });
    child.on("close", settle);
  });

/** Ends a process started in a group of its own with all of that group, also when it has ended itself: asks first, and kills after a second. */
export function killTree(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  if (process.platform === "win32") {
    spawn(taskkill(process.env), ["/pid", String(pid), "/T", "/F"], { stdio: "ignore", windowsHide: true }).on("error", () => child.kill());
    return;
  }
  if (!signalGroup(pid, "SIGTERM")) return;
  const timer = setTimeout(() => signalGroup(pid, "SIGKILL"), graceMs);
  child.once("close", () => {
    if (!signalGroup(pid, 0)) clearTimeout(timer);
  });
}

/** Whether the group was there to be signalled. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false; // it has ended already
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** When a process was started, in words that differ for another process of the same id; "" where the system does not tell cheaply. */
export async function startOf(platform: Platform, pid: number): Promise<string> {
  try {
    if (platform === "linux") return startTicks(await readFile(`/proc/${pid}/stat`, "latin1"));
    if (platform !== "darwin") return "";
    const { stdout } = await promisify(execFile)("/bin/ps", ["-o", "lstart=", "-p", String(pid)], { env: { LC_ALL: "C", TZ: "UTC" }, timeout: 5000 });
    return stdout.trim().replaceAll(/\W+/g, "-");
  } catch {
    return "";
  }
}

/** The start time in a line of Linux's /proc/PID/stat, in clock ticks; the program's name before it may hold spaces and brackets. */
export function startTicks(stat: string): string {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}
