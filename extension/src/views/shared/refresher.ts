import * as vscode from "vscode";
import type { Context } from "../../sidecar/context";

/** Minimum time between two refreshes, so that a fast sync does not keep the views busy. */
const refreshIntervalMs = 1000;

/** Calls `refresh` when a view may be outdated: a sync ended, candidates changed, the sidecar started or stopped, trust was granted, or `also` asks for it. */
export class Refresher implements vscode.Disposable {
  readonly #subscriptions: vscode.Disposable[];
  #timer: NodeJS.Timeout | undefined;
  #again = false;

  constructor(
    context: Pick<Context, "onSyncProgress" | "onCandidatesChanged" | "onRunningChanged">,
    private readonly refresh: () => void,
    also: (soon: () => void) => vscode.Disposable = () => vscode.Disposable.from(),
  ) {
    this.#subscriptions = [
      context.onSyncProgress(({ stage }) => {
        if (stage === "done" || stage === "failed" || stage === "cancelled") this.#soon();
      }),
      context.onCandidatesChanged(() => this.#soon()),
      context.onRunningChanged(() => this.#soon()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.#soon()),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.#soon()),
      also(() => this.#soon()),
    ];
  }

  dispose(): void {
    clearTimeout(this.#timer);
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }

  /** Refreshes now, or once the minimum time has passed. */
  #soon(): void {
    if (this.#timer !== undefined) {
      this.#again = true;
      return;
    }
    this.refresh();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (!this.#again) return;
      this.#again = false;
      this.#soon();
    }, refreshIntervalMs);
  }
}

/** Whether a view can send requests; if not, its welcome text says why. */
export async function canAsk({ isRunning, settings }: Pick<Context, "isRunning" | "settings">): Promise<boolean> {
  if (!vscode.workspace.isTrusted || !settings.enabled) return false;
  if (!isRunning) await tellState("stopped");
  return isRunning;
}

/** Sets the context key that the views' welcome texts depend on. */
export function tellState(state: "stopped" | "empty" | "listed"): Thenable<unknown> {
  return vscode.commands.executeCommand("setContext", "lerim.sessionsState", state);
}
