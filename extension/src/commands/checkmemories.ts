import * as vscode from "vscode";
import { withCancelButton } from "../editor/progress";
import { chooseRoot } from "../editor/roots";
import * as protocol from "../protocol";
import type { Context } from "../sidecar/context";
import { checkText } from "../text/memorywording";
import { showInfo, showWarning } from "../editor/notifications";

/** Lerim: Check Memories. What is wrong is then listed in the Problems view. */
export async function checkMemories(context: Pick<Context, "request">): Promise<void> {
  const folder = await chooseRoot();
  if (folder === undefined) return;
  const result = await withCancelButton(`Checking the memories of ${folder.name}`, (token) => context.request(protocol.check, { root: folder.uri.toString() }, token));
  if (result === undefined) return;
  const choices = result.errors + result.warnings + result.others > 0 ? ["Show Problems"] : [];
  const show = result.errors > 0 ? showWarning : showInfo;
  void show(checkText(result), ...choices).then((choice) => {
    if (choice !== undefined) void vscode.commands.executeCommand("workbench.actions.view.problems");
  });
}
