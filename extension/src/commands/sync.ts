import * as vscode from "vscode";
import type { Context } from "../sidecar/context";
import { type Action, consentText, modelText } from "../text/modelwording";
import { openSetting } from "../editor/opensetting";
import * as protocol from "../protocol";
import { withCancelButton } from "../editor/progress";
import { chooseRoot } from "../editor/roots";
import { counted, progressText, syncReportText } from "../text/wording";
import { findOtherFolders, useFolder } from "./othersessions";
import { showError, showInfo } from "../editor/notifications";

type SyncContext = Pick<Context, "request" | "output" | "settings" | "status" | "onSyncProgress">;

/** Lerim: Sync. Reads the project's new sessions with progress and Cancel, and shows the result. */
export async function syncRoot(context: SyncContext, root: string | undefined): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    void vscode.window.showInformationMessage("Lerim does not sync in Restricted Mode. Trust this workspace to sync it.", "Manage Workspace Trust").then((choice) => {
      if (choice !== undefined) void vscode.commands.executeCommand("workbench.trust.manage");
    });
    return;
  }
  const chosen = root ?? (await chooseRoot())?.uri.toString();
  if (chosen === undefined) return;
  let report = await syncWithProgress(context, chosen);
  if (report !== undefined && (await askConsent(context, report))) report = (await syncWithProgress(context, chosen)) ?? report;
  if (report !== undefined) await showReport(context, chosen, report);
}

/** Runs a sync with progress. Returns its report; undefined if the person cancelled and there is none. */
async function syncWithProgress(context: SyncContext, root: string): Promise<protocol.SyncReport | undefined> {
  const report = await withCancelButton("Lerim", (token, progress) => runSync(context, root, progress, token));
  if (report === undefined) void showInfo("Sync cancelled. Everything found so far is kept, and the next sync continues from there.");
  return report;
}

/** Asks for consent to pay for the model that sessions wait for; whether it was given. Only a sync the person started asks. */
async function askConsent(context: SyncContext, { waits }: protocol.SyncReport): Promise<boolean> {
  if (waits.why !== "consent" || waits.sessions === 0) return false;
  const approve = "Approve";
  if ((await vscode.window.showInformationMessage(consentText(waits), { modal: true }, approve)) !== approve) return false;
  await context.request(protocol.modelAllow, { label: waits.model });
  return true;
}

async function runSync(
  context: SyncContext,
  root: string,
  progress: vscode.Progress<{ message?: string; increment?: number }>,
  token: vscode.CancellationToken,
): Promise<protocol.SyncReport> {
  let reportedShare = 0;
  const subscription = context.onSyncProgress((event) => {
    if (event.root !== root) return;
    const share = event.sessionsTotal > 0 ? Math.floor((100 * event.sessionsDone) / event.sessionsTotal) : 0;
    progress.report({ message: progressText(event), increment: Math.max(share - reportedShare, 0) });
    reportedShare = Math.max(share, reportedShare);
  });
  progress.report({ message: "Looking for sessions…" });
  context.status.setSyncing(root, "starting");
  try {
    return await context.request(protocol.sync, { root }, token);
  } finally {
    subscription.dispose();
    context.status.setSyncing(root, "");
  }
}

async function showReport(context: SyncContext, root: string, report: protocol.SyncReport): Promise<void> {
  const hasRead = report.sessions.new + report.sessions.changed > 0;
  const model = modelText(report, hasRead && context.settings["model.provider"] === "");
  const text = [syncReportText(report), model.text].filter((part) => part !== "").join(" ");
  context.output.info(`Sync of ${report.project}: ${text} (${report.seconds.toFixed(1)} s)`);
  for (const [reason, count] of Object.entries(report.dropped)) context.output.info(`left out ${count}: ${reason}`);
  for (const problem of report.problems) context.output.warn(`${problem.path}: ${problem.message} [${problem.code}]`);
  if (report.state === "failed") {
    if ((await showError(text, "Show Log")) !== undefined) context.output.show();
    return;
  }
  if (report.state === "done" && report.sessions.found === 0 && (await offerOtherFolder(context, root, text))) return;
  const leadsToReview = report.candidates.length + context.status.pending + Object.keys(report.dropped).length > 0;
  const actions = [...(leadsToReview ? ["Open Review"] : []), ...model.actions, ...(report.problems.length > 0 ? ["Show Log"] : [])];
  const choice = await showInfo(text, ...actions);
  if (choice === "Open Review") await vscode.commands.executeCommand("lerim.openReview");
  if (choice === "Show Log") context.output.show();
  if (choice !== undefined) await fixActions[choice]?.();
}

/** Offers the sessions of another folder to a repository that has none; whether there are any. */
async function offerOtherFolder(context: SyncContext, root: string, text: string): Promise<boolean> {
  const [folder, ...others] = await findOtherFolders(context, root);
  if (folder === undefined) return false;
  const [use, choose] = ["Use Them", "Other Folders…"];
  const question = `${text} ${counted(folder.sessions, "session")} ran in ${folder.path}: use them here?`;
  const choice = await showInfo(question, use, ...(others.length > 0 ? [choose] : []));
  if (choice === use) await useFolder(context, root, folder.path);
  if (choice === choose) await vscode.commands.executeCommand("lerim.useSessions");
  return true;
}

const fixActions: Partial<Record<string, () => Thenable<unknown>>> = {
  "Choose Model": () => vscode.commands.executeCommand("lerim.chooseModel"),
  "Set API Key": () => vscode.commands.executeCommand("lerim.enterModelKey"),
  "Change Budget": () => openSetting("lerim.budget.perDayUsd"),
} satisfies Record<Action, () => Thenable<unknown>>;
