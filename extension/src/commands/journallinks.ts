// The links of the journal. VS Code's markdown preview runs no commands, but it opens documents by a relative link. A link of the journal names a
// document that no editor shows: its editor opens what the link stands for, and closes at once.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { repositoryOf } from "../editor/roots";
import type { Context } from "../sidecar/context";
import { openMemory } from "./memories";
import type { TurnOpener } from "./turns";
import { reportError } from "../editor/notifications";

const viewType = "lerim.journalLink";
const commitScheme = "lerim-commit";
const maxCommitBytes = 16 * 1024 * 1024;

/** What a link of the journal stands for. */
type LinkTarget = { readonly kind: "turn"; readonly turn: string } | { readonly kind: "commit"; readonly hash: string } | { readonly kind: "memory"; readonly path: string };

/** Parses the path of a link, such as `/turn/0123456789ab.lerim-link`; undefined if it is none. */
export function parseJournalLink(path: string): LinkTarget | undefined {
  const [, kind = "", target = ""] = /^\/(turn|commit|memory)\/(.+)\.lerim-link$/.exec(path) ?? [];
  if (kind === "turn") return { kind, turn: target };
  if (kind === "commit" && /^[0-9a-f]{40,64}$/.test(target)) return { kind, hash: target };
  if (kind === "memory" && /^\.lerim\/memory\/(?:archived\/)?\w+\/[^/\\]+\.md$/.test(target)) return { kind, path: target };
  return undefined;
}

/** Opens what the links of the journal stand for: a turn in its transcript, a memory's file, or a commit as a diff. */
export class JournalLinks implements vscode.CustomReadonlyEditorProvider, vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #subscriptions = [vscode.window.registerCustomEditorProvider(viewType, this), vscode.workspace.registerTextDocumentContentProvider(commitScheme, this)];

  constructor(
    private readonly context: Pick<Context, "request">,
    private readonly turns: Pick<TurnOpener, "open">,
    private readonly journal: { readonly lastRoot: vscode.Uri | undefined },
  ) {}

  /** Called by VS Code when a link was followed. */
  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => undefined };
  }

  async resolveCustomEditor({ uri }: vscode.CustomDocument, panel: vscode.WebviewPanel): Promise<void> {
    panel.dispose();
    try {
      await this.#open(uri);
    } catch (error) {
      reportError(error);
    }
  }

  /** The text of a commit: its message and what it changed. */
  async provideTextDocumentContent({ path, query }: vscode.Uri): Promise<string> {
    const hash = /^\/([0-9a-f]{40,64})\.diff$/.exec(path)?.[1];
    if (hash === undefined) throw new Error("This link is broken."); // anything else could be an option of git
    const command = ["-C", query, "show", "--no-color", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--stat", "--patch", hash, "--"];
    return (await promisify(execFile)("git", command, { maxBuffer: maxCommitBytes, windowsHide: true })).stdout;
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }

  async #open(uri: vscode.Uri): Promise<void> {
    const target = parseJournalLink(uri.path);
    const root = this.journal.lastRoot;
    if (target === undefined || root === undefined) throw new Error("This link is broken.");
    const repository = (await repositoryOf(root.fsPath)) ?? root.fsPath;
    switch (target.kind) {
      case "turn":
        return this.turns.open({ root: root.toString(), session: "", turn: target.turn });
      case "memory":
        return openMemory(this.context, vscode.Uri.joinPath(vscode.Uri.file(repository), target.path).toString());
      case "commit": {
        const commit = vscode.Uri.from({ scheme: commitScheme, path: `/${target.hash}.diff`, query: repository });
        await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(commit), { preview: true });
      }
    }
  }
}
