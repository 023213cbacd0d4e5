// Continuing a session with its agent, from the transcript viewer or a row of the Sessions view.
import * as vscode from "vscode";
import * as protocol from "../protocol";
import type { Context } from "../sidecar/context";
import { isFolder } from "../views/transcript/sessionfiles";
import { showInfo } from "../editor/notifications";

type Requester = Pick<Context, "request">;

/** Lerim: Resume Session in Terminal…. The person sees the command before it is run. */
export async function resumeSession(context: Requester, id: string | undefined): Promise<void> {
  const outline = await loadResumable(context, id);
  if (outline === undefined) return;
  const { resume, session } = outline;
  const run = "Run in Terminal";
  const copy = "Copy Command";
  const detail = session.folder === "" ? resume : `${resume}\n\nin ${session.folder}`;
  const answer = await vscode.window.showInformationMessage(`Continue this session with ${session.agent}?`, { modal: true, detail }, run, copy);
  if (answer === copy) await vscode.env.clipboard.writeText(resume);
  if (answer !== run) return;
  const folder = await isFolder(session.folder);
  const terminal = vscode.window.createTerminal(folder ? { name: session.agent, cwd: session.folder } : { name: session.agent });
  terminal.show();
  terminal.sendText(resume);
}

/** Lerim: Copy Command That Resumes Session. */
export async function copyResumeCommand(context: Requester, id: string | undefined): Promise<void> {
  const outline = await loadResumable(context, id);
  if (outline === undefined) return;
  await vscode.env.clipboard.writeText(outline.resume);
  void vscode.window.setStatusBarMessage("Lerim: Copied the command that resumes the session.", 5000);
}

/** The session with the command that continues it; undefined if there is none, which is said. */
async function loadResumable(context: Requester, id: string | undefined): Promise<protocol.OutlineView | undefined> {
  if (id === undefined) return undefined;
  const outline = await context.request(protocol.sessionOpen, { id, turn: "" });
  if (outline.resume !== "") return outline;
  void showInfo(`${outline.session.agent} has no command that continues this session.`);
  return undefined;
}
