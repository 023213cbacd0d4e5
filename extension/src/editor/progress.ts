import * as vscode from "vscode";

/** Shows a notification with Cancel while `work` runs; undefined if the person cancelled. */
export function withCancelButton<Result>(title: string, work: (token: vscode.CancellationToken, progress: vscode.Progress<{ message?: string; increment?: number }>) => Promise<Result>): Thenable<Result | undefined> {
  return vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title, cancellable: true }, async (progress, token) => {
    try {
      return await work(token, progress);
    } catch (error) {
      if (token.isCancellationRequested) return undefined;
      throw error;
    }
  });
}
