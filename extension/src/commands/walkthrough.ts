import * as vscode from "vscode";
import type { Context } from "../sidecar/context";

const shownKey = "walkthroughShown";

/** Lerim: Open Walkthrough. */
export async function openWalkthrough(extension: Pick<vscode.ExtensionContext, "extension">): Promise<void> {
  await vscode.commands.executeCommand("workbench.action.openWalkthrough", `${extension.extension.id}#start`, false);
}

/** Opens the walkthrough after the installation, once. A person who has chosen the interpreter already knows how Lerim is set up. */
export async function openWalkthroughOnce(extension: Pick<vscode.ExtensionContext, "extension" | "globalState">, { settings }: Pick<Context, "settings">): Promise<void> {
  if (!settings.enabled || settings.python !== "" || extension.globalState.get(shownKey) === true) return;
  await extension.globalState.update(shownKey, true);
  await openWalkthrough(extension);
}
