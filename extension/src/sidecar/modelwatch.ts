import { errorText } from "../editor/errors";
import * as vscode from "vscode";
import type { Context } from "./context";
import { modelSummary } from "../text/modelwording";
import { hasEnded } from "../text/wording";
import * as protocol from "../protocol";
import { RestartQueue } from "./restart";

type WatchContext = Pick<Context, "request" | "isRunning" | "settings" | "status" | "output" | "onSyncProgress" | "onModelChanged">;

/** Updates the model in the status item: at the start, after each sync, and when settings, keys or the editor's models change. */
export class ModelWatch implements vscode.Disposable {
  readonly #subscriptions: vscode.Disposable[];
  readonly #loads = new RestartQueue(() => this.#loadModels());

  constructor(private readonly context: WatchContext) {
    this.#subscriptions = [
      context.onModelChanged(() => void this.refresh()),
      context.onSyncProgress(({ stage }) => {
        if (hasEnded(stage)) void this.refresh();
      }),
    ];
  }

  /** Loads the model status; calls during a load cause one more load after it. */
  refresh(): Promise<void> {
    return this.#loads.request();
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }

  async #loadModels(): Promise<void> {
    const { context } = this;
    if (!context.isRunning || !context.settings.enabled || !vscode.workspace.isTrusted) {
      context.status.setModel(modelSummary([]));
      return;
    }
    const views: protocol.ModelView[] = [];
    for (const root of context.status.projects()) {
      try {
        views.push(await context.request(protocol.modelStatus, { root }));
      } catch (error) {
        context.output.info(`The model of ${root} could not be determined: ${errorText(error)}`); // usually not a repository
      }
    }
    context.status.setModel(modelSummary(views));
  }
}
