import * as vscode from "vscode";
import { openMemory } from "../../commands/memories";
import { errorText } from "../../editor/errors";
import { showError } from "../../editor/notifications";
import { chooseRoot } from "../../editor/roots";
import * as protocol from "../../protocol";
import type { Context } from "../../sidecar/context";
import { showPage } from "../shared/html";
import { makeReporter, receiveMessages } from "../shared/receive";
import { type BenefitState, type FromBenefit, parseFromBenefit } from "./messages";

const viewType = "lerim.benefit";

/** The host side of the Lerim: Show Benefit of Memories panel. Its figures are computed when it opens and on request. */
export class BenefitPanel implements vscode.Disposable {
  #panel: vscode.WebviewPanel | undefined;
  #root: string | undefined;
  #state: BenefitState = { state: "computing", message: "" };
  #running: vscode.CancellationTokenSource | undefined;

  constructor(private readonly context: Pick<Context, "request" | "output" | "extension">) {}

  /** Opens the panel or brings it to the front, and computes the figures. */
  async show(): Promise<void> {
    const folder = await chooseRoot();
    if (folder === undefined) return;
    this.#root = folder.uri.toString();
    if (this.#panel === undefined) this.#attachPanel(vscode.window.createWebviewPanel(viewType, "Benefit of Memories", vscode.ViewColumn.Active, { enableScripts: true }));
    else this.#panel.reveal();
    await this.#compute();
  }

  dispose(): void {
    this.#panel?.dispose();
  }

  #attachPanel(panel: vscode.WebviewPanel): void {
    this.#panel = panel;
    const { output } = this.context;
    receiveMessages(panel, output, parseFromBenefit, (message) => this.#handle(message), makeReporter(output, showError));
    panel.onDidDispose(() => {
      this.#panel = undefined;
      this.#running?.cancel();
    });
    showPage(panel, this.context.extension, "benefit", "Benefit of Memories");
  }

  #sendState(): void {
    void this.#panel?.webview.postMessage({ type: "state", state: this.#state });
  }

  async #handle(message: FromBenefit): Promise<void> {
    switch (message.type) {
      case "ready":
        this.#sendState();
        return;
      case "refresh":
        return this.#compute();
      case "connect":
        await vscode.commands.executeCommand("lerim.connectAgentsToMemory");
        return;
      case "open": {
        const handle = this.#state.view?.memories[message.row]?.handle;
        if (handle !== undefined && handle !== "") await openMemory(this.context, handle);
      }
    }
  }

  async #compute(): Promise<void> {
    const root = this.#root;
    if (root === undefined) return;
    this.#running?.cancel();
    const running = (this.#running = new vscode.CancellationTokenSource());
    this.#state = { state: "computing", message: "" };
    this.#sendState();
    let state: BenefitState;
    try {
      const view = await this.context.request(protocol.benefit, { root }, running.token);
      state = { state: "done", view, message: "" };
    } catch (error) {
      state = { state: "failed", message: errorText(error) };
      if (!running.token.isCancellationRequested) this.context.output.error(state.message);
    }
    running.dispose();
    if (this.#running !== running) return;
    this.#running = undefined;
    this.#state = state;
    this.#sendState();
  }
}
