// What a person does to a memory by hand, from a hover, the Memories view or the palette; each act can be undone from its message.
import * as vscode from "vscode";
import type { Context } from "../sidecar/context";
import * as protocol from "../protocol";
import { openFile, pickMemory } from "./memories";
import { iconOf, kindOf } from "../text/wording";

type Asks = Pick<Context, "request">;
type Act = Omit<protocol.MemoryActParams, "id">;

/** The memory that a command was given by its handle, else the one that is open in the editor, else one the person picks. */
async function meant(context: Asks, handle: string | undefined): Promise<protocol.MemoryView | undefined> {
  if (handle !== undefined) return context.request(protocol.memoryShow, { id: handle });
  const uri = vscode.window.activeTextEditor?.document.uri;
  if (uri !== undefined && uri.scheme === "file" && /[\\/]memory[\\/](?:archived[\\/])?\w+[\\/][^\\/]+\.md$/.test(uri.fsPath)) {
    return context.request(protocol.memoryShow, { id: uri.toString() });
  }
  return pickMemory(context);
}

/** Lerim: Edit Memory. Its title or tags in a box, its text in its own file. */
export async function editMemory(context: Asks, handle: string | undefined): Promise<void> {
  const memory = await meant(context, handle);
  if (memory === undefined) return;
  const text = { label: "$(go-to-file) Edit the text", description: "in its file", part: "text" } as const;
  const title = { label: "$(edit) Change the title", description: memory.title, part: "title" } as const;
  const tags = { label: "$(tag) Change the tags", description: memory.tags.join(", "), part: "tags" } as const;
  const picked = await vscode.window.showQuickPick([text, title, tags], { placeHolder: `Edit “${memory.title}”` });
  if (picked === undefined) return;
  if (picked.part === "text") return openFile(memory, null);
  const value = picked.part === "title" ? memory.title : memory.tags.join(", ");
  const given = await vscode.window.showInputBox({
    title: picked.part === "title" ? "Title of the memory" : "Tags, separated by commas",
    value,
    ignoreFocusOut: true, // what was typed is not lost to whatever takes the focus
    validateInput: (now) => (picked.part === "title" && now.trim() === "" ? "A memory needs a title." : undefined),
  });
  if (given === undefined || given === value) return;
  const changed = picked.part === "title" ? { title: given.trim() } : { tags: tagsOf(given) };
  await act(context, memory.handle, { action: "edit", ...changed });
}

/** Lerim: Promote Question to Decision: under the title that the person gives what was decided. */
export async function promoteMemory(context: Asks, handle: string | undefined): Promise<void> {
  const memory = await meant(context, handle);
  if (memory === undefined) return;
  const title = await vscode.window.showInputBox({
    title: "What was decided",
    prompt: `Answers “${memory.title}”`,
    ignoreFocusOut: true,
    validateInput: (now) => (now.trim() === "" ? "A decision needs a title." : undefined),
  });
  if (title !== undefined) await act(context, memory.handle, { action: "promote", title: title.trim() });
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

/** Lerim: Change Memory Kind. */
export async function changeKind(context: Asks, handle: string | undefined): Promise<void> {
  const memory = await meant(context, handle);
  if (memory === undefined) return;
  const items = kinds
    .filter((kind) => kindOf(kind) !== kindOf(memory))
    .map((kind) => ({ label: `${iconOf(kind)} ${kindOf(kind)}`, description: kind.kind === null ? "" : kind.primitive, what: kind }));
  const picked = await vscode.window.showQuickPick(items, { placeHolder: `“${memory.title}” is a ${kindOf(memory)}. Choose its kind` });
  if (picked === undefined) return;
  const { primitive, kind } = picked.what;
  await act(context, memory.handle, { action: "kind", primitive, ...(kind === null ? {} : { kind }) });
}

/** An act that needs nothing but the memory. */
export async function actOn(context: Asks, handle: string | undefined, what: Act): Promise<void> {
  const memory = handle ?? (await meant(context, undefined))?.handle;
  if (memory !== undefined) await act(context, memory, what);
}

async function act(context: Asks, handle: string, what: Act): Promise<void> {
  await tellActed(context, await context.request(protocol.memoryAct, { id: handle, ...what }));
}

/** Says what was done, with Undo; a refusal is told as one. */
export async function tellActed(context: Asks, acted: protocol.MemoryActView): Promise<void> {
  const { ok, message, action, path, root } = acted;
  if (!ok) throw new Error(message);
  const choices = [...(action === null ? [] : ["Undo"]), ...(path === null ? [] : ["Open"])];
  void vscode.window.showInformationMessage(`Lerim: ${message}`, ...choices).then(
    async (choice) => {
      if (choice === "Open" && path !== null) await openFile({ path }, null);
      if (choice === "Undo" && action !== null) {
        const undone = await context.request(protocol.reviewUndo, { root, action });
        if (!undone.ok) throw new Error(undone.message);
        void vscode.window.showInformationMessage(`Lerim: ${undone.message}`);
      }
    },
  ).then(undefined, (error: unknown) => void vscode.window.showErrorMessage(`Lerim: ${error instanceof Error ? error.message : String(error)}`));
  await Promise.resolve();
}

function tagsOf(text: string): string[] {
  return [...new Set(text.split(",").map((tag) => tag.trim()).filter((tag) => tag !== ""))];
}
