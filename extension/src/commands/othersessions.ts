import * as vscode from "vscode";
import { showInfo } from "../editor/notifications";
import { chooseRoot } from "../editor/roots";
import * as protocol from "../protocol";
import type { Context } from "../sidecar/context";
import { otherFolderText } from "../text/sessionwording";

type OtherContext = Pick<Context, "request">;

/** The folders whose sessions look like those of a root that has none. */
export async function findOtherFolders(context: OtherContext, root: string): Promise<protocol.OtherFolder[]> {
  return (await context.request(protocol.sessionsElsewhere, { root })).folders;
}

/** Assigns a folder's sessions to a root, and syncs it. The sidecar starts anew: the root may have taken the review of a moved repository over. */
export async function useFolder(context: OtherContext, root: string, folder: string): Promise<void> {
  await context.request(protocol.sessionsUse, { root, folder });
  await vscode.commands.executeCommand("lerim.restart");
  await vscode.commands.executeCommand("lerim.sync", root);
}

/** Lerim: Use Sessions of Another Folder…. `folder` is that of a session's row; without one, the person chooses or types it. */
export async function useOtherSessions(context: OtherContext, folder: string | undefined): Promise<void> {
  if (folder === "") return void showInfo("It is not known in which folder this session ran.");
  const root = (await chooseRoot())?.uri.toString();
  if (root === undefined) return;
  const chosen = folder ?? (await chooseFolder(await findOtherFolders(context, root)));
  if (chosen === undefined || chosen === "") return;
  const use = "Use Sessions";
  const message = `Use the sessions of ${chosen} in this repository? From the next sync on, they are read like its own.`;
  if (folder === undefined || (await vscode.window.showInformationMessage(message, { modal: true }, use)) === use) await useFolder(context, root, chosen);
}

async function chooseFolder(folders: readonly protocol.OtherFolder[]): Promise<string | undefined> {
  const another = { label: "Enter a folder…", path: undefined };
  const items = [...folders.map((folder) => ({ label: folder.path, description: otherFolderText(folder), path: folder.path })), another];
  const picked = folders.length === 0 ? another : await vscode.window.showQuickPick(items, { title: "Lerim: Use Sessions of Another Folder", placeHolder: "Choose the folder in which the sessions ran" });
  if (picked === undefined || picked.path !== undefined) return picked?.path;
  return vscode.window.showInputBox({ title: "Lerim: Use Sessions of Another Folder", prompt: "The folder in which the sessions ran, such as /home/me/old-place", ignoreFocusOut: true });
}
