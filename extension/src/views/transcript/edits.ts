// What a call of a transcript changed, in the editor's own difference view: two texts, neither of which is a file.
import { basename } from "node:path";
import * as vscode from "vscode";
import type { EditView } from "../../protocol";
import { counted } from "../../text/wording";

const scheme = "lerim-edit";

type Side = "before" | "after";

/** The texts of the edits that are shown, until their editors are closed. */
export class Edits implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #texts = new Map<string, string>();
  readonly #subscription = vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(scheme, this),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => this.#texts.delete(uri.toString())),
  );
  #shown = 0;

  dispose(): void {
    this.#subscription.dispose();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.toString()) ?? "";
  }

  /** Opens the difference of one file, or all of several in one editor. */
  async show(edits: readonly EditView[], agent: string): Promise<void> {
    this.#shown += 1;
    const sides = edits.map((edit, number) => ({ name: basename(edit.path.replaceAll("\\", "/")), before: this.#keep(edit, "before", number), after: this.#keep(edit, "after", number) }));
    const [first] = sides;
    if (first !== undefined && sides.length === 1) await vscode.commands.executeCommand("vscode.diff", first.before, first.after, `${first.name} (edit by ${agent})`, { preview: true });
    else await vscode.commands.executeCommand("vscode.changes", `Edit of ${counted(sides.length, "file")} by ${agent}`, sides.map(({ before, after }) => [after, before, after]));
  }

  /** The address of one side; its path ends with the file's name, which tells the editor the language. */
  #keep(edit: EditView, side: Side, number: number): vscode.Uri {
    const uri = vscode.Uri.from({ scheme, path: edit.path.replaceAll("\\", "/").replace(/^(?!\/)/, "/"), query: `${side}-${this.#shown}-${number}` });
    this.#texts.set(uri.toString(), edit[side]);
    return uri;
  }
}
