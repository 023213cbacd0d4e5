import { errorText } from "../../editor/errors";
import { showError } from "../../editor/notifications";
import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import type { Context } from "../../sidecar/context";
import { openMemory } from "../../commands/memories";
import * as protocol from "../../protocol";
import { chooseRoot, rootFolders } from "../../editor/roots";
import type { TurnOpener } from "../../commands/turns";
import { type AnswerState, type FromAsk, noAnswer, parseFromAsk, type ToAsk } from "./messages";
import { showPage } from "../shared/html";
import { makeReporter, receiveMessages } from "../shared/receive";

const viewType = "lerim.ask";

/** The host side of the Lerim: Ask a Question panel: one question at a time, its answer shown sentence by sentence. */
export class AskPanel implements vscode.Disposable, vscode.WebviewPanelSerializer {
  #panel: vscode.WebviewPanel | undefined;
  #root: string | undefined;
  #state: AnswerState = noAnswer;
  #runningQuestion: { readonly token: string; readonly cancel: vscode.CancellationTokenSource } | undefined;
  readonly #subscriptions: vscode.Disposable[];

  constructor(
    private readonly context: Pick<Context, "request" | "output" | "extension" | "on">,
    private readonly turns: Pick<TurnOpener, "open">,
  ) {
    this.#subscriptions = [
      vscode.window.registerWebviewPanelSerializer(viewType, this),
      context.on(protocol.answer, ({ token, sentence }) => {
        if (token !== this.#runningQuestion?.token) return;
        this.#state = { ...this.#state, sentences: [...this.#state.sentences, sentence] };
        this.#post({ type: "sentence", question: this.#state.question, sentence });
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.#sendState()),
    ];
  }

  /** Opens the panel or brings it to the front, and asks `question` if there is one. */
  async show(question = ""): Promise<void> {
    const folder = await chooseRoot();
    if (folder === undefined) return;
    const root = folder.uri.toString();
    if (root !== this.#root) this.#forgetAnswer(); // it is about another folder, and so are its sources
    this.#root = root;
    if (this.#panel === undefined) this.#attachPanel(vscode.window.createWebviewPanel(viewType, "Ask Lerim", vscode.ViewColumn.Active, { enableScripts: true }));
    else this.#panel.reveal();
    if (question !== "") await this.#ask(question, false);
  }

  /** Called by VS Code when a window with an open panel is restored. Earlier answers are not restored. */
  async deserializeWebviewPanel(panel: vscode.WebviewPanel): Promise<void> {
    const root = rootFolders()[0]?.uri.toString();
    if (this.#panel !== undefined || root === undefined) {
      panel.dispose();
    } else {
      this.#root = root;
      this.#attachPanel(panel);
    }
    await Promise.resolve();
  }

  dispose(): void {
    this.#panel?.dispose();
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }

  #attachPanel(panel: vscode.WebviewPanel): void {
    this.#panel = panel;
    const { output } = this.context;
    receiveMessages(panel, output, parseFromAsk, (message) => this.#handle(message), makeReporter(output, showError));
    panel.onDidDispose(() => {
      this.#panel = undefined;
      this.#forgetAnswer();
    });
    showPage(panel, this.context.extension, "ask", "Ask Lerim");
  }

  #post(message: ToAsk): void {
    void this.#panel?.webview.postMessage(message);
  }

  #sendState(): void {
    this.#post({ type: "state", state: this.#state, restricted: !vscode.workspace.isTrusted });
  }

  async #handle(message: FromAsk): Promise<void> {
    switch (message.type) {
      case "ready":
        this.#sendState();
        return;
      case "ask":
        return this.#ask(message.question, message.all);
      case "cancel":
        this.#cancelQuestion();
        return;
      case "open":
        return this.#openSource(message.number);
      case "chooseModel":
        await vscode.commands.executeCommand("lerim.chooseModel");
        return;
      case "searchByMeaning":
        await vscode.commands.executeCommand("lerim.searchMemories", this.#state.question, true);
    }
  }

  async #ask(question: string, all: boolean): Promise<void> {
    const root = this.#root;
    if (root === undefined || !vscode.workspace.isTrusted) return;
    this.#cancelQuestion();
    const running = (this.#runningQuestion = { token: randomUUID(), cancel: new vscode.CancellationTokenSource() });
    this.#state = { ...noAnswer, question, all, state: "asking" };
    this.#sendState();
    let answer: AnswerState;
    try {
      const { sentences, passages, known, model, state, message } = await this.context.request(protocol.ask, { root, question, token: running.token, all }, running.cancel.token);
      answer = { question, all, sentences, passages, known, model, state, note: message };
    } catch (error) {
      const cancelled = running.cancel.token.isCancellationRequested;
      if (!cancelled) this.context.output.error(errorText(error));
      answer = { ...this.#state, state: cancelled ? "cancelled" : "failed", note: cancelled ? "Cancelled." : errorText(error) };
    }
    running.cancel.dispose();
    if (this.#runningQuestion !== running) return;
    this.#runningQuestion = undefined;
    this.#state = answer;
    this.#sendState();
  }

  #cancelQuestion(): void {
    this.#runningQuestion?.cancel.cancel();
  }

  #forgetAnswer(): void {
    this.#cancelQuestion();
    this.#runningQuestion = undefined;
    this.#state = noAnswer;
    this.#sendState();
  }

  /** Opens the source with this citation number. */
  async #openSource(number: number): Promise<void> {
    const { sentences, passages } = this.#state;
    const citations = [...passages.map(({ citation }) => citation), ...sentences.flatMap(({ citations }) => citations)];
    const citation = citations.find((citation) => citation.number === number);
    if (citation === undefined || this.#root === undefined) return;
    if (citation.kind === "memory") await openMemory(this.context, citation.handle);
    else await this.turns.open({ root: this.#root, session: citation.session, turn: citation.turn });
  }
}
