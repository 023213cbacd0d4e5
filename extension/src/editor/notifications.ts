// Lerim's notifications. The editor makes links of `[text](command:…)` in them, and their texts may come from sessions, repositories and services.
import * as vscode from "vscode";
import { errorText } from "./errors";

/** Shows a notification with these buttons. Resolves to the one that is clicked, undefined if the notification is closed. */
export function showInfo(text: string, ...buttons: string[]): Thenable<string | undefined> {
  return vscode.window.showInformationMessage(`Lerim: ${withoutLinks(text)}`, ...buttons);
}

/** Like `showInfo`, as a warning. */
export function showWarning(text: string, ...buttons: string[]): Thenable<string | undefined> {
  return vscode.window.showWarningMessage(`Lerim: ${withoutLinks(text)}`, ...buttons);
}

/** Like `showInfo`, as an error. */
export function showError(text: string, ...buttons: string[]): Thenable<string | undefined> {
  return vscode.window.showErrorMessage(`Lerim: ${withoutLinks(text)}`, ...buttons);
}

/** Shows why something failed for which no command waits. */
export function reportError(error: unknown): void {
  void showError(errorText(error));
}

/** Breaks the links in a text for a notification or the prompt of an input box, which the editor would make clickable. */
export function withoutLinks(text: string): string {
  return text.replaceAll("](", "] (");
}
