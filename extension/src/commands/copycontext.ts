import * as vscode from "vscode";
import { currentRoot } from "../editor/roots";
import * as protocol from "../protocol";
import type { Context } from "../sidecar/context";
import { activeMemories, pickMemory } from "./memories";
import { showInfo } from "../editor/notifications";
import { beginning } from "../text/wording";

const maxQuestion = 1000;

/** Lerim: Copy Memory as Context. Puts memories on the clipboard as text for an agent. Without handles, the person picks one. */
export async function copyMemories(context: Pick<Context, "request">, handles: readonly string[]): Promise<void> {
  const picked = handles.length > 0 ? handles : [await pickMemory(context, activeMemories)].flatMap((memory) => memory?.handle ?? []);
  if (picked.length === 0) return;
  const { text } = await context.request(protocol.memoryContext, { ids: [...picked] });
  await copy(text, picked.length === 1 ? "Copied the memory as context for an agent." : `Copied ${picked.length} memories as context for an agent.`);
}

/** Lerim: Copy Memories of File as Context, and of Selection: those about the file, and what the selection speaks of first. */
export async function copyFileMemories(context: Pick<Context, "request">, uri: vscode.Uri | undefined, selection: boolean): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const file = uri ?? editor?.document.uri;
  const root = file === undefined ? undefined : (vscode.workspace.getWorkspaceFolder(file) ?? (await currentRoot()));
  if (file === undefined || root === undefined) throw new Error("Open a file of a repository first.");
  const question = selection && editor !== undefined ? beginning(editor.document.getText(editor.selection), maxQuestion) : "";
  const { text, isError } = await context.request(protocol.agentTool, { root: root.uri.toString(), tool: "recall", agent: "clipboard", files: [file.fsPath], question });
  if (isError) throw new Error(text);
  if (!text.includes("<lerim-memories>")) {
    void showInfo(text);
    return;
  }
  await copy(text, "Copied what is known here as context for an agent.");
}

async function copy(text: string, message: string): Promise<void> {
  await vscode.env.clipboard.writeText(text);
  void vscode.window.setStatusBarMessage(`Lerim: ${message}`, 5000);
}
