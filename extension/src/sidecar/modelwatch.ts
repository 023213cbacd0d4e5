import * as vscode from "vscode";
import type { Context } from "./context";
import { modelFace } from "../text/modelwording";
import * as protocol from "../protocol";

type Watched = Pick<Context, "request" | "isRunning" | "settings" | "status" | "output" | "onSyncProgress" | "onModelChanged">;

/** Keeps what the status item says of the model: asked at the start, after each sync and when settings, keys or the editor's models changed. */
export class ModelWatch implements vscode.Disposable {
  readonly #subscriptions: vscode.Disposable[];
  #running: Promise<void> | undefined;
  #again = false;

  constructor(private readonly context: Watched) {
    this.#subscriptions = [
      context.onModelChanged(() => void this.refresh()),
      context.onSyncProgress(({ stage }) => {
        if (stage === "done" || stage === "failed" || stage === "cancelled") void this.refresh();
      }),
    ];
  }

  /** Asks once more; what is told while it asks is asked for once after it. */
  refresh(): Promise<void> {
    if (this.#running !== undefined) {
      this.#again = true;
      return this.#running;
    }
    this.#running = this.#look().finally(() => {
      this.#running = undefined;
      if (!this.#again) return;
      this.#again = false;
      void this.refresh();
    });
    return this.#running;
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }

  async #look(): Promise<void> {
    const { context } = this;
    if (!context.isRunning || !context.settings.enabled || !vscode.workspace.isTrusted) {
      context.status.setModel(modelFace([]));
      return;
    }
    const views: protocol.ModelView[] = [];
    for (const root of context.status.projects()) {
      try {
        views.push(await context.request(protocol.modelStatus, { root }));
      } catch (error) {
        context.output.info(`The model of ${root} could not be determined: ${error instanceof Error ? error.message : String(error)}`); // no repository, most often
      }
    }
    context.status.setModel(modelFace(views));
  }
}
