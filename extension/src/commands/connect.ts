import * as vscode from "vscode";
import type { Context } from "../sidecar/context";
import * as protocol from "../protocol";
import { agentDescription } from "../text/sessionwording";
import { supportedFolders } from "../editor/roots";
import { rowText } from "../text/wording";
import { showInfo } from "../editor/notifications";

type Requester = Pick<Context, "request">;

/** Lerim: Read Sessions of an Agent…. Reads an agent's sessions from its usual place, or from a folder the person picks. An agent that is read can be read from elsewhere. */
export async function connectAgent(context: Requester, platform: string | undefined): Promise<boolean> {
  const { agents } = await context.request(protocol.agents, { root: null });
  const [read, unread] = [agents.filter(isRead), agents.filter((agent) => !isRead(agent))];
  const others: AgentItem[] = read.length === 0 ? [] : [{ label: "Read from Another Folder", kind: vscode.QuickPickItemKind.Separator }, ...read.map(agentItem)];
  const agent = findAgent(agents, platform) ?? (await chooseAgent([...unread.map(agentItem), ...others], "Choose the agent whose sessions are to be read"));
  if (agent === undefined) return false;
  const stores = agent.stores.map(({ path }) => path).join(", ");
  const usual = { label: "Default location", description: isRead(agent) ? "" : stores };
  const folder = { label: "Another folder…", description: "where this agent keeps its sessions" };
  const placeHolder = isRead(agent) ? `${agent.name} is read from ${stores}. Read it from` : `Where does ${agent.name} keep its sessions?`;
  const where = await vscode.window.showQuickPick([usual, folder], { placeHolder });
  if (where === undefined) return false;
  let path: string | null = null;
  if (where === folder) {
    const [picked] = (await vscode.window.showOpenDialog({ canSelectFolders: true, canSelectFiles: true, canSelectMany: false, openLabel: "Connect", title: `Session store of ${agent.name}` })) ?? [];
    if (picked === undefined) return false;
    path = picked.fsPath;
  }
  return sendConnect(context, { platform: agent.platform, action: "connect", path });
}

/** Lerim: Stop Reading Sessions of an Agent. Its sessions are no longer read; what was read before is kept. */
export async function disconnectAgent(context: Requester, platform: string | undefined): Promise<boolean> {
  const { agents } = await context.request(protocol.agents, { root: null });
  const read = agents.filter(isRead);
  const requested = findAgent(agents, platform);
  if (requested === undefined && read.length === 0) {
    void showInfo("No agent's sessions are read.");
    return false;
  }
  const agent = requested ?? (await chooseAgent(read.map(agentItem), "Choose the agent whose sessions are no longer read"));
  return agent === undefined ? false : sendConnect(context, { platform: agent.platform, action: "disconnect", path: null });
}

async function sendConnect(context: Requester, params: protocol.ConnectParams): Promise<boolean> {
  const { ok, message } = await context.request(protocol.connect, params);
  void showInfo(message);
  return ok;
}

interface AgentItem extends vscode.QuickPickItem {
  readonly agent?: protocol.AgentView;
}

function agentItem(agent: protocol.AgentView): AgentItem {
  return { label: agent.name, description: agentDescription(agent), agent };
}

function isRead({ state }: protocol.AgentView): boolean {
  return state === "connected";
}

/** The agent of the row a command was run on. */
function findAgent(agents: readonly protocol.AgentView[], platform: string | undefined): protocol.AgentView | undefined {
  return agents.find((agent) => agent.platform === platform);
}

async function chooseAgent(items: readonly AgentItem[], placeHolder: string): Promise<protocol.AgentView | undefined> {
  return (await vscode.window.showQuickPick(items, { placeHolder }))?.agent;
}

/** Lerim: Retry Failed Session, Lerim: Skip Failed Session. */
export async function actOnJob(context: Requester, job: number | undefined, action: "retry" | "skip"): Promise<boolean> {
  const chosen = job ?? (await chooseJob(context, action));
  if (chosen === undefined) return false;
  const { ok, message } = await context.request(protocol.queueAct, { job: chosen, action });
  void showInfo(message);
  return ok;
}

async function chooseJob(context: Requester, action: "retry" | "skip"): Promise<number | undefined> {
  const folders = await supportedFolders();
  const roots = folders.length > 1 ? folders.map(({ uri }) => uri.toString()) : [null];
  const jobs = (await Promise.all(roots.map((root) => context.request(protocol.agents, { root })))).flatMap((one) => one.jobs);
  if (jobs.length === 0) {
    void showInfo("No session of this repository waits to be retried.");
    return undefined;
  }
  const items = jobs.map((job) => ({ label: rowText(job.title), description: job.state === "dead" ? "given up" : "failed", detail: job.error, job: job.job }));
  return (await vscode.window.showQuickPick(items, { placeHolder: action === "retry" ? "Choose the session to read again" : "Choose the session to skip" }))?.job;
}
