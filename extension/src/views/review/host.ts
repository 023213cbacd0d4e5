import { setTimeout as pause } from "node:timers/promises";
import * as vscode from "vscode";
import type { Context } from "../../sidecar/context";
import { errorText, NotRunning } from "../../editor/errors";
import * as protocol from "../../protocol";
import { askWhereQuotesGo } from "../../editor/quotes";
import { openReference } from "../../editor/references";
import { RestartQueue } from "../../sidecar/restart";
import { rootFolders } from "../../editor/roots";
import { previewOptions, tickStep } from "../../editor/walkthroughsteps";
import { forgetFileChanges } from "../../commands/filechanges";
import { syncRoot } from "../../commands/sync";
import type { TurnOpener } from "../../commands/turns";
import { hasEnded, progressText } from "../../text/wording";
import { showPage } from "../shared/html";
import { receiveMessages } from "../shared/receive";
import { type ActionResultMessage, type FromWebview, type ToWebview, parseFromWebview } from "./messages";

const viewType = "lerim.review";
/** Minimum time between two listings, so that a fast sync does not keep the sidecar busy with listing. */
const listIntervalMs = 150;

interface Root {
  readonly uri: string;
  readonly name: string;
}

/** The host side of the review panel: one panel that shows the candidates of one root at a time. */
export class ReviewPanel implements vscode.Disposable, vscode.WebviewPanelSerializer {
  #panel: vscode.WebviewPanel | undefined;
  #root: Root | undefined;
  /** The candidate to show once the webview is ready. */
  #selectWhenReady: string | undefined;
  /** Whether the webview is ready; messages posted before are lost. */
  #webviewReady = false;
  /** The candidates the webview has: id to JSON. */
  readonly #sentCandidates = new Map<string, string>();
  /** How many left-out items the webview shows; 0 while the section is closed. */
  #leftOutLimit = 0;
  /** Decided candidates with the number of the action: a listing begun before the action still contains them. */
  readonly #decidedCandidates = new Map<string, number>();
  #actionCount = 0;
  /** The sidecar's id of the last action performed here; undefined if it failed or was undone. */
  #lastAction: string | undefined;
  /** The file of the memory that the last accepted candidate became. */
  #acceptedPath: string | undefined;
  #actionQueue: Promise<void> = Promise.resolve();
  readonly #listQueue = new RestartQueue(async () => {
    await this.#sendList();
    await pause(listIntervalMs);
  });
  #typed: (FromWebview & { type: "complete" }) | undefined;
  /** Completes what was typed last: of the requests that come meanwhile, only the last one is answered. */
  readonly #completionQueue = new RestartQueue(() => this.#complete());
  readonly #subscriptions: vscode.Disposable[];

  constructor(
    private readonly context: Pick<Context, "request" | "output" | "settings" | "status" | "extension" | "onCandidatesChanged" | "onSyncProgress">,
    private readonly turns: Pick<TurnOpener, "open">,
  ) {
    this.#subscriptions = [
      vscode.window.registerWebviewPanelSerializer(viewType, this),
      context.onCandidatesChanged(({ root }) => {
        if (root === this.#root?.uri) this.#requestList();
      }),
      context.onSyncProgress((progress) => {
        if (progress.root !== this.#root?.uri) return;
        const running = !hasEnded(progress.stage);
        this.#post({ type: "sync", running, text: running ? progressText(progress) : progress.message });
        if (!running) this.#requestList();
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.#initializeWebview()),
    ];
  }

  /** Opens the panel or brings it to the front, with a root and optionally a candidate. */
  async show(folder: vscode.WorkspaceFolder, id?: string): Promise<void> {
    const root = { uri: folder.uri.toString(), name: folder.name };
    const changed = this.#root?.uri !== root.uri;
    this.#root = root;
    this.#selectWhenReady = id ?? this.#selectWhenReady; // the webview may not be ready yet
    if (this.#panel === undefined) {
      if (await openRestoredTab()) return;
      this.#attachPanel(vscode.window.createWebviewPanel(viewType, "Lerim Review", vscode.ViewColumn.Active, { enableScripts: true }));
      return;
    }
    this.#panel.reveal();
    if (changed) this.#initializeWebview();
    else this.#sendSelection();
    await Promise.resolve();
  }

  #sendSelection(): void {
    if (!this.#webviewReady) return;
    if (this.#selectWhenReady !== undefined) this.#post({ type: "select", id: this.#selectWhenReady });
    this.#selectWhenReady = undefined;
  }

  /** Called by VS Code when a window with an open panel is restored. */
  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const savedRoot = typeof state === "object" && state !== null ? (state as { root?: unknown }).root : undefined;
    const folder = rootFolders().find(({ uri }) => uri.toString() === savedRoot) ?? rootFolders()[0];
    if (folder === undefined || this.#panel !== undefined) {
      panel.dispose();
      return;
    }
    this.#root ??= { uri: folder.uri.toString(), name: folder.name }; // or the one that was asked for
    this.#attachPanel(panel);
    await Promise.resolve();
  }

  dispose(): void {
    this.#panel?.dispose();
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }

  #attachPanel(panel: vscode.WebviewPanel): void {
    this.#panel = panel;
    this.#webviewReady = false;
    receiveMessages(panel, this.context.output, parseFromWebview, (message) => this.#handle(message), (error) => this.#reportFailure("command", error));
    panel.onDidChangeViewState(() => {
      if (!panel.visible) this.#webviewReady = false; // its page is gone, and sends "ready" when it is shown again
    });
    panel.onDidDispose(() => {
      this.#panel = undefined;
      this.#sentCandidates.clear();
    });
    showPage(panel, this.context.extension, "review", "Lerim Review");
  }

  #post(message: ToWebview): void {
    void this.#panel?.webview.postMessage(message);
  }

  /** Initializes the webview, which is new or shows another root. */
  #initializeWebview(): void {
    const root = this.#root;
    if (this.#panel === undefined || root === undefined) return;
    this.#sentCandidates.clear();
    this.#panel.title = rootFolders().length > 1 ? `Lerim Review: ${root.name}` : "Lerim Review";
    this.#post({ type: "root", root: root.uri, name: root.name, restricted: !vscode.workspace.isTrusted, knowsAccepted: this.#acceptedPath !== undefined });
    this.#sendSelection();
    this.#requestList();
  }

  #requestList(): void {
    if (this.#panel === undefined || !vscode.workspace.isTrusted) return;
    this.#listQueue.request().catch((error: unknown) => this.#reportFailure("list", error));
  }

  async #sendList(): Promise<void> {
    const root = this.#root;
    if (root === undefined || this.#panel === undefined) return;
    const actionsBefore = this.#actionCount;
    const { candidates, blocked, leftOut, problems, undo } = await this.context.request(protocol.reviewList, { root: root.uri });
    if (this.#root?.uri !== root.uri) return;
    const pending = candidates.filter(({ id }) => (this.#decidedCandidates.get(id) ?? 0) <= actionsBefore);
    const ids = new Set(pending.map(({ id }) => id));
    for (const id of this.#sentCandidates.keys()) if (!ids.has(id)) this.#sentCandidates.delete(id); // the webview drops it as well
    const changed = pending.filter((candidate) => {
      const json = JSON.stringify(candidate);
      const isChanged = this.#sentCandidates.get(candidate.id) !== json;
      this.#sentCandidates.set(candidate.id, json);
      return isChanged;
    });
    this.context.status.setPending(root.uri, pending.length);
    this.#post({ type: "list", root: root.uri, order: pending.map(({ id }) => id), changed, blocked, leftOut, problems, undo });
    await this.#sendLeftOut(root.uri);
  }

  async #sendLeftOut(root: string): Promise<void> {
    if (this.#leftOutLimit === 0 || !vscode.workspace.isTrusted) return;
    const { items, total } = await this.context.request(protocol.reviewLeftOut, { root, most: this.#leftOutLimit });
    if (this.#root?.uri === root) this.#post({ type: "leftOut", root, items, total });
  }

  async #handle(message: FromWebview): Promise<void> {
    const root = this.#root?.uri;
    if (root === undefined) return;
    switch (message.type) {
      case "ready":
        this.#webviewReady = true;
        this.#initializeWebview();
        return;
      case "act":
        return this.#enqueue(() => this.#performAction(root, message));
      case "actOnMany":
        return this.#enqueue(() => this.#actOnMany(root, message));
      case "checkReferences":
        return this.#checkReferences(root, message.id);
      case "complete":
        this.#typed = message;
        return this.#completionQueue.request();
      case "useReference":
        return this.#enqueue(() => this.#useReference(root, message));
      case "invalidEdit":
        this.#sendResult(root, { id: message.id, action: message.action, ok: false, message: message.reason });
        return;
      case "undo":
        return this.#enqueue(() => this.#undoAction(root, message.action));
      case "leftOut":
        this.#leftOutLimit = message.most;
        return this.#sendLeftOut(root);
      case "propose":
        return this.#enqueue(() => this.#proposeLeftOut(root, message));
      case "copy":
        return vscode.env.clipboard.writeText(message.text);
      case "openTurn":
        return this.turns.open({ root, session: message.session, turn: message.turn });
      case "openReference":
        return openReference(root, message.reference);
      case "openTarget":
        return this.#openTarget(message.id, message.target);
      case "openAccepted":
        return this.#openMemory(this.#acceptedPath);
      case "sync":
        return syncRoot(this.context, root);
      case "manageTrust":
        await vscode.commands.executeCommand("workbench.trust.manage");
        return;
      case "showLog":
        this.context.output.show();
        return;
    }
  }

  /** A candidate as last sent by the sidecar. */
  #findSentCandidate(id: string): protocol.CandidateView | undefined {
    const sent = this.#sentCandidates.get(id);
    return sent === undefined ? undefined : (JSON.parse(sent) as protocol.CandidateView);
  }

  /** Opens a memory of a candidate, only if the sidecar named it. */
  async #openTarget(id: string, target: string): Promise<void> {
    const candidate = this.#findSentCandidate(id);
    const path = [...(candidate?.targets ?? []), ...(candidate?.neighbours ?? [])].find((one) => one.id === target)?.path;
    return this.#openMemory(path);
  }

  async #openMemory(path: string | undefined): Promise<void> {
    if (path !== undefined) await vscode.window.showTextDocument(vscode.Uri.file(path), { viewColumn: vscode.ViewColumn.Active, ...previewOptions() });
  }

  /** Performs actions one after another, in the order they were requested. */
  #enqueue(work: () => Promise<void>): Promise<void> {
    const finished = this.#actionQueue.then(work);
    this.#actionQueue = finished.catch(() => undefined);
    return finished;
  }

  #performAction(root: string, message: FromWebview & { type: "act" }): Promise<void> {
    const { id, action, edit, choice } = message;
    const scope = this.#findSentCandidate(id)?.scope ?? "project";
    const params: protocol.ActParams = { root, id, scope, action, ...(edit === null ? {} : { edit }), ...(choice === null ? {} : { choice }) };
    return this.#performUndoable(root, id, action, async () => {
      const result = await this.context.request(protocol.reviewAct, params);
      const quotes = result.askQuotes ? await this.#askWhereQuotesGo() : undefined;
      if (result.askQuotes && quotes === undefined) return { ...result, ok: false, message: "The candidate was not accepted. First choose where quotes are kept." };
      const final = quotes === undefined ? result : await this.context.request(protocol.reviewAct, { ...params, quotes });
      if (final.ok && action !== "edit") this.#noteDecided([id]);
      if (action === "accept") this.#acceptedPath = final.path ?? undefined;
      return { ...final, decided: final.ok ? [id] : [] };
    });
  }

  /** Decides on several candidates with one request, which one undo takes back. */
  #actOnMany(root: string, { action, ids }: FromWebview & { type: "actOnMany" }): Promise<void> {
    const items = ids.flatMap((id) => (this.#sentCandidates.has(id) ? [{ id, scope: this.#findSentCandidate(id)?.scope ?? "project" }] : []));
    return this.#performUndoable(root, "", action, async () => {
      const params: protocol.ActOnManyParams = { root, action, items };
      const result = await this.context.request(protocol.reviewActOnMany, params);
      const quotes = result.askQuotes ? await this.#askWhereQuotesGo() : undefined;
      if (result.askQuotes && quotes === undefined) return { ...result, ok: false, message: "Nothing was accepted. First choose where quotes are kept." };
      const final = quotes === undefined ? result : await this.context.request(protocol.reviewActOnMany, { ...params, quotes });
      this.#noteDecided(final.decided);
      return final;
    });
  }

  #noteDecided(ids: readonly string[]): void {
    if (ids.length > 0) tickStep("review");
    this.#actionCount += 1;
    for (const id of ids) {
      this.#decidedCandidates.set(id, this.#actionCount);
      this.#sentCandidates.delete(id);
    }
  }

  async #checkReferences(root: string, id: string): Promise<void> {
    const candidate = this.#findSentCandidate(id);
    if (candidate === undefined || !vscode.workspace.isTrusted) return;
    const { problems } = await this.context.request(protocol.reviewReferences, { root, id, scope: candidate.scope });
    if (root === this.#root?.uri) this.#post({ type: "references", id, problems });
  }

  async #complete(): Promise<void> {
    const root = this.#root?.uri;
    if (root === undefined || this.#typed === undefined) return;
    const { id, field, typed, present } = this.#typed;
    const scope = this.#findSentCandidate(id)?.scope ?? "project";
    const { items } = await this.context.request(protocol.reviewComplete, { root, scope, field, typed, present: [...present] });
    if (root === this.#root?.uri) this.#post({ type: "suggestions", field, typed, items });
  }

  /** Replaces a reference of a candidate; the sidecar refuses anything but a path in the repository. */
  #useReference(root: string, { id, reference, place }: FromWebview & { type: "useReference" }): Promise<void> {
    const candidate = this.#findSentCandidate(id);
    if (candidate === undefined || !candidate.references.includes(reference)) return Promise.resolve();
    const { title, body, tags, scope } = candidate;
    const references = candidate.references.map((one) => (one === reference ? place : one));
    return this.#performUndoable(root, id, "edit", () => this.context.request(protocol.reviewAct, { root, id, scope, action: "edit", edit: { title, body, tags, references } }));
  }

  /** Asks where quotes are kept. The keyboard works on in the panel afterwards. */
  async #askWhereQuotesGo(): Promise<"shared" | "local" | undefined> {
    const choice = await askWhereQuotesGo();
    this.#panel?.reveal();
    this.#post({ type: "focus" });
    return choice;
  }

  #proposeLeftOut(root: string, { id, scope }: FromWebview & { type: "propose" }): Promise<void> {
    return this.#performUndoable(root, id, "propose", () => this.context.request(protocol.reviewPropose, { root, id, scope }));
  }

  /** Performs an action that becomes the last one here, sends its result, and lists again. */
  async #performUndoable(root: string, id: string, action: ActionResultMessage["action"], perform: () => Promise<Pick<protocol.ReviewResult, "ok" | "message" | "action" | "note"> & { readonly decided?: readonly string[]; readonly waiting?: readonly string[] }>): Promise<void> {
    this.#lastAction = undefined;
    try {
      const { ok, message, action: performed, note, decided = [], waiting = [] } = await perform();
      if (ok) this.#lastAction = performed ?? undefined;
      if (ok) forgetFileChanges();
      this.#sendResult(root, { id, action, ok, message, note, decided, waiting, undo: ok && performed !== null ? { action: performed, label: message } : null });
    } catch (error) {
      this.#reportRefusal(root, id, action, error);
    } finally {
      this.#requestList();
    }
  }

  async #undoAction(root: string, requestedAction: string | null): Promise<void> {
    const action = requestedAction ?? this.#lastAction;
    this.#lastAction = undefined;
    if (action === undefined) {
      this.#sendResult(root, { id: "", action: "undo", ok: false, message: "There is nothing to undo." });
      return;
    }
    try {
      const result = await this.context.request(protocol.reviewUndo, { root, action });
      this.#decidedCandidates.clear();
      this.#sendResult(root, { id: "", action: "undo", ok: result.ok, message: result.message, waiting: result.waiting });
    } catch (error) {
      this.#reportRefusal(root, "", "undo", error);
    } finally {
      this.#requestList();
    }
  }

  /** Sends the result of an action, if the panel still shows its root. */
  #sendResult(root: string, answer: Pick<ActionResultMessage, "id" | "action" | "ok" | "message"> & Partial<ActionResultMessage>): void {
    if (root === this.#root?.uri) this.#post({ type: "actionResult", undo: null, diff: "", decided: [], waiting: [], note: "", ...answer });
  }

  #reportRefusal(root: string, id: string, action: ActionResultMessage["action"], error: unknown): void {
    if (!(error instanceof NotRunning)) this.context.output.error(errorText(error));
    this.#sendResult(root, { id, action, ok: false, message: errorText(error), diff: errorDiff(error) });
  }

  #reportFailure(operation: "list" | "command", error: unknown): void {
    if (!(error instanceof NotRunning)) this.context.output.error(errorText(error));
    this.#post({ type: "failed", operation, message: errorText(error) });
  }
}

/** Brings the tab of a restored panel to the front, which makes VS Code load it; whether there is one. */
async function openRestoredTab(): Promise<boolean> {
  const group = vscode.window.tabGroups.all.find(({ tabs }) => tabs.some(isReviewTab));
  const ordinal = ["First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth"][(group?.viewColumn ?? 0) - 1];
  if (group === undefined || ordinal === undefined) return false;
  await vscode.commands.executeCommand(`workbench.action.focus${ordinal}EditorGroup`);
  await vscode.commands.executeCommand("workbench.action.openEditorAtIndex", group.tabs.findIndex(isReviewTab));
  return true;
}

/** VS Code puts its own prefix before the type of a panel. */
function isReviewTab({ input }: vscode.Tab): boolean {
  return input instanceof vscode.TabInputWebview && input.viewType.endsWith(viewType);
}

/** The diff of what changed since the person looked, if the error has one; "" otherwise. */
function errorDiff(error: unknown): string {
  const data: unknown = typeof error === "object" && error !== null && "data" in error ? error.data : undefined;
  return typeof data === "object" && data !== null && "diff" in data && typeof data.diff === "string" ? data.diff : "";
}
