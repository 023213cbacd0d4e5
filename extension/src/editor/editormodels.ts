import { errorText } from "./errors";
import * as vscode from "vscode";
import type { ModelAnswerView, AskModelParams, EditorModelView, RefusalReason } from "../protocol";
import { beginning } from "../text/wording";

const justification = "Lerim reads your coding sessions with it, to find the decisions and learnings in them.";
/** Jobs receive the models in an environment variable, whose size is limited on Windows. */
const maxModels = 64;
const maxNameLength = 60;
const maxAnswerLength = 400_000;
/** An upper bound for the average number of characters per token. */
const maxCharactersPerToken = 16;
const maxMessageLength = 300;
const changeDelayMs = 300;

type Access = Pick<vscode.LanguageModelAccessInformation, "canSendRequest" | "onDidChange">;

/** The editor's own language models: lists them and answers the sidecar's questions with them. */
export class EditorModels implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  /** Fires when the models may have changed, or the person allowed one. */
  readonly onChanged = this.#changed.event;
  readonly #offeredIds = new Set<string>();
  /** By model id, the request for which the editor is asking the person's consent. */
  readonly #pendingConsents = new Map<string, Thenable<unknown>>();
  /** Fires when nobody waits for answers any more. */
  readonly #stopped = new vscode.EventEmitter<void>();
  readonly #listeners: vscode.Disposable[];
  #changeTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly access: Access,
    private readonly log: (line: string) => void,
  ) {
    const changed = (): void => {
      clearTimeout(this.#changeTimer);
      this.#changeTimer = setTimeout(() => this.#changed.fire(), changeDelayMs);
    };
    const lm = vscode.lm as typeof vscode.lm | undefined; // editors based on VS Code may lack it
    this.#listeners = lm === undefined ? [] : [lm.onDidChangeChatModels(changed), access.onDidChange(changed)];
  }

  /** The models offered to the sidecar; none in Restricted Mode. */
  async offered(): Promise<EditorModelView[]> {
    if (!vscode.workspace.isTrusted) return [];
    const models = (await this.#models()).slice(0, maxModels).map((model) => ({
      id: modelId(model),
      vendor: shorten(model.vendor),
      family: shorten(model.family),
      version: shorten(model.version),
      name: shorten(model.name),
      maxInputTokens: Number.isSafeInteger(model.maxInputTokens) ? model.maxInputTokens : 0,
      allowed: this.access.canSendRequest(model) ?? null,
    }));
    for (const { id } of models) this.#offeredIds.add(id);
    return models;
  }

  /** Answers one question, or says why it cannot; never throws. `onText` gets the answer piece by piece. */
  async ask(params: AskModelParams, token: vscode.CancellationToken, onText: (text: string) => void = () => undefined): Promise<ModelAnswerView> {
    if (!vscode.workspace.isTrusted) return makeRefusal("no-permission");
    const model = (await this.#models()).find((one) => modelId(one) === params.model);
    if (token.isCancellationRequested) return makeRefusal("cancelled");
    if (model === undefined) return makeRefusal(this.#offeredIds.has(params.model) ? "gone" : "not-found");
    if (!params.explicit && this.access.canSendRequest(model) !== true) return makeRefusal("no-permission");
    const source = new vscode.CancellationTokenSource();
    const listeners: vscode.Disposable[] = [];
    const stopAnswer = new Promise<ModelAnswerView>((resolve) => {
      const stop = (why: RefusalReason): void => {
        resolve(makeRefusal(why)); // before cancelling: the model may answer with what it has
        source.cancel();
      };
      listeners.push(
        token.onCancellationRequested(() => stop("cancelled")),
        this.#stopped.event(() => stop("cancelled")),
        vscode.lm.onDidChangeChatModels(async () => {
          if (!(await this.#models()).some((one) => modelId(one) === params.model)) stop("gone");
        }),
      );
    });
    try {
      return await Promise.race([stopAnswer, this.#answer(model, params, source, onText)]);
    } finally {
      for (const listener of listeners) listener.dispose();
      source.dispose();
    }
  }

  /** Stops all requests: the sidecar that asked has ended, and they may cost money. */
  stopAnswers(): void {
    this.#stopped.fire();
  }

  dispose(): void {
    this.stopAnswers();
    this.#stopped.dispose();
    clearTimeout(this.#changeTimer);
    for (const listener of this.#listeners) listener.dispose();
    this.#changed.dispose();
  }

  async #answer(
    model: vscode.LanguageModelChat,
    { system, prompt, maxTokens, token }: AskModelParams,
    source: vscode.CancellationTokenSource,
    onText: (text: string) => void,
  ): Promise<ModelAnswerView> {
    const maxLength = Math.min(maxAnswerLength, maxTokens === null ? maxAnswerLength : maxTokens * maxCharactersPerToken);
    // the API has no system role, so the instructions are the first user message
    const messages = [system, prompt].filter((text) => text !== "").map((text) => vscode.LanguageModelChatMessage.User(text));
    let text = "";
    try {
      const response = await this.#send(model, messages, source.token);
      for await (const part of response.text) {
        if (source.token.isCancellationRequested) break;
        text += part;
        if (token !== "" && text.length < maxLength) onText(part);
        if (text.length < maxLength) continue;
        source.cancel();
        break;
      }
    } catch (error) {
      return toRefusal(error);
    }
    return { text: beginning(text, maxLength), why: "", message: "" };
  }

  /** Sends a request. While the editor asks for consent to use the model, further requests wait for the answer. */
  async #send(model: vscode.LanguageModelChat, messages: vscode.LanguageModelChatMessage[], token: vscode.CancellationToken): Promise<vscode.LanguageModelChatResponse> {
    const id = modelId(model);
    const send = (): Thenable<vscode.LanguageModelChatResponse> => model.sendRequest(messages, { justification }, token);
    if (this.access.canSendRequest(model) === true) return send();
    const first = this.#pendingConsents.get(id);
    if (first !== undefined) {
      await first; // a denial applies to this request, too
      return send();
    }
    const sent = send();
    this.#pendingConsents.set(id, sent);
    try {
      return await sent;
    } finally {
      this.#pendingConsents.delete(id);
    }
  }

  async #models(): Promise<vscode.LanguageModelChat[]> {
    try {
      return await vscode.lm.selectChatModels();
    } catch (error) {
      this.log(`The editor's models could not be listed: ${errorMessage(error)}`);
      return [];
    }
  }
}

function modelId(model: vscode.LanguageModelChat): string {
  return `${shorten(model.vendor)}/${shorten(model.id)}`;
}

function shorten(text: string): string {
  return beginning(text, maxNameLength);
}

function makeRefusal(why: RefusalReason, message = ""): ModelAnswerView {
  return { text: "", why, message };
}

function toRefusal(error: unknown): ModelAnswerView {
  return makeRefusal(refusalReason(error), errorMessage(error));
}

/** Quotas and rate limits have no error code; providers mention them in the error's name or message. */
function refusalReason(error: unknown): RefusalReason {
  if (!(error instanceof vscode.LanguageModelError)) return "failed";
  if (error.code === "NoPermissions") return "no-permission";
  if (error.code === "NotFound") return "gone";
  if (/quota/i.test(error.name) || /\bquota\b/i.test(error.message)) return "quota";
  if (error.code === "Blocked" || /rate.?limit/i.test(error.name)) return "blocked";
  return "failed";
}

function errorMessage(error: unknown): string {
  return beginning(errorText(error), maxMessageLength);
}
