import * as vscode from "vscode";
import { showActionResult } from "./acts";
import type { Context } from "../sidecar/context";
import * as protocol from "../protocol";
import { chooseRoot } from "../editor/roots";
import { showInfo } from "../editor/notifications";

const scheme = "lerim-merge";
const questions: Readonly<Record<protocol.MergeView["kind"], { title: string; placeHolder: string; merge: string }>> = {
  sides: { title: "Resolve Merge Conflict in Memory", placeHolder: "Merge both sides of the conflict as shown?", merge: "Merge Both Sides" },
  files: { title: "Merge with Duplicate", placeHolder: "Merge the files that have the same id as shown?", merge: "Merge Files" },
  memories: { title: "Merge with Duplicate", placeHolder: "Merge the memories that say the same as shown?", merge: "Merge Memories" },
};
const openChoice = { label: "$(go-to-file) Open File" };

export interface Conflict {
  readonly root: string;
  readonly path: string;
}

/** Lerim: Resolve Merge Conflict in Memory, and Merge with Duplicate at a memory that another one repeats. Shows how both would be merged, and merges them after confirmation. */
export class ConflictMerger implements vscode.TextDocumentContentProvider, vscode.Disposable {
  /** The diffs by the URI of the document that shows them. */
  readonly #diffs = new Map<string, string>();
  readonly #contentChanged = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#contentChanged.event;
  readonly #subscriptions = [
    vscode.workspace.registerTextDocumentContentProvider(scheme, this),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => this.#diffs.delete(uri.toString())),
    this.#contentChanged,
  ];

  constructor(private readonly context: Pick<Context, "request">) {}

  /** Merges the given file, or else the one open in the editor. */
  async merge(requested: Conflict | undefined): Promise<void> {
    const conflict = requested ?? (await openConflict());
    if (conflict === undefined) return;
    const { kind, diff } = await this.context.request(protocol.memoryMerge, { ...conflict, preview: true });
    const name = conflict.path.slice(Math.max(conflict.path.lastIndexOf("/"), conflict.path.lastIndexOf("\\")) + 1);
    const uri = vscode.Uri.from({ scheme, path: `/${name}.diff`, query: conflict.path }); // folders of the window may have files of the same name
    this.#diffs.set(uri.toString(), diff);
    this.#contentChanged.fire(uri);
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: true });
    // ignoreFocusOut: the person scrolls through the difference while the question stays
    const { title, placeHolder, merge } = questions[kind];
    const mergeChoice = { label: `$(check) ${merge}` };
    const choice = await vscode.window.showQuickPick([mergeChoice, openChoice], { title, placeHolder, ignoreFocusOut: true });
    if (choice === openChoice) await vscode.window.showTextDocument(vscode.Uri.file(conflict.path));
    if (choice !== mergeChoice) return;
    const { acted } = await this.context.request(protocol.memoryMerge, { ...conflict, preview: false });
    if (acted !== null) showActionResult(this.context, acted);
  }

  /** Called by VS Code, also for a tab restored from an earlier session. */
  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#diffs.get(uri.toString()) ?? "Run Lerim: Resolve Merge Conflict in Memory again.";
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}

/** The file open in the editor, with its root; undefined if it is no memory file, which is said. */
async function openConflict(): Promise<Conflict | undefined> {
  const uri = vscode.window.activeTextEditor?.document.uri;
  if (uri === undefined || uri.scheme !== "file" || !uri.fsPath.endsWith(".md")) {
    void showInfo("First open the memory file that has the merge conflict.");
    return undefined;
  }
  const root = (await chooseRoot())?.uri.toString();
  return root === undefined ? undefined : { root, path: uri.fsPath };
}
