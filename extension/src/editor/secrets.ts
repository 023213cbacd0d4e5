import { errorText } from "./errors";
import type * as vscode from "vscode";

/** The variables that may hold the key of a service or of another address. A test compares them with the sidecar's providers. */
export const keyVariables = ["OPENROUTER_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ZAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "LERIM_MODEL_KEY"] as const;

type Storage = Pick<vscode.SecretStorage, "get" | "store" | "delete">;

/** Model keys in the editor's secret storage. They are passed to the sidecar only in its environment, never in a setting, message or log. */
export class ModelKeys {
  #keysAtStart: Record<string, string> = {};
  #pendingChange: Promise<void> = Promise.resolve();

  constructor(
    private readonly storage: Storage,
    private readonly environ: Readonly<Record<string, string | undefined>>,
    private readonly log: (line: string) => void,
  ) {}

  /** The keys for a starting sidecar: those the environment does not already have; none in Restricted Mode. */
  async loadForStart(trusted: boolean): Promise<Record<string, string>> {
    return (this.#keysAtStart = await this.#loadKeys(trusted));
  }

  /** Restarts the sidecar if its keys have changed since it started. A change reported twice restarts it once. */
  restartIfChanged(trusted: boolean, restart: () => Promise<void>): Promise<void> {
    const change = this.#pendingChange.then(async () => {
      if (JSON.stringify(await this.#loadKeys(trusted)) !== JSON.stringify(this.#keysAtStart)) await restart();
    });
    this.#pendingChange = change.catch(() => undefined);
    return change;
  }

  /** Whether the editor's environment has this key; it takes precedence over a stored one. */
  isInEnvironment(variable: string): boolean {
    return (this.environ[variable] ?? "").trim() !== "";
  }

  /** The variables for which a key is stored. */
  async stored(): Promise<string[]> {
    const keys = await Promise.all(keyVariables.map((variable) => this.#readKey(variable)));
    return keyVariables.filter((_, at) => keys[at] !== "");
  }

  async store(variable: string, key: string): Promise<void> {
    await this.storage.store(secretName(variable), key.trim());
  }

  async forget(variable: string): Promise<void> {
    await this.storage.delete(secretName(variable));
  }

  async #loadKeys(trusted: boolean): Promise<Record<string, string>> {
    const keys: Record<string, string> = {};
    for (const variable of trusted ? keyVariables : []) {
      const key = this.isInEnvironment(variable) ? "" : await this.#readKey(variable);
      if (key !== "") keys[`LERIM_KEY_${variable}`] = key; // variables with this prefix are not passed to the person's own model command
    }
    return keys;
  }

  async #readKey(variable: string): Promise<string> {
    try {
      return (await this.storage.get(secretName(variable))) ?? "";
    } catch (error) {
      this.log(`${variable} could not be read from the editor's secret storage: ${errorText(error)}`);
      return "";
    }
  }
}

function secretName(variable: string): string {
  return `lerim.key.${variable}`;
}
