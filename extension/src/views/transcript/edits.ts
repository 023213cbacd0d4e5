import * as vscode from "vscode";
import type { FileEdit } from "../../protocol";
import { openDifferences } from "../shared/differences";

const scheme = "lerim-edit";

/** Shows what calls of a transcript changed, and keeps the texts until their editors are closed. */
export class Edits implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #texts = new Map<string, string>();
  readonly #subscription = vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(scheme, this),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => this.#texts.delete(uri.toString())),
  );

  dispose(): void {
    this.#subscription.dispose();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.toString()) ?? "";
  }

  async show(edits: readonly FileEdit[], agent: string): Promise<void> {
    const differences = edits.map(({ path, old, new: after }) => ({ path, before: old, after }));
    await openDifferences(differences, scheme, this.#texts, { one: (file) => `${file} (edit by ${agent})`, many: (files) => `Edit of ${files} by ${agent}` }, { preview: true });
  }
}
