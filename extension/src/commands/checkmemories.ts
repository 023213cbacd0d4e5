import * as vscode from "vscode";
import { chooseRoot } from "../editor/roots";
import * as protocol from "../protocol";
import type { Context } from "../sidecar/context";
import { checkText } from "../text/memorywording";
import { showInfo, showWarning } from "../editor/notifications";

/** Lerim: Check Memories. What is wrong is then listed in the Problems view. */
export async function checkMemories(context: Pick<Context, "request">): Promise<void> {
  const folder = await chooseRoot();
  if (folder === undefined) return;
  const options = { location: vscode.ProgressLocation.Notification, title: `Checking the memories of ${folder.name}`, cancellable: true };
  const result = await vscode.window.withProgress(options, async (_progress, token) => {
    try {
      return await context.request(protocol.check, { root: folder.uri.toString() }, token);
    } catch (error) {
      if (token.isCancellationRequested) return undefined;
      throw error;
    }
  });
  if (result === undefined) return;
  const choices = result.errors + result.warnings + result.others > 0 ? ["Show Problems"] : [];
  const show = result.errors > 0 ? showWarning : showInfo;
  void show(checkText(result), ...choices).then((choice) => {
    if (choice !== undefined) void vscode.commands.executeCommand("workbench.actions.view.problems");
  });
}
