import { dirname, join } from "node:path";
import * as vscode from "vscode";
import { checkInterpreter, ensureEnvironment, environmentFolder, isHealthy, isReady, markInUse, pruneEnvironments, repairEnvironment, type EnvironmentPaths, type Tools } from "./bootstrap";
import { venvPython } from "./environment";
import { isAlive, run } from "./process";
import type { Status } from "./status";

const cancelledKey = "setupCancelled";
const agreedKey = "setupAgreed";

/** Finds the interpreters for the sidecar and for searches by meaning, or creates environments for them. */
export class EnvironmentSetup {
  /** What takes back that this window uses an environment, by the environment's folder. */
  readonly #unmarks = new Map<string, () => Promise<void>>();
  /** Whether an environment was created, which the person has not been told yet. */
  #isNew = false;

  /** `closing` is aborted when the window closes, which ends all work. */
  constructor(
    private readonly extension: vscode.ExtensionContext,
    private readonly output: vscode.LogOutputChannel,
    private readonly status: Pick<Status, "state">,
    private readonly closing: AbortSignal,
  ) {}

  get paths(): EnvironmentPaths {
    return {
      lockFiles: [this.extension.asAbsolutePath("requirements.lock")],
      environments: join(this.extension.globalStorageUri.fsPath, "env"),
      megabytes: 11,
    };
  }

  /** Of the environment for searches by meaning, which has everything of Lerim and the sentence model. */
  get meaningPaths(): EnvironmentPaths {
    return {
      lockFiles: ["requirements.lock", "requirements-meaning.lock"].map((name) => this.extension.asAbsolutePath(name)),
      environments: join(this.extension.globalStorageUri.fsPath, "meaning"),
      megabytes: 65,
    };
  }

  /** The interpreter for searches by meaning; undefined if its environment is not installed. */
  async findMeaningPython(): Promise<string | undefined> {
    const folder = await environmentFolder(this.meaningPaths);
    if (!(await isReady(process.platform, folder))) return undefined;
    await this.#mark(folder);
    return venvPython(process.platform, folder);
  }

  /** Installs the environment for searches by meaning. Throws `BootstrapError`, also if the person cancels it. */
  async installMeaning(): Promise<void> {
    await this.#withProgress("Installing search by meaning", (signal, show) => ensureEnvironment(this.meaningPaths, this.#tools(signal, show)));
    const deleted = await pruneEnvironments(this.meaningPaths, isAlive).catch((error: unknown) => [String(error)]);
    if (deleted.length > 0) this.output.info(`Deleted environments of earlier releases: ${deleted.join(", ")}`);
  }

  /**
   * The interpreter for the sidecar. `configuredPython` is the one set by the person ("" for none). Undefined if an environment would have to be downloaded, and the
   * workspace is not trusted, or the person has not agreed to it, or has cancelled it and not asked for it again (`isExplicit`).
   */
  async findPython(configuredPython: string, isExplicit: boolean): Promise<string | undefined> {
    if (configuredPython !== "") return configuredPython;
    const { globalState } = this.extension;
    const folder = await environmentFolder(this.paths);
    const isEnvironmentReady = await isReady(process.platform, folder);
    if (!isEnvironmentReady) {
      if (!vscode.workspace.isTrusted) return undefined;
      if (!isExplicit && (globalState.get(agreedKey) !== true || globalState.get(cancelledKey) === folder)) return undefined;
      if (globalState.get(agreedKey) !== true && !(await this.#ask())) return undefined;
    }
    return this.#markUsed(isEnvironmentReady ? ensureEnvironment(this.paths, this.#quietTools) : this.#createWithProgress(ensureEnvironment));
  }

  /** The person agrees to the download of the environment. */
  async agree(): Promise<void> {
    await this.extension.globalState.update(agreedKey, true);
  }

  /** Recreates our own environment. Throws in Restricted Mode, in which nothing is downloaded. */
  async repair(): Promise<string> {
    if (!vscode.workspace.isTrusted) throw new Error("Lerim's Python environment no longer works. It is created again when you open a trusted workspace.");
    return this.#markUsed(this.#createWithProgress(repairEnvironment));
  }

  /** After a failed start, whether the interpreter itself works. Throws `BootstrapError` if the `configuredPython` does not. */
  async isPythonHealthy(configuredPython: string): Promise<boolean> {
    if (configuredPython === "") return isHealthy(this.paths, this.#quietTools);
    await checkInterpreter(configuredPython, dirname(this.paths.environments), this.#quietTools);
    return true;
  }

  /** Says that the set-up is done if it was, with the next step as a button. The walkthrough and the status bar have it, too. */
  async offerFirstSync(): Promise<void> {
    if (!this.#isNew) return;
    this.#isNew = false;
    const sync = "Sync";
    const choice = await vscode.window.showInformationMessage("Lerim is set up.", sync); // asks for nothing: it stays in the list of notifications after the sync
    if (choice === sync) await vscode.commands.executeCommand("lerim.sync");
  }

  /** Removes the marks that this window uses its environments. */
  async release(): Promise<void> {
    for (const unmark of this.#unmarks.values()) await unmark();
    this.#unmarks.clear();
  }

  /** Asks before the first download; whether the person agreed. */
  async #ask(): Promise<boolean> {
    const setUp = "Set Up";
    const message = `Lerim needs its own Python environment. Setting it up downloads ${this.paths.megabytes} MB of packages, once. None of your data is sent.`;
    if ((await vscode.window.showInformationMessage(message, { modal: true }, setUp)) !== setUp) return false;
    await this.agree();
    return true;
  }

  async #markUsed(pendingPython: Promise<string>): Promise<string> {
    const python = await pendingPython;
    await this.#mark(await environmentFolder(this.paths));
    return python;
  }

  async #mark(folder: string): Promise<void> {
    try {
      this.#unmarks.set(folder, await markInUse(folder));
    } catch (error) {
      this.output.warn(`The environment could not be marked as used: ${String(error)}`); // on a full disk the environment still works
    }
  }

  /** Creates the environment with progress and Cancel. A cancelled setup is remembered. */
  async #createWithProgress(create: typeof ensureEnvironment): Promise<string> {
    const { globalState } = this.extension;
    const folder = await environmentFolder(this.paths);
    const python = await this.#withProgress("Setting up Lerim", async (signal, show) => {
      const report = (message: string): void => {
        show(message);
        this.status.state = { kind: "setting-up", message };
      };
      return create(this.paths, this.#tools(signal, report)).catch(async (error: unknown) => {
        if (signal.aborted && !this.closing.aborted) await globalState.update(cancelledKey, folder);
        throw error;
      });
    });
    await globalState.update(cancelledKey, undefined);
    this.#isNew = true;
    return python;
  }

  /** Runs `work` with a notification that shows its messages and can cancel it. */
  #withProgress<Result>(title: string, work: (signal: AbortSignal, show: (message: string) => void) => Promise<Result>): Promise<Result> {
    return Promise.resolve(vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title, cancellable: true }, (progress, token) => {
      const cancel = new AbortController();
      token.onCancellationRequested(() => cancel.abort());
      return work(AbortSignal.any([cancel.signal, this.closing]), (message) => {
        progress.report({ message });
        this.output.info(message);
      });
    }));
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
      isAlive,
      signal,
      report,
      log: (line) => this.output.info(line),
    };
  }
}
