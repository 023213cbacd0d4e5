// An agent in the editor that does what `request.json` in the folder `agent` of the home says, and writes what came of it to `result.json`.
const { readFileSync, renameSync, watch, writeFileSync } = require("node:fs");
const { homedir } = require("node:os");
const { join } = require("node:path");
const vscode = require("vscode");

const folder = join(homedir(), "agent");
let last = "";

exports.activate = (context) => {
  const watcher = watch(folder, () => void look());
  context.subscriptions.push({ dispose: () => watcher.close() });
  write({ id: "ready" });
};

async function look() {
  const request = read();
  if (request === undefined || request.id === last) return;
  last = request.id;
  try {
    write({ id: request.id, ...(await answer(request)) });
  } catch (error) {
    write({ id: request.id, error: String(error) });
  }
}

async function answer({ tool, input, startServers }) {
  if (startServers) await vscode.commands.executeCommand("workbench.mcp.startServer", "*", { waitForLiveTools: true });
  if (tool === undefined) return { tools: vscode.lm.tools.map(({ name }) => name) };
  const { content } = await vscode.lm.invokeTool(tool, { input, toolInvocationToken: undefined }, new vscode.CancellationTokenSource().token);
  return { text: content.map((part) => part.value ?? "").join("\n") };
}

function read() {
  try {
    return JSON.parse(readFileSync(join(folder, "request.json"), "utf8"));
  } catch {
    return undefined; // nothing was asked yet
  }
}

function write(result) {
  writeFileSync(join(folder, "result.new"), JSON.stringify(result));
  renameSync(join(folder, "result.new"), join(folder, "result.json"));
}
