import type * as vscode from "vscode";
import { errorText, NotRunning } from "../../editor/errors";

type Output = Pick<vscode.LogOutputChannel, "error" | "warn">;

/** Handles the messages of a panel's page that `parse` accepts, since the page draws hostile text. Others are logged, failures given to `report`. */
export function receiveMessages<Message>({ webview }: vscode.WebviewPanel, output: Output, parse: (value: unknown) => Message | undefined, handle: (message: Message) => Promise<void>, report: (error: unknown) => void): void {
  webview.onDidReceiveMessage((value: unknown) => {
    const message = parse(value);
    if (message === undefined) output.warn("A panel sent a message that was not understood.");
    else handle(message).catch(report);
  });
}

/** Makes a function that logs why something failed, and tells the person by `show`. */
export function makeReporter(output: Output, show: (text: string) => unknown): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof NotRunning)) output.error(errorText(error));
    show(errorText(error));
  };
}
