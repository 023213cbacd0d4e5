import * as vscode from "vscode";
import { registerCommands } from "./commands";
import { Context } from "./context";
import { Turns } from "./turns";
import { ReviewPanel } from "./views/review";

let context: Context | undefined;

export function activate(extension: vscode.ExtensionContext): void {
  const owner = new Context(extension);
  context = owner;
  // before the panel listens: the sidecar must know of the trust before it is asked for candidates
  extension.subscriptions.push(vscode.workspace.onDidGrantWorkspaceTrust(() => owner.background(owner.configurationChanged())));
  const turns = new Turns(owner);
  const review = new ReviewPanel(owner, turns);
  extension.subscriptions.push(
    owner,
    turns,
    review,
    registerCommands(owner, turns, review),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("lerim")) owner.background(owner.settingsChanged());
    }),
    vscode.window.onDidChangeWindowState(({ focused }) => {
      if (focused) owner.lookAround();
    }),
    vscode.workspace.onDidChangeWorkspaceFolders(() => {
      if (!owner.isRunning) owner.background(owner.startIfUseful());
    }),
  );
  owner.background(owner.startIfUseful());
}

/** Waits for the sidecar to end, so that closing the window leaves no process. */
export async function deactivate(): Promise<void> {
  await context?.stop();
}
