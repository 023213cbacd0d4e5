import * as vscode from "vscode";
import { registerMcpServer } from "./chat/mcpserver";
import { registerParticipant } from "./chat/participant";
import { registerTools } from "./chat/tools";
import { openWalkthroughOnce } from "./commands/walkthrough";
import { registerCommands } from "./register";
import { Context } from "./sidecar/context";
import { ConflictMerger } from "./commands/merging";
import { ModelWatch } from "./sidecar/modelwatch";
import { TurnOpener } from "./commands/turns";
import { AgentsTree } from "./views/agents/host";
import { AskPanel } from "./views/ask/host";
import { followMovedMemories } from "./editor/movedmemories";
import * as protocol from "./protocol";
import { JournalDocuments } from "./commands/journal";
import { JournalLinks } from "./commands/journallinks";
import { BenefitPanel } from "./views/benefit/host";
import { CandidateComments } from "./views/comments/host";
import { MemoriesView } from "./views/memories/host";
import { followSteps } from "./editor/walkthroughsteps";
import { ReviewPanel } from "./views/review/host";
import { SessionsView } from "./views/sessions/host";
import { Transcripts } from "./views/transcript/host";
import { watchForRepositories } from "./editor/roots";

let context: Context | undefined;

export function activate(extension: vscode.ExtensionContext): void {
  extension.subscriptions.push(followSteps(extension.globalState));
  const owner = new Context(extension);
  context = owner;
  // registered before the panel's listener: the sidecar must know about the trust before candidates are requested
  extension.subscriptions.push(vscode.workspace.onDidGrantWorkspaceTrust(() => owner.runInBackground(handleTrust(owner))));
  const transcripts = new Transcripts(owner);
  const turns = new TurnOpener(owner, transcripts);
  const review = new ReviewPanel(owner, turns);
  const comments = new CandidateComments(owner);
  const sessions = new SessionsView(owner);
  const agents = new AgentsTree(owner);
  const memories = new MemoriesView(owner);
  const ask = new AskPanel(owner, turns);
  const benefit = new BenefitPanel(owner);
  const journal = new JournalDocuments(owner);
  const journalLinks = new JournalLinks(owner, turns, journal);
  const merging = new ConflictMerger(owner);
  extension.subscriptions.push(
    owner,
    transcripts,
    turns,
    review,
    comments,
    sessions,
    agents,
    memories,
    ask,
    benefit,
    journal,
    journalLinks,
    merging,
    new ModelWatch(owner),
    registerTools(owner),
    registerMcpServer(owner),
    registerParticipant(owner),
    extension.secrets.onDidChange(() => owner.runInBackground(owner.applyKeyChanges())),
    registerCommands(owner, { turns, review, comments, transcripts, sessions, agents, memories, ask, benefit, journal, merging }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("lerim")) owner.runInBackground(owner.reloadSettings());
    }),
    owner.on(protocol.memoriesChanged, () => owner.runInBackground(followMovedMemories())),
    vscode.window.onDidChangeWindowState(({ focused }) => {
      if (focused) owner.lookAround();
    }),
    vscode.workspace.onDidChangeWorkspaceFolders(() => owner.runInBackground(owner.startForNewFolders())),
    watchForRepositories(() => owner.runInBackground(owner.startForNewFolders())),
  );
  owner.runInBackground(owner.startIfSupported());
  owner.runInBackground(openWalkthroughOnce(extension, owner));
}

/** Tells the sidecar that the workspace is trusted now, or starts it. */
async function handleTrust(owner: Context): Promise<void> {
  if (!owner.isRunning) return owner.startAfterTrust();
  await owner.sendConfiguration();
  await owner.applyKeyChanges();
}

/** Waits until the sidecar has ended, so that closing the window leaves no process behind. */
export async function deactivate(): Promise<void> {
  await context?.stop();
}
