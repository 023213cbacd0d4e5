import * as vscode from "vscode";
import { errorText, NotRunning } from "../../editor/errors";

/** A row of a tree, collapsed if it says so. */
export function treeItem(label: string, properties: Partial<vscode.TreeItem>): vscode.TreeItem {
  return Object.assign(new vscode.TreeItem(label), properties);
}

/** The row that loads the next rows by running `command` with its node. */
export function moreItem(node: { readonly left: number }, command: string): vscode.TreeItem {
  return treeItem(`Show more (${node.left} left)`, { command: { command, title: "Show More", arguments: [node] }, iconPath: new vscode.ThemeIcon("ellipsis") });
}

/** Loads rows; a failure is shown above the tree and logged, and there are none. */
export async function loadRows<Node>(view: vscode.TreeView<Node>, what: string, output: vscode.LogOutputChannel, load: () => Promise<Node[]>): Promise<Node[]> {
  try {
    return await load();
  } catch (error) {
    if (error instanceof NotRunning) return []; // the person has already been informed
    view.message = `The ${what} could not be listed: ${errorText(error)}`;
    output.error(view.message);
    return [];
  }
}
