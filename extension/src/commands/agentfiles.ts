import * as vscode from "vscode";
import { chooseRoot } from "../editor/roots";
import { errorText } from "../editor/errors";
import * as protocol from "../protocol";
import type { Context } from "../sidecar/context";

const scheme = "lerim-agent-file";

interface FileItem extends vscode.QuickPickItem {
  readonly file?: protocol.ExportFileView;
  readonly write?: "files" | "edits";
}

/** Lerim: Give Memory to Agents, and its way back. Shows the difference of each file, and writes them on request. */
export class AgentFiles implements vscode.TextDocumentContentProvider, vscode.Disposable {
  /** The texts by the URI of the document that shows them. */
  readonly #texts = new Map<string, string>();
  readonly #contentChanged = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#contentChanged.event;
  readonly #subscriptions = [
    vscode.workspace.registerTextDocumentContentProvider(scheme, this),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => this.#texts.delete(uri.toString())),
    this.#contentChanged,
  ];

  constructor(private readonly context: Pick<Context, "request" | "output">) {}

  /** Plans the files, shows what would change, and writes it if the person says so. */
  async give(remove: boolean): Promise<void> {
    const root = (await chooseRoot())?.uri.toString();
    if (root === undefined) return;
    const plan = await this.context.request(protocol.exportPlan, { root, remove });
    for (const problem of plan.problems) this.context.output.warn(`${problem.path}: ${problem.message}`);
    if (plan.files.length === 0) {
      void vscode.window.showInformationMessage(`Lerim: ${[nothingText(plan, remove), ...problemTexts(plan)].join(" ")}`);
      return;
    }
    const choice = await this.#choose(plan, remove);
    if (choice === undefined) return;
    const done = await this.context.request(protocol.exportApply, { root, remove, stamp: plan.stamp, takeEdits: choice === "edits" });
    this.#showDone(root, plan, done, remove);
  }

  /** Called by VS Code, also for a tab restored from an earlier session. */
  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.toString()) ?? "";
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }

  /** Lists the files, showing the difference of the one picked, until the person writes them or gives up. */
  async #choose(plan: protocol.ExportPlanView, remove: boolean): Promise<"files" | "edits" | undefined> {
    const pick = vscode.window.createQuickPick<FileItem>();
    pick.title = remove ? "Remove Memory from Agents' Files" : "Give Memory to Agents";
    pick.placeholder = "Pick a file to see its difference";
    pick.ignoreFocusOut = true; // the differences are shown meanwhile
    pick.items = planItems(plan);
    const [first] = plan.files;
    if (first !== undefined) await this.#showDifference(first);
    try {
      return await new Promise((resolve) => {
        pick.onDidAccept(() => {
          const [item] = pick.selectedItems;
          if (item?.write !== undefined) resolve(item.write);
          else if (item?.file !== undefined) void this.#showDifference(item.file).then(undefined, (error: unknown) => this.context.output.error(errorText(error)));
        });
        pick.onDidHide(() => resolve(undefined));
        pick.show();
      });
    } finally {
      pick.dispose();
    }
  }

  async #showDifference(file: protocol.ExportFileView): Promise<void> {
    const before = this.#setText("before", file.path, file.before);
    const after = this.#setText("after", file.path, file.after);
    await vscode.commands.executeCommand("vscode.diff", before, after, `${file.path} (what Lerim would ${file.action})`, { preview: true, preserveFocus: true });
  }

  #setText(side: string, path: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme, path: `/${side}/${path}` });
    this.#texts.set(uri.toString(), text);
    this.#contentChanged.fire(uri);
    return uri;
  }

  #showDone(root: string, plan: protocol.ExportPlanView, done: protocol.ExportDoneView, remove: boolean): void {
    const made = done.candidates > 0 ? ` ${count(done.candidates, "edited line")} ${done.candidates === 1 ? "waits" : "wait"} for your review.` : "";
    const choices = [...(done.undo === "" ? [] : ["Undo"]), ...(plan.keeps || remove ? [] : ["Keep Up to Date"])];
    const texts = [`Lerim: ${count(done.files, "file")} ${remove ? "restored" : "written"}.${made}`, ...problemTexts(plan)];
    void vscode.window.showInformationMessage(texts.join(" "), ...choices).then(
      async (choice) => {
        if (choice === "Undo") {
          const undone = await this.context.request(protocol.exportUndo, { root, undo: done.undo });
          void vscode.window.showInformationMessage(`Lerim: ${count(undone.files, "file")} restored.`);
        } else if (choice !== undefined) {
          await this.context.request(protocol.exportKeep, { root, keep: true });
          void vscode.window.showInformationMessage("Lerim: These files are kept up to date after each accept. `lerim export --no-keep` ends that.");
        }
      },
    ).then(undefined, (error: unknown) => void vscode.window.showErrorMessage(`Lerim: ${errorText(error)}`));
  }
}

/** Lerim: Import Rules Files. Lists what the files say, and makes candidates of it on request. */
export async function importRules(context: Pick<Context, "request" | "output">, review: { show(folder: vscode.WorkspaceFolder): Promise<void> }): Promise<void> {
  const folder = await chooseRoot();
  if (folder === undefined) return;
  const root = folder.uri.toString();
  const plan = await context.request(protocol.importPlan, { root });
  for (const problem of plan.problems) context.output.warn(`${problem.path}: ${problem.message}`);
  if (plan.claims.length === 0) {
    void vscode.window.showInformationMessage(`Lerim: ${[plan.files === 0 ? "No rules files were found." : `Nothing new in ${count(plan.files, "file")}.`, ...plan.notes].join(" ")}`);
    return;
  }
  const propose: vscode.QuickPickItem = { label: `$(check) Propose ${count(plan.claims.length, "Claim")}`, detail: ["They wait for your review.", ...plan.notes].join(" ") };
  const items = [propose, { label: "Claims", kind: vscode.QuickPickItemKind.Separator }, ...plan.claims.map(({ title, kind, source }) => ({ label: title, description: `${kind}, ${source}` }))];
  const picked = await vscode.window.showQuickPick(items, { title: "Import Rules Files", placeHolder: "Each claim becomes a candidate", ignoreFocusOut: true });
  if (picked !== propose) return;
  const { proposed } = await context.request(protocol.importApply, { root });
  void vscode.window.showInformationMessage(`Lerim: ${count(proposed, "candidate")} ${proposed === 1 ? "waits" : "wait"} for your review.`, "Open Review").then((choice) => {
    if (choice !== undefined) void review.show(folder);
  });
}

function planItems(plan: protocol.ExportPlanView): FileItem[] {
  const edited = plan.files.filter((file) => file.editedByHand);
  const own = plan.files.length - edited.length;
  return [
    ...(own > 0 ? [{ label: "$(check) Write Files", detail: count(own, "file"), write: "files" as const }] : []),
    ...(edited.length > 0 ? [{ label: "$(edit) Make Candidates of Edited Lines and Write Files", detail: `${count(edited.length, "file")} edited by hand`, write: "edits" as const }] : []),
    { label: "Files", kind: vscode.QuickPickItemKind.Separator },
    ...plan.files.map((file) => ({ label: `$(file) ${file.path}`, description: `+${file.added} −${file.removed}${file.editedByHand ? ", edited by hand" : ""}`, file })),
    ...(plan.notes.length > 0 ? [{ label: "Left out", kind: vscode.QuickPickItemKind.Separator }, ...plan.notes.map((label) => ({ label }))] : []),
  ];
}

function nothingText(plan: protocol.ExportPlanView, remove: boolean): string {
  if (remove) return "No agent's file holds memory.";
  if (plan.memories > 0) return `Agents' files are up to date: ${plan.memories === 1 ? "1 memory" : `${plan.memories} memories`}.`;
  return ["There is no memory yet that agents may be given.", ...plan.notes].join(" ");
}

function problemTexts(plan: protocol.ExportPlanView): string[] {
  return plan.problems.slice(0, 1).map(({ path, message }) => `${path}: ${message}`);
}

function count(number: number, noun: string): string {
  return number === 1 ? `1 ${noun}` : `${number} ${noun}s`;
}
