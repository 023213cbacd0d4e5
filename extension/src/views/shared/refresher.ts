import * as vscode from "vscode";
import type { Context } from "../../sidecar/context";
import { watchForRepositories } from "../../editor/roots";
import { hasEnded } from "../../text/wording";

/** Minimum time between two refreshes, so that a fast sync does not keep the views busy. */
const refreshIntervalMs = 1000;

/** Calls `refresh` when a view may be outdated: a sync ended, candidates changed, the sidecar started or stopped, trust was granted, the folders changed, one became a repository, or an event that `subscribe` listens to. */
export class Refresher implements vscode.Disposable {
  readonly #subscriptions: vscode.Disposable[];
  #timer: NodeJS.Timeout | undefined;
  #refreshRequested = false;

  constructor(
    context: Pick<Context, "onSyncProgress" | "onCandidatesChanged" | "onRunningChanged">,
    private readonly refresh: () => void,
    subscribe: (requestRefresh: () => void) => vscode.Disposable = () => vscode.Disposable.from(),
  ) {
    this.#subscriptions = [
      context.onSyncProgress(({ stage }) => {
        if (hasEnded(stage)) this.#requestRefresh();
      }),
      context.onCandidatesChanged(() => this.#requestRefresh()),
      context.onRunningChanged(() => this.#requestRefresh()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.#requestRefresh()),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.#requestRefresh()),
      watchForRepositories(() => this.#requestRefresh()),
      subscribe(() => this.#requestRefresh()),
    ];
  }

  dispose(): void {
    clearTimeout(this.#timer);
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }

  /** Refreshes now, or once the minimum time has passed. */
  #requestRefresh(): void {
    if (this.#timer !== undefined) {
      this.#refreshRequested = true;
      return;
    }
    this.refresh();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (!this.#refreshRequested) return;
      this.#refreshRequested = false;
      this.#requestRefresh();
    }, refreshIntervalMs);
  }
}

/** Whether a view can send requests; if not, its welcome text says why. */
export async function canRequest({ isRunning, settings }: Pick<Context, "isRunning" | "settings">): Promise<boolean> {
  if (!vscode.workspace.isTrusted || !settings.enabled) return false;
  if (!isRunning) await setSessionsState("stopped");
  return isRunning;
}

/** Sets the context key that the views' welcome texts depend on. */
export function setSessionsState(state: "stopped" | "empty" | "outside" | "listed"): Thenable<unknown> {
  return vscode.commands.executeCommand("setContext", "lerim.sessionsState", state);
}
