import * as vscode from "vscode";
import type { TurnTarget } from "./arguments";
import type { Context } from "./context";
import * as protocol from "./protocol";

const scheme = "lerim-turn";

/** Turns of transcripts as read-only documents; the text is asked of the sidecar and forgotten when the tab closes. */
export class Turns implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #views = new Map<string, protocol.TurnView>();
  readonly #subscriptions: vscode.Disposable[];

  constructor(private readonly context: Pick<Context, "request">) {
    this.#subscriptions = [
      vscode.workspace.registerTextDocumentContentProvider(scheme, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.#views.delete(uri.toString())),
    ];
  }

  /** Shows the transcript around a turn with the cursor on it. */
  async open(target: TurnTarget): Promise<void> {
    const view = await this.context.request(protocol.turn, target);
    const uri = turnUri(view.title, target);
    this.#views.set(uri.toString(), view);
    const document = await vscode.workspace.openTextDocument(uri);
    const line = Math.min(Math.max(view.line, 0), document.lineCount - 1);
    const at = new vscode.Range(line, 0, line, 0);
    const editor = await vscode.window.showTextDocument(document, { preview: true, selection: at });
    editor.revealRange(at, vscode.TextEditorRevealType.AtTop);
  }

  /** Called by VS Code; a tab restored with the window is asked of the sidecar again. */
  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const known = this.#views.get(uri.toString());
    if (known !== undefined) return known.text;
    try {
      const view = await this.context.request(protocol.turn, JSON.parse(uri.query) as TurnTarget);
      return view.text;
    } catch {
      return "This turn cannot be shown any more. Open it again from the memory or the candidate.";
    }
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}

function turnUri(title: string, target: TurnTarget): vscode.Uri {
  const name = title.replace(/[/\\\s]+/g, " ").trim().slice(0, 80) || "turn";
  return vscode.Uri.from({ scheme, path: `/${name}.txt`, query: JSON.stringify(target) });
}
