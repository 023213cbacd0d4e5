// Manual actions on memories, from a hover, the Memories view or the palette. The message of each action offers to undo it.
import { chooseRoot } from "../editor/roots";
import * as vscode from "vscode";
import type { Context } from "../sidecar/context";
import * as protocol from "../protocol";
import { findFileChange, forgetFileChanges } from "./filechanges";
import { activeMemories, type EligibleMemories, openFile, pickMemory, showLikelyPlaces } from "./memories";
import { iconOf, kindHelp, kindOf, plainText, rowText } from "../text/wording";
import { reportError, showError, showInfo, withoutLinks } from "../editor/notifications";

type Requester = Pick<Context, "request">;
type MemoryAction = Omit<protocol.MemoryActParams, "id">;

const openQuestions: EligibleMemories = { filter: "kind:question", noun: "question", none: "There are no open questions." };
const themes: EligibleMemories = { filter: "kind:theme is:any", noun: "theme", none: "There are no themes." };
const endedMemories: EligibleMemories = { filter: "is:archived is:superseded is:resolved", noun: "memory to restore", none: "There are no archived, superseded or resolved memories." };

function eligibleFor({ action }: MemoryAction): EligibleMemories {
  if (action === "restore") return endedMemories;
  return action === "delete" ? themes : activeMemories;
}

/** The memory of `handle`, or else the one open in the editor, or else one the person picks among the eligible ones. */
async function findTarget(context: Requester, handle: string | undefined, eligible = activeMemories): Promise<protocol.MemoryView | undefined> {
  if (handle !== undefined) return context.request(protocol.memoryShow, { id: handle });
  const uri = vscode.window.activeTextEditor?.document.uri;
  if (uri !== undefined && uri.scheme === "file" && /[\\/]\.lerim[\\/]memory[\\/](?:archived[\\/])?\w+[\\/][^\\/]+\.md$/.test(uri.fsPath)) {
    return context.request(protocol.memoryShow, { id: uri.toString() });
  }
  return pickMemory(context, eligible);
}

/** Lerim: Edit Memory…. The title or tags are edited in an input box, the text in the memory's file. */
export async function editMemory(context: Requester, handle: string | undefined): Promise<void> {
  const memory = await findTarget(context, handle);
  if (memory === undefined) return;
  const text = { label: "$(go-to-file) Edit the text", description: "in its file", part: "text" } as const;
  const title = { label: "$(edit) Change the title", description: rowText(memory.title), part: "title" } as const;
  const tags = { label: "$(tag) Change the tags", description: rowText(memory.tags.join(", ")), part: "tags" } as const;
  const picked = await vscode.window.showQuickPick([text, title, tags], { placeHolder: `Edit “${plainText(memory.title)}”` });
  if (picked === undefined) return;
  if (picked.part === "text") return openFile(memory, null);
  const value = picked.part === "title" ? memory.title : memory.tags.join(", ");
  const entered = await vscode.window.showInputBox({
    title: picked.part === "title" ? "Title of the memory" : "Tags, separated by commas",
    value,
    ignoreFocusOut: true, // losing the focus must not discard what was typed
    validateInput: (now) => (picked.part === "title" && now.trim() === "" ? "A memory needs a title." : undefined),
  });
  if (entered === undefined || entered === value) return;
  const changed = picked.part === "title" ? { title: entered.trim() } : { tags: parseTags(entered) };
  await sendAction(context, memory.handle, { action: "edit", ...changed });
}

/** Lerim: Promote Question to Decision…. Asks for the title of the decision. */
export async function promoteMemory(context: Requester, handle: string | undefined): Promise<void> {
  const memory = await findTarget(context, handle, openQuestions);
  if (memory === undefined) return;
  const title = await vscode.window.showInputBox({
    title: "What was decided",
    prompt: `Answers “${withoutLinks(plainText(memory.title))}”`,
    ignoreFocusOut: true,
    validateInput: (now) => (now.trim() === "" ? "A decision needs a title." : undefined),
  });
  if (title !== undefined) await sendAction(context, memory.handle, { action: "promote", title: title.trim() });
}

const kinds = [
  { primitive: "decision", kind: null },
  { primitive: "learning", kind: "insight" },
  { primitive: "learning", kind: "procedure" },
  { primitive: "learning", kind: "friction" },
  { primitive: "learning", kind: "pitfall" },
  { primitive: "learning", kind: "preference" },
  { primitive: "question", kind: null },
  { primitive: "theme", kind: null },
] as const;

/** Lerim: Change Memory Kind…. */
export async function changeKind(context: Requester, handle: string | undefined): Promise<void> {
  const memory = await findTarget(context, handle);
  if (memory === undefined) return;
  const items = kinds
    .filter((kind) => kindOf(kind) !== kindOf(memory))
    .map((kind) => ({ label: `${iconOf(kind)} ${kindOf(kind)}`, description: kindHelp(kindOf(kind)), action: kind }));
  const picked = await vscode.window.showQuickPick(items, { placeHolder: `“${plainText(memory.title)}” is a ${kindOf(memory)}. Choose its kind` });
  if (picked === undefined) return;
  const { primitive, kind } = picked.action;
  await sendAction(context, memory.handle, { action: "kind", primitive, ...(kind === null ? {} : { kind }) });
}

/** Performs an action that needs no further input. */
export async function actOnMemory(context: Requester, handle: string | undefined, action: MemoryAction): Promise<void> {
  const memory = handle ?? (await findTarget(context, undefined, eligibleFor(action)))?.handle;
  if (memory !== undefined) await sendAction(context, memory, action);
}

async function sendAction(context: Requester, handle: string, action: MemoryAction): Promise<void> {
  showActionResult(context, await context.request(protocol.memoryAct, { id: handle, ...action }));
}

/** A result, and what it says besides of references that name no place: these can be shown. */
type ShownResult = protocol.MemoryActView & { readonly note?: string };
const placesButton = "Show Places";

/** Shows the result of an action, with Undo. If a reference was not found, offers the places it may mean. Throws if the sidecar refused it for another reason. */
export function showActionResult(context: Requester, result: ShownResult): void {
  if (!result.ok) {
    if (result.code !== "missing-reference" || result.path === null) throw new Error(result.message);
    void offerPlaces(result.message, result.path).catch(reportError);
    return;
  }
  forgetFileChanges();
  void offerUndo(context, result).catch(reportError);
}

async function offerPlaces(message: string, path: string): Promise<void> {
  if ((await showError(plainText(message), placesButton)) === placesButton) await showLikelyPlaces(path);
}

async function offerUndo(context: Requester, { message, action, path, root, note = "" }: ShownResult): Promise<void> {
  const openButton = note === "" ? "Open" : placesButton;
  const choices = [...(path === null ? [] : [openButton]), ...(action === null ? [] : ["Undo"])];
  const choice = await showInfo(plainText(note === "" ? message : `${message}. ${note}`), ...choices);
  if (choice === openButton && path !== null) await (note === "" ? openFile({ path }, null) : showLikelyPlaces(path));
  if (choice === "Undo" && action !== null) {
    const undone = await context.request(protocol.reviewUndo, { root, action });
    if (!undone.ok) throw new Error(undone.message);
    void showInfo(plainText(undone.message));
  }
}

/** Lerim: Undo Last Action. Says what is undone; an action on personal memories is undone from its message. A change of agents' files is undone if it came last. */
export async function undoLastAction(context: Requester): Promise<void> {
  const undoFileChange = findFileChange();
  if (undoFileChange !== undefined) return undoFileChange();
  const root = (await chooseRoot())?.uri.toString();
  if (root === undefined) return;
  const undone = await context.request(protocol.reviewUndo, { root });
  if (!undone.ok && undone.code !== "nothing") throw new Error(undone.message);
  void showInfo(plainText(undone.message));
}

function parseTags(text: string): string[] {
  return [...new Set(text.split(",").map((tag) => tag.trim()).filter((tag) => tag !== ""))];
}
