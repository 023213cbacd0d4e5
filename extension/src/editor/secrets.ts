import type * as vscode from "vscode";

/** The variables that may hold a service's key or that of another address, as in the sidecar's list of providers; a test compares them. */
export const keyVariables = ["OPENROUTER_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ZAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "LERIM_MODEL_KEY"] as const;

type Storage = Pick<vscode.SecretStorage, "get" | "store" | "delete">;

/** Keys of models in the editor's secret storage. They reach the sidecar in its environment alone: no setting, message or log has them. */
export class Keys {
  #started: Record<string, string> = {};
  #turn: Promise<void> = Promise.resolve();

  constructor(
    private readonly storage: Storage,
    private readonly environ: Readonly<Record<string, string | undefined>>,
    private readonly log: (line: string) => void,
  ) {}

  /** What a sidecar that starts now is given: the keys for which the person's own environment has none; none in Restricted Mode. */
  async forStart(trusted: boolean): Promise<Record<string, string>> {
    return (this.#started = await this.#wanted(trusted));
  }

  /** Restarts the sidecar if it was started with other keys than there are now; a change that is told twice restarts it once. */
  changed(trusted: boolean, restart: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(async () => {
      if (JSON.stringify(await this.#wanted(trusted)) !== JSON.stringify(this.#started)) await restart();
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /** Whether the environment the editor was started with has this key: it counts, whatever is stored. */
  inEnvironment(variable: string): boolean {
    return (this.environ[variable] ?? "").trim() !== "";
  }

  /** The variables a key is stored for. */
  async stored(): Promise<string[]> {
    const keys = await Promise.all(keyVariables.map((variable) => this.#get(variable)));
    return keyVariables.filter((_, at) => keys[at] !== "");
  }

  async store(variable: string, key: string): Promise<void> {
    await this.storage.store(nameOf(variable), key.trim());
  }

  async forget(variable: string): Promise<void> {
    await this.storage.delete(nameOf(variable));
  }

  async #wanted(trusted: boolean): Promise<Record<string, string>> {
    const wanted: Record<string, string> = {};
    for (const variable of trusted ? keyVariables : []) {
      const key = this.inEnvironment(variable) ? "" : await this.#get(variable);
      if (key !== "") wanted[`LERIM_KEY_${variable}`] = key; // what begins so is kept from the person's own command
    }
    return wanted;
  }

  async #get(variable: string): Promise<string> {
    try {
      return (await this.storage.get(nameOf(variable))) ?? "";
    } catch (error) {
      this.log(`${variable} could not be read from the editor's secret storage: ${error instanceof Error ? error.message : String(error)}`);
      return "";
    }
  }
}

function nameOf(variable: string): string {
  return `lerim.key.${variable}`;
}
