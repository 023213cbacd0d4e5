import { access } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as vscode from "vscode";
import { isProjectError } from "./errors";
import { showWarning } from "./notifications";

/** The workspace folders on the disk. */
export function rootFolders(): vscode.WorkspaceFolder[] {
  return (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === "file");
}

/** The folders that commands and agents may be about: those outside of repositories count only if all are. */
async function usableFolders(): Promise<vscode.WorkspaceFolder[]> {
  const supported = await supportedFolders();
  return supported.length > 0 ? supported : rootFolders();
}

/** The one of these folders that has the file of the active editor, if one does. */
function activeRoot(folders: readonly vscode.WorkspaceFolder[]): vscode.WorkspaceFolder | undefined {
  const document = vscode.window.activeTextEditor?.document;
  const owner = document === undefined ? undefined : vscode.workspace.getWorkspaceFolder(document.uri);
  return folders.find((folder) => folder.uri.toString() === owner?.uri.toString());
}

/** The root of the active editor, else the first one: for what runs without a person to ask. */
export async function currentRoot(): Promise<vscode.WorkspaceFolder | undefined> {
  const folders = await usableFolders();
  return activeRoot(folders) ?? folders[0];
}

/** The root a command acts on: the active editor's, or the only one, or one the person picks; undefined if there is none. */
export async function chooseRoot(): Promise<vscode.WorkspaceFolder | undefined> {
  const folders = await usableFolders();
  const active = activeRoot(folders);
  if (active !== undefined) return active;
  if (folders.length === 1) return folders[0];
  if (folders.length === 0) {
    void vscode.window.showInformationMessage("Lerim works on a repository. Open a folder first.");
    return undefined;
  }
  const picked = await vscode.window.showQuickPick(
    folders.map((folder) => ({ label: folder.name, description: folder.uri.fsPath, folder })),
    { placeHolder: "Choose a folder" },
  );
  return picked?.folder;
}

/** The URI of the root a command acts on; null if no folder is open, undefined if the person chose none of several. */
export async function chooseRootIfAny(): Promise<string | null | undefined> {
  return rootFolders().length === 0 ? null : (await chooseRoot())?.uri.toString();
}

/** The innermost repository that contains a folder; undefined if there is none. */
export async function repositoryOf(folder: string): Promise<string | undefined> {
  for (let parent = folder; ; parent = dirname(parent)) {
    if (await exists(join(parent, ".git"))) return parent;
    if (dirname(parent) === parent) return undefined;
  }
}

/** Whether a folder is in a repository or contains memories itself. */
export async function isSupportedFolder(folder: string): Promise<boolean> {
  return (await exists(join(folder, ".lerim"))) || (await repositoryOf(folder)) !== undefined;
}

/** The folders of the window that are in a repository or contain memories themselves. */
export async function supportedFolders(): Promise<vscode.WorkspaceFolder[]> {
  const folders = await Promise.all(rootFolders().map(async (folder) => ((await isSupportedFolder(folder.uri.fsPath)) ? [folder] : [])));
  return folders.flat();
}

/** Whether there are folders in the window, none of which is in a repository. */
export async function isOutsideRepositories(): Promise<boolean> {
  return rootFolders().length > 0 && (await supportedFolders()).length === 0;
}

/** If a command failed because the window has no repository, says so and offers to make one. Returns whether that is why. */
export async function offerRepository(error: unknown): Promise<boolean> {
  if (!isProjectError(error) || !(await isOutsideRepositories())) return false;
  const initialize = "Initialize Repository";
  const text = `${rootFolders().length > 1 ? "No folder of this window is" : "This folder is not"} in a git repository. Lerim keeps the memories of a project in its repository.`;
  void showWarning(text, initialize).then((choice) => {
    if (choice === initialize) void vscode.commands.executeCommand("git.init");
  });
  return true;
}

/** Calls `react` when a repository is made in a folder of the window. */
export function watchForRepositories(react: () => void): vscode.Disposable {
  const watcher = vscode.workspace.createFileSystemWatcher("**/.git", false, true, true);
  return vscode.Disposable.from(watcher, watcher.onDidCreate(react));
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
