import type * as vscode from "vscode";
import { openWalkthrough } from "../editor/walkthroughsteps";
import type { Context } from "../sidecar/context";

const shownKey = "walkthroughShown";

/** Opens the walkthrough after the installation, once. A person who has chosen the interpreter already knows how Lerim is set up. */
export async function openWalkthroughOnce(extension: { readonly globalState: Pick<vscode.Memento, "get" | "update"> }, { settings }: Pick<Context, "settings">): Promise<void> {
  if (!settings.enabled || settings.python !== "" || extension.globalState.get(shownKey) === true) return;
  await extension.globalState.update(shownKey, true);
  await openWalkthrough();
}
