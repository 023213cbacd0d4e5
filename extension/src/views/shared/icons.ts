import * as vscode from "vscode";

const platformsWithIcon = ["claude", "codex", "cursor", "opencode", "copilot", "gemini"];

/** Our own icon of an agent: two letters in a frame, not a brand's logo. */
export function agentIcon(extension: vscode.Uri, platform: string): { light: vscode.Uri; dark: vscode.Uri } | vscode.ThemeIcon {
  if (!platformsWithIcon.includes(platform)) return new vscode.ThemeIcon("comment-discussion");
  const file = (theme: string): vscode.Uri => vscode.Uri.joinPath(extension, "extension", "media", `${platform}-${theme}.svg`);
  return { light: file("light"), dark: file("dark") };
}
