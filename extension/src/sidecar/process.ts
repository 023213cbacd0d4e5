import { type ChildProcess, execFile, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import type { Command, Platform } from "./environment";
import { withGuard, guardEnvironment, taskkill } from "./guard";

export interface RunOptions {
  readonly env: Record<string, string>;
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** Milliseconds after which the process is killed. */
  readonly timeout?: number;
  readonly onLine?: (line: string) => void;
}

/** `code` is null if the process was killed by us, and 127 if it could not be started. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  /** The last lines of both streams. */
  readonly tail: string;
}

export type Run = (command: Command, options: RunOptions) => Promise<Outcome>;

const tailLines = 200;
const killDelayMs = 1000;

/** Runs a process without a shell or window. It and its children end when the signal is aborted or this process ends. Never rejects. */
export const run: Run = (command, options) =>
  new Promise((resolve) => {
    const lines: string[] = [];
    const stdout: string[] = [];
    if (options.signal.aborted) {
      resolve({ code: null, stdout: "", tail: "" });
      return;
    }
    const { file, args } = withGuard(command, process.execPath, process.env);
    const child = spawn(file, args, {
      cwd: options.cwd,
      env: { ...options.env, ...guardEnvironment },
      stdio: "pipe",
      windowsHide: true,
      detached: true, // its own process group; on Windows, it must outlive this process to end its children
    });
    child.stdin.on("error", () => undefined); // nothing is written; the guard may end before the pipe closes
    const addLine = (line: string): void => {
      lines.push(line);
      if (lines.length > tailLines) lines.shift();
      options.onLine?.(line);
    };
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (stdout.length < tailLines) stdout.push(line);
      addLine(line);
    });
    createInterface({ input: child.stderr }).on("line", addLine);
    let wasKilled = false;
    const kill = (): void => {
      wasKilled = true;
      killTree(child);
    };
    const timer = options.timeout === undefined ? undefined : setTimeout(kill, options.timeout);
    options.signal.addEventListener("abort", kill, { once: true });
    let isFinished = false;
    const finish = (code: number | null): void => {
      if (isFinished) return;
      isFinished = true;
      clearTimeout(timer);
      options.signal.removeEventListener("abort", kill);
      // the guard may notice its child's end before it is signalled itself, and then exits with a code
      resolve({ code: wasKilled ? null : code, stdout: stdout.join("\n"), tail: lines.join("\n") });
    };
    child.on("error", (error) => {
      lines.push(error.message);
      finish(null);
    });
    child.on("close", finish);
  });

/** Ends a process and its whole group, even if the process itself has ended: first with a request, then by a kill after a second. */
export function killTree(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  if (process.platform === "win32") {
    spawn(taskkill(process.env), ["/pid", String(pid), "/T", "/F"], { stdio: "ignore", windowsHide: true }).on("error", () => child.kill());
    return;
  }
  if (!signalGroup(pid, "SIGTERM")) return;
  const timer = setTimeout(() => signalGroup(pid, "SIGKILL"), killDelayMs);
  child.once("close", () => {
    if (!signalGroup(pid, 0)) clearTimeout(timer);
  });
}

/** Signals a process group; false if it no longer exists. */
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

/** A text for the start time of a process, which differs for another process of the same id; "" if the system has no cheap way to find it. */
export async function processStart(platform: Platform, pid: number): Promise<string> {
  try {
    if (platform === "linux") return startTicks(await readFile(`/proc/${pid}/stat`, "latin1"));
    if (platform !== "darwin") return "";
    const { stdout } = await promisify(execFile)("/bin/ps", ["-o", "lstart=", "-p", String(pid)], { env: { LC_ALL: "C", TZ: "UTC" }, timeout: 5000 });
    return stdout.trim().replaceAll(/\W+/g, "-");
  } catch {
    return "";
  }
}

/** The start time in a line of /proc/PID/stat on Linux, in clock ticks. The program's name before it may contain spaces and brackets. */
export function startTicks(stat: string): string {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}
