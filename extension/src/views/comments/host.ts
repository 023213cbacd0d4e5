// Candidates as comments on the lines they speak of, in VS Code's own comment threads: a second place to review them beside the panel.
import { setTimeout as pause } from "node:timers/promises";
import * as vscode from "vscode";
import { type CandidateTarget, editCandidate } from "../../commands/candidates";
import { errorText, NotRunning } from "../../editor/errors";
import { findSymbolRange, type Symbols, symbolsOf } from "../../editor/symbols";
import * as protocol from "../../protocol";
import type { Context } from "../../sidecar/context";
import { RestartQueue } from "../../sidecar/restart";
import { Refresher } from "../shared/refresher";
import { findEditError } from "../review/messages";
import { editableText, parseEditableText } from "./text";

/** Minimum time between two requests for the comments of all files in sight. */
const loadIntervalMs = 300;
const controllerId = "lerim.review";

/** A comment thread with the candidate it shows. */
interface CandidateThread {
  readonly thread: vscode.CommentThread;
  readonly root: string;
  candidate: protocol.CandidateComment;
  /** What the person is writing; it is never replaced by what the sidecar sends. */
  isEditing: boolean;
}

/** Shows the candidates of the files in sight as comment threads, as long as these files are open. */
export class CandidateComments implements vscode.Disposable {
  #controller: vscode.CommentController | undefined;
  /** The threads of each file by its URI, by the candidate's id. */
  readonly #files = new Map<string, Map<string, CandidateThread>>();
  readonly #loadQueue = new RestartQueue(async () => {
    await this.#loadComments();
    await pause(loadIntervalMs);
  });
  readonly #subscriptions: { dispose(): unknown }[];

  constructor(private readonly context: Pick<Context, "request" | "output" | "settings" | "isRunning" | "onCandidatesChanged" | "onSyncProgress" | "onRunningChanged" | "onModelChanged">) {
    this.#subscriptions = [
      new Refresher(
        context,
        () => this.#requestLoad(),
        (requestRefresh) => vscode.Disposable.from(vscode.window.onDidChangeVisibleTextEditors(requestRefresh), context.onModelChanged(requestRefresh)), // the latter after changed settings
      ),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.#closeFile(uri.toString())),
    ];
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
    this.#files.clear();
    this.#controller?.dispose(); // with all its threads
  }

  /** The candidate of a thread or comment, which the editor passes to a command; undefined for anything else. */
  targetOf(value: unknown): (CandidateTarget & { readonly needsChoice: boolean }) | undefined {
    const found = this.#find(value);
    return found === undefined ? undefined : { root: found.root, id: found.candidate.id, scope: "project", needsChoice: found.candidate.choice };
  }

  /** Turns a comment into a text to edit: the title in the first line, the body below. */
  startEditing(value: unknown): void {
    const found = this.#find(value);
    if (found === undefined || found.isEditing) return;
    found.isEditing = true;
    showCandidate(found);
  }

  cancelEditing(value: unknown): void {
    const found = this.#find(value);
    if (found === undefined) return;
    found.isEditing = false;
    showCandidate(found);
    this.#requestLoad(); // the candidate may have been decided meanwhile
  }

  /** Saves what was written; where it is refused, the person goes on editing. */
  async saveEditing(value: unknown): Promise<void> {
    const found = this.#find(value);
    const written = found?.thread.comments[0]?.body;
    if (found?.isEditing !== true || written === undefined) return;
    const edit = { ...parseEditableText(typeof written === "string" ? written : written.value), tags: found.candidate.tags };
    const reason = findEditError(edit);
    if (reason !== undefined) throw new Error(reason);
    await editCandidate(this.context, { root: found.root, id: found.candidate.id, scope: "project" }, edit);
    found.candidate = { ...found.candidate, title: edit.title, body: edit.body };
    found.isEditing = false;
    showCandidate(found); // also where nothing was changed
    await this.#loadQueue.request();
  }

  #find(value: unknown): CandidateThread | undefined {
    for (const threads of this.#files.values()) {
      for (const one of threads.values()) if (one.thread === value || one.thread.comments.some((comment) => comment === value)) return one;
    }
    return undefined;
  }

  #requestLoad(): void {
    this.#loadQueue.request().catch((error: unknown) => {
      if (!(error instanceof NotRunning)) this.context.output.warn(`The comments for candidates could not be loaded: ${errorText(error)}`);
    });
  }

  async #loadComments(): Promise<void> {
    const { settings, isRunning } = this.context;
    if (!settings.enabled || !settings.reviewComments || !vscode.workspace.isTrusted) {
      for (const one of [...this.#files.values()].flatMap((threads) => [...threads.values()])) one.thread.dispose();
      this.#files.clear();
      return;
    }
    if (!isRunning) return; // what is shown stays: the person may be writing, and the sidecar may be starting again
    const visible = vscode.window.visibleTextEditors.map(({ document }) => document.uri).filter(({ scheme }) => scheme === "file");
    const documents = new Map(visible.map((uri) => [uri.toString(), uri]));
    for (const [key, threads] of this.#files) for (const { thread } of threads.values()) documents.set(key, thread.uri);
    for (const [key, uri] of documents) {
      const { root, comments } = await this.context.request(protocol.reviewForFile, { uri: key });
      const symbols = comments.some(({ symbol }) => symbol !== "") ? await symbolsOf(uri) : undefined;
      if (isOpen(key)) this.#showFile(uri, root, comments, symbols ?? []);
      else this.#closeFile(key);
    }
  }

  #showFile(uri: vscode.Uri, root: string, comments: readonly protocol.CandidateComment[], symbols: Symbols): void {
    const key = uri.toString();
    const threads = this.#files.get(key) ?? new Map<string, CandidateThread>();
    const ids = new Set(comments.map(({ id }) => id));
    for (const [id, one] of threads) {
      if (ids.has(id) || one.isEditing) continue; // what the person is writing stays until it is saved or cancelled
      one.thread.dispose();
      threads.delete(id);
    }
    for (const candidate of comments) {
      const line = lineOf(candidate, symbols);
      const existing = threads.get(candidate.id);
      if (existing === undefined) {
        threads.set(candidate.id, this.#addThread(uri, root, candidate, line));
        continue;
      }
      const hasChanged = JSON.stringify(existing.candidate) !== JSON.stringify(candidate);
      if (existing.isEditing || (!hasChanged && existing.thread.range?.start.line === line)) continue;
      existing.candidate = candidate;
      existing.thread.range = new vscode.Range(line, 0, line, 0);
      if (hasChanged) showCandidate(existing);
    }
    if (threads.size > 0) this.#files.set(key, threads);
    else this.#files.delete(key);
  }

  #addThread(uri: vscode.Uri, root: string, candidate: protocol.CandidateComment, line: number): CandidateThread {
    this.#controller ??= vscode.comments.createCommentController(controllerId, "Lerim Review");
    const thread = this.#controller.createCommentThread(uri, new vscode.Range(line, 0, line, 0), []);
    thread.collapsibleState = vscode.CommentThreadCollapsibleState.Collapsed;
    thread.canReply = false;
    const added = { thread, root, candidate, isEditing: false };
    showCandidate(added);
    return added;
  }

  /** Removes the threads of a closed file, except for what the person is writing. */
  #closeFile(key: string): void {
    const threads = this.#files.get(key) ?? new Map<string, CandidateThread>();
    for (const [id, { thread, isEditing }] of threads) {
      if (isEditing) continue;
      thread.dispose();
      threads.delete(id);
    }
    if (threads.size === 0) this.#files.delete(key);
  }
}

/** Writes the candidate into its thread, as its text or as what can be edited. */
function showCandidate({ thread, candidate, isEditing }: CandidateThread): void {
  thread.label = candidate.heading;
  thread.comments = [
    {
      author: { name: "Lerim" },
      // the sidecar has escaped the text; markdown that is not trusted runs no commands
      body: isEditing ? editableText(candidate) : new vscode.MarkdownString(candidate.text),
      mode: isEditing ? vscode.CommentMode.Editing : vscode.CommentMode.Preview,
      timestamp: new Date(candidate.time),
    },
  ];
}

/** The line of a candidate's symbol, which VS Code knows better than the sidecar. */
function lineOf({ symbol, line }: protocol.CandidateComment, symbols: Symbols): number {
  return (symbol === "" ? undefined : findSymbolRange(symbols, symbol)?.start.line) ?? line;
}

function isOpen(key: string): boolean {
  return vscode.workspace.textDocuments.some(({ uri, isClosed }) => uri.toString() === key && !isClosed);
}
