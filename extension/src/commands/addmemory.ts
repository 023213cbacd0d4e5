// Lerim: Add Memory…. The person writes a memory by hand, about the code or the words they have selected.
import * as vscode from "vscode";
import { askWhereQuotesGo } from "../editor/quotes";
import { chooseRoot, isOutsideRepositories, repositoryOf } from "../editor/roots";
import { findEnclosingSymbol, symbolsOf } from "../editor/symbols";
import * as protocol from "../protocol";
import type { Context } from "../sidecar/context";
import { beginning, iconOf, kindHelp, memoryKinds, placeText } from "../text/wording";
import { pathInRepository } from "../editor/references";
import { showInfo } from "../editor/notifications";
import { showActionResult } from "./acts";

/** What is known of a new memory before the person says the rest. */
export interface MemoryDraft {
  readonly title: string;
  readonly body: string;
  /** References: paths from the repository's root, with `#symbol` where one is meant. */
  readonly files: readonly string[];
  /** The words of a session that it is made from. */
  readonly selected?: protocol.SelectedWords;
}

const maxTitle = 120;
/** Writes a memory about the selected code: its file, and the symbol that contains it, are filled in. */
export async function addMemoryHere(context: Pick<Context, "request">): Promise<void> {
  const root = await chooseRoot();
  if (root === undefined) return;
  const editor = vscode.window.activeTextEditor;
  const reference = editor === undefined ? undefined : await referenceOf(context, editor, root.uri);
  await addMemory(context, root.uri.toString(), { title: "", body: "", files: reference === undefined ? [] : [reference] });
}

/** Lerim: Add Memory…. In a folder without a repository, where the memory could not be kept, it asks nothing. */
export async function addMemoryInRepository(context: Pick<Context, "request">): Promise<void> {
  if (await isOutsideRepositories()) throw new Error("This folder is not in a git repository. Run `git init` in it.");
  await addMemoryHere(context);
}

/** Writes a memory from words that were said in a session, which become its evidence. */
export async function addMemoryFromWords(context: Pick<Context, "request">, selected: protocol.SelectedWords): Promise<void> {
  const words = selected.text;
  const root = await chooseRoot();
  if (root === undefined) return;
  const line = words.trim().split("\n")[0]?.trim() ?? "";
  const isWhole = line.length <= maxTitle && line === words.trim();
  await addMemory(context, root.uri.toString(), { title: beginning(line, maxTitle), body: isWhole ? "" : words.trim(), files: [], selected });
}

/** Asks for the kind, the title and the reason, and writes the memory. Escape at any question writes nothing. */
async function addMemory(context: Pick<Context, "request">, root: string, draft: MemoryDraft): Promise<void> {
  const title = (step: 1 | 2 | 3): string => `Add Memory${draft.files.map((reference) => ` about ${placeText(reference)}`).join("")} (${step}/3)`;
  const items = memoryKinds.map((kind) => ({ label: `${iconOf({ primitive: kind, kind: null })} ${kind}`, description: kindHelp(kind), memoryKind: kind }));
  const picked = await vscode.window.showQuickPick(items, { title: title(1), placeHolder: "Choose the kind of the new memory" });
  if (picked === undefined) return;
  const entered = await vscode.window.showInputBox({
    title: title(2),
    prompt: `Title of the ${picked.memoryKind}: one sentence that says it all`,
    value: draft.title,
    ignoreFocusOut: true, // losing the focus must not discard what was typed
    validateInput: (now) => (now.trim() === "" ? "A memory needs a title." : undefined),
  });
  if (entered === undefined) return;
  const body = await vscode.window.showInputBox({ title: title(3), prompt: `${picked.memoryKind === "question" ? "What is known so far?" : "Why?"} This can stay empty.`, value: draft.body.replaceAll("\n", " "), ignoreFocusOut: true });
  if (body === undefined) return;
  const kept = body === draft.body.replaceAll("\n", " ") ? draft.body : body; // an input box has one line
  const params: protocol.AddMemoryParams = { root, kind: picked.memoryKind, title: entered.trim(), body: kept.trim(), files: [...draft.files], ...(draft.selected === undefined ? {} : { selected: draft.selected }) };
  const result = await context.request(protocol.memoryAdd, params);
  if (result.code !== "ask-quotes") {
    showActionResult(context, result);
    return;
  }
  const quotes = await askWhereQuotesGo();
  if (quotes !== undefined) showActionResult(context, await context.request(protocol.memoryAdd, { ...params, quotes }));
}

/** `path` or `path#symbol` of the selection; undefined outside the repository, which is said. */
async function referenceOf(context: Pick<Context, "request">, { document, selection }: vscode.TextEditor, root: vscode.Uri): Promise<string | undefined> {
  if (document.uri.scheme !== "file") return undefined;
  const repository = (await repositoryOf(root.fsPath)) ?? root.fsPath;
  const path = pathInRepository(repository, document.uri.fsPath);
  if (path === undefined) void showInfo(`${document.uri.fsPath} is not in ${repository}. The memory will not refer to it.`);
  if (path === undefined || path.startsWith(".lerim/")) return undefined;
  const symbols = (await symbolsOf(document.uri)) ?? [];
  const { start, end } = selection;
  const lines = { first: start.line, last: end.character === 0 && end.line > start.line ? end.line - 1 : end.line };
  // where the editor has no tree of symbols, the sidecar finds those of most languages
  const symbol = symbols.some((one) => "children" in one) ? findEnclosingSymbol(symbols, selection) : (await context.request(protocol.symbol, { uri: document.uri.toString(), ...lines })).symbol;
  return symbol === undefined || symbol === "" ? path : `${path}#${symbol}`;
}
