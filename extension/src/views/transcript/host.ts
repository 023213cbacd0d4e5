import * as vscode from "vscode";
import { addMemoryFromWords } from "../../commands/addmemory";
import { resumeSession } from "../../commands/resume";
import { isToken } from "../../editor/arguments";
import { errorText } from "../../editor/errors";
import type { Context } from "../../sidecar/context";
import * as protocol from "../../protocol";
import { plainText, shorten } from "../../text/wording";
import { showPage } from "../shared/html";
import { agentIcon } from "../shared/icons";
import { makeReporter, receiveMessages } from "../shared/receive";
import { Edits } from "./edits";
import { openSessionFile } from "./sessionfiles";
import { type FromTranscript, parseFromTranscript, type ToTranscript } from "./messages";

const viewType = "lerim.transcript";
const maxTitleLength = 40;

type TranscriptContext = Pick<Context, "request" | "output" | "extension" | "onSyncProgress">;

/** The transcript viewers: one panel per session. */
export class Transcripts implements vscode.Disposable, vscode.WebviewPanelSerializer {
  readonly #transcripts = new Map<string, Transcript>();
  readonly #edits = new Edits();
  readonly #subscriptions: vscode.Disposable[];

  constructor(private readonly context: TranscriptContext) {
    this.#subscriptions = [
      vscode.window.registerWebviewPanelSerializer(viewType, this),
      context.onSyncProgress(({ stage }) => {
        if (stage === "done" || stage === "cancelled") for (const transcript of this.#transcripts.values()) transcript.refresh();
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => {
        for (const transcript of this.#transcripts.values()) transcript.refresh();
      }),
    ];
  }

  /** Shows a session at a turn ("": the last position, or its start), in its existing panel if there is one. */
  async open(id: string, turn: string): Promise<void> {
    const existing = this.#transcripts.get(id);
    if (existing !== undefined) return existing.showTurn(turn);
    this.#addTranscript(id, turn, vscode.window.createWebviewPanel(viewType, "Session", vscode.ViewColumn.Active, { enableScripts: true }));
    await Promise.resolve();
  }

  /** Called by VS Code when a window with an open viewer is restored. */
  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const id = typeof state === "object" && state !== null && "id" in state ? state.id : undefined;
    if (!isToken(id) || this.#transcripts.has(id)) panel.dispose();
    else this.#addTranscript(id, "", panel);
    await Promise.resolve();
  }

  dispose(): void {
    for (const transcript of [...this.#transcripts.values()]) transcript.panel.dispose();
    vscode.Disposable.from(...this.#subscriptions).dispose();
    this.#edits.dispose();
  }

  #addTranscript(id: string, turn: string, panel: vscode.WebviewPanel): void {
    const transcript = new Transcript(this.context, this.#edits, panel, id, turn);
    this.#transcripts.set(id, transcript);
    panel.onDidDispose(() => {
      if (this.#transcripts.get(id) === transcript) this.#transcripts.delete(id);
    });
  }
}

/** The host side of one viewer: answers the requests of its webview. */
class Transcript {
  /** The turn to show once the webview is ready. */
  #turnToShow: string;
  #webviewReady = false;
  #isClosed = false;
  #outline: protocol.OutlineView | undefined;
  /** The outputs that are being read, one after the other: each takes a process. */
  #outputs: Promise<void> = Promise.resolve();
  readonly #report: (error: unknown) => void;

  constructor(
    private readonly context: TranscriptContext,
    private readonly edits: Edits,
    readonly panel: vscode.WebviewPanel,
    private readonly id: string,
    turn: string,
  ) {
    this.#turnToShow = turn;
    this.#report = makeReporter(context.output, (message) => this.#post({ type: "failed", message }));
    receiveMessages(panel, context.output, parseFromTranscript, (message) => this.#handle(message), this.#report);
    panel.onDidDispose(() => (this.#isClosed = true));
    panel.onDidChangeViewState(() => {
      if (!panel.visible) this.#webviewReady = false; // its page is gone, and sends "ready" when it is shown again
    });
    showPage(panel, context.extension, "transcript", "Session");
  }

  /** Sends the session's outline; the webview requests the turns it needs. */
  refresh(): void {
    if (!this.#webviewReady) return; // it will send "ready"
    this.#sendOutline().catch(this.#report);
  }

  async showTurn(turn: string): Promise<void> {
    this.panel.reveal();
    this.#turnToShow = turn;
    this.refresh();
    await Promise.resolve();
  }

  async #sendOutline(): Promise<void> {
    if (!vscode.workspace.isTrusted) {
      this.#post({ type: "restricted" });
      return;
    }
    const turn = this.#turnToShow;
    const outline = await this.context.request(protocol.sessionOpen, { id: this.id, turn });
    if (this.#isClosed) return;
    this.#outline = outline;
    if (turn === this.#turnToShow) this.#turnToShow = ""; // shown once; later refreshes keep the person's position
    const { agent, platform } = outline.session;
    const title = plainText(outline.session.title);
    this.panel.title = shorten(title, maxTitleLength) || agent;
    const icon = agentIcon(this.context.extension.extensionUri, platform);
    if ("light" in icon) this.panel.iconPath = icon;
    this.#post({ type: "session", outline });
  }

  async #handle(message: FromTranscript): Promise<void> {
    const { id } = this;
    switch (message.type) {
      case "ready":
        this.#webviewReady = true;
        return this.#sendOutline();
      case "loadTurns": {
        const { start, count } = message;
        this.#post({ type: "turns", ...(await this.context.request(protocol.sessionTurns, { id, start, count, whole: false })) });
        return;
      }
      case "loadWholeTurn":
        this.#post({ type: "turns", ...(await this.context.request(protocol.sessionTurns, { id, start: message.position, count: 1, whole: true })) });
        return;
      case "find": {
        const { positions } = await this.context.request(protocol.sessionFind, { id, text: message.text });
        this.#post({ type: "findResult", text: message.text, positions });
        return;
      }
      case "openFile":
        return openSessionFile(message.path, message.line, this.#outline?.session.folder ?? "");
      case "openDiff":
        return this.#openDiff(message.turn, message.call);
      case "loadOutput":
        this.#outputs = this.#outputs.then(() => this.#sendOutput(message.turn, message.call));
        return;
      case "copy":
        await vscode.env.clipboard.writeText(message.text);
        return;
      case "copyWholeTurn": {
        const { turns } = await this.context.request(protocol.sessionTurns, { id, start: message.position, count: 1, whole: true });
        await vscode.env.clipboard.writeText(turns[0]?.text ?? "");
        return;
      }
      case "remember":
        return addMemoryFromWords(this.context, { session: id, turn: message.turn, text: message.text });
      case "resume":
        return resumeSession(this.context, id);
      case "manageTrust":
        await vscode.commands.executeCommand("workbench.trust.manage");
        return;
    }
  }

  /** Shows what a call changed, once it was read from the session's transcript, which may take a moment. */
  async #openDiff(turn: string, call: number): Promise<void> {
    const { edits } = await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title: "Reading the edit" }, (_progress, token) =>
      this.context.request(protocol.sessionCall, { id: this.id, turn, call }, token),
    );
    if (edits.length === 0) throw new Error("The text of this edit is not in the transcript. Open the file instead.");
    await this.edits.show(edits, this.#outline?.session.agent ?? "the agent");
  }

  /** Sends what a call printed. Like an edit, it is read from the session's transcript. */
  async #sendOutput(turn: string, call: number): Promise<void> {
    if (this.#isClosed) return;
    const answer = { type: "output", turn, call, text: "", cut: 0, failed: "" } as const;
    try {
      const { output, outputCut } = await this.context.request(protocol.sessionCall, { id: this.id, turn, call });
      this.#post({ ...answer, text: output, cut: outputCut });
    } catch (error) {
      this.#post({ ...answer, failed: errorText(error) });
    }
  }

  #post(message: ToTranscript): void {
    if (!this.#isClosed) void this.panel.webview.postMessage(message);
  }
}
