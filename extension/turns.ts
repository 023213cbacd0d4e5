import * as vscode from "vscode";
import { parseTurn, type TurnTarget } from "./arguments";
import type { Context } from "./context";
import * as protocol from "./protocol";

const scheme = "lerim-turn";

/** How long a tab that is open may take to show what it was told anew; the cursor then goes where the turn was before. */
const patienceMs = 2000;

/** Turns of transcripts as read-only documents, one a turn; an open one follows its session as syncs read it. */
export class Turns implements vscode.TextDocumentContentProvider, vscode.Disposable {
  /** What was just asked for by `open`; taken by the document that is made or renewed of it. */
  readonly #fresh = new Map<string, string>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #subscriptions: { dispose(): unknown }[];

  constructor(private readonly context: Pick<Context, "request" | "onSyncProgress">) {
    this.#subscriptions = [
      this.#changed,
      vscode.workspace.registerTextDocumentContentProvider(scheme, this),
      context.onSyncProgress(({ stage }) => {
        if (stage !== "done" && stage !== "cancelled") return;
        for (const { uri } of vscode.workspace.textDocuments) if (uri.scheme === scheme) this.#changed.fire(uri);
      }),
    ];
  }

  /** Shows the transcript around a turn with the cursor on it. */
  async open(target: TurnTarget): Promise<void> {
    const view = await this.context.request(protocol.turn, target);
    const uri = turnUri(view);
    const document = await this.#document(uri, view.text);
    const line = Math.min(Math.max(view.line, 0), document.lineCount - 1);
    const at = new vscode.Range(line, 0, line, 0);
    const editor = await vscode.window.showTextDocument(document, { preview: false, selection: at });
    editor.revealRange(at, vscode.TextEditorRevealType.AtTop);
  }

  /** Called by VS Code; a tab restored with the window is asked of the sidecar again. */
  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const fresh = this.#fresh.get(uri.toString());
    if (fresh !== undefined) return fresh;
    try {
      const view = await this.context.request(protocol.turn, targetOf(uri));
      return view.text;
    } catch (error) {
      return `This turn cannot be shown: ${error instanceof Error ? error.message : String(error)}\n\nOpen it again from the memory or the candidate.`;
    }
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }

  async #document(uri: vscode.Uri, text: string): Promise<vscode.TextDocument> {
    this.#fresh.set(uri.toString(), text);
    try {
      const document = await vscode.workspace.openTextDocument(uri);
      if (!holds(document, text)) await this.#renewed(document, text);
      return document;
    } finally {
      this.#fresh.delete(uri.toString());
    }
  }

  /** A document that is open with another text is told anew, and waited for. */
  async #renewed(document: vscode.TextDocument, text: string): Promise<void> {
    let listening: vscode.Disposable | undefined;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, patienceMs);
      listening = vscode.workspace.onDidChangeTextDocument((event) => {
        if (event.document === document && holds(document, text)) resolve();
      });
      this.#changed.fire(document.uri);
    });
    clearTimeout(timer);
    listening?.dispose();
  }
}

/** Line ends are the editor's own. */
function holds(document: vscode.TextDocument, text: string): boolean {
  return document.getText().replace(/\r\n?/g, "\n") === text.replace(/\r\n?/g, "\n");
}

function turnUri({ title, session, turn }: protocol.TurnView): vscode.Uri {
  const name = title.replace(/[/\\\s]+/g, " ").trim().slice(0, 80) || "turn";
  return vscode.Uri.from({ scheme, path: `/${name}.txt`, query: JSON.stringify({ session, turn }) });
}

/** Throws an error when the address is none that `turnUri` makes. */
function targetOf(uri: vscode.Uri): TurnTarget {
  const target = parseTurn(JSON.parse(uri.query));
  if (target === undefined) throw new Error("its address is broken.");
  return target;
}
