import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join, sep } from "node:path";
import * as vscode from "vscode";
import { showInfo } from "../../editor/notifications";

/** Opens a file that a message names, at a line counted from 1. Only files of this window's folders are opened; says so if there is none. */
export async function openSessionFile(path: string, line: number | undefined, sessionFolder: string): Promise<void> {
  const roots = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath);
  const found = await findFile(path, sessionFolder, roots);
  if (found === undefined) {
    void showInfo(`${path} is not in the folders of this window.`);
    return;
  }
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(found));
  const at = new vscode.Position(Math.max(0, Math.min((line ?? 1) - 1, document.lineCount - 1)), 0);
  await vscode.window.showTextDocument(document, { preview: true, ...(line === undefined ? {} : { selection: new vscode.Range(at, at) }) });
}

/** The file with this path, from the session's folder or else from one of the window's; undefined if it is in none of the window's folders. */
export async function findFile(path: string, sessionFolder: string, roots: readonly string[]): Promise<string | undefined> {
  const realRoots = await Promise.all(roots.map((root) => realpath(root).catch(() => root)));
  const candidates = isAbsolute(path) ? [path] : [sessionFolder, ...roots].filter((folder) => isAbsolute(folder)).map((folder) => join(folder, path));
  for (const candidate of candidates) {
    try {
      const real = await realpath(candidate);
      if (realRoots.some((root) => real.startsWith(root.endsWith(sep) ? root : root + sep)) && (await stat(real)).isFile()) return candidate;
    } catch {
      continue; // it does not exist, or cannot be read
    }
  }
  return undefined;
}

export async function isFolder(path: string): Promise<boolean> {
  return path !== "" && (await stat(path).then((state) => state.isDirectory(), () => false));
}
