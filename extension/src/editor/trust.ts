import * as vscode from "vscode";

const manageTrust = "Manage Workspace Trust";

/** Says why Lerim was not set up, in a dialog that stays until it is answered. Its button opens the editor's page about trust. */
export async function askForTrust(): Promise<void> {
  const detail = "Choose Trust on the next page, then close it. The set-up starts as soon as you trust the workspace; until then, Lerim downloads and reads nothing.";
  const choice = await vscode.window.showInformationMessage("Trust this workspace to set up Lerim.", { modal: true, detail }, manageTrust);
  if (choice === manageTrust) await vscode.commands.executeCommand("workbench.trust.manage");
}
