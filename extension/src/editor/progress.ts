import * as vscode from "vscode";

interface Step {
  message?: string;
  increment?: number;
}

/** How long work runs before its notification is shown, in milliseconds. It may appear where the notification with the Sync button was, and the second click of a double click would press Cancel. */
const quietMs = 700;

/** Runs `work`, with a notification with Cancel if it takes longer than a moment; undefined if the person cancelled. */
export async function withCancelButton<Result>(title: string, work: (token: vscode.CancellationToken, progress: vscode.Progress<Step>) => Promise<Result>): Promise<Result | undefined> {
  const cancel = new vscode.CancellationTokenSource();
  const early: Step[] = [];
  let report = (step: Step): void => void early.push(step);
  const result = work(cancel.token, { report: (step) => report(step) });
  const settled = result.then(() => true, () => true);
  if (!(await Promise.race([settled, sleep(quietMs)]))) {
    await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title, cancellable: true }, (progress, token) => {
      token.onCancellationRequested(() => cancel.cancel());
      report = (step) => progress.report(step);
      early.forEach(report);
      return settled;
    });
  }
  try {
    return await result;
  } catch (error) {
    if (cancel.token.isCancellationRequested) return undefined;
    throw error;
  } finally {
    cancel.dispose();
  }
}

function sleep(milliseconds: number): Promise<false> {
  return new Promise((resolve) => setTimeout(() => resolve(false), milliseconds));
}
