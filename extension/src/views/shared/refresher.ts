import * as vscode from "vscode";
import type { Context } from "../../sidecar/context";

/** Between two refreshes, so that a sync that proposes quickly does not keep the views listing. */
const betweenMs = 1000;

/** Calls `refresh` when what a view lists may be another: a sync ended, candidates changed, the sidecar came or went, trust was granted, or what `also` calls it for. */
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

  /** Now, or once the time between two refreshes is over. */
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
    }, betweenMs);
  }
}

/** Whether a view has anything to ask for; where not, its welcome text says why. */
export async function canAsk({ isRunning, settings }: Pick<Context, "isRunning" | "settings">): Promise<boolean> {
  if (!vscode.workspace.isTrusted || !settings.enabled) return false;
  if (!isRunning) await tellState("stopped");
  return isRunning;
}

/** Sets what the views' welcome texts depend on. */
export function tellState(state: "stopped" | "empty" | "listed"): Thenable<unknown> {
  return vscode.commands.executeCommand("setContext", "lerim.sessionsState", state);
}
