// `@lerim` in the editor's chat: answers from the project's memory, remembers what you say, and says why a file is as it is.
import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import { forgetFileChanges } from "../commands/filechanges";
import { errorText, NotRunning } from "../editor/errors";
import { currentRoot } from "../editor/roots";
import * as protocol from "../protocol";
import type { Context } from "../sidecar/context";
import { saidText } from "../text/sessionwording";
import { driftMark, memoryKinds } from "../text/wording";

type Sidecar = Pick<Context, "request" | "on">;

const shownMemories = 10;

/** Registers `@lerim`, where the editor has chat participants. */
export function registerParticipant(context: Sidecar & Pick<Context, "extension">): { dispose(): void } {
  const { chat } = vscode as unknown as { chat?: typeof vscode.chat };
  if (chat === undefined) return { dispose: () => undefined };
  const participant = chat.createChatParticipant("lerim.chat", async (request, _history, stream, token) => {
    const root = (await currentRoot())?.uri.toString();
    if (root === undefined) {
      stream.markdown("Open a folder of a git repository first.");
      return;
    }
    try {
      if (request.command === "remember") await remember(context, root, request.prompt, stream);
      else if (request.command === "why") await explain(context, stream);
      else await answer(context, root, request.prompt, stream, token);
    } catch (error) {
      if (!(error instanceof NotRunning)) stream.markdown(plain(errorText(error)));
    }
  });
  participant.iconPath = vscode.Uri.joinPath(context.extension.extensionUri, "extension", "media", "icon.png");
  return participant;
}

async function answer(context: Sidecar, root: string, question: string, stream: vscode.ChatResponseStream, token: vscode.CancellationToken): Promise<void> {
  if (question.trim() === "") {
    stream.markdown("Ask a question about this project, or use `/remember` or `/why`.");
    return;
  }
  const id = randomUUID();
  const cited = new Map<number, protocol.Citation>();
  const show = (sentence: protocol.Sentence): void => {
    for (const citation of sentence.citations) cited.set(citation.number, citation);
    stream.markdown(plain(`${sentence.text} [${sentence.citations.map(({ number }) => number).join(", ")}] `));
  };
  let shown = 0;
  const sentences = context.on(protocol.answer, ({ token: of, sentence }) => {
    if (of !== id) return;
    shown += 1;
    show(sentence);
  });
  try {
    const found = await context.request(protocol.ask, { root, question, token: id, all: false }, token);
    for (const sentence of found.sentences.slice(shown)) show(sentence);
    if (found.sentences.length === 0) {
      if (found.message !== "") stream.markdown(plain(`${found.message}\n\n`));
      for (const { citation, text } of found.passages.slice(0, shownMemories)) {
        cited.set(citation.number, citation);
        stream.markdown(plain(`[${citation.number}] ${text}\n\n`));
      }
      if (found.passages.length === 0) stream.markdown("Nothing in this project's memories or sessions is about this.");
    }
    if (cited.size > 0) stream.markdown(sourcesOf(root, [...cited.values()], found.passages));
  } finally {
    sentences.dispose();
  }
}

/** The sources as links that only open memories and turns. */
function sourcesOf(root: string, citations: readonly protocol.Citation[], passages: readonly protocol.Passage[]): vscode.MarkdownString {
  const list = new vscode.MarkdownString("\n\n");
  list.isTrusted = { enabledCommands: ["lerim.openMemory", "lerim.openTurn"] };
  for (const { number, kind, title, handle, session, turn } of [...citations].sort((one, other) => one.number - other.number)) {
    const target = kind === "memory" ? link("lerim.openMemory", handle) : link("lerim.openTurn", { root, session, turn });
    const passage = passages.find(({ citation }) => citation.number === number);
    const said = kind === "turn" && passage !== undefined ? `${saidText(passage)}, in ` : "";
    list.appendText(`[${number}] ${said}`).appendMarkdown(`[${escape(title)}](${target})\n\n`);
  }
  return list;
}

async function remember(context: Sidecar, root: string, prompt: string, stream: vscode.ChatResponseStream): Promise<void> {
  const { kind, title, body } = parseMemory(prompt);
  if (title === "") {
    stream.markdown("Say what to remember, such as `/remember pitfall: The tests need a clock`. Further lines become the details.");
    return;
  }
  const done = await context.request(protocol.memoryAdd, { root, kind, title, body, files: [] });
  if (done.ok) forgetFileChanges();
  stream.markdown(plain(done.message));
  if (done.ok && done.path !== null) stream.reference(vscode.Uri.file(done.path));
}

/** The memory in a message: a kind and a colon may come first, the first line is the title, the rest are the details. */
export function parseMemory(prompt: string): { kind: protocol.MemoryKind; title: string; body: string } {
  const [first = "", ...rest] = prompt.trim().split("\n");
  const [, word, claim] = /^(\w+):\s*(.*)$/.exec(first) ?? [];
  const kind = memoryKinds.find((one) => one === word?.toLowerCase());
  return { kind: kind ?? "decision", title: (kind === undefined ? first : (claim ?? "")).trim(), body: rest.join("\n").trim() };
}

async function explain(context: Sidecar, stream: vscode.ChatResponseStream): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    stream.markdown("Open a file first: `/why` is about the file in the active editor.");
    return;
  }
  const { memories } = await context.request(protocol.memoryForFile, { uri: editor.document.uri.toString() });
  if (memories.length === 0) stream.markdown("No memory is about this file.");
  for (const memory of memories.slice(0, shownMemories)) {
    const text = new vscode.MarkdownString();
    text.isTrusted = { enabledCommands: ["lerim.openMemory"] };
    text.appendMarkdown(`**[${escape(memory.title)}](${link("lerim.openMemory", memory.handle)})**`);
    if (memory.drift !== "") text.appendText(` (${driftMark(memory.drift)})`);
    text.appendMarkdown("\n\n").appendText(memory.body).appendMarkdown("\n\n");
    const [quote] = memory.evidence;
    if (quote !== undefined && quote.quote !== "") text.appendText(`“${quote.quote}”`).appendMarkdown("\n\n");
    stream.markdown(text);
  }
  if (memories.length > shownMemories) stream.markdown(`${memories.length - shownMemories} more are about this file.`);
}

/** Text of models and memories, in which nothing works as a link, an image or HTML. */
function plain(text: string): vscode.MarkdownString {
  return new vscode.MarkdownString().appendText(text);
}

function escape(text: string): string {
  return text.replaceAll(/[\\`*_{}[\]()#+\-!<>|~&]/g, "\\$&").replaceAll(/\s+/g, " ");
}

function link(command: string, argument: unknown): string {
  return `command:${command}?${encodeURIComponent(JSON.stringify([argument]))}`;
}
