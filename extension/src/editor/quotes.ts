import * as vscode from "vscode";
import * as protocol from "../protocol";
import type { Context } from "../sidecar/context";
import { chooseRoot } from "./roots";
import { showInfo } from "./notifications";

const shareButton = "Share quotes in git";
const keepButton = "Keep quotes on this machine";

/** Asks where quotes are kept, once per repository, at the first accept; undefined if the person chose neither. */
export async function askWhereQuotesGo(): Promise<"shared" | "local" | undefined> {
  const choice = await vscode.window.showInformationMessage(
    "Share the quotes of memories in git?",
    {
      modal: true,
      detail: "In git, everyone with access to the repository can read the exact quotes. Kept on this machine, they are left out of the memory's file; its title and text may repeat what was said. You can change this later with “Lerim: Choose Where Quotes Are Kept”.",
    },
    keepButton,
    shareButton,
  );
  return choice === shareButton ? "shared" : choice === keepButton ? "local" : undefined;
}

/** Lerim: Choose Where Quotes Are Kept. Shows the answer given before, and takes another. */
export async function chooseWhereQuotesGo(context: Pick<Context, "request">): Promise<void> {
  const root = (await chooseRoot())?.uri.toString();
  if (root === undefined) return;
  const { quotes: current } = await context.request(protocol.reviewQuotes, { root });
  const items = [
    { label: shareButton, detail: "The memory's file has the exact quotes of your sessions.", quotes: "shared" },
    { label: keepButton, detail: "Only the memory's title and text are in its file. They may repeat what was said in the session.", quotes: "local" },
  ] as const;
  const picked = await vscode.window.showQuickPick(
    items.map((item) => ({ ...item, description: item.quotes === current ? "current" : "" })).sort((one, other) => other.description.localeCompare(one.description)), // Enter changes nothing
    { title: "Lerim: Choose Where Quotes Are Kept", placeHolder: "For the memories of this repository that you accept from now on" },
  );
  if (picked === undefined) return;
  await context.request(protocol.reviewQuotes, { root, quotes: picked.quotes });
  const where = picked.quotes === "shared" ? "in the memory's file" : "on this machine";
  void showInfo(`The quotes of what you accept from now on are kept ${where}. Memories accepted before are not changed.`);
}
