import * as vscode from "vscode";
import type { Context } from "../../sidecar/context";
import * as protocol from "../../protocol";
import { dayLabel, sessionDescription, sessionTooltip } from "../../text/sessionwording";
import { counted, plainText } from "../../text/wording";
import { isOutsideRepositories } from "../../editor/roots";
import { agentIcon } from "../shared/icons";
import { canRequest, Refresher, setSessionsState } from "../shared/refresher";
import { loadRows, moreItem, treeItem } from "../shared/tree";

interface DayNode {
  readonly kind: "day";
  readonly day: string;
  readonly sessions: number;
  readonly open: boolean;
}

interface SessionNode {
  readonly kind: "session";
  readonly session: protocol.SessionView;
}

/** The rest of a day's sessions, loaded on request. */
interface MoreNode {
  readonly kind: "more";
  readonly day: DayNode;
  readonly left: number;
}

export type SessionsNode = DayNode | SessionNode | MoreNode;

/** The folder in which the session of a row ran; undefined for anything else. */
export function folderOf(node: unknown): string | undefined {
  if (typeof node !== "object" || node === null || !("session" in node)) return undefined;
  // SAFETY: of our commands' arguments, only a session's row has a session
  return (node as SessionNode).session.folder;
}

/** The id of the session of a row; undefined for anything else. */
export function sessionIdOf(node: unknown): string | undefined {
  return folderOf(node) === undefined ? undefined : (node as SessionNode).session.place; // SAFETY: as in folderOf
}

/** The day of a day's row; undefined for anything else, and for the row of unknown times. */
export function dayOf(node: unknown): string | undefined {
  const day = typeof node === "object" && node !== null && "kind" in node && node.kind === "day" && "day" in node ? node.day : undefined;
  return typeof day === "string" && day !== "" ? day : undefined;
}

const viewId = "lerim.sessions";
/** The newest days are expanded while they have at most so many sessions together; the newest always is. */
const maxOpenSessions = 10;

/** The Sessions view: days, and the sessions of each day once it is expanded. */
export class SessionsView implements vscode.TreeDataProvider<SessionsNode>, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<SessionsNode | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #view: vscode.TreeView<SessionsNode>;
  readonly #subscriptions: { dispose(): unknown }[];
  /** The sessions loaded so far for each expanded day. */
  #loadedSessions = new Map<string, protocol.SessionView[]>();
  #everywhere = false;

  constructor(private readonly context: Pick<Context, "request" | "isRunning" | "settings" | "output" | "extension" | "onSyncProgress" | "onCandidatesChanged" | "onRunningChanged">) {
    this.#view = vscode.window.createTreeView(viewId, { treeDataProvider: this, showCollapseAll: true });
    this.#subscriptions = [this.#changed, this.#view, new Refresher(context, () => this.refresh())];
    this.#showExtent();
  }

  get everywhere(): boolean {
    return this.#everywhere;
  }

  /** Shows the sessions of the whole machine, or of the window's repositories. */
  showEverywhere(everywhere: boolean): void {
    this.#everywhere = everywhere;
    this.#showExtent();
    this.refresh();
  }

  /** Reloads all rows. */
  refresh(): void {
    this.#loadedSessions = new Map();
    this.#changed.fire(undefined);
  }

  /** Loads the next sessions of a day. */
  async loadMore(node: unknown): Promise<void> {
    if (!isMoreNode(node)) return;
    const { day } = node;
    const shownSessions = this.#loadedSessions.get(day.day) ?? [];
    const loadedBefore = this.#loadedSessions;
    const { sessions } = await this.#loadPage(day, shownSessions.length);
    if (this.#loadedSessions !== loadedBefore) return; // reloaded meanwhile
    const shownPlaces = new Set(shownSessions.map(({ place }) => place));
    // a session that was found meanwhile moves the others on, and the editor refuses rows with the same id
    loadedBefore.set(day.day, [...shownSessions, ...sessions.filter(({ place }) => !shownPlaces.has(place))]);
    this.#changed.fire(day);
  }

  async getChildren(node?: SessionsNode): Promise<SessionsNode[]> {
    if (node?.kind === "session" || node?.kind === "more") return [];
    return loadRows(this.#view, "sessions", this.context.output, () => (node === undefined ? this.#dayNodes() : this.#sessionNodes(node)));
  }

  getTreeItem(node: SessionsNode): vscode.TreeItem {
    switch (node.kind) {
      case "day": {
        const label = dayLabel(node.day, Date.now());
        return treeItem(label, {
          collapsibleState: node.open ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.Collapsed,
          id: `day:${node.day}`,
          description: String(node.sessions),
          ...(node.day === "" ? {} : { contextValue: "lerim.day" }),
          accessibilityInformation: { label: `${label}, ${counted(node.sessions, "session")}` },
        });
      }
      case "session":
        return this.#sessionItem(node.session);
      case "more":
        return moreItem(node, "lerim.moreSessions");
    }
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }

  #sessionItem(session: protocol.SessionView): vscode.TreeItem {
    const [title, description] = [plainText(session.title), sessionDescription(session)];
    return treeItem(title, {
      id: `session:${session.place}`,
      description,
      tooltip: sessionTooltip(session), // plain text, never markdown: the title comes from a transcript
      iconPath: agentIcon(this.context.extension.extensionUri, session.platform),
      contextValue: "lerim.session",
      command: { command: "lerim.openSession", title: "Open Session", arguments: [session.place] },
      accessibilityInformation: { label: `${session.agent}: ${title}, ${description}` },
    });
  }

  async #dayNodes(): Promise<SessionsNode[]> {
    this.#view.message = "";
    if (!(await canRequest(this.context))) return [];
    const { days } = await this.context.request(protocol.sessionsDays, { everywhere: this.#everywhere });
    const isOutside = days.length === 0 && !this.#everywhere && (await isOutsideRepositories());
    await setSessionsState(days.length > 0 ? "listed" : isOutside ? "outside" : "empty");
    let sessionCount = 0;
    return days.map(({ day, sessions }, at) => {
      sessionCount += sessions;
      return { kind: "day", day, sessions, open: at === 0 || sessionCount <= maxOpenSessions };
    });
  }

  async #sessionNodes(day: DayNode): Promise<SessionsNode[]> {
    const loadedSessions = this.#loadedSessions;
    const loaded = loadedSessions.get(day.day);
    const page = loaded === undefined ? await this.#loadPage(day, 0) : { sessions: loaded, total: day.sessions };
    if (loaded === undefined) loadedSessions.set(day.day, page.sessions);
    const nodes: SessionsNode[] = page.sessions.map((session) => ({ kind: "session", session }));
    const remaining = page.total - nodes.length;
    return remaining > 0 ? [...nodes, { kind: "more", day, left: remaining }] : nodes;
  }

  #loadPage(day: DayNode, start: number): Promise<protocol.SessionsView> {
    return this.context.request(protocol.sessionsList, { day: day.day, everywhere: this.#everywhere, start });
  }

  #showExtent(): void {
    this.#view.description = this.#everywhere ? "this machine" : "";
    void vscode.commands.executeCommand("setContext", "lerim.everywhere", this.#everywhere);
  }
}

function isMoreNode(node: unknown): node is MoreNode {
  return typeof node === "object" && node !== null && "kind" in node && node.kind === "more";
}
