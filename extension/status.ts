import * as vscode from "vscode";
import { pendingText } from "./wording";

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

/** What the status item shows; undefined hides it. `syncing` is the text of a running sync. */
export function statusFace(state: StatusState, pending: number, syncing: string): StatusFace | undefined {
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
      return { text: `$(checklist) Lerim${count}`, tooltip: `Lerim: ${pendingText(pending)}`, command: "lerim.openReview", warning: false };
    }
  }
}

/** The status bar item: how many candidates wait, or what keeps Lerim from working. */
export class Status implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem("lerim.status", vscode.StatusBarAlignment.Right, 90);
  readonly #pending = new Map<string, number>();
  readonly #syncing = new Map<string, string>();
  #state: StatusState = { kind: "off" };
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
    return [...this.#pending.values()].reduce((sum, count) => sum + count, 0);
  }

  setPending(root: string, pending: number): void {
    this.#pending.set(root, pending);
    this.#draw();
  }

  /** `text` "" when the root is not syncing any more. */
  setSyncing(root: string, text: string): void {
    if (text === "") this.#syncing.delete(root);
    else this.#syncing.set(root, text);
    this.#draw();
  }

  dispose(): void {
    this.#item.dispose();
  }

  #draw(): void {
    const face = statusFace(this.#state, this.pending, [...this.#syncing.values()][0] ?? "");
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
