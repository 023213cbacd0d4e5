// The walkthrough's tab, and what the person has done so far: each ticks a step.
import * as vscode from "vscode";

type Kept = Pick<vscode.Memento, "get" | "update">;

export type WalkthroughStep = "setUp" | "sync" | "review" | "hover" | "agents";

const walkthrough = "lerim.lerim#start";
const steps = ["setUp", "sync", "review", "hover", "model", "agents"];
/** The keys that tick the steps; the state of the sidecar ticks the first, a setting the one of the model. */
const contextKeys: Readonly<Partial<Record<string, string>>> = { sync: "lerim.synced", review: "lerim.reviewed", hover: "lerim.hovered", agents: "lerim.agentsConnected" };
const doneKey = "walkthroughDone";

let kept: Kept | undefined;
/** The step to open when the person comes to the walkthrough. */
let nextStep: string | undefined;
/** The tabs in which it was opened: there the person may choose another. A page of the editor itself, which opens none, may be among them. */
let shownIn = new WeakSet<vscode.Tab>();

function doneSteps(): readonly string[] {
  return kept?.get<readonly string[]>(doneKey) ?? [];
}

function findOpenStep(after = -1): string | undefined {
  const done = [...doneSteps(), ...(vscode.workspace.getConfiguration("lerim").get<string>("model.provider", "") === "" ? [] : ["model"])];
  return steps.slice(after + 1).find((step) => !done.includes(step));
}

/** Ticks the steps that were done in earlier windows, and opens the next one when the person comes back to the walkthrough. */
export function followSteps(memento: Kept): vscode.Disposable {
  kept = memento;
  setNextStep(undefined);
  for (const step of doneSteps()) setTick(step);
  return vscode.window.tabGroups.onDidChangeTabs(() => void showNextStep());
}

/** Ticks a step, and opens the next one if the walkthrough is what the person sees. */
export function tickStep(step: WalkthroughStep): void {
  if (doneSteps().includes(step)) return;
  void kept?.update(doneKey, [...doneSteps(), step]);
  setTick(step);
  setNextStep(findOpenStep(steps.indexOf(step)));
  void showNextStep();
}

/** Opens the walkthrough at the first step that is not done. */
export async function openWalkthrough(): Promise<void> {
  await tickDoneSteps();
  await vscode.commands.executeCommand("workbench.action.openWalkthrough", walkthrough, false);
  setNextStep(findOpenStep());
  await showNextStep();
}

/** Ticks what was done before the editor knew the walkthrough: it ignores keys that are set already when it reads the steps. */
async function tickDoneSteps(): Promise<void> {
  for (const step of doneSteps()) await runEditorCommand("welcome.markStepComplete", `${walkthrough}#${step}`);
}

/** Runs a command that the editor has for itself. It may be missing, or refuse a step that it has not read yet; then the person does without. */
async function runEditorCommand(id: string, step: string): Promise<void> {
  await vscode.commands.executeCommand(id, step).then(undefined, () => undefined);
}

function setTick(step: string): void {
  const key = contextKeys[step];
  if (key !== undefined) void vscode.commands.executeCommand("setContext", key, true);
}

function setNextStep(step: string | undefined): void {
  nextStep = step;
  shownIn = new WeakSet();
}

async function showNextStep(): Promise<void> {
  const { activeTab } = vscode.window.tabGroups.activeTabGroup;
  if (nextStep === undefined || activeTab === undefined || !isWalkthrough(activeTab) || shownIn.has(activeTab)) return;
  const step = nextStep;
  shownIn.add(activeTab);
  await tickDoneSteps();
  await runEditorCommand("walkthroughs.selectStep", step);
}

/** How a file is opened: as a preview, unless that would replace the walkthrough. */
export function previewOptions(): { readonly preview: boolean } {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  return { preview: !tabs.some((tab) => tab.isPreview && isWalkthrough(tab)) };
}

/** The editor says nothing of the walkthrough's tab but that it is there, as of its own pages for settings and trust. In these, no step is opened. */
function isWalkthrough({ input }: vscode.Tab): boolean {
  return input === undefined;
}
