import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Command } from "./environment";

export interface RunOptions {
  readonly env: Record<string, string>;
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** Milliseconds; the process is killed after them. */
  readonly timeout?: number;
  readonly onLine?: (line: string) => void;
}

/** `code` is null when the process could not be started or was killed. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  /** The last lines of both streams. */
  readonly tail: string;
}

export type Run = (command: Command, options: RunOptions) => Promise<Outcome>;

const tailLines = 200;
const graceMs = 1000;

/** Runs a process without a shell or a window; aborting the signal ends it and its children. Never rejects. */
export const run: Run = (command, options) =>
  new Promise((resolve) => {
    const lines: string[] = [];
    const stdout: string[] = [];
    if (options.signal.aborted) {
      resolve({ code: null, stdout: "", tail: "" });
      return;
    }
    const child = spawn(command.file, command.args, {
      cwd: options.cwd,
      env: options.env,
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
      detached: process.platform !== "win32", // a group of its own, so that its children can be ended with it
    });
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
    const end = (): void => killTree(child);
    const timer = options.timeout === undefined ? undefined : setTimeout(end, options.timeout);
    options.signal.addEventListener("abort", end, { once: true });
    let settled = false;
    const settle = (code: number | null): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      options.signal.removeEventListener("abort", end);
      resolve({ code, stdout: stdout.join("\n"), tail: lines.join("\n") });
    };
    child.on("error", (error) => {
      lines.push(error.message);
      settle(null);
    });
    child.on("close", settle);
  });

/** Ends a process and what it started: asks first, and kills after a second. */
export function killTree(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  if (process.platform === "win32") {
    spawn("taskkill", ["/pid", String(pid), "/T", "/F"], { stdio: "ignore", windowsHide: true }).on("error", () => child.kill());
    return;
  }
  signalGroup(pid, "SIGTERM");
  const timer = setTimeout(() => signalGroup(pid, "SIGKILL"), graceMs);
  child.once("close", () => clearTimeout(timer));
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // the group has ended already
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
