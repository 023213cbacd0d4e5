import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type * as vscode from "vscode";
import { CloseAction, ErrorAction, LanguageClient, type LanguageClientOptions, type StaticFeature, Trace } from "vscode-languageclient/node";
import { linkCommands } from "../editor/arguments";
import type { Command } from "./environment";
import type { InitOptions } from "../protocol";
import { maxFileKb, type Settings } from "../editor/settings";
import { limitSize } from "../editor/size";
import { placeLensesOnSymbols } from "../editor/symbols";
import { tickStep } from "../editor/walkthroughsteps";

export interface Sidecar {
  readonly command: Command;
  readonly env: Record<string, string>;
  readonly cwd: string;
}

const tailLines = 200;
const maxRestarts = 3;
const restartWindowMs = 180_000;
const exitGraceMs = 1500;

/** Tells the sidecar that the commands in its links and code actions are this extension's: for other editors it runs them itself. */
const runsCommands: StaticFeature = {
  fillClientCapabilities: (capabilities) => {
    capabilities.experimental = { lerimCommands: true };
  },
  initialize: () => undefined,
  getState: () => ({ kind: "static" }),
  clear: () => undefined,
};

/** The language client and its sidecar process: keeps the last lines the process printed, and makes sure that it ends. */
export class SidecarClient {
  readonly client: LanguageClient;
  /** The last lines the sidecar printed to stderr, to explain a failed start. */
  readonly tail: string[] = [];
  #child: ChildProcess | undefined;
  readonly #closeTimes: number[] = [];
  #stopping = false;

  constructor(sidecar: Sidecar, init: InitOptions, output: vscode.LogOutputChannel) {
    const options: LanguageClientOptions = {
      documentSelector: [{ scheme: "file" }],
      outputChannel: output,
      initializationOptions: init,
      // only these command links are active; other command links in a memory's text have no effect
      markdown: { isTrusted: { enabledCommands: [...linkCommands] }, supportHtml: false },
      middleware: { ...limitSize(maxFileKb * 1024, () => tickStep("hover")), ...placeLensesOnSymbols() },
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          const restart = !this.#stopping && this.#mayRestart();
          output.warn(restart ? "Lerim's background process ended unexpectedly and is being restarted." : "Lerim's background process ended.");
          return { action: restart ? CloseAction.Restart : CloseAction.DoNotRestart, handled: true };
        },
      },
      stdioOptions: {
        stdout: () => undefined,
        stderr: () => undefined, // read in #spawn
      },
    };
    this.client = new LanguageClient("lerim", "Lerim", () => this.#spawn(sidecar, output), options);
    this.client.registerFeature(runsCommands);
  }

  /** Asks the sidecar to end, and kills it if it does not. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const child = this.#child;
    try {
      if (this.client.needsStop()) await this.client.stop(exitGraceMs);
    } catch {
      // it did not answer; ended below
    }
    await this.client.dispose().catch(() => undefined);
    if (child !== undefined) await waitForExit(child);
  }

  #mayRestart(): boolean {
    const now = Date.now();
    this.#closeTimes.push(now);
    return this.#closeTimes.filter((time) => now - time < restartWindowMs).length <= maxRestarts;
  }

  #spawn(sidecar: Sidecar, output: vscode.LogOutputChannel): Promise<ChildProcess> {
    return new Promise((resolve, reject) => {
      const child = spawn(sidecar.command.file, sidecar.command.args, {
        cwd: sidecar.cwd,
        env: sidecar.env,
        stdio: "pipe",
        windowsHide: true,
      });
      this.#child = child;
      createInterface({ input: child.stderr }).on("line", (line) => {
        output.info(line);
        this.tail.push(line);
        this.tail.splice(0, this.tail.length - tailLines);
      });
      child.once("error", (error) => {
        this.tail.push(error.message);
        reject(error);
      });
      child.once("spawn", () => resolve(child));
    });
  }
}

export function toTrace(setting: Settings["trace.server"]): Trace {
  return { off: Trace.Off, messages: Trace.Messages, verbose: Trace.Verbose }[setting];
}

function waitForExit(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill("SIGKILL"), exitGraceMs);
    child.once("exit", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
