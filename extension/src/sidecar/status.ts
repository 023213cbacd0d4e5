import * as vscode from "vscode";
import { rootFolders } from "../editor/roots";
import { pendingText } from "../text/wording";

export type StatusState =
  | { readonly kind: "off" }
  | { readonly kind: "starting"; readonly message: string }
  | { readonly kind: "ready" }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "not-set-up" };

export interface StatusFace {
  readonly text: string;
  readonly tooltip: string;
  readonly command: string;
  readonly warning: boolean;
}

/** What is known of the model: lines of the tooltip, and whether today's budget is used up. */
export interface ModelFace {
  readonly lines: readonly string[];
  readonly usedUp: boolean;
}

const noModel: ModelFace = { lines: [], usedUp: false };

/** What the status item shows; undefined hides it. `syncing` is the text of a running sync. */
export function statusFace(state: StatusState, pending: number, syncing: string, model = noModel): StatusFace | undefined {
  switch (state.kind) {
    case "off":
      return undefined;
    case "starting":
      return { text: "$(loading~spin) Lerim", tooltip: `Lerim: ${state.message}`, command: "lerim.showLog", warning: false };
    case "failed":
      return { text: "$(warning) Lerim", tooltip: `Lerim: ${state.message}`, command: "lerim.restart", warning: true };
    case "not-set-up":
      return { text: "$(debug-disconnect) Lerim", tooltip: "Lerim is not set up. Click to set it up.", command: "lerim.restart", warning: false };
    case "ready": {
      if (syncing !== "") return { text: `$(sync~spin) Lerim: ${syncing}`, tooltip: `Lerim is syncing: ${syncing}`, command: "lerim.openReview", warning: false };
      const count = pending > 0 ? ` ${pending}` : "";
      const stop = model.usedUp ? " $(circle-slash)" : "";
      return { text: `$(checklist) Lerim${count}${stop}`, tooltip: [`Lerim: ${pendingText(pending)}`, ...model.lines].join("\n"), command: "lerim.openReview", warning: false };
    }
  }
}

/** How many candidates wait in a folder of the window, and whose they are: folders of one project have the same ones. */
export interface Waiting {
  readonly project: string;
  readonly pending: number;
}

/** What waits in the folders that are open, each project's candidates counted once, as they were told last. */
export function totalOf(waiting: ReadonlyMap<string, Waiting>, open: readonly string[]): number {
  const projects = new Map([...waiting].filter(([root]) => open.includes(root)).map(([, { project, pending }]) => [project, pending]));
  return [...projects.values()].reduce((sum, pending) => sum + pending, 0);
}

/** The status bar item: how many candidates wait, or what keeps Lerim from working. */
export class Status implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem("lerim.status", vscode.StatusBarAlignment.Right, 90);
  readonly #folders = vscode.workspace.onDidChangeWorkspaceFolders(() => this.#draw());
  readonly #waiting = new Map<string, Waiting>();
  readonly #syncing = new Map<string, string>();
  #state: StatusState = { kind: "off" };
  #model = noModel;
  #visible = true;

  constructor() {
    this.#item.name = "Lerim";
  }

  set state(state: StatusState) {
    this.#state = state;
    if (state.kind !== "ready") this.#syncing.clear();
    this.#draw();
  }

  set visible(visible: boolean) {
    this.#visible = visible;
    this.#draw();
  }

  get pending(): number {
    return totalOf(
      this.#waiting,
      rootFolders().map(({ uri }) => uri.toString()),
    );
  }

  /** `project` where the sidecar says it; else it is what was said last, or the folder itself. */
  setPending(root: string, pending: number, project = this.#waiting.get(root)?.project ?? root): void {
    this.#waiting.delete(root); // what was told last comes last
    this.#waiting.set(root, { project, pending });
    this.#draw();
  }

  setModel(model: ModelFace): void {
    this.#model = model;
    this.#draw();
  }

  /** The window's folders, one of each project. */
  projects(): string[] {
    const open = rootFolders().map(({ uri }) => uri.toString());
    return [...new Map(open.map((root) => [this.#waiting.get(root)?.project ?? root, root])).values()];
  }

  /** `text` "" when the root is not syncing any more. */
  setSyncing(root: string, text: string): void {
    if (text === "") this.#syncing.delete(root);
    else this.#syncing.set(root, text);
    this.#draw();
  }

  dispose(): void {
    this.#folders.dispose();
    this.#item.dispose();
  }

  #draw(): void {
    const face = statusFace(this.#state, this.pending, [...this.#syncing.values()][0] ?? "", this.#model);
    if (face === undefined || !this.#visible) {
      this.#item.hide();
      return;
    }
    this.#item.text = face.text;
    this.#item.tooltip = face.tooltip;
    this.#item.command = face.command;
    this.#item.accessibilityInformation = { label: face.tooltip, role: "button" };
    this.#item.backgroundColor = face.warning ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    this.#item.show();
  }
}
