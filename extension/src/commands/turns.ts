import * as vscode from "vscode";
import { type TurnTarget } from "../editor/arguments";
import type { Context } from "../sidecar/context";
import * as protocol from "../protocol";
import { beginning } from "../text/wording";

const scheme = "lerim-turn";

/** Opens turns in the transcript viewer. A turn that no longer exists is described in a read-only document. */
export class TurnOpener implements vscode.TextDocumentContentProvider, vscode.Disposable {
  /** The descriptions of missing turns, by URI, while their documents are being opened. */
  readonly #missingTurns = new Map<string, string>();
  readonly #provider = vscode.workspace.registerTextDocumentContentProvider(scheme, this);

  constructor(
    private readonly context: Pick<Context, "request">,
    private readonly transcripts: { open(id: string, turn: string): Promise<void> },
  ) {}

  /** Shows the transcript at a turn. */
  async open(target: TurnTarget): Promise<void> {
    const view = await this.context.request(protocol.turn, target);
    if (view.found === "catalog") return this.transcripts.open(view.id, view.turn);
    const uri = turnUri(view);
    this.#missingTurns.set(uri.toString(), view.text);
    try {
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: true });
    } finally {
      this.#missingTurns.delete(uri.toString());
    }
  }

  /** Called by VS Code, also for a tab restored from an earlier session. */
  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#missingTurns.get(uri.toString()) ?? "Open this part of the transcript again from the memory or candidate it belongs to.";
  }

  dispose(): void {
    this.#provider.dispose();
  }
}

function turnUri({ title, session, turn }: protocol.TurnView): vscode.Uri {
  const name = beginning(title.replace(/[/\\\s]+/g, " ").trim(), 80) || "turn";
  return vscode.Uri.from({ scheme, path: `/${name}.txt`, query: JSON.stringify({ session, turn }) });
}
