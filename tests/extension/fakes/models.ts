// `vscode.lm` with models that answer as a test says.
import { registerTool } from "./chat";
import { CancellationTokenSource, EventEmitter } from "./events";

type Token = CancellationTokenSource["token"];
type Parts = AsyncIterable<string> | Iterable<string>;

export class LanguageModelError extends Error {
  constructor(
    message: string,
    readonly code = "Unknown",
    name = "LanguageModelError",
  ) {
    super(message);
    this.name = name;
  }
}

export const LanguageModelChatMessage = { User: (content: string) => ({ role: "user", content }) };

export class FakeModel {
  readonly asked: { texts: string[]; justification: string | undefined; token: Token }[] = [];
  name: string;
  family: string;
  readonly version = "1";
  maxInputTokens = 100_000;
  /** What the person said of Lerim's use of it. */
  allowed: boolean | undefined = true;

  constructor(
    readonly vendor: string,
    readonly id: string,
    public answer: (prompt: string, token: Token) => Parts | Promise<Parts> = () => ["fine"],
  ) {
    this.name = this.family = id;
  }

  async sendRequest(messages: readonly { content: string }[], options: { justification?: string }, token: Token): Promise<{ text: Parts }> {
    const texts = messages.map(({ content }) => content);
    this.asked.push({ texts, justification: options.justification, token });
    return { text: await this.answer(texts.at(-1) ?? "", token) };
  }
}

const changed = new EventEmitter<void>();

export const offer = {
  models: [] as FakeModel[],
  /** The editor's models are these from now on. */
  set: (...models: FakeModel[]): void => {
    offer.models = models;
    changed.fire();
  },
};

export const lm = {
  registerTool,
  onDidChangeChatModels: changed.event,
  selectChatModels: (): Promise<FakeModel[]> => Promise.resolve(offer.models),
};

/** What the editor knows of the person's consent. */
export const access = {
  onDidChange: new EventEmitter<void>().event,
  canSendRequest: (model: FakeModel): boolean | undefined => model.allowed,
};
