import * as vscode from "vscode";
import type { Context } from "../sidecar/context";
import * as protocol from "../protocol";
import { chooseRoot, rootFolders } from "../editor/roots";
import { searchList } from "./searchlist";
import { iconOf, memoryDetail, titleDetail } from "../text/wording";

interface MemoryItem extends vscode.QuickPickItem {
  readonly memory: { readonly path: string };
}

interface SearchResultItem extends vscode.QuickPickItem {
  readonly memory: protocol.MemoryView;
}

const searchLimit = 50;
/** The filters of a query, as shown to the person. */
const filters = "kind: tag: file: is: since:";

/** Lerim: Search Memories. A live list in the sidecar's order; Enter opens the memory's file. */
export async function searchMemories(context: Pick<Context, "request">): Promise<void> {
  const root = await rootOrNull();
  if (root !== undefined) await showSearchList(context, root, `Search memories by words, symbols or paths, and with ${filters}`, (memory) => openFile(memory, root));
}

/** Lets the person search for a memory and choose it; undefined if they chose none. Only memories that match `filter` are listed. */
export async function pickMemory(context: Pick<Context, "request">, filter: string): Promise<protocol.MemoryView | undefined> {
  const root = await rootOrNull();
  if (root === undefined) return undefined;
  return new Promise((resolve, reject) => {
    const onChosen = (memory: protocol.MemoryView): Promise<void> => {
      resolve(memory);
      return Promise.resolve();
    };
    showSearchList(context, root, `Choose a memory. Search by words, symbols or paths, and with ${filters}`, onChosen, () => resolve(undefined), filter).catch(reject);
  });
}

async function showSearchList(context: Pick<Context, "request">, root: string | null, placeholder: string, onChosen: (memory: protocol.MemoryView) => Promise<void>, onHidden?: () => void, filter = ""): Promise<void> {
  await searchList<SearchResultItem>(
    placeholder,
    async (query, cancel) => {
      const { memories } = await context.request(protocol.memorySearch, { root, query: `${filter} ${query}`.trim(), limit: searchLimit }, cancel);
      return { items: memories.map(searchResultItem), title: memories.length === 0 ? "No matching memories" : undefined };
    },
    ({ memory }) => onChosen(memory),
    onHidden,
  );
}

function searchResultItem(memory: protocol.MemoryView): SearchResultItem {
  return { label: iconOf(memory), description: memory.title, detail: memoryDetail(memory), alwaysShow: true, memory };
}

function memoryItem(memory: protocol.MemoryView): MemoryItem {
  return { label: `${iconOf(memory)} ${memory.title}`, detail: memoryDetail(memory), memory };
}

function titleItem(memory: protocol.TitleView): MemoryItem {
  return { label: `${iconOf(memory)} ${memory.title}`, detail: titleDetail(memory), memory };
}

/** Lerim: Open Memory. Without a handle, lists all memories. */
export async function openMemory(context: Pick<Context, "request">, handle: string | undefined): Promise<void> {
  if (handle !== undefined) {
    await openFile(await context.request(protocol.memoryShow, { id: handle }), null);
    return;
  }
  const root = await rootOrNull();
  if (root === undefined) return;
  await pickAndOpen((await loadAllTitles(context, root)).map(titleItem), root, "Open a memory");
}

/** The titles of all memories, requested page by page. A memory that moves between two pages is listed once. */
async function loadAllTitles(context: Pick<Context, "request">, root: string | null): Promise<protocol.TitleView[]> {
  const found = new Map<string, protocol.TitleView>();
  let start = 0;
  for (;;) {
    const { memories, total } = await context.request(protocol.memoryTitles, { root, start });
    for (const memory of memories) found.set(memory.path, memory);
    start += memories.length;
    if (memories.length === 0 || start >= total) return [...found.values()];
  }
}

/** Lists the memories of one file, from a code lens, or those about one place in it, from a hover. */
export async function showFileMemories(context: Pick<Context, "request">, uri: string, place?: { readonly line: number; readonly character: number }): Promise<void> {
  const { memories } = await context.request(protocol.memoryForFile, { uri, ...place });
  await pickAndOpen(memories.map(memoryItem), null, place === undefined ? "Memories of this file" : "Memories about this");
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

/** The root to search; null (global memories only) if no folder is open, undefined if the person chose none. */
async function rootOrNull(): Promise<string | null | undefined> {
  return rootFolders().length === 0 ? null : (await chooseRoot())?.uri.toString();
}
