import { homedir } from "node:os";
import { sep } from "node:path";
import * as vscode from "vscode";
import type { Context } from "../../sidecar/context";
import * as protocol from "../../protocol";
import { errorText, NotRunning } from "../../editor/errors";
import { channelDescription, channelNames } from "../../text/agentwording";
import { agentDescription, jobDescription, jobTooltip, momentText, queueText, reasonText } from "../../text/sessionwording";
import { supportedFolders } from "../../editor/roots";
import { counted, plainText } from "../../text/wording";
import { agentIcon } from "../shared/icons";
import { canRequest, Refresher } from "../shared/refresher";
import { loadRows, treeItem } from "../shared/tree";

/** A repository of the window, if it has several. */
interface RootNode {
  readonly kind: "root";
  readonly root: string;
  readonly name: string;
}

interface AgentNode {
  readonly kind: "agent";
  /** The repository that the counts are about; null if the window has at most one. */
  readonly root: string | null;
  readonly agent: protocol.AgentView;
  /** What the agent is given; two programs share the sessions of GitHub Copilot. */
  readonly connections: readonly protocol.ConnectionView[];
}

/** One line about an agent. */
interface FactNode {
  readonly kind: "fact";
  readonly icon: string;
  readonly label: string;
  readonly description: string;
  readonly tooltip: string;
  /** What a click on the row does. */
  readonly command?: vscode.Command;
}

interface QueueNode {
  readonly kind: "queue";
  readonly root: string | null;
  readonly text: string;
  readonly jobs: readonly protocol.JobView[];
}

interface JobNode {
  readonly kind: "job";
  readonly job: protocol.JobView;
}

export type AgentsNode = RootNode | AgentNode | FactNode | QueueNode | JobNode;

/** The Agents view: the sessions found for each agent, what is not read and why, what it is given, and failed jobs. Of several repositories, each is a row. */
export class AgentsTree implements vscode.TreeDataProvider<AgentsNode>, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<AgentsNode | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #view: vscode.TreeView<AgentsNode>;
  readonly #subscriptions: { dispose(): unknown }[];
  /** Whether a repository has failed jobs. */
  #hasFailedJobs = false;

  constructor(private readonly context: Pick<Context, "request" | "isRunning" | "settings" | "output" | "extension" | "onSyncProgress" | "onCandidatesChanged" | "onRunningChanged">) {
    this.#view = vscode.window.createTreeView("lerim.agents", { treeDataProvider: this, showCollapseAll: true });
    this.#subscriptions = [this.#changed, this.#view, new Refresher(context, () => this.refresh())];
  }

  refresh(): void {
    this.#changed.fire(undefined);
  }

  async getChildren(node?: AgentsNode): Promise<AgentsNode[]> {
    if (node?.kind === "agent") return [...agentFacts(node.agent), ...node.connections.flatMap((one) => connectionFacts(one, node.connections.length > 1))];
    if (node?.kind === "root") return loadRows(this.#view, "agents", this.context.output, () => this.#agentNodes(node.root));
    if (node?.kind === "queue") return node.jobs.map((job) => ({ kind: "job", job }));
    return node === undefined ? loadRows(this.#view, "agents", this.context.output, () => this.#topNodes()) : [];
  }

  getTreeItem(node: AgentsNode): vscode.TreeItem {
    switch (node.kind) {
      case "root":
        return treeItem(node.name, { collapsibleState: vscode.TreeItemCollapsibleState.Expanded, id: `root:${node.root}` });
      case "agent":
        return this.#agentItem(node);
      case "fact":
        return treeItem(node.label, { description: node.description, tooltip: node.tooltip, iconPath: new vscode.ThemeIcon(node.icon), contextValue: "lerim.fact", ...(node.command === undefined ? {} : { command: node.command }) });
      case "queue":
        return treeItem(node.text === "" ? "No sessions waiting to be read" : "Queue", {
          collapsibleState: node.jobs.length > 0 ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.None,
          id: `queue:${node.root ?? ""}`,
          description: node.text,
          tooltip: `Jobs that read this repository's sessions: ${node.text || "none"}.`,
          iconPath: new vscode.ThemeIcon(node.jobs.length > 0 ? "warning" : "tasklist"),
          contextValue: "lerim.queue",
        });
      case "job":
        return treeItem(plainText(node.job.title), {
          id: `job:${node.job.job}`,
          description: jobDescription(node.job),
          tooltip: jobTooltip(node.job),
          iconPath: new vscode.ThemeIcon(node.job.state === "dead" ? "error" : "warning"),
          contextValue: "lerim.job",
          command: { command: "lerim.openSession", title: "Open Session", arguments: [node.job.id] },
        });
    }
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }

  #agentItem({ root, agent, connections }: AgentNode): vscode.TreeItem {
    const findings = connections.flatMap((one) => one.findings);
    const isFaulty = (agent.lastError !== null && agent.state === "connected") || findings.length > 0;
    return treeItem(agent.name, {
      collapsibleState: vscode.TreeItemCollapsibleState.Collapsed,
      id: `agent:${root ?? ""}|${agent.platform}`,
      description: agentDescription(agent),
      tooltip: [`${agent.name}: ${agent.state === "not-found" ? "not found on this machine" : agentDescription(agent)}`, `${counted(agent.sessions, "session")} on this machine`, ...findings].join("\n"),
      iconPath: isFaulty ? new vscode.ThemeIcon("warning") : agentIcon(this.context.extension.extensionUri, agent.platform),
      contextValue: agent.state === "removed" ? "lerim.agent.removed" : "lerim.agent.connected",
    });
  }

  /** What each agent is given; none if it cannot be told, which must not hide the agents' sessions. */
  async #loadConnections(root: string | null): Promise<readonly protocol.ConnectionView[]> {
    try {
      return (await this.context.request(protocol.agentConnections, { root })).agents;
    } catch (error) {
      if (!(error instanceof NotRunning)) this.context.output.warn(`What agents are given could not be listed: ${errorText(error)}`);
      return [];
    }
  }

  async #topNodes(): Promise<AgentsNode[]> {
    this.#view.message = "";
    if (!(await canRequest(this.context))) return [];
    this.#hasFailedJobs = false;
    const folders = await supportedFolders();
    if (folders.length <= 1) return this.#agentNodes(null);
    this.#view.description = "";
    return folders.map(({ uri, name }) => ({ kind: "root", root: uri.toString(), name }));
  }

  async #agentNodes(root: string | null): Promise<AgentsNode[]> {
    const { project, agents, queue, jobs } = await this.context.request(protocol.agents, { root });
    if (root === null) this.#view.description = project;
    const connections = await this.#loadConnections(root);
    this.#hasFailedJobs ||= jobs.length > 0;
    void vscode.commands.executeCommand("setContext", "lerim.hasFailedJobs", this.#hasFailedJobs);
    const nodes: AgentsNode[] = agents.map((agent) => ({ kind: "agent", root, agent, connections: connections.filter((one) => platformOfAgent(one.agent) === agent.platform) }));
    const text = queueText(queue);
    const showsQueue = text !== "" || agents.every(({ waiting }) => waiting === 0); // else an empty queue would contradict what the agents' rows say
    return project === "" || !showsQueue ? nodes : [...nodes, { kind: "queue", root, text, jobs }];
  }
}

/** The platform whose sessions an agent writes. */
function platformOfAgent(agent: protocol.AgentName): string {
  return agent === "vscode" ? "copilot" : agent;
}

/** One line for each channel of an agent that is installed, and for what keeps it from working. */
function connectionFacts({ agent, name, channels, findings, lastCall, p95Ms }: protocol.ConnectionView, isShared: boolean): FactNode[] {
  const fact = (icon: string, label: string, description: string, tooltip: string): FactNode => ({ kind: "fact", icon, label: isShared ? `${name}: ${label}` : label, description, tooltip });
  const installed = channels.filter(({ state }) => state !== "missing");
  const icon = (state: protocol.ChannelState): string => (state === "installed" || state === "extension" ? "pass" : "warning");
  return [
    ...installed.map((one) => fact(icon(one.state), channelNames[one.channel], channelDescription(one), [`${channelNames[one.channel]}: ${channelDescription(one)}`, one.path, one.note].filter((line) => line !== "").join("\n"))),
    ...(installed.length === 0 ? [{ ...fact("circle-outline", "Gets no memories", "give memories…", `Give memories to ${name}`), command: connectCommand(agent) }] : []),
    ...(lastCall === "" ? [] : [fact("history", "Last asked", [momentText(lastCall), ...(p95Ms === null ? [] : [`95 % within ${Math.round(p95Ms)} ms`])].join(" · "), "When it last called the hooks, or got memories over MCP.")]),
    ...findings.map((finding) => fact("warning", finding, "", finding)),
  ];
}

/** Asks how an agent is to get memories. */
function connectCommand(agent: protocol.AgentName): vscode.Command {
  return { command: "lerim.connectAgentsToMemory", title: "Give Memories to Agents…", arguments: [{ agent: { platform: agent } }] };
}

/** Shortens a path: the home folder becomes `~`. */
function shortenPath(path: string): string {
  const home = homedir();
  return path.startsWith(home + sep) ? `~${path.slice(home.length)}` : path;
}

function agentFacts(agent: protocol.AgentView): FactNode[] {
  const fact = (icon: string, label: string, description = "", tooltip = ""): FactNode => ({
    kind: "fact",
    icon,
    label,
    description,
    tooltip: tooltip || [label, description].filter((part) => part !== "").join("\n"),
  });
  const { lastError } = agent;
  const stores = agent.stores.map(({ path, exists }) => fact(exists ? "folder" : "circle-slash", shortenPath(path), exists ? "" : "not found", path));
  if (agent.state === "removed") return [...stores, fact("debug-disconnect", "Its sessions are not read", "what was read before is kept")];
  return [
    ...stores,
    fact("comment-discussion", `${counted(agent.found, "session")} of this repository`, agent.waiting > 0 ? `${agent.waiting} to read` : "", `${agent.parsed} read, ${agent.waiting} to read`),
    ...(agent.sessions === agent.found ? [] : [fact("vm", `${counted(agent.sessions, "session")} on this machine`)]),
    ...agent.skipped.map(({ reason, count, example, message }) => fact("warning", `${count} not read: ${reasonText(reason)}`, shortenPath(example), [message, example].join("\n"))),
    ...(lastError === null ? [] : [fact("error", lastError.message, momentText(lastError.time), [lastError.message, lastError.where, momentText(lastError.time)].join("\n"))]),
    ...(agent.redactions === 0 ? [] : [fact("shield", counted(agent.redactions, "secret removed", "secrets removed"))]),
    fact("history", agent.lastSync === "" ? "Not synced yet" : `Last sync ${momentText(agent.lastSync)}`),
  ];
}

/** The platform of the agent row a command was run on; undefined if there is none. */
export function platformOf(node: unknown): string | undefined {
  if (typeof node !== "object" || node === null || !("agent" in node)) return undefined;
  const { agent } = node;
  return typeof agent === "object" && agent !== null && "platform" in agent && typeof agent.platform === "string" ? agent.platform : undefined;
}

/** The job of the row a command was run on; undefined if there is none. */
export function jobOf(node: unknown): number | undefined {
  if (typeof node !== "object" || node === null || !("job" in node)) return undefined;
  const { job } = node;
  return typeof job === "object" && job !== null && "job" in job && typeof job.job === "number" ? job.job : undefined;
}
