import { realpath } from "node:fs/promises";
import platformPath, { type PlatformPath, sep } from "node:path";
import * as vscode from "vscode";
import { parseReference } from "./arguments";
import { repositoryOf } from "./roots";
import { previewOptions } from "./walkthroughsteps";
import { findSymbolRange, symbolsOf } from "./symbols";

/** Opens the file a candidate or memory refers to, at its symbol, or else at its first line, where its lens is. Throws if it is outside the repository. */
export async function openReference(root: string, reference: string): Promise<void> {
  const parsed = parseReference(reference);
  if (parsed === undefined) throw new Error(`"${reference}" does not name a file in this repository.`);
  const openedFolder = vscode.Uri.parse(root);
  // references are relative to the repository, which may contain the opened folder
  const folder = vscode.Uri.file((await repositoryOf(openedFolder.fsPath)) ?? openedFolder.fsPath);
  const file = vscode.Uri.joinPath(folder, parsed.path);
  let isInside: boolean;
  try {
    isInside = (await realpath(file.fsPath)).startsWith((await realpath(folder.fsPath)) + sep);
  } catch {
    throw new Error(`${parsed.path} no longer exists.`);
  }
  if (!isInside) throw new Error(`${parsed.path} is outside the repository.`);
  const document = await vscode.workspace.openTextDocument(file);
  const range = parsed.symbol === "" ? undefined : await symbolRange(file, parsed.symbol);
  await vscode.window.showTextDocument(document, { ...previewOptions(), selection: range ?? new vscode.Range(0, 0, 0, 0) });
}

/** The path of a file in its repository, as references write it; undefined if the file lies elsewhere, such as on another drive. */
export function pathInRepository(repository: string, file: string, paths: Pick<PlatformPath, "relative" | "isAbsolute" | "sep"> = platformPath): string | undefined {
  const path = paths.relative(repository, file);
  const parts = path.split(paths.sep);
  return path === "" || paths.isAbsolute(path) || parts[0] === ".." ? undefined : parts.join("/");
}

/** The range of `symbol` (`save`, `Store.save`), also where the editor does not list it below its owner; undefined if it is not clear which is meant. */
async function symbolRange(file: vscode.Uri, symbol: string): Promise<vscode.Range | undefined> {
  const symbols = (await symbolsOf(file)) ?? [];
  return findSymbolRange(symbols, symbol) ?? findSymbolRange(symbols, symbol.split(/[.:]+/).at(-1) ?? symbol);
}
