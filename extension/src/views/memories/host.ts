import * as vscode from "vscode";
import type { Context } from "../../sidecar/context";
import { canMerge, groupDescription, groupLabel, groupTooltip, memoryMarks, memoryTooltip, problemLabel, proposalDescription } from "../../text/memorywording";
import type { CandidateTarget } from "../../commands/candidates";
import * as protocol from "../../protocol";
import { isToken } from "../../editor/arguments";
import { isOutsideRepositories, isSupportedFolder, rootFolders } from "../../editor/roots";
import { counted, iconOf, kindOf, plainText } from "../../text/wording";
import { Refresher } from "../shared/refresher";
import { loadRows, moreItem, treeItem } from "../shared/tree";

/** A row; `root` is its folder, null for personal memories if no folder is open. */
export type MemoriesNode =
  | { readonly kind: "root"; readonly root: string; readonly name: string; readonly isSupported: boolean }
  | { readonly kind: "group"; readonly root: string | null; readonly group: protocol.TreeGroup }
  | { readonly kind: "memory"; readonly root: string | null; readonly parentKey: string; readonly memory: protocol.TreeMemory }
  | { readonly kind: "proposal"; readonly root: string | null; readonly proposal: protocol.TreeProposal }
  | { readonly kind: "problem"; readonly root: string | null; readonly problem: protocol.Problem }
  | { readonly kind: "more"; readonly parent: ParentNode | undefined; readonly left: number };

type ParentNode = MemoriesNode & { readonly kind: "root" | "group" };

interface LoadedRows {
  readonly rows: readonly MemoriesNode[];
  readonly total: number;
}

const viewId = "lerim.memories";
const groupings = ["primitive", "file", "freshness"] as const;
const groupingKey = "memoriesBy";

/** The Memories view: candidates, then memories by primitive, file or freshness. Rows are loaded when their parent is expanded. */
export class MemoriesView implements vscode.TreeDataProvider<MemoriesNode>, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<MemoriesNode | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #view: vscode.TreeView<MemoriesNode>;
  readonly #subscriptions: { dispose(): unknown }[];
  /** The rows loaded so far for each node, by its key. */
  #loadedRows = new Map<string, LoadedRows>();
  #grouping: protocol.MemoryGrouping;

  constructor(private readonly context: Pick<Context, "request" | "isRunning" | "settings" | "output" | "status" | "extension" | "onSyncProgress" | "onCandidatesChanged" | "onRunningChanged" | "on">) {
    const savedGrouping = context.extension.workspaceState.get(groupingKey);
    this.#grouping = groupings.find((order) => order === savedGrouping) ?? "primitive";
    this.#view = vscode.window.createTreeView(viewId, { treeDataProvider: this, showCollapseAll: true });
    this.#subscriptions = [
      this.#changed,
      this.#view,
      new Refresher(context, () => this.refresh(), (requestRefresh) => context.on(protocol.memoriesChanged, requestRefresh)),
      context.status.onPendingChanged(() => this.#showPending()),
    ];
    this.#showGrouping();
  }

  /** Changes the grouping. */
  async groupBy(grouping: protocol.MemoryGrouping): Promise<void> {
    this.#grouping = grouping;
    this.#showGrouping();
    this.refresh();
    await this.context.extension.workspaceState.update(groupingKey, grouping);
  }

  /** Reloads all rows. */
  refresh(): void {
    this.#loadedRows = new Map();
    if (!this.#view.visible) this.#setState("unknown"); // VS Code asks for no rows then
    this.#changed.fire(undefined);
  }

  /** Loads the next rows of a node. */
  async loadMore(node: unknown): Promise<void> {
    if (!isNode(node) || node.kind !== "more") return;
    const { parent } = node;
    const loadedBefore = this.#loadedRows;
    const key = nodeKey(parent);
    const shownRows = loadedBefore.get(key)?.rows ?? [];
    const page = await this.#loadPage(parent, shownRows.length);
    if (this.#loadedRows !== loadedBefore) return; // reloaded meanwhile
    loadedBefore.set(key, { rows: [...shownRows, ...page.rows], total: page.total });
    this.#changed.fire(parent);
  }

  async getChildren(node?: MemoriesNode): Promise<MemoriesNode[]> {
    if (node !== undefined && node.kind !== "root" && node.kind !== "group") return [];
    return loadRows(this.#view, "memories", this.context.output, () => (node === undefined ? this.#topRows() : this.#childRows(node)));
  }

  getTreeItem(node: MemoriesNode): vscode.TreeItem {
    switch (node.kind) {
      case "root":
        return node.isSupported
          ? treeItem(node.name, { collapsibleState: vscode.TreeItemCollapsibleState.Expanded, id: `root:${node.root}` })
          : treeItem(node.name, { id: `outside:${node.root}`, description: "not in a git repository" });
      case "group":
        return groupItem(node.group, nodeKey(node));
      case "memory":
        return memoryItem(node.memory, `${node.parentKey}|${node.memory.path}`); // two files may have the same id, which the editor refuses
      case "proposal":
        return proposalItem(node.proposal, node.root);
      case "problem":
        return problemItem(node.problem);
      case "more":
        return moreItem(node, "lerim.moreMemories");
    }
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }

  async #topRows(): Promise<MemoriesNode[]> {
    const { isRunning, settings } = this.context;
    if (!settings.enabled || !isRunning) return this.#withState("stopped", []);
    const folders = rootFolders();
    if (folders.length > 1) {
      const rows = folders.map(async ({ uri, name }) => ({ kind: "root", root: uri.toString(), name, isSupported: await isSupportedFolder(uri.fsPath) }) as const);
      return this.#withState("listed", await Promise.all(rows));
    }
    try {
      const rows = await this.#childRows(undefined);
      return this.#withState(rows.length === 0 ? "empty" : "listed", rows);
    } catch (error) {
      if (!(await isOutsideRepositories())) throw error;
      return this.#withState("outside", []);
    }
  }

  #withState(state: "stopped" | "empty" | "outside" | "listed", rows: MemoriesNode[]): MemoriesNode[] {
    // an empty view has a welcome text, which a message would hide
    this.#view.message = state !== "listed" || vscode.workspace.isTrusted ? "" : "From the repository, which you have not marked as trusted. Read-only.";
    this.#setState(state);
    return rows;
  }

  /** Sets the context key that the welcome text and the commands in the palette depend on. */
  #setState(state: "stopped" | "empty" | "outside" | "listed" | "unknown"): void {
    void vscode.commands.executeCommand("setContext", "lerim.memoriesState", state);
  }

  async #childRows(node: ParentNode | undefined): Promise<MemoriesNode[]> {
    const loadedRows = this.#loadedRows;
    const key = nodeKey(node);
    const loaded = loadedRows.get(key) ?? (await this.#loadPage(node, 0));
    loadedRows.set(key, loaded);
    const remaining = loaded.total - loaded.rows.length;
    return remaining > 0 && loaded.rows.length > 0 ? [...loaded.rows, { kind: "more", parent: node, left: remaining }] : [...loaded.rows];
  }

  async #loadPage(node: ParentNode | undefined, start: number): Promise<LoadedRows> {
    const root = node === undefined ? (rootFolders()[0]?.uri.toString() ?? null) : node.root;
    const parentKey = nodeKey(node);
    const { groups, proposals, memories, problems, total } = await this.context.request(protocol.memoryTree, { root, by: this.#grouping, node: node?.kind === "group" ? node.group.node : "", start });
    const rows: MemoriesNode[] = [
      ...groups.map((group) => ({ kind: "group", root, group }) as const),
      ...proposals.map((proposal) => ({ kind: "proposal", root, proposal }) as const),
      ...memories.map((memory) => ({ kind: "memory", root, parentKey, memory }) as const),
      ...problems.map((problem) => ({ kind: "problem", root, problem }) as const),
    ];
    return { rows, total };
  }

  /** The view's badge: how many candidates wait. */
  #showPending(): void {
    const value = this.context.status.pending;
    this.#view.badge = value === 0 ? undefined : { value, tooltip: `${counted(value, "candidate")} to review` };
  }

  #showGrouping(): void {
    this.#view.description = this.#grouping === "primitive" ? "" : `by ${this.#grouping}`;
    void vscode.commands.executeCommand("setContext", "lerim.memoriesBy", this.#grouping);
  }
}

/**
 * The handle given to a command by a link or a row; undefined if the command was called from the palette, which gives no arguments. Throws for anything else:
 * VS Code gives undefined for a row that the list no longer has, and the command must not act on another memory then.
 */
export function parseHandle(args: readonly unknown[]): string | undefined {
  if (args.length === 0) return undefined;
  const [target] = args;
  const handle = isNode(target) && target.kind === "memory" ? target.memory.handle : target;
  if (isToken(handle)) return handle;
  throw new Error(handle === undefined ? "The list has just changed. Try again on its row." : "This link is broken.");
}

/** The candidate of a row; undefined for anything else. */
export function candidateOf(node: unknown): CandidateTarget | undefined {
  return isNode(node) && node.kind === "proposal" && node.root !== null ? { root: node.root, id: node.proposal.id, scope: node.proposal.scope } : undefined;
}

/** The file and root of a problem's row that can be merged; undefined for anything else. */
export function conflictOf(node: unknown): { readonly root: string; readonly path: string } | undefined {
  return isNode(node) && node.kind === "problem" && node.root !== null && canMerge(node.problem) ? { root: node.root, path: problemFile(node.problem) } : undefined;
}

/** A problem's file, without the line. */
function problemFile({ path }: protocol.Problem): string {
  return path.replace(/:\d{1,6}$/, "");
}

function isNode(value: unknown): value is MemoriesNode {
  // SAFETY: VS Code passes the nodes made by this view to commands; nothing else has these kinds
  return typeof value === "object" && value !== null && "kind" in value && ["root", "group", "memory", "proposal", "problem", "more"].includes(String(value.kind));
}

function nodeKey(node: ParentNode | undefined): string {
  if (node === undefined) return "";
  return node.kind === "root" ? `root:${node.root}` : `${node.root ?? ""}|${node.group.node}`;
}

function groupItem(group: protocol.TreeGroup, id: string): vscode.TreeItem {
  const icon = groupIcon(group);
  return treeItem(groupLabel(group), {
    collapsibleState: group.kind === "waiting" || group.kind === "problems" ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.Collapsed,
    id,
    description: groupDescription(group),
    tooltip: groupTooltip(group), // a text, never markdown
    contextValue: `lerim.group.${group.kind}`,
    accessibilityInformation: { label: `${groupLabel(group)}, ${group.count}` },
    ...(icon === undefined ? {} : { iconPath: icon }),
  });
}

function groupIcon({ kind }: protocol.TreeGroup): vscode.ThemeIcon | undefined {
  if (kind === "waiting") return new vscode.ThemeIcon("checklist");
  if (kind === "problems") return new vscode.ThemeIcon("warning", new vscode.ThemeColor("list.warningForeground"));
  if (kind === "file") return vscode.ThemeIcon.File;
  return kind === "ended" ? new vscode.ThemeIcon("archive") : undefined;
}

function memoryItem(memory: protocol.TreeMemory, id: string): vscode.TreeItem {
  const mark = memoryMarks(memory);
  return treeItem(plainText(memory.title), {
    id,
    description: [mark, memory.kind ?? ""].filter((text) => text !== "").join(" · "),
    tooltip: memoryTooltip(memory), // a text, never markdown: anyone who can push writes it
    iconPath: memoryIcon(memory),
    contextValue: ["lerim.memory", memory.status === "active" ? "active" : "over", memory.primitive, memory.scope, memory.drift, ...(memory.called === "" ? [] : [memory.called])].join("."),
    command: { command: "lerim.openMemory", title: "Open Memory", arguments: [memory.handle] },
    accessibilityInformation: { label: [plainText(memory.title), kindOf(memory), mark].filter((text) => text !== "").join(", ") },
  });
}

function memoryIcon(memory: protocol.TreeMemory): vscode.ThemeIcon {
  if (memory.drift === "gone") return new vscode.ThemeIcon("circle-slash", new vscode.ThemeColor("list.errorForeground"));
  if (memory.drift === "drifted") return new vscode.ThemeIcon("git-compare", new vscode.ThemeColor("list.warningForeground"));
  if (memory.called !== "") return new vscode.ThemeIcon("warning", new vscode.ThemeColor("list.warningForeground"));
  if (memory.status === "superseded") return new vscode.ThemeIcon("history");
  if (memory.status === "resolved") return new vscode.ThemeIcon("pass");
  if (memory.status === "archived") return new vscode.ThemeIcon("archive");
  return new vscode.ThemeIcon(iconOf(memory).slice("$(".length, -1));
}

function proposalItem(proposal: protocol.TreeProposal, root: string | null): vscode.TreeItem {
  const description = proposalDescription(proposal);
  return treeItem(plainText(proposal.title), {
    id: `proposal:${root ?? ""}|${proposal.scope}|${proposal.id}`,
    description,
    tooltip: [plainText(proposal.title), `${kindOf(proposal)} · ${description}`, proposal.reason].filter((line) => line !== "").join("\n"),
    iconPath: new vscode.ThemeIcon(iconOf(proposal).slice("$(".length, -1)),
    contextValue: "lerim.proposal",
    command: { command: "lerim.openReview", title: "Open Review", arguments: [{ root, id: proposal.id }] },
    accessibilityInformation: { label: `${plainText(proposal.title)}, ${kindOf(proposal)}, ${description}` },
  });
}

function problemItem(problem: protocol.Problem): vscode.TreeItem {
  const path = problemFile(problem);
  const mergeable = canMerge(problem);
  return treeItem(problemLabel(problem), {
    description: path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1),
    tooltip: `${problem.message}\n${problem.path}`, // a text, never markdown
    iconPath: new vscode.ThemeIcon(mergeable ? "git-merge" : "warning", new vscode.ThemeColor("list.warningForeground")),
    contextValue: mergeable ? "lerim.problem.merge" : "lerim.problem",
    command: { command: "vscode.open", title: "Open File", arguments: [vscode.Uri.file(path)] },
    accessibilityInformation: { label: `${path}: ${problem.message}` },
  });
}
