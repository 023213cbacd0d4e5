import { dirname, join } from "node:path";
import * as vscode from "vscode";
import { checkInterpreter, ensureEnvironment, environmentFolder, isHealthy, isReady, markInUse, type Place, repairEnvironment, type Tools } from "./bootstrap";
import { isAlive, run } from "./process";
import type { Status } from "./status";

const cancelledKey = "setupCancelled";

/** Finds the interpreter for the sidecar, or creates an environment for it. */
export class EnvironmentSetup {
  #unmark: (() => Promise<void>) | undefined;

  /** `closing` is aborted when the window closes, which ends all work. */
  constructor(
    private readonly extension: vscode.ExtensionContext,
    private readonly output: vscode.LogOutputChannel,
    private readonly status: Pick<Status, "state">,
    private readonly closing: AbortSignal,
  ) {}

  get place(): Place {
    return {
      lockFile: this.extension.asAbsolutePath("requirements.lock"),
      environments: join(this.extension.globalStorageUri.fsPath, "env"),
    };
  }

  /** The interpreter for the sidecar. `own` is the one set by the person ("" for none). Undefined if setup was cancelled and not `asked` for again. */
  async python(own: string, asked: boolean): Promise<string | undefined> {
    if (own !== "") return own;
    const { globalState } = this.extension;
    const folder = await environmentFolder(this.place);
    const ready = await isReady(process.platform, folder);
    if (!ready && !asked && globalState.get(cancelledKey) === folder) return undefined;
    return this.#use(ready ? ensureEnvironment(this.place, this.#quietTools) : this.#setUp(ensureEnvironment));
  }

  /** Recreates our own environment. */
  repair(): Promise<string> {
    return this.#use(this.#setUp(repairEnvironment));
  }

  /** After a failed start, whether the interpreter itself works. Throws `BootstrapError` if the person's `own` does not. */
  async isPythonHealthy(own: string): Promise<boolean> {
    if (own === "") return isHealthy(this.place, this.#quietTools);
    await checkInterpreter(own, dirname(this.place.environments), this.#quietTools);
    return true;
  }

  /** Removes the mark that this window uses the environment. */
  async release(): Promise<void> {
    await this.#unmark?.();
    this.#unmark = undefined;
  }

  async #use(made: Promise<string>): Promise<string> {
    const python = await made;
    this.#unmark = await markInUse(await environmentFolder(this.place)).catch((error: unknown) => {
      this.output.warn(`The environment could not be marked as used: ${String(error)}`); // on a full disk the environment still works
      return undefined;
    });
    return python;
  }

  /** Creates the environment with progress and Cancel. A cancelled setup is remembered. */
  async #setUp(make: typeof ensureEnvironment): Promise<string> {
    const { globalState } = this.extension;
    const folder = await environmentFolder(this.place);
    return vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: "Setting up Lerim", cancellable: true }, async (progress, token) => {
      const cancel = new AbortController();
      token.onCancellationRequested(() => cancel.abort());
      const report = (message: string): void => {
        progress.report({ message });
        this.status.state = { kind: "starting", message };
        this.output.info(message);
      };
      const python = await make(this.place, this.#tools(AbortSignal.any([cancel.signal, this.closing]), report)).catch(async (error: unknown) => {
        if (cancel.signal.aborted) await globalState.update(cancelledKey, folder);
        throw error;
      });
      await globalState.update(cancelledKey, undefined);
      return python;
    });
  }

  /** For short checks. */
  get #quietTools(): Tools {
    return this.#tools(this.closing, () => undefined);
  }

  #tools(signal: AbortSignal, report: (message: string) => void): Tools {
    return {
      platform: process.platform,
      environ: process.env,
      proxy: vscode.workspace.getConfiguration("http").get("proxy", ""),
      run,
      alive: isAlive,
      signal,
      report,
      log: (line) => this.output.info(line),
    };
  }
}
