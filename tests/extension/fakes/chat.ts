// The editor's chat: participants and language model tools that a test calls, and the markdown they answer with.
import { CancellationTokenSource } from "./events";

interface Uri {
  readonly fsPath: string;
}

/** Markdown whose appended text is escaped, as the editor does it. */
export class MarkdownString {
  isTrusted: unknown;

  constructor(public value = "") {}

  appendText(text: string): this {
    this.value += text.replaceAll(/[\\`*_{}[\]()#+\-!~<>]/g, "\\$&");
    return this;
  }

  appendMarkdown(text: string): this {
    this.value += text;
    return this;
  }
}

export class LanguageModelTextPart {
  constructor(readonly value: string) {}
}

export class LanguageModelToolResult {
  constructor(readonly content: readonly LanguageModelTextPart[]) {}
}

interface Tool {
  invoke(options: { input: unknown }, token: CancellationTokenSource["token"]): Promise<LanguageModelToolResult>;
}

interface Stream {
  markdown(text: string | MarkdownString): void;
  reference(uri: Uri): void;
}

type Participant = (request: { command?: string; prompt: string }, history: unknown, stream: Stream, token: CancellationTokenSource["token"]) => Promise<void>;

const tools = new Map<string, Tool>();
const participants = new Map<string, Participant>();

export const registerTool = (name: string, tool: Tool): { dispose(): void } => {
  tools.set(name, tool);
  return { dispose: () => tools.delete(name) };
};

export const chat = {
  createChatParticipant: (id: string, participant: Participant) => {
    participants.set(id, participant);
    return { iconPath: undefined as unknown, dispose: () => participants.delete(id) };
  },
};

/** What a tool answers an agent. */
export async function invokeTool(name: string, input: unknown): Promise<string> {
  const tool = tools.get(name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  const { content } = await tool.invoke({ input }, new CancellationTokenSource().token);
  return content.map(({ value }) => value).join("\n");
}

/** What a participant answers: its markdown, and the files it refers to. */
export async function say(id: string, prompt: string, command?: string): Promise<{ text: string; files: string[]; trusted: unknown[] }> {
  const participant = participants.get(id);
  if (participant === undefined) throw new Error(`no participant ${id}`);
  const said = { text: "", files: [] as string[], trusted: [] as unknown[] };
  const stream: Stream = {
    markdown: (text) => {
      said.text += typeof text === "string" ? text : text.value;
      if (typeof text !== "string" && text.isTrusted !== undefined) said.trusted.push(text.isTrusted);
    },
    reference: (uri) => said.files.push(uri.fsPath),
  };
  await participant(command === undefined ? { prompt } : { prompt, command }, undefined, stream, new CancellationTokenSource().token);
  return said;
}
