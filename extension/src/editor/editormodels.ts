import * as vscode from "vscode";
import type { ModelAnswerView, AskModelParams, EditorModelView, RefusalReason } from "../protocol";

const justification = "Lerim reads your coding sessions with it, to find the decisions and learnings in them.";
/** Jobs are told of the models in an environment variable, which is small on Windows. */
const mostModels = 64;
const mostText = 60;
const mostAnswer = 400_000;
/** More than a token ever has on average. */
const charactersOfToken = 16;
const mostMessage = 300;
const settleMs = 300;

type Access = Pick<vscode.LanguageModelAccessInformation, "canSendRequest" | "onDidChange">;

/** The editor's own language models: which there are, and the sidecar's questions to them. */
export class EditorModels implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  /** There may be other models, or the person allowed one. */
  readonly onChanged = this.#changed.event;
  readonly #told = new Set<string>();
  /** Of each model about which the editor asks the person just now: the request that made it ask. */
  readonly #consents = new Map<string, Thenable<unknown>>();
  readonly #listeners: vscode.Disposable[];
  #settling: NodeJS.Timeout | undefined;

  constructor(
    private readonly access: Access,
    private readonly log: (line: string) => void,
  ) {
    const changed = (): void => {
      clearTimeout(this.#settling);
      this.#settling = setTimeout(() => this.#changed.fire(), settleMs);
    };
    const lm = vscode.lm as typeof vscode.lm | undefined; // editors made from VS Code may leave it out
    this.#listeners = lm === undefined ? [] : [lm.onDidChangeChatModels(changed), access.onDidChange(changed)];
  }

  /** The models as the sidecar is told of them; none in Restricted Mode. */
  async offered(): Promise<EditorModelView[]> {
    if (!vscode.workspace.isTrusted) return [];
    const models = (await this.#models()).slice(0, mostModels).map((model) => ({
      id: idOf(model),
      vendor: short(model.vendor),
      family: short(model.family),
      version: short(model.version),
      name: short(model.name),
      maxInputTokens: Number.isSafeInteger(model.maxInputTokens) ? model.maxInputTokens : 0,
      allowed: this.access.canSendRequest(model) ?? null,
    }));
    for (const { id } of models) this.#told.add(id);
    return models;
  }

  /** The answer to one question, or why there is none; nothing is thrown. `hear` is told its words as they come. */
  async ask(params: AskModelParams, token: vscode.CancellationToken, hear: (text: string) => void = () => undefined): Promise<ModelAnswerView> {
    if (!vscode.workspace.isTrusted) return refused("no-permission");
    const model = (await this.#models()).find((one) => idOf(one) === params.model);
    if (token.isCancellationRequested) return refused("cancelled");
    if (model === undefined) return refused(this.#told.has(params.model) ? "gone" : "not-found");
    if (!params.explicit && this.access.canSendRequest(model) !== true) return refused("no-permission");
    const source = new vscode.CancellationTokenSource();
    const listeners: vscode.Disposable[] = [];
    const stopped = new Promise<ModelAnswerView>((resolve) => {
      const stop = (why: RefusalReason): void => {
        resolve(refused(why)); // first: a model that listens may answer with what it has
        source.cancel();
      };
      listeners.push(
        token.onCancellationRequested(() => stop("cancelled")),
        vscode.lm.onDidChangeChatModels(async () => {
          if (!(await this.#models()).some((one) => idOf(one) === params.model)) stop("gone");
        }),
      );
    });
    try {
      return await Promise.race([stopped, this.#answer(model, params, source, hear)]);
    } finally {
      for (const listener of listeners) listener.dispose();
      source.dispose();
    }
  }

  dispose(): void {
    clearTimeout(this.#settling);
    for (const listener of this.#listeners) listener.dispose();
    this.#changed.dispose();
  }

  async #answer(
    model: vscode.LanguageModelChat,
    { system, prompt, maxTokens, token }: AskModelParams,
    source: vscode.CancellationTokenSource,
    hear: (text: string) => void,
  ): Promise<ModelAnswerView> {
    const most = Math.min(mostAnswer, maxTokens === null ? mostAnswer : maxTokens * charactersOfToken);
    // there is no role for instructions: they are the first thing the user says
    const messages = [system, prompt].filter((text) => text !== "").map((text) => vscode.LanguageModelChatMessage.User(text));
    let text = "";
    try {
      const response = await this.#send(model, messages, source.token);
      for await (const part of response.text) {
        text += part;
        if (token !== "" && text.length < most) hear(part);
        if (text.length < most) continue;
        source.cancel();
        break;
      }
    } catch (error) {
      return refusal(error);
    }
    return { text: text.slice(0, most), why: "", message: "" };
  }

  /** Sends a request. While the editor asks the person about the model, other questions wait for what they say. */
  async #send(model: vscode.LanguageModelChat, messages: vscode.LanguageModelChatMessage[], token: vscode.CancellationToken): Promise<vscode.LanguageModelChatResponse> {
    const id = idOf(model);
    const send = (): Thenable<vscode.LanguageModelChatResponse> => model.sendRequest(messages, { justification }, token);
    if (this.access.canSendRequest(model) === true) return send();
    const first = this.#consents.get(id);
    if (first !== undefined) {
      await first; // their no is this one's, too
      return send();
    }
    const sent = send();
    this.#consents.set(id, sent);
    try {
      return await sent;
    } finally {
      this.#consents.delete(id);
    }
  }

  async #models(): Promise<vscode.LanguageModelChat[]> {
    try {
      return await vscode.lm.selectChatModels();
    } catch (error) {
      this.log(`The editor's models could not be listed: ${messageOf(error)}`);
      return [];
    }
  }
}

function idOf(model: vscode.LanguageModelChat): string {
  return `${short(model.vendor)}/${short(model.id)}`;
}

function short(text: string): string {
  return text.slice(0, mostText);
}

function refused(why: RefusalReason, message = ""): ModelAnswerView {
  return { text: "", why, message };
}

function refusal(error: unknown): ModelAnswerView {
  return refused(reason(error), messageOf(error));
}

/** Quota and rate limits have no code of their own: providers say them in an error's name or message. */
function reason(error: unknown): RefusalReason {
  if (!(error instanceof vscode.LanguageModelError)) return "failed";
  if (error.code === "NoPermissions") return "no-permission";
  if (error.code === "NotFound") return "gone";
  if (/quota/i.test(error.name) || /\bquota\b/i.test(error.message)) return "quota";
  if (error.code === "Blocked" || /rate.?limit/i.test(error.name)) return "blocked";
  return "failed";
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, mostMessage);
}
