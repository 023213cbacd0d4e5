import * as vscode from "vscode";
import { addMemoryInRepository } from "./commands/addmemory";
import { connectAgentsToMemory, disconnectAgentsFromMemory } from "./commands/agentmemory";
import { actOnMemory, changeKind, editMemory, promoteMemory, undoLastAction } from "./commands/acts";
import { giveMemoryToAgents, importRules } from "./commands/agentfiles";
import { isFileUri, isToken, parsePlace, parseReview, parseTurn } from "./editor/arguments";
import { decideCandidate } from "./commands/candidates";
import { chooseModel, enterKey, forgetKey } from "./commands/choosemodel";
import { checkMemories } from "./commands/checkmemories";
import { actOnJob, connectAgent, disconnectAgent } from "./commands/connect";
import type { Context } from "./sidecar/context";
import { copyFileMemories, copyMemories } from "./commands/copycontext";
import { showDebugInformation } from "./commands/debug";
import { maintainRoot } from "./commands/maintain";
import { copyResumeCommand, resumeSession } from "./commands/resume";
import { openFileOfMemory, openMemory, searchMemories, showFileMemories } from "./commands/memories";
import type { JournalDocuments } from "./commands/journal";
import type { ConflictMerger } from "./commands/merging";
import { errorText, NotRunning } from "./editor/errors";
import { chooseWhereQuotesGo } from "./editor/quotes";
import { chooseRoot, offerRepository, rootFolders } from "./editor/roots";
import { useOtherSessions } from "./commands/othersessions";
import { searchSessions } from "./commands/sessionsearch";
import { syncRoot } from "./commands/sync";
import type { TurnOpener } from "./commands/turns";
import { openWalkthrough } from "./editor/walkthroughsteps";
import { type AgentsTree, jobOf, platformOf } from "./views/agents/host";
import type { AskPanel } from "./views/ask/host";
import type { BenefitPanel } from "./views/benefit/host";
import type { CandidateComments } from "./views/comments/host";
import { candidateOf, conflictOf, parseHandle, type MemoriesView } from "./views/memories/host";
import type { ReviewPanel } from "./views/review/host";
import { dayOf, folderOf, sessionIdOf, type SessionsView } from "./views/sessions/host";
import type { Transcripts } from "./views/transcript/host";
import { showError } from "./editor/notifications";

/** The views and panels that commands act on. */
export interface Views {
  readonly turns: TurnOpener;
  readonly review: ReviewPanel;
  readonly comments: CandidateComments;
  readonly transcripts: Transcripts;
  readonly sessions: SessionsView;
  readonly agents: AgentsTree;
  readonly memories: MemoriesView;
  readonly ask: AskPanel;
  readonly benefit: BenefitPanel;
  readonly journal: JournalDocuments;
  readonly merging: ConflictMerger;
}

/** Registers all commands. An error of a command is shown once, with a button for the log. */
export function registerCommands(context: Context, { turns, review, comments, transcripts, sessions, agents, memories, ask, benefit, journal, merging }: Views): vscode.Disposable {
  const search = (): Promise<void> => searchSessions(context, sessions.everywhere, (id, turn) => transcripts.open(id, turn));
  const commands: Record<string, (...args: unknown[]) => unknown> = {
    "lerim.setUp": () => context.setUp(),
    "lerim.openWalkthrough": () => openWalkthrough(),
    "lerim.sync": (root) => syncRoot(context, isFileUri(root) ? root : undefined),
    "lerim.openReview": async (value) => {
      const requested = comments.targetOf(value) ?? parseReview(value);
      const root = rootFolders().find(({ uri }) => uri.toString() === requested?.root) ?? (await chooseRoot());
      if (root !== undefined) await review.show(root, requested?.id);
    },
    "lerim.chooseQuotes": () => chooseWhereQuotesGo(context),
    "lerim.undo": () => undoLastAction(context),
    "lerim.searchMemories": (query, byMeaning) => searchMemories(context, typeof query === "string" ? query : "", byMeaning === true),
    "lerim.openMemory": (handle) => {
      if (handle !== undefined && !isToken(handle)) throw new Error("This link is broken.");
      return openMemory(context, handle);
    },
    "lerim.openFileOfMemory": () => openFileOfMemory(context),
    "lerim.openTurn": (value) => {
      const target = parseTurn(value);
      if (target === undefined) throw new Error("This link is broken.");
      return turns.open(target);
    },
    "lerim.showFileMemories": (value, line, character) => {
      const uri = isFileUri(value) ? value : vscode.window.activeTextEditor?.document.uri.toString();
      if (uri === undefined) throw new Error("Open a file first.");
      return showFileMemories(context, uri, parsePlace(line, character));
    },
    "lerim.copyMemory": (...args) => copyMemories(context, (Array.isArray(args[1]) ? args[1].map((row: unknown) => [row]) : [args]).flatMap((target) => parseHandle(target) ?? [])),
    "lerim.copyFileMemories": (uri) => copyFileMemories(context, uri instanceof vscode.Uri ? uri : undefined, false),
    "lerim.copySelectionMemories": () => copyFileMemories(context, undefined, true),
    "lerim.searchSessions": search,
    "lerim.openSession": (value) => {
      const id = sessionIdOf(value) ?? value;
      if (id !== undefined && !isToken(id)) throw new Error("This link is broken.");
      return id === undefined ? search() : transcripts.open(id, "");
    },
    "lerim.resumeSession": (node) => resumeSession(context, sessionIdOf(node)),
    "lerim.copyResumeCommand": (node) => copyResumeCommand(context, sessionIdOf(node)),
    "lerim.useSessions": (node) => useOtherSessions(context, folderOf(node)),
    "lerim.refreshSessions": () => sessions.refresh(),
    "lerim.moreSessions": (node) => sessions.loadMore(node),
    "lerim.showAllSessions": async () => {
      await context.ensureStarted();
      sessions.showEverywhere(true);
    },
    "lerim.showOwnSessions": () => sessions.showEverywhere(false),
    "lerim.refreshAgents": () => agents.refresh(),
    "lerim.connectAgent": async (node) => {
      if (await connectAgent(context, platformOf(node))) agents.refresh();
    },
    "lerim.disconnectAgent": async (node) => {
      if (await disconnectAgent(context, platformOf(node))) agents.refresh();
    },
    "lerim.connectAgentsToMemory": (node) => connectAgentsToMemory(context, platformOf(node), () => agents.refresh()),
    "lerim.disconnectAgentsFromMemory": (node) => disconnectAgentsFromMemory(context, platformOf(node), () => agents.refresh()),
    "lerim.retryJob": async (node) => {
      if (await actOnJob(context, jobOf(node), "retry")) agents.refresh();
    },
    "lerim.skipJob": async (node) => {
      if (await actOnJob(context, jobOf(node), "skip")) agents.refresh();
    },
    "lerim.memoriesByPrimitive": () => memories.groupBy("primitive"),
    "lerim.memoriesByFile": () => memories.groupBy("file"),
    "lerim.memoriesByFreshness": () => memories.groupBy("freshness"),
    "lerim.refreshMemories": () => memories.refresh(),
    "lerim.moreMemories": (node) => memories.loadMore(node),
    "lerim.addMemory": () => addMemoryInRepository(context),
    "lerim.editMemory": (...target) => editMemory(context, parseHandle(target)),
    "lerim.promoteMemory": (...target) => promoteMemory(context, parseHandle(target)),
    "lerim.changeKind": (...target) => changeKind(context, parseHandle(target)),
    "lerim.archiveMemory": (...target) => actOnMemory(context, parseHandle(target), { action: "archive" }),
    "lerim.restoreMemory": (...target) => actOnMemory(context, parseHandle(target), { action: "restore" }),
    "lerim.globalizeMemory": (...target) => actOnMemory(context, parseHandle(target), { action: "globalize" }),
    "lerim.moveMemory": (...target) => actOnMemory(context, parseHandle(target), { action: "move" }),
    "lerim.verifyMemory": (...target) => actOnMemory(context, parseHandle(target), { action: "verify" }),
    "lerim.memoryUseful": (...target) => actOnMemory(context, parseHandle(target), { action: "feedback", feedback: "useful" }),
    "lerim.memoryWrong": (...target) => actOnMemory(context, parseHandle(target), { action: "feedback", feedback: "wrong" }),
    "lerim.memoryOutdated": (...target) => actOnMemory(context, parseHandle(target), { action: "feedback", feedback: "outdated" }),
    "lerim.deleteTheme": (...target) => actOnMemory(context, parseHandle(target), { action: "delete" }),
    "lerim.acceptCandidate": (target) => decideCandidate(context, comments.targetOf(target) ?? candidateOf(target), "accept"),
    "lerim.rejectCandidate": (target) => decideCandidate(context, comments.targetOf(target) ?? candidateOf(target), "reject"),
    "lerim.editCandidate": (comment) => comments.startEditing(comment),
    "lerim.saveCandidate": (comment) => comments.saveEditing(comment),
    "lerim.cancelCandidateEdit": (comment) => comments.cancelEditing(comment),
    "lerim.mergeMemory": (node) => merging.merge(conflictOf(node)),
    "lerim.checkMemories": () => checkMemories(context),
    "lerim.maintain": () => maintainRoot(context, review),
    "lerim.giveMemory": () => giveMemoryToAgents(context, false),
    "lerim.removeMemory": () => giveMemoryToAgents(context, true),
    "lerim.importRules": () => importRules(context, review),
    "lerim.ask": (question) => ask.show(typeof question === "string" && isToken(question) ? question : ""),
    "lerim.showBenefit": () => benefit.show(),
    "lerim.openJournal": () => journal.show(),
    "lerim.openJournalDay": (node) => journal.show(dayOf(node)),
    "lerim.previousJournalDay": (uri) => journal.move("previous", uri instanceof vscode.Uri ? uri : undefined),
    "lerim.nextJournalDay": (uri) => journal.move("next", uri instanceof vscode.Uri ? uri : undefined),
    "lerim.chooseModel": () => chooseModel(context),
    "lerim.enterModelKey": () => enterKey(context),
    "lerim.forgetModelKey": () => forgetKey(context),
    "lerim.showLog": () => context.output.show(),
    "lerim.debugInformation": () => showDebugInformation(context),
    "lerim.restart": () => context.restart(true),
  };
  return vscode.Disposable.from(
    ...Object.entries(commands).map(([id, command]) => vscode.commands.registerCommand(id, (...args: unknown[]) => runCommand(context, () => command(...args)))),
  );
}

async function runCommand(context: Context, command: () => unknown): Promise<void> {
  try {
    await command();
  } catch (error) {
    if (error instanceof NotRunning) return; // the person has already been informed
    const message = errorText(error);
    context.output.error(message);
    if (await offerRepository(error)) return;
    void showError(message, "Show Log").then((choice) => {
      if (choice !== undefined) context.output.show();
    });
  }
}
