import * as vscode from "vscode";
import type { Context } from "./context";
import * as protocol from "./protocol";
import { chooseRoot } from "./roots";
import { progressText, reportText } from "./wording";

type Syncing = Pick<Context, "request" | "output" | "status" | "onSyncProgress">;

/** Lerim: Sync. Reads the project's new sessions with progress and Cancel, and says what came of it. */
export async function syncRoot(context: Syncing, root: string | undefined): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    void vscode.window.showInformationMessage("Lerim does not sync in Restricted Mode. Trust this workspace to sync.", "Manage Trust").then((choice) => {
      if (choice !== undefined) void vscode.commands.executeCommand("workbench.trust.manage");
    });
    return;
  }
  const chosen = root ?? (await chooseRoot())?.uri.toString();
  if (chosen === undefined) return;
  const report = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: "Lerim: Sync", cancellable: true },
    (progress, token) => runSync(context, chosen, progress, token),
  );
  if (report !== undefined) await announce(context, report);
}

/** The report; undefined when the person cancelled and the sidecar had none to give. */
async function runSync(
  context: Syncing,
  root: string,
  progress: vscode.Progress<{ message?: string; increment?: number }>,
  token: vscode.CancellationToken,
): Promise<protocol.SyncReport | undefined> {
  let shown = 0;
  const follow = context.onSyncProgress((event) => {
    if (event.root !== root) return;
    const share = event.sessionsTotal > 0 ? Math.floor((100 * event.sessionsDone) / event.sessionsTotal) : 0;
    progress.report({ message: progressText(event), increment: Math.max(share - shown, 0) });
    shown = Math.max(share, shown);
  });
  context.status.setSyncing(root, "starting");
  try {
    return await context.request(protocol.sync, { root, explicit: true }, token);
  } catch (error) {
    if (token.isCancellationRequested) {
      void vscode.window.showInformationMessage("Sync cancelled. What was found so far is kept; the next sync carries on.");
      return undefined;
    }
    throw error;
  } finally {
    follow.dispose();
    context.status.setSyncing(root, "");
  }
}

async function announce(context: Syncing, report: protocol.SyncReport): Promise<void> {
  const text = reportText(report);
  context.output.info(`Sync of ${report.project}: ${text} (${report.seconds.toFixed(1)} s)`);
  for (const [reason, count] of Object.entries(report.dropped)) context.output.info(`dropped ${count}: ${reason}`);
  for (const problem of report.problems) context.output.warn(`${problem.path}: ${problem.message} [${problem.code}]`);
  if (report.state === "failed") {
    if ((await vscode.window.showErrorMessage(`Lerim: ${text}`, "Show Log")) !== undefined) context.output.show();
    return;
  }
  const actions = ["Open Review", ...(report.problems.length > 0 ? ["Show Log"] : [])];
  const choice = await vscode.window.showInformationMessage(`Lerim: ${text}`, ...actions);
  if (choice === "Open Review") await vscode.commands.executeCommand("lerim.openReview");
  if (choice === "Show Log") context.output.show();
}
