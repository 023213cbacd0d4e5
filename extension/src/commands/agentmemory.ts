// Gives memories to agents, or takes that back: what each file would get is shown before anything is written.
import { tickStep } from "../editor/walkthroughsteps";
import { chooseRootIfAny } from "../editor/roots";
import * as vscode from "vscode";
import type { Context } from "../sidecar/context";
import * as protocol from "../protocol";
import { channelNames, channelPurposes, connectionDescription } from "../text/agentwording";
import { counted } from "../text/wording";
import { keepFileChange } from "./filechanges";
import { confirmEdits } from "../views/shared/differences";
import { reportError, showError, showInfo } from "../editor/notifications";

type Requester = Pick<Context, "request">;

/** What stands above and in the box of a list. */
type ListTexts = Readonly<Required<Pick<vscode.QuickPickOptions, "title" | "placeHolder">>>;

const connectTitle = "Give Memories to Agents";
const disconnectTitle = "Stop Giving Memories to Agents";

const levels = [
  { label: "Your own files", description: "for you, in every repository", level: "user", picked: true },
  { label: "Files of this repository", description: "for everybody who works in it", level: "project", picked: false },
] as const satisfies readonly (vscode.QuickPickItem & { level: protocol.InstallLevel })[];

type Level = (typeof levels)[number];

/** The levels whose files can be changed: without a folder only the person's own. */
function levelsOf(root: string | null): readonly Level[] {
  return root === null ? levels.slice(0, 1) : levels;
}

const questions: Readonly<Record<protocol.InstallLevel, string>> = {
  user: "Change your own files as shown?",
  project: "Change this repository's files as shown? Everybody who works in it gets the changes.",
};

/** Lerim: Give Memories to Agents…. `agent` is that of the row it was called from; `onChanged` is called after each change and its undo. */
export async function connectAgentsToMemory(context: Requester, agent: string | undefined, onChanged: () => void): Promise<void> {
  const root = await chooseRootIfAny();
  if (root === undefined) return;
  const { agents } = await context.request(protocol.agentConnections, { root });
  const steps = agentsOfRow(agents, agent).length === 1 ? 2 : 3;
  const chosen = await chooseAgents(agents, agent, { title: `${connectTitle} (1 of ${steps})`, placeHolder: "Choose the agents to give memories to" }, ({ isHere }) => isHere);
  if (chosen === undefined) return;
  const channels = await chooseChannels(`${connectTitle} (${steps - 1} of ${steps})`);
  if (channels === undefined) return;
  const picked = await pickMany(levelsOf(root), { title: `${connectTitle} (${steps} of ${steps})`, placeHolder: "Choose which files to change" });
  if (picked !== undefined) await changeFiles(context, root, { action: "install", agents: chosen, channels }, picked, onChanged);
}

/** Lerim: Stop Giving Memories to Agents…. */
export async function disconnectAgentsFromMemory(context: Requester, agent: string | undefined, onChanged: () => void): Promise<void> {
  const root = await chooseRootIfAny();
  if (root === undefined) return;
  const { agents } = await context.request(protocol.agentConnections, { root });
  const connected = agents.filter(({ channels }) => channels.some(({ state }) => state !== "missing" && state !== "extension"));
  if (connected.length === 0) {
    void showInfo("No agent gets memories through its files.");
    return;
  }
  const chosen = await chooseAgents(connected, agent, { title: disconnectTitle, placeHolder: "Choose the agents that get no memories any more" }, () => false);
  if (chosen !== undefined) await changeFiles(context, root, { action: "remove", agents: chosen, channels: [] }, levelsOf(root), onChanged);
}

/** The agents that the row of `requested` stands for; none without a row. */
function agentsOfRow(agents: readonly protocol.ConnectionView[], requested: string | undefined): readonly protocol.ConnectionView[] {
  return agents.filter(({ agent }) => agent === requested || (requested === "copilot" && agent === "vscode"));
}

async function chooseAgents(
  agents: readonly protocol.ConnectionView[],
  requested: string | undefined,
  list: ListTexts,
  isPicked: (agent: protocol.ConnectionView) => boolean,
): Promise<string[] | undefined> {
  const own = agentsOfRow(agents, requested);
  if (own.length === 1) return own.map(({ agent }) => agent);
  const items = (own.length > 0 ? own : agents).map((one) => ({ label: one.name, description: connectionDescription(one), picked: isPicked(one), agent: one.agent }));
  return pickMany(items, list).then((picked) => picked?.map(({ agent }) => agent));
}

async function chooseChannels(title: string): Promise<string[] | undefined> {
  const items = (["mcp", "hooks", "skill"] as const).map((channel) => ({ label: channelNames[channel], detail: channelPurposes[channel], picked: true, channel }));
  return pickMany(items, { title, placeHolder: "Choose how the agents get memories" }).then((picked) => picked?.map(({ channel }) => channel));
}

/** The picked items; undefined if there are none. */
async function pickMany<Item extends vscode.QuickPickItem>(items: readonly Item[], list: ListTexts): Promise<readonly Item[] | undefined> {
  const picked = await vscode.window.showQuickPick(items, { ...list, canPickMany: true, ignoreFocusOut: true });
  return picked === undefined || picked.length === 0 ? undefined : picked;
}

type Change = Pick<protocol.AgentPlanParams, "action" | "agents" | "channels">;

/** Shows and asks for the person's files and for the repository's apart, and makes the changes that were agreed to. */
async function changeFiles(context: Requester, root: string | null, change: Change, picked: readonly Level[], onChanged: () => void): Promise<void> {
  let isPlanned = false;
  for (const { level } of picked) {
    const params = { ...change, level, root };
    const plan = await context.request(protocol.agentPlan, params);
    isPlanned ||= plan.edits.length > 0 || plan.manual.length > 0;
    if (plan.manual.length > 0) offerManualSteps(plan.manual, change.action);
    if (plan.edits.length === 0 || !(await confirmEdits(plan.edits, { title: change.action === "install" ? connectTitle : disconnectTitle, placeHolder: questions[level] }))) continue;
    const applied = await context.request(protocol.agentApply, { ...params, hashes: plan.edits.map(({ hash }) => hash) });
    if (applied.ok && change.action === "install") tickStep("agents");
    onChanged();
    showApplied(context, applied, onChanged);
  }
  if (!isPlanned) void showInfo(change.action === "install" ? "Everything is installed already." : "There is nothing to remove.");
}

function showApplied(context: Requester, { ok, message, undo }: protocol.AgentApplyView, onChanged: () => void): void {
  const show = ok ? showInfo : showError;
  if (undo === null) {
    void show(message);
    return;
  }
  const undoChange = keepFileChange(async () => {
    const undone = await context.request(protocol.agentUndo, { undo });
    onChanged();
    if (!undone.ok) throw new Error(undone.message);
    void showInfo(undone.message);
  });
  show(`${message}${ok ? " Agents read this when they start." : ""}`, "Undo")
    .then((choice) => (choice === "Undo" ? undoChange() : undefined))
    .then(undefined, reportError);
}

/** Says which files stay as they are, and shows what can be added to them by hand. */
function offerManualSteps(steps: readonly protocol.AgentManualView[], action: Change["action"]): void {
  const show = "Show What to Do";
  showInfo(`${counted(steps.length, "file")} cannot be changed without a risk to other content.`, show)
    .then(async (choice) => {
      if (choice !== show) return;
      const verb = action === "install" ? "Add this" : "Take this out";
      const content = steps.map(({ path, reason, snippet }) => `${path}\n${reason} ${verb}:\n\n${snippet}\n`).join("\n");
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content, language: "plaintext" }));
    })
    .then(undefined, reportError);
}
