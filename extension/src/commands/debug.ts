import * as vscode from "vscode";
import type { Context } from "../sidecar/context";
import * as protocol from "../protocol";

/** Lerim: Show Debug Information. Opens a document for bug reports with paths and counts, but no text of a memory. */
export async function showDebugInformation(context: Context): Promise<void> {
  const lines = [
    "# Lerim: Debug Information",
    "",
    `- Extension: ${context.version} at ${context.extension.extensionPath}`,
    `- Editor: ${vscode.env.appName} ${vscode.version} (${process.platform} ${process.arch}, Node ${process.versions.node})`,
    `- Remote: ${vscode.env.remoteName ?? "no"} · trusted: ${vscode.workspace.isTrusted}`,
    `- Python environment: ${await context.interpreter()}`,
    `- Settings: ${JSON.stringify(context.settings)}`,
    "",
    "## Background process",
    "",
    ...(await sidecarLines(context)),
    "",
  ];
  const document = await vscode.workspace.openTextDocument({ language: "markdown", content: lines.join("\n") });
  await vscode.window.showTextDocument(document);
}

async function sidecarLines(context: Context): Promise<string[]> {
  if (!context.isRunning) return ["- It is not running. `Lerim: Restart` starts it, and `Lerim: Show Log` shows why it ended."];
  try {
    const { roots, ...about } = await context.request(protocol.debug, {});
    const rows = Object.entries(about).map(([name, value]) => `- ${name}: ${value}`);
    const found = roots.map((root) => `- root ${root.uri}: project ${root.project}, ${root.memories} memories, ${root.candidates} candidates`);
    return [...rows, ...found];
  } catch (error) {
    return [`- It did not answer: ${String(error)}`];
  }
}
