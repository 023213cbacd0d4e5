// `lerim mcp` offered to agents by the editor itself: VS Code asks a provider for it, Cursor is told of it.
import * as vscode from "vscode";
import { currentRoot } from "../editor/roots";
import { readSettings } from "../editor/settings";
import type { Context } from "../sidecar/context";
import { mcpCommand, mcpEnvironment } from "../sidecar/environment";
import { RestartQueue } from "../sidecar/restart";

/** VS Code's API for MCP servers, since 1.101. Its types are newer than the oldest editor that Lerim runs in; 1.100 has the function, which throws. */
interface McpApi {
  readonly registerMcpServerDefinitionProvider?: (id: string, provider: McpProvider) => vscode.Disposable;
}

interface McpProvider {
  readonly onDidChangeMcpServerDefinitions: vscode.Event<void>;
  readonly provideMcpServerDefinitions: () => Promise<unknown[]>;
}

type McpServer = new (label: string, command: string, args: string[], env: Record<string, string>, version: string) => { cwd?: vscode.Uri };

/** Cursor's API for MCP servers. */
interface CursorApi {
  readonly mcp?: {
    readonly registerServer?: (config: { name: string; server: { command: string; args: string[]; env: Record<string, string> } }) => void;
    readonly unregisterServer?: (name: string) => void;
  };
}

const label = "Lerim";

/** Offers the server where the setting `lerim.agents.mcpServer` says so. An editor without such an API is left alone. */
export function registerMcpServer(context: Pick<Context, "output" | "interpreter" | "extension" | "version">): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  const subscriptions: { dispose(): unknown }[] = [changed];
  const { McpStdioServerDefinition } = vscode as unknown as { McpStdioServerDefinition?: McpServer };
  const { cursor } = vscode as unknown as { cursor?: CursorApi };

  /** The server for the folder that is open; undefined if it is not to be offered here. */
  const findServer = async (): Promise<{ command: string; args: string[]; env: Record<string, string>; folder: vscode.Uri } | undefined> => {
    // read here: the context applies a change only after this is asked
    const { settings } = readSettings(vscode.workspace.getConfiguration("lerim"));
    const root = await currentRoot();
    if (root === undefined || !vscode.workspace.isTrusted || !settings.enabled || !settings["agents.mcpServer"]) return undefined;
    const { file, args } = mcpCommand(await context.interpreter(), root.uri.fsPath);
    return { command: file, args: [...args], env: mcpEnvironment(process.platform, context.extension.extensionPath), folder: root.uri };
  };

  try {
    const provider = (vscode.lm as unknown as McpApi).registerMcpServerDefinitionProvider?.("lerim.mcp", {
      onDidChangeMcpServerDefinitions: changed.event,
      provideMcpServerDefinitions: async () => {
        const server = await findServer();
        if (server === undefined || McpStdioServerDefinition === undefined) return [];
        const definition = new McpStdioServerDefinition(label, server.command, server.args, server.env, context.version);
        definition.cwd = server.folder; // without it, the server would start in the home folder
        return [definition];
      },
    });
    if (provider !== undefined) subscriptions.push(provider);
  } catch (error) {
    context.output.info(`This editor takes no MCP servers from extensions: ${String(error)}`);
  }

  const cursorUpdates = new RestartQueue(async () => {
    const server = await findServer();
    if (server === undefined) cursor?.mcp?.unregisterServer?.("lerim");
    else cursor?.mcp?.registerServer?.({ name: "lerim", server: { command: server.command, args: server.args, env: server.env } });
  });
  const update = (): void => {
    changed.fire();
    if (cursor !== undefined) void cursorUpdates.request().catch((error: unknown) => context.output.warn(`Cursor did not take the MCP server: ${String(error)}`));
  };
  subscriptions.push(
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("lerim")) update();
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(update),
    vscode.workspace.onDidChangeWorkspaceFolders(update),
    new vscode.Disposable(() => cursor?.mcp?.unregisterServer?.("lerim")),
  );
  update();
  return vscode.Disposable.from(...subscriptions);
}
