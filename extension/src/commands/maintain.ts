import type * as vscode from "vscode";
import type { Context } from "../sidecar/context";
import { maintainReportText } from "../text/memorywording";
import * as protocol from "../protocol";
import { withCancelButton } from "../editor/progress";
import { chooseRoot } from "../editor/roots";
import { showInfo } from "../editor/notifications";

/** Lerim: Find Memories to Merge or Archive. Maintains the memories with progress and Cancel, then shows what it proposes. */
export async function maintainRoot(context: Pick<Context, "request" | "on" | "output">, review: { show(folder: vscode.WorkspaceFolder): Promise<void> }): Promise<void> {
  const folder = await chooseRoot();
  if (folder === undefined) return;
  const root = folder.uri.toString();
  const report = await withCancelButton(`Looking for memories to merge or archive in ${folder.name}`, async (token, progress) => {
    const subscription = context.on(protocol.maintainProgress, (event) => {
      if (event.root === root) progress.report({ message: maintainProgressText(event) });
    });
    try {
      return await context.request(protocol.maintain, { root }, token);
    } finally {
      subscription.dispose();
    }
  });
  if (report === undefined) {
    void showInfo("The search for memories to merge or archive was cancelled.");
    return;
  }
  for (const problem of report.problems) context.output.warn(`${problem.path}: ${problem.message}`);
  const choices = report.proposals.length > 0 ? ["Open Review"] : [];
  void showInfo(maintainReportText(report), ...choices).then((choice) => {
    if (choice !== undefined) void review.show(folder);
  });
}

const stageTexts: Readonly<Record<string, string>> = {
  reading: "reading memories",
  links: "checking links",
  freshness: "comparing with the code",
  planning: "looking for related memories",
  proposing: "writing candidates",
};

function maintainProgressText({ stage, done, total }: protocol.MaintainProgressParams): string {
  const text = stageTexts[stage] ?? "";
  return total > 0 ? `${text} (${done} of ${total})` : text;
}
