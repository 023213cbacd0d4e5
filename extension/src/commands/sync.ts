import * as vscode from "vscode";
import type { Context } from "../sidecar/context";
import { type Action, consentText, modelText } from "../text/modelwording";
import { openSetting } from "../editor/opensetting";
import * as protocol from "../protocol";
import { chooseRoot } from "../editor/roots";
import { progressText, reportText } from "../text/wording";

type Syncing = Pick<Context, "request" | "output" | "settings" | "status" | "onSyncProgress">;

/** Lerim: Sync. Reads the project's new sessions with progress and Cancel, and says what came of it. */
export async function syncRoot(context: Syncing, root: string | undefined): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    void vscode.window.showInformationMessage("Lerim does not sync in Restricted Mode. Trust this workspace to sync it.", "Manage Trust").then((choice) => {
      if (choice !== undefined) void vscode.commands.executeCommand("workbench.trust.manage");
    });
    return;
  }
  const chosen = root ?? (await chooseRoot())?.uri.toString();
  if (chosen === undefined) return;
  let report = await followed(context, chosen);
  if (report !== undefined && (await agreed(context, report))) report = (await followed(context, chosen)) ?? report;
  if (report !== undefined) await announce(context, report);
}

function followed(context: Syncing, root: string): Thenable<protocol.SyncReport | undefined> {
  return vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: "Lerim: Sync", cancellable: true },
    (progress, token) => runSync(context, root, progress, token),
  );
}

/** Whether the person agreed just now to pay for the model that the sessions wait for. Only a sync they asked for asks them. */
async function agreed(context: Syncing, { waits }: protocol.SyncReport): Promise<boolean> {
  if (waits.why !== "consent" || waits.sessions === 0) return false;
  const yes = "Allow";
  if ((await vscode.window.showInformationMessage(consentText(waits), { modal: true }, yes)) !== yes) return false;
  await context.request(protocol.modelAllow, { label: waits.model });
  return true;
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
      void vscode.window.showInformationMessage("Lerim: Sync cancelled. Everything found so far is kept, and the next sync continues from there.");
      return undefined;
    }
    throw error;
  } finally {
    follow.dispose();
    context.status.setSyncing(root, "");
  }
}

async function announce(context: Syncing, report: protocol.SyncReport): Promise<void> {
  const model = modelText(report, context.settings["model.provider"] === "");
  const text = [reportText(report), model.text].filter((part) => part !== "").join(" ");
  context.output.info(`Sync of ${report.project}: ${text} (${report.seconds.toFixed(1)} s)`);
  for (const [reason, count] of Object.entries(report.dropped)) context.output.info(`dropped ${count}: ${reason}`);
  for (const problem of report.problems) context.output.warn(`${problem.path}: ${problem.message} [${problem.code}]`);
  if (report.state === "failed") {
    if ((await vscode.window.showErrorMessage(`Lerim: ${text}`, "Show Log")) !== undefined) context.output.show();
    return;
  }
  const actions = ["Open Review", ...model.actions, ...(report.problems.length > 0 ? ["Show Log"] : [])];
  const choice = await vscode.window.showInformationMessage(`Lerim: ${text}`, ...actions);
  if (choice === "Open Review") await vscode.commands.executeCommand("lerim.openReview");
  if (choice === "Show Log") context.output.show();
  if (choice !== undefined) await mends[choice]?.();
}

const mends: Partial<Record<string, () => Thenable<unknown>>> = {
  "Choose Model": () => vscode.commands.executeCommand("lerim.chooseModel"),
  "Enter Key": () => vscode.commands.executeCommand("lerim.enterModelKey"),
  "Change Budget": () => openSetting("lerim.budget.perDayUsd"),
} satisfies Record<Action, () => Thenable<unknown>>;
