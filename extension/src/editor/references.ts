import { realpath } from "node:fs/promises";
import { sep } from "node:path";
import * as vscode from "vscode";
import { parseReference } from "./arguments";
import { repositoryOf } from "./roots";

/** Opens the file a candidate or memory refers to, at its symbol if there is one. Throws if it is outside the repository. */
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
  await vscode.window.showTextDocument(document, range === undefined ? { preview: true } : { preview: true, selection: range });
}

async function symbolRange(file: vscode.Uri, symbol: string): Promise<vscode.Range | undefined> {
  const symbols = await vscode.commands.executeCommand<(vscode.DocumentSymbol | vscode.SymbolInformation)[] | undefined>("vscode.executeDocumentSymbolProvider", file);
  const name = symbol.split(/[.:]+/).at(-1) ?? symbol;
  return findDeclaration(symbols ?? [], name);
}

/** Where the symbol `name` is declared; undefined if there is no such symbol or more than one. */
export function findDeclaration(symbols: readonly (vscode.DocumentSymbol | vscode.SymbolInformation)[], name: string): vscode.Range | undefined {
  const ranges: vscode.Range[] = [];
  const remaining = [...symbols];
  for (let symbol = remaining.pop(); symbol !== undefined; symbol = remaining.pop()) {
    if ("children" in symbol) remaining.push(...symbol.children);
    // a provider may append a signature: "add(a, b)"
    if (symbol.name.split("(")[0] === name) ranges.push("selectionRange" in symbol ? symbol.selectionRange : symbol.location.range);
  }
  return ranges.length === 1 ? ranges[0] : undefined;
}
