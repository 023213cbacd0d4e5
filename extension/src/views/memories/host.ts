import * as vscode from "vscode";
import type { Context } from "../../sidecar/context";
import { canMerge, groupDescription, groupLabel, groupTooltip, memoryMarks, memoryTooltip, proposalDescription } from "../../text/memorywording";
import { NotRunning } from "../../editor/notrunning";
import * as protocol from "../../protocol";
import { rootFolders } from "../../editor/roots";
import { iconOf, kindOf } from "../../text/wording";
import { Refresher } from "../shared/refresher";

/** A row; `root` is its folder, null for personal memories if no folder is open. */
export type MemoriesNode =
  | { readonly kind: "root"; readonly root: string; readonly name: string }
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

  constructor(private readonly context: Pick<Context, "request" | "isRunning" | "settings" | "output" | "extension" | "onSyncProgress" | "onCandidatesChanged" | "onRunningChanged" | "on">) {
    const savedGrouping = context.extension.workspaceState.get(groupingKey);
    this.#grouping = groupings.find((order) => order === savedGrouping) ?? "primitive";
    this.#view = vscode.window.createTreeView(viewId, { treeDataProvider: this, showCollapseAll: true });
    this.#subscriptions = [this.#changed, this.#view, new Refresher(context, () => this.refresh(), (requestRefresh) => context.on(protocol.memoriesChanged, requestRefresh))];
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
    try {
      if (node === undefined) return await this.#topRows();
      return node.kind === "root" || node.kind === "group" ? await this.#childRows(node) : [];
    } catch (error) {
      if (error instanceof NotRunning) return [];
      this.#view.message = `The memories could not be listed: ${error instanceof Error ? error.message : String(error)}`;
      this.context.output.error(this.#view.message);
      return [];
    }
  }

  getTreeItem(node: MemoriesNode): vscode.TreeItem {
    switch (node.kind) {
      case "root":
        return Object.assign(new vscode.TreeItem(node.name, vscode.TreeItemCollapsibleState.Expanded), { id: `root:${node.root}` });
      case "group":
        return groupItem(node.group, nodeKey(node));
      case "memory":
        return memoryItem(node.memory, `${node.parentKey}|${node.memory.scope}|${node.memory.id}`);
      case "proposal":
        return proposalItem(node.proposal, node.root);
      case "problem":
        return problemItem(node.problem);
      case "more": {
        const item = new vscode.TreeItem(`Show more (${node.left} left)`);
        item.command = { command: "lerim.moreMemories", title: "Show More", arguments: [node] };
        item.iconPath = new vscode.ThemeIcon("ellipsis");
        return item;
      }
    }
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }

  async #topRows(): Promise<MemoriesNode[]> {
    this.#view.message = vscode.workspace.isTrusted ? "" : "From the repository, which you have not marked as trusted. Read-only.";
    const { isRunning, settings } = this.context;
    if (!settings.enabled || !isRunning) return this.#setWelcomeState("stopped");
    const folders = rootFolders();
    if (folders.length > 1) return folders.map(({ uri, name }) => ({ kind: "root", root: uri.toString(), name }));
    const rows = await this.#childRows(undefined);
    return rows.length === 0 ? this.#setWelcomeState("empty") : rows;
  }

  /** Sets the context key that the welcome text depends on. */
  #setWelcomeState(state: "stopped" | "empty"): MemoriesNode[] {
    void vscode.commands.executeCommand("setContext", "lerim.memoriesState", state);
    return [];
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

  #showGrouping(): void {
    this.#view.description = this.#grouping === "primitive" ? "" : `by ${this.#grouping}`;
    void vscode.commands.executeCommand("setContext", "lerim.memoriesBy", this.#grouping);
  }
}

/** The handle of a memory's row; undefined for anything else. */
export function memoryHandleOf(node: unknown): string | undefined {
  return isNode(node) && node.kind === "memory" ? node.memory.handle : undefined;
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
  const { Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(groupLabel(group), group.kind === "waiting" || group.kind === "problems" ? Expanded : Collapsed);
  item.id = id;
  item.description = groupDescription(group);
  item.tooltip = groupTooltip(group); // a text, never markdown
  item.contextValue = `lerim.group.${group.kind}`;
  item.accessibilityInformation = { label: `${groupLabel(group)}, ${group.count}` };
  if (group.kind === "waiting") item.iconPath = new vscode.ThemeIcon("checklist");
  if (group.kind === "problems") item.iconPath = new vscode.ThemeIcon("warning", new vscode.ThemeColor("list.warningForeground"));
  if (group.kind === "file") item.iconPath = vscode.ThemeIcon.File;
  if (group.kind === "ended") item.iconPath = new vscode.ThemeIcon("archive");
  return item;
}

function memoryItem(memory: protocol.TreeMemory, id: string): vscode.TreeItem {
  const item = new vscode.TreeItem(memory.title);
  const mark = memoryMarks(memory);
  item.id = id;
  item.description = [mark, memory.kind ?? ""].filter((text) => text !== "").join(" · ");
  item.tooltip = memoryTooltip(memory); // a text, never markdown: anyone who can push writes it
  item.iconPath = memoryIcon(memory);
  item.contextValue = ["lerim.memory", memory.status === "active" ? "active" : "over", memory.primitive, memory.scope, memory.standing].join(".");
  item.command = { command: "lerim.openMemory", title: "Open Memory", arguments: [memory.handle] };
  item.accessibilityInformation = { label: [memory.title, kindOf(memory), mark].filter((text) => text !== "").join(", ") };
  return item;
}

function memoryIcon(memory: protocol.TreeMemory): vscode.ThemeIcon {
  if (memory.standing === "gone") return new vscode.ThemeIcon("circle-slash", new vscode.ThemeColor("list.errorForeground"));
  if (memory.standing === "drifted") return new vscode.ThemeIcon("git-compare", new vscode.ThemeColor("list.warningForeground"));
  if (memory.status === "superseded") return new vscode.ThemeIcon("history");
  if (memory.status === "resolved") return new vscode.ThemeIcon("pass");
  if (memory.status === "archived") return new vscode.ThemeIcon("archive");
  return new vscode.ThemeIcon(iconOf(memory).slice("$(".length, -1));
}

function proposalItem(proposal: protocol.TreeProposal, root: string | null): vscode.TreeItem {
  const item = new vscode.TreeItem(proposal.title);
  item.id = `proposal:${root ?? ""}|${proposal.scope}|${proposal.id}`;
  item.description = proposalDescription(proposal);
  item.tooltip = [proposal.title, `${kindOf(proposal)} · ${proposalDescription(proposal)}`, proposal.reason].filter((line) => line !== "").join("\n");
  item.iconPath = new vscode.ThemeIcon(iconOf(proposal).slice("$(".length, -1));
  item.contextValue = "lerim.proposal";
  item.command = { command: "lerim.openReview", title: "Open Review", arguments: [{ root, id: proposal.id }] };
  item.accessibilityInformation = { label: `${proposal.title}, ${kindOf(proposal)}, ${proposalDescription(proposal)}` };
  return item;
}

function problemItem(problem: protocol.Problem): vscode.TreeItem {
  const path = problemFile(problem);
  const item = new vscode.TreeItem(path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1));
  item.description = canMerge(problem) ? "merge conflict" : problem.message;
  item.tooltip = `${problem.message}\n${problem.path}`;
  item.iconPath = new vscode.ThemeIcon(canMerge(problem) ? "git-merge" : "warning", new vscode.ThemeColor("list.warningForeground"));
  item.contextValue = canMerge(problem) ? "lerim.problem.merge" : "lerim.problem";
  item.command = { command: "vscode.open", title: "Open File", arguments: [vscode.Uri.file(path)] };
  item.accessibilityInformation = { label: `${path}: ${problem.message}` };
  return item;
}
