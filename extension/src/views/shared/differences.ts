// Shows texts side by side in the editor's own difference view: what a call changed, or the planned changes of files, with the question whether to make them.
import { basename } from "node:path";
import * as vscode from "vscode";
import { counted } from "../../text/wording";

/** A change of one file; `before` is null if there is none yet, `after` if it is to be removed. */
export interface FileChange {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** What the tab of one difference is called, and that of several. */
export interface DifferenceTitles {
  readonly one: (file: string) => string;
  readonly many: (files: string) => string;
}

const scheme = "lerim-change";
let shownTimes = 0;

/** Opens the difference of one file, or those of several in one editor. Their texts are added to `texts` by URI, from where the provider of `scheme` takes them. */
export async function openDifferences(changes: readonly FileChange[], scheme: string, texts: Map<string, string>, titles: DifferenceTitles, options: vscode.TextDocumentShowOptions): Promise<void> {
  shownTimes += 1;
  const shown = changes.map(({ path, before, after }, number) => {
    // the path ends with the file's name, which tells the editor the language
    const keep = (side: string, text: string | null): vscode.Uri => {
      const uri = vscode.Uri.from({ scheme, path: path.replaceAll("\\", "/").replace(/^(?!\/)/, "/"), query: `${side}-${shownTimes}-${number}` });
      texts.set(uri.toString(), text ?? "");
      return uri;
    };
    return { name: basename(path.replaceAll("\\", "/")), before: keep("before", before), after: keep("after", after) };
  });
  const [first] = shown;
  if (first !== undefined && shown.length === 1) await vscode.commands.executeCommand("vscode.diff", first.before, first.after, titles.one(first.name), options);
  else await vscode.commands.executeCommand("vscode.changes", titles.many(counted(shown.length, "file")), shown.map(({ before, after }) => [after, before, after]));
}

/** Shows every change while `ask` asks the person about it, and returns the answer. Nothing is written here. The views close with the answer. */
export async function showDifferences<Answer>(edits: readonly FileChange[], ask: () => PromiseLike<Answer>): Promise<Answer> {
  const texts = new Map<string, string>();
  const provider = vscode.workspace.registerTextDocumentContentProvider(scheme, { provideTextDocumentContent: (uri) => texts.get(uri.toString()) });
  try {
    // the differences of several files open as a preview, which would take the place of the person's own
    if (vscode.window.tabGroups.activeTabGroup.activeTab?.isPreview === true) await vscode.commands.executeCommand("workbench.action.keepEditor");
    await openDifferences(edits, scheme, texts, { one: (file) => `${file} (planned change)`, many: (files) => `Planned changes of ${files}` }, { preview: false, preserveFocus: true });
    return await ask();
  } finally {
    await closeDifferences(texts);
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

async function closeDifferences(texts: ReadonlyMap<string, string>): Promise<void> {
  const isOurs = (one: unknown): boolean => one instanceof vscode.TabInputTextDiff && texts.has(one.modified.toString());
  // the input of a tab with several differences has no type of its own in older editors
  const differencesOf = (input: unknown): unknown[] => (typeof input === "object" && input !== null && "textDiffs" in input && Array.isArray(input.textDiffs) ? input.textDiffs : [input]);
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter(({ input }) => differencesOf(input).some(isOurs));
  await vscode.window.tabGroups.close(tabs, true);
}
