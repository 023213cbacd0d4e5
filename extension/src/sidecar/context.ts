import { mkdir } from "node:fs/promises";
import * as vscode from "vscode";
import { type CancellationToken, FileChangeType, type LanguageClient, ResponseError, State } from "vscode-languageclient/node";
import { environmentFolder, pruneEnvironments } from "./bootstrap";
import { SidecarClient, toTrace } from "./client";
import { sidecarCommand, sidecarEnvironment, venvPython } from "./environment";
import { BootstrapError } from "./setupfailure";
import { errorText, NotRunning, turnedOff } from "../editor/errors";
import { EditorModels } from "../editor/editormodels";
import { openSetting } from "../editor/opensetting";
import { isAlive } from "./process";
import * as protocol from "../protocol";
import { RestartQueue } from "./restart";
import { isSupportedFolder, rootFolders } from "../editor/roots";
import { ModelKeys } from "../editor/secrets";
import { jobSettings, maxFileKb, readSettings, type Settings } from "../editor/settings";
import { EnvironmentSetup } from "./setup";
import { Status } from "./status";
import { askForTrust } from "../editor/trust";
import { FolderWatch } from "./watch";
import { hasEnded, progressText } from "../text/wording";
import { showError } from "../editor/notifications";

/** Notifications forwarded to views and panels. */
const forwardedNotifications = [protocol.memoriesChanged, protocol.maintainProgress, protocol.answer] as const;

/** Owns the sidecar, the status item, the log and everything else to be disposed of. */
export class Context implements vscode.Disposable {
  readonly output = vscode.window.createOutputChannel("Lerim", { log: true });
  readonly status: Status;
  readonly models: EditorModels;
  readonly keys: ModelKeys;
  readonly #syncProgress = new vscode.EventEmitter<protocol.SyncProgressParams>();
  readonly #candidatesChanged = new vscode.EventEmitter<protocol.CandidatesChangedParams>();
  readonly #runningChanged = new vscode.EventEmitter<void>();
  readonly #modelChanged = new vscode.EventEmitter<void>();
  readonly onSyncProgress = this.#syncProgress.event;
  /** Fires when the sidecar got new settings or models, or was restarted. */
  readonly onModelChanged = this.#modelChanged.event;
  /** Fires when the sidecar started or stopped answering. */
  readonly onRunningChanged = this.#runningChanged.event;
  readonly onCandidatesChanged = this.#candidatesChanged.event;
  /** The last progress of each running sync, by root. */
  readonly #runningSyncs = new Map<string, protocol.SyncProgressParams>();
  readonly #restarts = new RestartQueue(() => this.#restart());
  readonly #closed = new AbortController();
  readonly #environmentSetup: EnvironmentSetup;
  readonly #notifications = new vscode.EventEmitter<{ readonly method: string; readonly params: unknown }>();
  #sidecar: SidecarClient | undefined;
  #folderWatch: FolderWatch | undefined;
  #settings: Settings;
  /** The invalid model settings. */
  #unusableSettings: Readonly<Record<string, unknown>> = {};
  #askedByUser = false;
  /** A person asked for the set-up in Restricted Mode: it starts when they trust the workspace. */
  #setUpWaits = false;
  /** The interpreter for searches by meaning; undefined if they are turned off or not installed. */
  #meaningPython: string | undefined;

  constructor(readonly extension: vscode.ExtensionContext) {
    this.#settings = this.readSettings();
    this.status = new Status(extension.globalState);
    this.status.applySettings(this.#settings);
    this.models = new EditorModels(extension.languageModelAccessInformation, (line) => this.output.info(line));
    this.keys = new ModelKeys(extension.secrets, process.env, (line) => this.output.warn(line));
    this.models.onChanged(() => this.#offerModels());
    this.#environmentSetup = new EnvironmentSetup(extension, this.output, this.status, this.#closed.signal);
  }

  get settings(): Settings {
    return this.#settings;
  }

  /** Whether memories are also searched by meaning. */
  get searchesByMeaning(): boolean {
    return this.#meaningPython !== undefined;
  }

  /** Installs what a search by meaning needs and turns it on. The person has agreed. Throws `BootstrapError`. */
  async installMeaning(): Promise<void> {
    await this.#environmentSetup.installMeaning();
    await vscode.workspace.getConfiguration("lerim").update("searchByMeaning", true, vscode.ConfigurationTarget.Global);
    await this.reloadSettings();
  }

  /** Starts the sidecar if a folder of this window is supported. */
  async startIfSupported(): Promise<void> {
    for (const folder of rootFolders()) {
      if (await isSupportedFolder(folder.uri.fsPath)) {
        await this.#restarts.request();
        return;
      }
    }
    this.status.state = { kind: "off" };
    this.output.info("No repository is open. Lerim's background process starts with the first command.");
  }

  /** Starts the sidecar for folders that were added or became repositories. One that runs or is being started learns of them itself. */
  async startForNewFolders(): Promise<void> {
    const { client } = this.#sidecar ?? {};
    if ((client === undefined || client.state === State.Stopped) && this.#restarts.running === undefined) await this.startIfSupported();
  }

  /** Starts the sidecar in a workspace that was just trusted. */
  startAfterTrust(): Promise<void> {
    return this.#setUpWaits ? this.restart(true) : this.startIfSupported();
  }

  /** Stops the sidecar, and starts it again if Lerim is enabled. `asked`: the person asked for it, so a cancelled setup is retried. */
  restart(asked: boolean): Promise<void> {
    this.#askedByUser ||= asked;
    return this.#restarts.request();
  }

  /** Sets Lerim up because the person asked for exactly that, and starts the sidecar. */
  async setUp(): Promise<void> {
    await this.#environmentSetup.agree();
    await this.restart(true);
  }

  /** Starts the sidecar if it is not running; a failure is shown. */
  async ensureStarted(): Promise<void> {
    const { client } = this.#sidecar ?? {};
    // one that has ended unexpectedly starts again by itself
    if (this.#restarts.running === undefined && client?.state === State.Starting) await client.start().catch(() => undefined);
    if (!this.isRunning) await (this.#restarts.running ?? this.restart(true));
  }

  /** Sends a request, starting the sidecar first if it is not running. Throws `NotRunning` or the sidecar's error. */
  async request<P, R>(type: protocol.Request<P, R>, params: P, token?: CancellationToken): Promise<R> {
    if (!this.#settings.enabled) {
      void vscode.window.showInformationMessage(turnedOff, "Open Settings").then((choice) => choice && openSetting("lerim.enabled"));
      throw new NotRunning(turnedOff);
    }
    await this.ensureStarted();
    const client = this.#sidecar?.client;
    if (client?.state !== State.Running) throw new NotRunning();
    // an undefined token would be sent as a second positional parameter
    return token === undefined ? client.sendRequest<R>(type.method, params) : client.sendRequest<R>(type.method, params, token);
  }

  /** Calls `listener` with the parameters of each notification of this type. */
  on<P>(type: protocol.Notification<P>, listener: (params: P) => unknown): vscode.Disposable {
    return this.#notifications.event(({ method, params }) => {
      // SAFETY: the sidecar's notifications have the types of the protocol, which a test compares with its own
      if (method === type.method) listener(params as P);
    });
  }

  get isRunning(): boolean {
    return this.#sidecar?.client.state === State.Running;
  }

  /** Applies changed settings: sends them to the sidecar, and restarts it only if its process depends on them. */
  async reloadSettings(): Promise<void> {
    const previous = this.#settings;
    this.#settings = this.readSettings();
    this.status.applySettings(this.#settings);
    await this.#findMeaningPython();
    if (previous.enabled !== this.#settings.enabled || previous.python !== this.#settings.python) return this.restart(true);
    return this.sendConfiguration();
  }

  /** Sends the settings and the workspace trust to the sidecar, before any request sent after this call. */
  async sendConfiguration(): Promise<void> {
    if (!this.isRunning) await this.#restarts.running?.catch(() => undefined);
    const client = this.#sidecar?.client;
    if (client?.state !== State.Running) return;
    const notified = client.sendNotification("workspace/didChangeConfiguration", { settings: this.initOptions() });
    await Promise.all([notified, client.setTrace(toTrace(this.#settings["trace.server"]))]);
    this.#modelChanged.fire();
  }

  /** Restarts the sidecar if a key it uses was stored or deleted. */
  applyKeyChanges(): Promise<void> {
    return this.keys.restartIfChanged(vscode.workspace.isTrusted, async () => {
      await this.#restarts.running?.catch(() => undefined); // a start under way may use the old keys
      if (this.isRunning) await this.restart(false);
    });
  }

  /** Asks the sidecar to check for changes the editor did not report. */
  lookAround(): void {
    if (this.#sidecar !== undefined && this.isRunning) this.runInBackground(this.#sidecar.client.sendNotification(protocol.lookAround.method, {}));
  }

  /** Runs work that nobody waits for; a failure is logged. */
  runInBackground(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (!this.#closed.signal.aborted) this.output.error(errorText(error));
    });
  }

  initOptions(): protocol.InitOptions {
    const { enabled, hover, codeLens, idleSeconds } = this.#settings;
    const meaningPython = this.#meaningPython === undefined ? {} : { meaningPython: this.#meaningPython };
    return { trusted: vscode.workspace.isTrusted, settings: { enabled, hover, codeLens, idleSeconds, maxFileKb, ...meaningPython, ...jobSettings(this.#settings), ...this.#unusableSettings } };
  }

  /** Ends the sidecar; resolves when its process has ended. */
  async stop(): Promise<void> {
    this.#closed.abort();
    await this.#stopSidecar();
    // a start or setup under way must also remove its partial folder and end its process
    await this.#restarts.running?.catch(() => undefined);
    await this.#stopSidecar();
  }

  dispose(): void {
    this.#closed.abort();
    this.#folderWatch?.dispose();
    vscode.Disposable.from(this.models, this.status, this.#syncProgress, this.#candidatesChanged, this.#runningChanged, this.#modelChanged, this.#notifications, this.output).dispose();
  }

  /** The version of the extension. */
  get version(): string {
    const { version } = this.extension.extension.packageJSON as { version: string };
    return version;
  }

  /** The interpreter this window would use. */
  async interpreter(): Promise<string> {
    return this.#settings.python || venvPython(process.platform, await environmentFolder(this.#environmentSetup.paths));
  }

  private readSettings(): Settings {
    const { settings, rejected, widened, unusable } = readSettings(vscode.workspace.getConfiguration("lerim"));
    for (const key of rejected) this.output.warn(`The setting ${key} has an invalid value. Its default is used.`);
    for (const key of widened) this.output.warn(`The workspace's ${key} is less strict than your user setting, so your user setting is used.`);
    this.#unusableSettings = unusable;
    return settings;
  }

  async #findMeaningPython(): Promise<void> {
    this.#meaningPython = this.#settings.searchByMeaning ? await this.#environmentSetup.findMeaningPython() : undefined;
  }

  async #stopSidecar(): Promise<void> {
    const sidecar = this.#sidecar;
    this.#sidecar = undefined;
    this.#folderWatch?.dispose();
    this.#endOpenWork();
    await sidecar?.stop();
    if (sidecar !== undefined) this.#runningChanged.fire();
    await this.#environmentSetup.release();
  }

  async #restart(): Promise<void> {
    const askedByUser = this.#askedByUser;
    this.#askedByUser = false;
    await this.#stopSidecar();
    if (!this.#settings.enabled || this.#closed.signal.aborted) {
      this.status.state = { kind: "off" };
      return;
    }
    try {
      await this.#findMeaningPython();
      const { python: configuredPython } = this.#settings;
      const python = await this.#environmentSetup.findPython(configuredPython, askedByUser);
      if (python === undefined) {
        this.status.state = { kind: "not-set-up" };
        this.#setUpWaits = askedByUser && !vscode.workspace.isTrusted;
        if (this.#setUpWaits) void askForTrust();
        return;
      }
      await this.#start(python).catch(async (error: unknown) => {
        if (await this.#environmentSetup.isPythonHealthy(configuredPython)) throw error;
        await this.#start(await this.#environmentSetup.repair()); // only once: a second failure is shown
      });
    } catch (error) {
      this.#showStartFailure(error);
    }
  }

  async #start(python: string): Promise<void> {
    this.status.state = { kind: "starting", message: "starting" };
    const { fsPath: storage } = this.extension.globalStorageUri;
    await mkdir(storage, { recursive: true });
    const command = sidecarCommand(python);
    const keys = await this.keys.loadForStart(vscode.workspace.isTrusted);
    const env = { ...sidecarEnvironment(process.platform, process.env, this.extension.extensionPath), ...keys };
    this.output.info(`Starting ${[command.file, ...command.args].join(" ")}`);
    const sidecar = new SidecarClient({ command, env, cwd: storage }, this.initOptions(), this.output);
    const { client } = sidecar;
    client.onNotification(protocol.syncProgress.method, (progress: protocol.SyncProgressParams) => this.#handleSyncProgress(progress));
    client.onNotification(protocol.candidatesChanged.method, (changed: protocol.CandidatesChangedParams) => {
      this.status.setPending(changed.root, changed.pending, changed.project);
      this.#candidatesChanged.fire(changed);
    });
    for (const { method } of forwardedNotifications) client.onNotification(method, (params: unknown) => this.#notifications.fire({ method, params }));
    client.onRequest(protocol.askModel.method, (params: protocol.AskModelParams, token: CancellationToken) =>
      this.models.ask(params, token, (text) => this.runInBackground(client.sendNotification(protocol.modelPart.method, { token: params.token, text }))),
    );
    client.onNotification(protocol.watchFolders.method, ({ folders }: protocol.WatchFoldersParams) => {
      if (this.#sidecar === sidecar) this.#watchFolders(client, folders);
    });
    let hasRun = false;
    client.onDidChangeState(({ newState }) => {
      if (this.#sidecar !== sidecar) return;
      this.#runningChanged.fire();
      if (newState === State.Running) {
        hasRun = true;
        this.status.state = { kind: "ready" };
        // trust or settings may have changed while it started, or since the start whose options a restart repeats
        this.runInBackground(this.sendConfiguration());
        this.#offerModels();
        return;
      }
      this.#endOpenWork();
      if (newState === State.Starting) this.status.state = { kind: "starting", message: hasRun ? "restarting" : "starting" };
      else this.status.state = { kind: "failed", message: "Lerim's background process stopped. Click to restart it." };
    });
    this.#sidecar = sidecar;
    try {
      await client.start();
    } catch (error) {
      this.#sidecar = undefined;
      await sidecar.stop();
      // the sidecar's own error says more than the last line of its log
      const reason = error instanceof ResponseError ? error.message : (sidecar.tail.at(-1) ?? String(error));
      throw new Error(`Lerim's background process did not start. ${reason}`, { cause: error });
    }
    await client.setTrace(toTrace(this.#settings["trace.server"]));
    this.status.state = { kind: "ready" };
    this.runInBackground(this.#environmentSetup.offerFirstSync()); // after the walkthrough's step is ticked
    void this.#afterStart();
  }

  async #afterStart(): Promise<void> {
    try {
      const { roots } = await this.request(protocol.debug, {});
      for (const { uri, key, candidates } of roots) {
        this.status.setPending(uri, candidates, key);
        this.#candidatesChanged.fire({ root: uri, project: key, pending: candidates }); // an open panel may show the data of the previous sidecar
      }
      if (this.#settings.python !== "") return;
      const deleted = await pruneEnvironments(this.#environmentSetup.paths, isAlive);
      if (deleted.length > 0) this.output.info(`Deleted environments of earlier releases: ${deleted.join(", ")}`);
    } catch (error) {
      this.output.warn(`After the start: ${String(error)}`);
    }
  }

  /** Sends the list of the editor's own models to the sidecar. */
  #offerModels(): void {
    const client = this.#sidecar?.client;
    if (client?.state !== State.Running) return;
    this.runInBackground(this.models.offered().then((models) => client.sendNotification(protocol.editorModels.method, { models })).then(() => this.#modelChanged.fire()));
  }

  /** Reports changes in these folders to the sidecar, since the editor's watcher may miss some on Linux. */
  #watchFolders(client: LanguageClient, folders: string[]): void {
    this.#folderWatch?.dispose();
    if (process.platform !== "linux") return; // other systems watch whole trees themselves
    this.#folderWatch = new FolderWatch(
      folders.map((uri) => vscode.Uri.parse(uri).fsPath),
      (files) => {
        const changes = files.map((file) => ({ uri: vscode.Uri.file(file).toString(), type: FileChangeType.Changed }));
        if (client.state === State.Running) this.runInBackground(client.sendNotification("workspace/didChangeWatchedFiles", { changes }));
      },
      (error) => this.output.warn(`Changes made outside this window may appear late: ${error.message}`),
    );
    this.runInBackground(this.#folderWatch.ready.then(() => this.lookAround()));
  }

  #handleSyncProgress(progress: protocol.SyncProgressParams): void {
    const isFinished = hasEnded(progress.stage);
    if (isFinished) this.#runningSyncs.delete(progress.root);
    else this.#runningSyncs.set(progress.root, progress);
    this.status.setSyncing(progress.root, isFinished ? "" : progressText(progress));
    if (isFinished) this.status.setSettling(progress.root, progress.settling);
    if (progress.stage === "done") this.status.markSynced();
    this.#syncProgress.fire(progress);
  }

  /** Reports all running syncs as failed and stops the questions to the editor's models, because the sidecar has ended. */
  #endOpenWork(): void {
    this.models.stopAnswers();
    for (const progress of [...this.#runningSyncs.values()]) this.#handleSyncProgress({ ...progress, stage: "failed", message: "Lerim's background process ended." });
  }

  #showStartFailure(error: unknown): void {
    if (this.#closed.signal.aborted) return;
    if (error instanceof BootstrapError && error.reason === "cancelled") {
      this.output.info("The set-up was cancelled. Nothing was left behind.");
      this.status.state = { kind: "not-set-up" };
      return;
    }
    const message = errorText(error);
    this.output.error(message);
    if (error instanceof BootstrapError && error.detail !== "") this.output.error(error.detail);
    this.status.state = { kind: "failed", message };
    void showError(message, "Retry", "Show Log", "Open Settings").then((choice) => {
      if (choice === "Retry") this.runInBackground(this.restart(true));
      if (choice === "Show Log") this.output.show();
      if (choice === "Open Settings") void openSetting("lerim.python");
    });
  }
}
