import * as vscode from "vscode";
import type { Context } from "../sidecar/context";
import * as protocol from "../protocol";
import { chooseRoot, rootFolders } from "../editor/roots";
import { searchList } from "./searchlist";
import { iconOf, memoryDetail, titleDetail } from "../text/wording";

interface MemoryItem extends vscode.QuickPickItem {
  readonly memory: { readonly path: string };
}

interface FoundItem extends vscode.QuickPickItem {
  readonly memory: protocol.MemoryView;
}

const searchLimit = 50;
/** What the sidecar understands in a query. */
const filters = "kind: tag: file: is: since:";

/** Lerim: Search Memories. A live list in the sidecar's order; Enter opens the memory's file. */
export async function searchMemories(context: Pick<Context, "request">): Promise<void> {
  const root = await rootOrNull();
  if (root !== undefined) await listFound(context, root, `Search memories by words, symbols or paths, and with ${filters}`, (memory) => openFile(memory, root));
}

/** A memory that the person looks for and chooses; undefined when they chose none. */
export async function pickMemory(context: Pick<Context, "request">): Promise<protocol.MemoryView | undefined> {
  const root = await rootOrNull();
  if (root === undefined) return undefined;
  return new Promise((resolve, reject) => {
    const chosen = (memory: protocol.MemoryView): Promise<void> => {
      resolve(memory);
      return Promise.resolve();
    };
    listFound(context, root, `Choose a memory. Search by words, symbols or paths, and with ${filters}`, chosen, () => resolve(undefined)).catch(reject);
  });
}

async function listFound(context: Pick<Context, "request">, root: string | null, placeholder: string, chosen: (memory: protocol.MemoryView) => Promise<void>, hidden?: () => void): Promise<void> {
  await searchList<FoundItem>(
    placeholder,
    async (query, cancel) => {
      const { memories } = await context.request(protocol.memorySearch, { root, query, limit: searchLimit }, cancel);
      return { items: memories.map(rankedItem), title: memories.length === 0 ? "No matching memories" : undefined };
    },
    ({ memory }) => chosen(memory),
    hidden,
  );
}

function rankedItem(memory: protocol.MemoryView): FoundItem {
  return { label: iconOf(memory), description: memory.title, detail: memoryDetail(memory), alwaysShow: true, memory };
}

function titledItem(memory: protocol.MemoryView): MemoryItem {
  return { label: `${iconOf(memory)} ${memory.title}`, detail: memoryDetail(memory), memory };
}

function listedItem(memory: protocol.TitleView): MemoryItem {
  return { label: `${iconOf(memory)} ${memory.title}`, detail: titleDetail(memory), memory };
}

/** Lerim: Open Memory. Without a handle: a list of all. */
export async function openMemory(context: Pick<Context, "request">, handle: string | undefined): Promise<void> {
  if (handle !== undefined) {
    await openFile(await context.request(protocol.memoryShow, { id: handle }), null);
    return;
  }
  const root = await rootOrNull();
  if (root === undefined) return;
  await pickAndOpen((await allTitles(context, root)).map(listedItem), root, "Open a memory");
}

/** Every memory's title, asked for in parts; one that moved between two parts is there once. */
async function allTitles(context: Pick<Context, "request">, root: string | null): Promise<protocol.TitleView[]> {
  const found = new Map<string, protocol.TitleView>();
  let start = 0;
  for (;;) {
    const { memories, total } = await context.request(protocol.memoryTitles, { root, start });
    for (const memory of memories) found.set(memory.path, memory);
    start += memories.length;
    if (memories.length === 0 || start >= total) return [...found.values()];
  }
}

/** The memories of one file, from a code lens. */
export async function showFileMemories(context: Pick<Context, "request">, uri: string): Promise<void> {
  const { memories } = await context.request(protocol.memoryForFile, { uri });
  await pickAndOpen(memories.map(titledItem), null, "Memories of this file");
}

async function pickAndOpen(items: readonly MemoryItem[], root: string | null, placeHolder: string): Promise<void> {
  if (items.length === 0) {
    void vscode.window.showInformationMessage("There are no memories yet. Run Lerim: Sync, then accept candidates in Lerim: Open Review.");
    return;
  }
  const picked = await vscode.window.showQuickPick(items, { placeHolder, matchOnDetail: true });
  if (picked !== undefined) await openFile(picked.memory, root);
}

export async function openFile(memory: { readonly path: string }, root: string | null): Promise<void> {
  await vscode.window.showTextDocument(fileUri(memory.path, root));
}

/** A memory's path may be relative to its root. */
export function fileUri(path: string, root: string | null): vscode.Uri {
  const absolute = path.startsWith("/") || path.startsWith("\\\\") || /^[A-Za-z]:[\\/]/.test(path);
  return absolute || root === null ? vscode.Uri.file(path) : vscode.Uri.joinPath(vscode.Uri.parse(root), path);
}

/** The root searched in; null (the person's global memories) when no folder is open, undefined when the person chose none. */
async function rootOrNull(): Promise<string | null | undefined> {
  return rootFolders().length === 0 ? null : (await chooseRoot())?.uri.toString();
}
