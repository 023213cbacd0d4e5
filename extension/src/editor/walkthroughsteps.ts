// The walkthrough's tab, and what the person has done so far, as context keys: each ticks a step.
import * as vscode from "vscode";

export type WalkthroughStep = "synced" | "reviewed" | "hovered" | "agentsConnected";

/** Ticks a step of the walkthrough. */
export function tickStep(step: WalkthroughStep): void {
  void vscode.commands.executeCommand("setContext", `lerim.${step}`, true);
}

/** Opens a step of the walkthrough, if the walkthrough is what the person sees. */
export async function showStep(step: "sync" | "review"): Promise<void> {
  const { activeTab } = vscode.window.tabGroups.activeTabGroup;
  if (activeTab === undefined || !isWalkthrough(activeTab)) return;
  // the editor's own command: where it is missing, the person opens the step
  await vscode.commands.executeCommand("walkthroughs.selectStep", step).then(undefined, () => undefined);
}

/** How a file is opened: as a preview, unless that would replace the walkthrough. */
export function previewOptions(): { readonly preview: boolean } {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  return { preview: !tabs.some((tab) => tab.isPreview && isWalkthrough(tab)) };
}

/** The editor says nothing of the walkthrough's tab but that it is there, as of its own settings page. In the latter, no step is opened. */
function isWalkthrough({ input }: vscode.Tab): boolean {
  return input === undefined;
}
