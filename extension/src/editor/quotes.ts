import * as vscode from "vscode";

/** Asks where quotes are kept, once per repository, at the first accept; undefined if the person chose neither. */
export async function askWhereQuotesGo(): Promise<"shared" | "local" | undefined> {
  const shareButton = "Share quotes in git";
  const keepButton = "Keep quotes on this machine";
  const choice = await vscode.window.showInformationMessage(
    "Share the quotes of memories in git?",
    {
      modal: true,
      detail:
        "A memory is a markdown file in the repository. It can include the quotes from your sessions that it is based on, so that everyone with access to the repository can read them, or the quotes can stay on this machine. Lerim commits nothing itself. You are asked once per repository; review.quotes in .lerim/config.toml changes it later.",
    },
    keepButton,
    shareButton,
  );
  return choice === shareButton ? "shared" : choice === keepButton ? "local" : undefined;
}
