import * as vscode from "vscode";
import type { Context } from "./context";
import * as protocol from "./protocol";
import { chooseRoot, rootFolders } from "./roots";
import { iconOf, memoryDetail } from "./wording";

interface MemoryItem extends vscode.QuickPickItem {
  readonly memory: protocol.MemoryView;
}

const searchLimit = 50;
const allLimit = 10_000;
const typingMs = 120;

/** Lerim: Search Memories. A live list in the sidecar's order; Enter opens the memory's file. */
export async function searchMemories(context: Pick<Context, "request">): Promise<void> {
  const root = await rootOrNull();
  const pick = vscode.window.createQuickPick<MemoryItem>();
  pick.placeholder = "Search memories by words, symbols or paths";
  let cancel = new vscode.CancellationTokenSource();
  let timer: NodeJS.Timeout | undefined;
  const look = async (query: string): Promise<void> => {
    cancel.cancel();
    cancel.dispose();
    const own = (cancel = new vscode.CancellationTokenSource());
    pick.busy = true;
    try {
      const { memories } = await context.request(protocol.memorySearch, { root, query, limit: searchLimit }, own.token);
      if (own.token.isCancellationRequested) return;
      pick.items = memories.map(rankedItem);
      pick.title = memories.length === 0 ? "No memory matches" : undefined;
    } catch (error) {
      if (own.token.isCancellationRequested) return;
      pick.items = [];
      pick.title = `Search failed: ${error instanceof Error ? error.message : String(error)}`;
    } finally {
      if (!own.token.isCancellationRequested) pick.busy = false;
    }
  };
  pick.onDidChangeValue((value) => {
    clearTimeout(timer);
    timer = setTimeout(() => void look(value), typingMs);
  });
  pick.onDidAccept(() => {
    const [chosen] = pick.selectedItems;
    if (chosen === undefined) return;
    pick.hide();
    void openFile(chosen.memory, root);
  });
  pick.onDidHide(() => {
    clearTimeout(timer);
    cancel.cancel();
    cancel.dispose();
    pick.dispose();
  });
  pick.show();
  await look("");
}

/**
 * VS Code moves items whose label matches the typed text to the top. The title therefore stands in the description, which is
 * not matched, and the sidecar's ranking stays.
 */
function rankedItem(memory: protocol.MemoryView): MemoryItem {
  return { label: iconOf(memory), description: memory.title, detail: memoryDetail(memory), alwaysShow: true, memory };
}

function titledItem(memory: protocol.MemoryView): MemoryItem {
  return { label: `${iconOf(memory)} ${memory.title}`, detail: memoryDetail(memory), memory };
}

/** Lerim: Open Memory. Without a handle: a list of all. */
export async function openMemory(context: Pick<Context, "request">, handle: string | undefined): Promise<void> {
  if (handle !== undefined) {
    await openFile(await context.request(protocol.memoryShow, { id: handle }), null);
    return;
  }
  const root = await rootOrNull();
  const { memories } = await context.request(protocol.memorySearch, { root, query: "", limit: allLimit });
  await pickAndOpen(memories, root, "Open a memory");
}

/** The memories of one file, from a code lens. */
export async function showFileMemories(context: Pick<Context, "request">, uri: string): Promise<void> {
  const { memories } = await context.request(protocol.memoryForFile, { uri });
  await pickAndOpen(memories, null, "Memories of this file");
}

async function pickAndOpen(memories: readonly protocol.MemoryView[], root: string | null, placeHolder: string): Promise<void> {
  if (memories.length === 0) {
    void vscode.window.showInformationMessage("There are no memories yet. Run Lerim: Sync, then accept candidates in Lerim: Open Review.");
    return;
  }
  const picked = await vscode.window.showQuickPick(memories.map(titledItem), { placeHolder, matchOnDetail: true });
  if (picked !== undefined) await openFile(picked.memory, root);
}

async function openFile(memory: protocol.MemoryView, root: string | null): Promise<void> {
  await vscode.window.showTextDocument(fileUri(memory.path, root));
}

/** A memory's path may be relative to its root. */
export function fileUri(path: string, root: string | null): vscode.Uri {
  const absolute = path.startsWith("/") || path.startsWith("\\\\") || /^[A-Za-z]:[\\/]/.test(path);
  return absolute || root === null ? vscode.Uri.file(path) : vscode.Uri.joinPath(vscode.Uri.parse(root), path);
}

/** The root searched in; null (the person's global memories) when no folder is open. */
async function rootOrNull(): Promise<string | null> {
  return rootFolders().length === 0 ? null : ((await chooseRoot())?.uri.toString() ?? null);
}
