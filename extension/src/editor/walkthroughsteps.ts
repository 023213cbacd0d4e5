// What the person has done so far, as context keys: each ticks a step of the walkthrough.
import * as vscode from "vscode";

export type WalkthroughStep = "synced" | "reviewed" | "hovered" | "agentsConnected";

/** Ticks a step of the walkthrough. */
export function tickStep(step: WalkthroughStep): void {
  void vscode.commands.executeCommand("setContext", `lerim.${step}`, true);
}
