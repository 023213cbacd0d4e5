import * as vscode from "vscode";
import { tellActed } from "./acts";
import type { Context } from "../sidecar/context";
import * as protocol from "../protocol";
import { chooseRoot } from "../editor/roots";

const scheme = "lerim-merge";
const join = "Merge Both Sides";

export interface Conflict {
  readonly root: string;
  readonly path: string;
}

/** Lerim: Merge Memory. Shows what joins both sides of a conflict, and joins them once the person says so. */
export class Merging implements vscode.TextDocumentContentProvider, vscode.Disposable {
  /** What would be changed, by the document that shows it. */
  readonly #shown = new Map<string, string>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #subscriptions = [
    vscode.workspace.registerTextDocumentContentProvider(scheme, this),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => this.#shown.delete(uri.toString())),
    this.#changed,
  ];

  constructor(private readonly context: Pick<Context, "request">) {}

  /** Of the given file, else of the one that is open in the editor. */
  async merge(given: Conflict | undefined): Promise<void> {
    const conflict = given ?? (await openConflict());
    if (conflict === undefined) return;
    const { diff } = await this.context.request(protocol.memoryMerge, { ...conflict, preview: true });
    const name = conflict.path.slice(Math.max(conflict.path.lastIndexOf("/"), conflict.path.lastIndexOf("\\")) + 1);
    const uri = vscode.Uri.from({ scheme, path: `/${name}.diff` });
    this.#shown.set(uri.toString(), diff);
    this.#changed.fire(uri);
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: true });
    const choice = await vscode.window.showInformationMessage("Lerim: This is how both sides of the conflict would be merged.", join, "Open File");
    if (choice === "Open File") await vscode.window.showTextDocument(vscode.Uri.file(conflict.path));
    if (choice !== join) return;
    const { acted } = await this.context.request(protocol.memoryMerge, { ...conflict, preview: false });
    if (acted !== null) await tellActed(this.context, acted);
  }

  /** Called by VS Code, also for a tab that was open before the window was. */
  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#shown.get(uri.toString()) ?? "Run Lerim: Merge Memory again.";
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}

/** The file that is open in the editor, in its folder. */
async function openConflict(): Promise<Conflict | undefined> {
  const uri = vscode.window.activeTextEditor?.document.uri;
  if (uri === undefined || uri.scheme !== "file" || !uri.fsPath.endsWith(".md")) throw new Error("First open the memory file that has the merge conflict.");
  const root = (await chooseRoot())?.uri.toString();
  return root === undefined ? undefined : { root, path: uri.fsPath };
}
