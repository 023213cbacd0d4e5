// Shows planned changes of files in the editor's own difference view, and asks whether to make them.
import { basename } from "node:path";
import * as vscode from "vscode";
import { counted } from "../../text/wording";

/** A planned change of one file; `before` is null if there is none yet, `after` if it is to be removed. */
export interface FileChange {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

const scheme = "lerim-change";

/** Shows every change while `ask` asks the person about it, and returns the answer. Nothing is written here. The views close with the answer. */
export async function showDifferences<Answer>(edits: readonly FileChange[], ask: () => PromiseLike<Answer>): Promise<Answer> {
  const texts = new Map<string, string>();
  const shown = edits.map((edit, number) => {
    const uri = (side: "before" | "after"): vscode.Uri => {
      const made = vscode.Uri.from({ scheme, path: edit.path.replaceAll("\\", "/").replace(/^(?!\/)/, "/"), query: `${side}-${number}` });
      texts.set(made.toString(), edit[side] ?? "");
      return made;
    };
    return { name: basename(edit.path), before: uri("before"), after: uri("after") };
  });
  const provider = vscode.workspace.registerTextDocumentContentProvider(scheme, { provideTextDocumentContent: (uri) => texts.get(uri.toString()) ?? "" });
  try {
    // the differences of several files open as a preview, which would take the place of the person's own
    if (vscode.window.tabGroups.activeTabGroup.activeTab?.isPreview === true) await vscode.commands.executeCommand("workbench.action.keepEditor");
    const [first] = shown;
    if (shown.length === 1 && first !== undefined) await vscode.commands.executeCommand("vscode.diff", first.before, first.after, `${first.name} (planned change)`, { preview: false, preserveFocus: true });
    else await vscode.commands.executeCommand("vscode.changes", `Planned changes of ${counted(shown.length, "file")}`, shown.map(({ before, after }) => [after, before, after]));
    return await ask();
  } finally {
    await closeDifferences();
    provider.dispose();
  }
}

/** Shows every change, then asks; true if the person agreed. */
export async function confirmEdits(edits: readonly FileChange[], question: Pick<vscode.QuickPickOptions, "title" | "placeHolder">): Promise<boolean> {
  if (edits.length === 0) return false;
  const yes = { label: `$(check) Change ${counted(edits.length, "file")}`, description: edits.map(({ path }) => basename(path)).join(", ") };
  const no = { label: "$(close) Change nothing" };
  // ignoreFocusOut: the person scrolls through the differences while the question stays
  return (await showDifferences(edits, () => vscode.window.showQuickPick([yes, no], { ...question, ignoreFocusOut: true }))) === yes;
}

async function closeDifferences(): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter(({ input }) => isOurs(input));
  await vscode.window.tabGroups.close(tabs, true);
}

/** Whether a tab shows our texts: one difference, or several in one editor, whose input has no type of its own in older editors. */
function isOurs(input: unknown): boolean {
  if (input instanceof vscode.TabInputTextDiff) return input.modified.scheme === scheme;
  if (typeof input !== "object" || input === null || !("textDiffs" in input) || !Array.isArray(input.textDiffs)) return false;
  return input.textDiffs.some((one: unknown) => one instanceof vscode.TabInputTextDiff && one.modified.scheme === scheme);
}
