// Lerim moves a memory's file when its kind changes or when it is archived, and an undo may remove it. Its tab follows.
import { access } from "node:fs/promises";
import * as vscode from "vscode";

const folders = ["decisions", "learnings", "questions", "themes"].flatMap((name) => [name, `archived/${name}`]);

/** Shows the file of a memory at its new place in the tab of the old one. A tab is closed if its file is gone, or if it moved while another tab covers it. */
export async function followMovedMemories(): Promise<void> {
  for (const tab of openTabs()) {
    if (!(tab.input instanceof vscode.TabInputText) || tab.isDirty) continue;
    const { uri } = tab.input;
    const [, folder, name] = /^(.*\/\.lerim\/memory)\/(?:archived\/)?\w+\/([^/]+\.md)$/.exec(uri.path) ?? [];
    if (uri.scheme !== "file" || folder === undefined || name === undefined || (await exists(uri))) continue;
    const place = tab.isActive ? await findFile(folders.map((one) => uri.with({ path: `${folder}/${one}/${name}` }))) : undefined;
    if (place !== undefined) await vscode.window.showTextDocument(place, { viewColumn: tab.group.viewColumn, preview: tab.isPreview, preserveFocus: !tab.group.isActive });
    if (openTabs().includes(tab)) await vscode.window.tabGroups.close(tab, true); // unless a preview took its place
  }
}

function openTabs(): vscode.Tab[] {
  return vscode.window.tabGroups.all.flatMap((group) => group.tabs);
}

async function findFile(places: readonly vscode.Uri[]): Promise<vscode.Uri | undefined> {
  for (const place of places) if (await exists(place)) return place;
  return undefined;
}

function exists(uri: vscode.Uri): Promise<boolean> {
  return access(uri.fsPath).then(
    () => true,
    () => false,
  );
}
