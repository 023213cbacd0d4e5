// The language model tools: what agents in the editor's chat can ask Lerim for. The sidecar answers them as `lerim mcp` answers other agents.
import * as vscode from "vscode";
import { isToken } from "../editor/arguments";
import { currentRoot } from "../editor/roots";
import * as protocol from "../protocol";
import type { Context } from "../sidecar/context";
import { beginning } from "../text/wording";

const maxText = 4000;
const maxFiles = 20;

/** A tool by its name in package.json, what the chat shows while it runs, and its arguments for the sidecar. */
interface Tool {
  readonly name: string;
  readonly tool: protocol.AgentTool;
  readonly progress: string;
  readonly parse: (input: Readonly<Record<string, unknown>>) => Partial<protocol.AgentToolParams>;
}

const tools: readonly Tool[] = [
  {
    name: "lerim_recall",
    tool: "recall",
    progress: "Recalling project memory",
    parse: (input) => ({ question: textOf(input["question"]), files: filesOf(input["files"]) }),
  },
  {
    name: "lerim_why",
    tool: "why",
    progress: "Looking up why the code is the way it is",
    parse: (input) => ({ path: textOf(input["path"]), symbol: textOf(input["symbol"]) }),
  },
  {
    name: "lerim_propose",
    tool: "propose",
    progress: "Proposing a memory for review",
    parse: (input) => ({ kind: textOf(input["kind"]), title: textOf(input["title"]), why: textOf(input["why"]), files: filesOf(input["files"]) }),
  },
];

/** Registers the tools, where the editor has them. Their contributions have no `when`: with one, VS Code 1.100 lists no tools at all. */
export function registerTools(context: Pick<Context, "request">): vscode.Disposable {
  const { lm } = vscode as unknown as { lm?: typeof vscode.lm };
  if (lm === undefined || !("registerTool" in lm)) return vscode.Disposable.from();
  return vscode.Disposable.from(
    ...tools.map(({ name, tool, progress, parse }) =>
      lm.registerTool<Readonly<Record<string, unknown>>>(name, {
        prepareInvocation: () => ({ invocationMessage: progress }),
        invoke: async ({ input }, token) => {
          const text = await callTool(context, tool, parse(input), token);
          return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text)]);
        },
      }),
    ),
  );
}

async function callTool(context: Pick<Context, "request">, tool: protocol.AgentTool, values: Partial<protocol.AgentToolParams>, token: vscode.CancellationToken): Promise<string> {
  const root = await currentRoot();
  if (root === undefined) return "No repository is open, so there is no project memory.";
  const { text } = await context.request(protocol.agentTool, { ...values, root: root.uri.toString(), tool, agent: "vscode-chat" }, token);
  return text;
}

/** The text in an argument, which comes from a model; "" if it is not a text. */
function textOf(value: unknown): string {
  return typeof value === "string" ? beginning(value, maxText) : "";
}

function filesOf(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter(isToken).slice(0, maxFiles);
}
