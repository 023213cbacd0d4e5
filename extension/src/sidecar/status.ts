import * as vscode from "vscode";
import { rootFolders } from "../editor/roots";
import type { Settings } from "../editor/settings";
import { tickStep } from "../editor/walkthroughsteps";
import { pendingText, settlingText } from "../text/wording";

export type StatusState =
  | { readonly kind: "off" }
  | { readonly kind: "setting-up"; readonly message: string }
  | { readonly kind: "starting"; readonly message: string }
  | { readonly kind: "ready" }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "not-set-up" };

export interface StatusDisplay {
  readonly text: string;
  readonly tooltip: string;
  readonly command: string;
  readonly warning: boolean;
}

/** The model as the status item shows it: lines of the tooltip, and whether today's budget is used up. */
export interface ModelSummary {
  readonly lines: readonly string[];
  readonly usedUp: boolean;
}

const restrictedText = "Lerim: This window is in Restricted Mode\nThe repository's memories are shown. Sessions are not read, and nothing is proposed or written.\nClick to trust the workspace";
const noModel: ModelSummary = { lines: [], usedUp: false };

/** What decides the next step of a person who has just begun: whether the workspace is trusted, and whether a sync has ever ended. */
export interface Progress {
  readonly trusted: boolean;
  readonly synced: boolean;
}

/** What the status item shows; undefined if it is hidden. `syncing` is the text of a running sync; `settling` counts the sessions whose last exchange is not over yet; `readsWhenIdle`: an idle editor syncs. */
export function statusDisplay(state: StatusState, pending: number, syncing: string, model = noModel, settling = 0, { trusted, synced }: Progress = { trusted: true, synced: true }, readsWhenIdle = true): StatusDisplay | undefined {
  switch (state.kind) {
    case "off":
      return undefined;
    case "setting-up":
    case "starting":
      return { text: "$(loading~spin) Lerim", tooltip: `Lerim: ${state.message}`, command: "lerim.showLog", warning: false };
    case "failed":
      return { text: "$(warning) Lerim", tooltip: `Lerim: ${state.message}`, command: "lerim.restart", warning: true };
    case "not-set-up":
      return {
        text: "$(debug-disconnect) Lerim: Set Up",
        tooltip: trusted ? "Lerim is not set up. Click to set it up." : "Lerim is not set up. Click to set it up: first you are asked to trust this workspace.",
        command: "lerim.setUp",
        warning: false,
      };
    case "ready": {
      if (!trusted) return { text: "$(workspace-untrusted) Lerim", tooltip: restrictedText, command: "workbench.trust.manage", warning: false };
      if (syncing !== "") return { text: `$(sync~spin) Lerim: ${syncing}`, tooltip: `Lerim is syncing: ${syncing}`, command: "lerim.openReview", warning: false };
      if (!synced && pending === 0) return { text: "$(sync) Lerim: Sync", tooltip: `Lerim: ${pendingText(0)}\nClick to sync: Lerim reads the sessions of your agents on this machine`, command: "lerim.sync", warning: false };
      const count = pending > 0 ? `: ${pending} to review` : "";
      const stop = model.usedUp ? " $(circle-slash)" : "";
      const more = settling > 0 ? " · more soon" : "";
      return { text: `$(checklist) Lerim${count}${more}${stop}`, tooltip: [`Lerim: ${pendingText(pending)}`, ...(settling > 0 ? [settlingText(settling)] : []), readsWhenIdle ? "Lerim reads new sessions by itself" : "New sessions are read when you run Lerim: Sync, because lerim.idleSeconds is 0", ...model.lines].join("\n"), command: "lerim.openReview", warning: false };
    }
  }
}

/** The number of candidates that wait in a folder, and its project. All folders of a project have the same candidates. */
interface PendingCandidates {
  readonly project: string;
  readonly pending: number;
}

const syncedKey = "synced";

/** The status bar item: the number of candidates, or what prevents Lerim from working. */
export class Status implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem("lerim.status", vscode.StatusBarAlignment.Right, 90);
  readonly #listeners = vscode.Disposable.from(
    vscode.workspace.onDidChangeWorkspaceFolders(() => this.#render()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => this.#render()),
  );
  readonly #pendingByRoot = new Map<string, PendingCandidates>();
  readonly #syncing = new Map<string, string>();
  readonly #settling = new Map<string, number>();
  readonly #pendingChanged = new vscode.EventEmitter<void>();
  /** Fires when `pending` has changed. */
  readonly onPendingChanged = this.#pendingChanged.event;
  #state: StatusState = { kind: "off" };
  #model = noModel;
  #visible = true;
  #readsWhenIdle = true;
  #synced: boolean;
  /** Undefined at first: a restarted extension host does not know what the context key was set to. */
  #shownPending: number | undefined;

  /** `memento` keeps whether a sync has ever ended; until then the item offers the first one. */
  constructor(private readonly memento: Pick<vscode.Memento, "get" | "update">) {
    this.#item.name = "Lerim";
    this.#synced = memento.get(syncedKey) === true;
    if (this.#synced) tickStep("sync");
  }

  /** A sync has ended. */
  markSynced(): void {
    if (this.#synced) return;
    this.#synced = true;
    void this.memento.update(syncedKey, true);
    tickStep("sync");
    this.#render();
  }

  set state(state: StatusState) {
    this.#state = state;
    void vscode.commands.executeCommand("setContext", "lerim.state", state.kind);
    if (state.kind === "ready") tickStep("setUp");
    else for (const texts of [this.#syncing, this.#settling]) texts.clear();
    this.#render();
  }

  applySettings({ statusBar, idleSeconds }: Pick<Settings, "statusBar" | "idleSeconds">): void {
    this.#visible = statusBar;
    this.#readsWhenIdle = idleSeconds > 0;
    this.#render();
  }

  /** The number of candidates in the open folders; 0 if Lerim is turned off. Each project counts once, with its latest number. */
  get pending(): number {
    if (this.#state.kind === "off") return 0;
    const projects = new Map(ofOpenRoots(this.#pendingByRoot).map(([, { project, pending }]) => [project, pending]));
    return [...projects.values()].reduce((sum, pending) => sum + pending, 0);
  }

  /** Sets the number of candidates of a root. `project` defaults to the last one known, or the root itself. */
  setPending(root: string, pending: number, project = this.#pendingByRoot.get(root)?.project ?? root): void {
    this.#pendingByRoot.delete(root); // keeps the latest entry last
    this.#pendingByRoot.set(root, { project, pending });
    this.#render();
  }

  setModel(model: ModelSummary): void {
    this.#model = model;
    this.#render();
  }

  /** One folder of each project in the window. */
  projects(): string[] {
    const openRoots = rootFolders().map(({ uri }) => uri.toString());
    return [...new Map(openRoots.map((root) => [this.#pendingByRoot.get(root)?.project ?? root, root])).values()];
  }

  /** Sets the text of a root's running sync; "" when it has ended. */
  setSyncing(root: string, text: string): void {
    if (text === "") this.#syncing.delete(root);
    else this.#syncing.set(root, text);
    this.#render();
  }

  /** Sets how many sessions of a root have a last exchange that is not over yet. */
  setSettling(root: string, sessions: number): void {
    this.#settling.set(root, sessions);
    this.#render();
  }

  dispose(): void {
    this.#listeners.dispose();
    this.#pendingChanged.dispose();
    this.#item.dispose();
  }

  #render(): void {
    const { pending } = this;
    if (pending !== this.#shownPending) {
      this.#shownPending = pending;
      void vscode.commands.executeCommand("setContext", "lerim.hasCandidates", pending > 0);
      this.#pendingChanged.fire();
    }
    const [[, syncing] = ["", ""]] = ofOpenRoots(this.#syncing);
    const display = statusDisplay(this.#state, pending, syncing, this.#model, Math.max(0, ...ofOpenRoots(this.#settling).map(([, sessions]) => sessions)), { trusted: vscode.workspace.isTrusted, synced: this.#synced }, this.#readsWhenIdle);
    if (display === undefined || !this.#visible) {
      this.#item.hide();
      return;
    }
    this.#item.text = display.text;
    this.#item.tooltip = syncing === "" ? display.tooltip : undefined; // the text says it all, and a tooltip would cover the message that ends the sync
    this.#item.command = display.command;
    this.#item.accessibilityInformation = { label: display.tooltip, role: "button" };
    this.#item.backgroundColor = display.warning ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    this.#item.show();
  }
}

/** The entries of the folders that are still in the window. */
function ofOpenRoots<Value>(byRoot: ReadonlyMap<string, Value>): [string, Value][] {
  const openRoots = rootFolders().map(({ uri }) => uri.toString());
  return [...byRoot].filter(([root]) => openRoots.includes(root));
}
