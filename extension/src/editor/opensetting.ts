import * as vscode from "vscode";

export function openSetting(name: string): Thenable<unknown> {
  return vscode.commands.executeCommand("workbench.action.openSettings", name);
}
