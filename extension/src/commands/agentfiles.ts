import * as vscode from "vscode";
import { chooseRoot } from "../editor/roots";
import { tickStep } from "../editor/walkthroughsteps";
import * as protocol from "../protocol";
import type { Context } from "../sidecar/context";
import { counted, rowText } from "../text/wording";
import { keepFileChange } from "./filechanges";
import { showDifferences } from "../views/shared/differences";
import { reportError, showInfo } from "../editor/notifications";

const [undo, keepUpdating, stopUpdating] = ["Undo", "Keep Up to Date", "Stop Updating"] as const;

type Requester = Pick<Context, "request" | "output">;

/** Lerim: Write Memories into Rules Files…, or with `remove` the opposite. Shows the difference of each file, and writes the files on request. */
export async function giveMemoryToAgents(context: Requester, remove: boolean): Promise<void> {
  const root = (await chooseRoot())?.uri.toString();
  if (root === undefined) return;
  const plan = await context.request(protocol.exportPlan, { root, remove });
  for (const problem of plan.problems) context.output.warn(`${problem.path}: ${problem.message}`);
  if (plan.files.length === 0) {
    await showWithChoices(context, root, [nothingText(plan, remove), ...problemTexts(plan)], plan.keeps && !remove ? [stopUpdating] : []);
    return;
  }
  const options: vscode.QuickPickOptions = { title: remove ? "Remove Memories from Rules Files" : "Write Memories into Rules Files", placeHolder: "Change these files as shown?", ignoreFocusOut: true };
  const choice = await showDifferences(plan.files, () => vscode.window.showQuickPick(choiceItems(plan, remove), options));
  if (choice?.write === undefined) return;
  const done = await context.request(protocol.exportApply, { root, remove, stamp: plan.stamp, takeEdits: choice.write === "edits" });
  if (!remove) tickStep("agents");
  showDone(context, root, plan, done, remove);
}

function showDone(context: Requester, root: string, plan: protocol.ExportPlanView, done: protocol.ExportDoneView, remove: boolean): void {
  const made = done.candidates > 0 ? ` ${counted(done.candidates, "edited line")} ${done.candidates === 1 ? "waits" : "wait"} for your review.` : "";
  const keeping = remove ? [] : [plan.keeps ? stopUpdating : keepUpdating];
  const texts = [`${counted(done.files, "file")} ${remove ? "restored" : "written"}.${made}`, ...problemTexts(plan)];
  const undoWriting = done.undo === "" ? undefined : keepFileChange(async () => {
    const undone = await context.request(protocol.exportUndo, { root, undo: done.undo });
    void showInfo(`${counted(undone.files, "file")} restored.`);
  });
  showWithChoices(context, root, texts, keeping, undoWriting).catch(reportError);
}

/** Shows a message with these choices: to take back what was written, if `undoWriting` does, and whether the files follow each accept from now on. */
async function showWithChoices(context: Requester, root: string, texts: readonly string[], choices: readonly string[], undoWriting?: () => Promise<void>): Promise<void> {
  const choice = await showInfo(texts.join(" "), ...(undoWriting === undefined ? [] : [undo]), ...choices);
  if (choice === undefined) return;
  if (choice === undo) return undoWriting?.();
  await context.request(protocol.exportKeep, { root, keep: choice === keepUpdating });
  const text = choice === keepUpdating ? "These files are now updated after each accept. To stop this, run Lerim: Write Memories into Rules Files… again." : "These files are no longer updated after each accept.";
  void showInfo(text);
}

/** Lerim: Import Rules Files…. Lists what the files say, and makes candidates of it on request. */
export async function importRules(context: Pick<Context, "request" | "output">, review: { show(folder: vscode.WorkspaceFolder): Promise<void> }): Promise<void> {
  const folder = await chooseRoot();
  if (folder === undefined) return;
  const root = folder.uri.toString();
  const plan = await context.request(protocol.importPlan, { root });
  for (const problem of plan.problems) context.output.warn(`${problem.path}: ${problem.message}`);
  if (plan.claims.length === 0) {
    void showInfo([plan.files === 0 ? "No rules files were found." : `Nothing new in ${counted(plan.files, "file")}.`, ...plan.notes].join(" "));
    return;
  }
  const propose: vscode.QuickPickItem = { label: `$(check) Propose ${counted(plan.claims.length, "Candidate")}`, detail: ["They wait for your review.", ...plan.notes].join(" ") };
  const items = [propose, { label: "Candidates", kind: vscode.QuickPickItemKind.Separator }, ...plan.claims.map(({ title, kind, source }) => ({ label: rowText(title), description: rowText(`${kind}, ${source}`) }))];
  const picked = await vscode.window.showQuickPick(items, { title: "Import Rules Files", placeHolder: "What was found in the rules files", ignoreFocusOut: true });
  if (picked !== propose) return;
  const { proposed } = await context.request(protocol.importApply, { root });
  void showInfo(`${counted(proposed, "candidate")} ${proposed === 1 ? "waits" : "wait"} for your review.`, "Open Review").then((choice) => {
    if (choice !== undefined) void review.show(folder);
  });
}

interface ChoiceItem extends vscode.QuickPickItem {
  readonly write?: "files" | "edits";
}

/** What can be done with the planned files, and below that what is in none of them. */
function choiceItems(plan: protocol.ExportPlanView, remove: boolean): ChoiceItem[] {
  const verb = remove ? "Restore" : "Write";
  const edited = plan.files.filter((file) => file.editedByHand);
  const own = plan.files.filter((file) => !file.editedByHand);
  return [
    ...(own.length > 0 ? [{ label: `$(check) ${verb} Files`, detail: filesText(own), write: "files" as const }] : []),
    ...(edited.length > 0 ? [{ label: `$(edit) Make Candidates of Edited Lines and ${verb} Files`, detail: `Edited by hand: ${filesText(edited)}`, write: "edits" as const }] : []),
    { label: "$(close) Change nothing" },
    ...(plan.notes.length > 0 ? [{ label: "Left out", kind: vscode.QuickPickItemKind.Separator }, ...plan.notes.map((label) => ({ label }))] : []),
  ];
}

function filesText(files: readonly protocol.ExportFileView[]): string {
  return files.map(({ path, added, removed }) => `${path} +${added} −${removed}`).join(", ");
}

function nothingText(plan: protocol.ExportPlanView, remove: boolean): string {
  if (remove) return "No agent's file contains memories.";
  if (plan.memories > 0) return `Agents' files are up to date: ${plan.memories === 1 ? "1 memory" : `${plan.memories} memories`}.`;
  return ["There are no memories yet that agents can be given.", ...plan.notes].join(" ");
}

function problemTexts(plan: protocol.ExportPlanView): string[] {
  return plan.problems.slice(0, 1).map(({ path, message }) => `${path}: ${message}`);
}
