import { mkdir } from "node:fs/promises";
import * as vscode from "vscode";
import { type CancellationToken, FileChangeType, type LanguageClient, ResponseError, State } from "vscode-languageclient/node";
import { environmentFolder, pruneEnvironments } from "./bootstrap";
import { SidecarClient, traceOf } from "./client";
import { sidecarCommand, sidecarEnvironment } from "./environment";
import { BootstrapError } from "./failure";
import { NotRunning } from "../editor/notrunning";
import { EditorModels } from "../editor/editormodels";
import { openSetting } from "../editor/opensetting";
import { isAlive } from "./process";
import * as protocol from "../protocol";
import { RestartQueue } from "./restart";
import { isUseful, rootFolders } from "../editor/roots";
import { Keys } from "../editor/secrets";
import { forJobs, maxFileKb, readSettings, type Settings } from "../editor/settings";
import { SetUp } from "./setup";
import { Status } from "./status";
import { FolderWatch } from "./watch";
import { progressText } from "../text/wording";

/** What views and panels are told of as it comes. */
const passedOn = [protocol.memoriesChanged, protocol.maintainProgress, protocol.answer] as const;

/** Owns the sidecar, the status item, the log and everything to be disposed of. */
export class Context implements vscode.Disposable {
  readonly output = vscode.window.createOutputChannel("Lerim", { log: true });
  readonly status = new Status();
  readonly models: EditorModels;
  readonly keys: Keys;
  readonly #progress = new vscode.EventEmitter<protocol.SyncProgressParams>();
  readonly #candidates = new vscode.EventEmitter<protocol.CandidatesChangedParams>();
  readonly #running = new vscode.EventEmitter<void>();
  readonly #model = new vscode.EventEmitter<void>();
  readonly onSyncProgress = this.#progress.event;
  /** The sidecar was told of other settings or models, or began anew. */
  readonly onModelChanged = this.#model.event;
  /** The sidecar began to answer, or does not any more. */
  readonly onRunningChanged = this.#running.event;
  readonly onCandidatesChanged = this.#candidates.event;
  /** The syncs under way, as they were told of last. */
  readonly #syncs = new Map<string, protocol.SyncProgressParams>();
  readonly #restarts = new RestartQueue(() => this.#restart());
  readonly #closing = new AbortController();
  readonly #setUp: SetUp;
  readonly #told = new vscode.EventEmitter<{ readonly method: string; readonly params: unknown }>();
  #sidecar: SidecarClient | undefined;
  #watch: FolderWatch | undefined;
  #settings: Settings;
  /** What cannot be used of the settings about the model. */
  #unusable: Readonly<Record<string, unknown>> = {};
  #asked = false;

  constructor(readonly extension: vscode.ExtensionContext) {
    this.#settings = this.readSettings();
    this.status.visible = this.#settings.statusBar;
    this.models = new EditorModels(extension.languageModelAccessInformation, (line) => this.output.info(line));
    this.keys = new Keys(extension.secrets, process.env, (line) => this.output.warn(line));
    this.models.onChanged(() => this.#offerModels());
    this.#setUp = new SetUp(extension, this.output, this.status, this.#closing.signal);
  }

  get settings(): Settings {
    return this.#settings;
  }

  /** Starts the sidecar if this window holds a repository. */
  async startIfUseful(): Promise<void> {
    for (const folder of rootFolders()) {
      if (await isUseful(folder.uri.fsPath)) {
        await this.#restarts.request();
        return;
      }
    }
    this.output.info("No repository is open. The sidecar starts with the first command.");
  }

  /** Stops the sidecar, and starts it again when Lerim is enabled. `asked`: by the person, so that set-up is tried again. */
  restart(asked: boolean): Promise<void> {
    this.#asked ||= asked;
    return this.#restarts.request();
  }

  /** Starts the sidecar if it does not run; what keeps it from that is told. */
  async started(): Promise<void> {
    if (!this.isRunning) await (this.#restarts.running ?? this.restart(true));
  }

  /** Sends a request, starting the sidecar first if it does not run. Throws `NotRunning`, or the sidecar's own error. */
  async request<P, R>(type: protocol.Request<P, R>, params: P, token?: CancellationToken): Promise<R> {
    if (!this.#settings.enabled) {
      void this.#offerSettings("Lerim is turned off by the setting lerim.enabled.", "lerim.enabled");
      throw new NotRunning();
    }
    await this.started();
    const client = this.#sidecar?.client;
    if (client?.state !== State.Running) throw new NotRunning();
    // by name, an undefined token would count as a second positional parameter
    return token === undefined ? client.sendRequest<R>(type.method, params) : client.sendRequest<R>(type.method, params, token);
  }

  /** Calls `listener` with what the sidecar tells by a notification. */
  on<P>(type: protocol.Notification<P>, listener: (params: P) => unknown): vscode.Disposable {
    return this.#told.event(({ method, params }) => {
      // SAFETY: the sidecar's notifications have the types of the protocol, which a test compares with its own
      if (method === type.method) listener(params as P);
    });
  }

  get isRunning(): boolean {
    return this.#sidecar?.client.state === State.Running;
  }

  /** Settings changed: the sidecar is told, and restarted only when its process would differ. */
  async settingsChanged(): Promise<void> {
    const before = this.#settings;
    this.#settings = this.readSettings();
    this.status.visible = this.#settings.statusBar;
    if (before.enabled !== this.#settings.enabled || before.python !== this.#settings.python) return this.restart(true);
    return this.configurationChanged();
  }

  /** Tells the sidecar the settings and whether the workspace is trusted, before any request that is sent after this call. */
  async configurationChanged(): Promise<void> {
    if (!this.isRunning) await this.#restarts.running?.catch(() => undefined);
    const client = this.#sidecar?.client;
    if (client?.state !== State.Running) return;
    const told = client.sendNotification("workspace/didChangeConfiguration", { settings: this.initOptions() });
    await Promise.all([told, client.setTrace(traceOf(this.#settings["trace.server"]))]);
    this.#model.fire();
  }

  /** Starts the sidecar anew if a key was stored or forgotten that it is to know. */
  keysChanged(): Promise<void> {
    return this.keys.changed(vscode.workspace.isTrusted, async () => {
      await this.#restarts.running?.catch(() => undefined); // it may have begun with the keys of before
      if (this.isRunning) await this.restart(false);
    });
  }

  /** Lets the sidecar tell what changed unseen. */
  lookAround(): void {
    if (this.#sidecar !== undefined && this.isRunning) this.background(this.#sidecar.client.sendNotification(protocol.lookAround.method, {}));
  }

  /** Lets work go on that nobody waits for; its failure is written to the log. */
  background(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (!this.#closing.signal.aborted) this.output.error(error instanceof Error ? error.message : String(error));
    });
  }

  initOptions(): protocol.InitOptions {
    const { enabled, hover, codeLens, idleSeconds } = this.#settings;
    return { trusted: vscode.workspace.isTrusted, settings: { enabled, hover, codeLens, idleSeconds, maxFileKb, ...forJobs(this.#settings), ...this.#unusable } };
  }

  /** Ends the sidecar; resolves when its process is gone. */
  async stop(): Promise<void> {
    this.#closing.abort();
    await this.#stopSidecar();
    // a start or a set-up under way: its half-made folder and its process must go as well
    await this.#restarts.running?.catch(() => undefined);
    await this.#stopSidecar();
  }

  dispose(): void {
    this.#closing.abort();
    this.#watch?.dispose();
    this.models.dispose();
    this.status.dispose();
    this.#progress.dispose();
    this.#candidates.dispose();
    this.#running.dispose();
    this.#model.dispose();
    this.#told.dispose();
    this.output.dispose();
  }

  /** The interpreter this window would use, for the debug information. */
  async interpreter(): Promise<string> {
    return this.#settings.python || (await environmentFolder(this.#setUp.place));
  }

  private readSettings(): Settings {
    const { settings, rejected, widened, unusable } = readSettings(vscode.workspace.getConfiguration("lerim"));
    for (const key of rejected) this.output.warn(`The setting ${key} has an invalid value. Its default is used.`);
    for (const key of widened ?? []) this.output.warn(`The workspace's ${key} is less strict than your user setting, so your user setting is used.`);
    this.#unusable = unusable ?? {};
    return settings;
  }

  async #stopSidecar(): Promise<void> {
    const sidecar = this.#sidecar;
    this.#sidecar = undefined;
    this.#watch?.dispose();
    this.#endSyncs();
    await sidecar?.stop();
    if (sidecar !== undefined) this.#running.fire();
    await this.#setUp.release();
  }

  async #restart(): Promise<void> {
    const asked = this.#asked;
    this.#asked = false;
    await this.#stopSidecar();
    if (!this.#settings.enabled || this.#closing.signal.aborted) {
      this.status.state = { kind: "off" };
      return;
    }
    try {
      const { python: own } = this.#settings;
      const python = await this.#setUp.python(own, asked);
      if (python === undefined) {
        this.status.state = { kind: "not-set-up" };
        return;
      }
      await this.#start(python).catch(async (error: unknown) => {
        if (await this.#setUp.works(own)) throw error;
        await this.#start(await this.#setUp.repaired()); // once: a second failure is told
      });
    } catch (error) {
      this.#failed(error);
    }
  }

  async #start(python: string): Promise<void> {
    this.status.state = { kind: "starting", message: "starting" };
    const { fsPath: storage } = this.extension.globalStorageUri;
    await mkdir(storage, { recursive: true });
    const command = sidecarCommand(python);
    const keys = await this.keys.forStart(vscode.workspace.isTrusted);
    const env = { ...sidecarEnvironment(process.platform, process.env, this.extension.extensionPath), ...keys };
    this.output.info(`Starting ${[command.file, ...command.args].join(" ")}`);
    const sidecar = new SidecarClient({ command, env, cwd: storage }, this.initOptions(), this.output);
    const { client } = sidecar;
    client.onNotification(protocol.syncProgress.method, (progress: protocol.SyncProgressParams) => this.#synced(progress));
    client.onNotification(protocol.candidatesChanged.method, (changed: protocol.CandidatesChangedParams) => {
      this.status.setPending(changed.root, changed.pending, changed.project);
      this.#candidates.fire(changed);
    });
    for (const { method } of passedOn) client.onNotification(method, (params: unknown) => this.#told.fire({ method, params }));
    client.onRequest(protocol.askModel.method, (params: protocol.AskModelParams, token: CancellationToken) =>
      this.models.ask(params, token, (text) => void client.sendNotification(protocol.modelPart.method, { token: params.token, text })),
    );
    client.onNotification(protocol.watchFolders.method, ({ folders }: protocol.WatchFoldersParams) => {
      if (this.#sidecar === sidecar) this.#watchFolders(client, folders);
    });
    client.onDidChangeState(({ newState }) => {
      if (this.#sidecar !== sidecar) return;
      this.#running.fire();
      if (newState === State.Running) {
        this.status.state = { kind: "ready" };
        // trust or settings may have changed while it started, or since the start whose options a restart repeats
        this.background(this.configurationChanged());
        this.#offerModels();
        return;
      }
      this.#endSyncs();
      if (newState === State.Starting) this.status.state = { kind: "starting", message: "restarting" };
      else this.status.state = { kind: "failed", message: "the sidecar stopped. Click to restart it." };
    });
    this.#sidecar = sidecar;
    try {
      await client.start();
    } catch (error) {
      this.#sidecar = undefined;
      await sidecar.stop();
      // what the sidecar itself answered says more than the last line of its log
      const said = error instanceof ResponseError ? error.message : (sidecar.tail.at(-1) ?? String(error));
      throw new Error(`The sidecar did not start. ${said}`, { cause: error });
    }
    await client.setTrace(traceOf(this.#settings["trace.server"]));
    this.status.state = { kind: "ready" };
    void this.#afterStart();
  }

  async #afterStart(): Promise<void> {
    try {
      const { roots } = await this.request(protocol.debug, {});
      for (const { uri, key, candidates } of roots) {
        this.status.setPending(uri, candidates, key);
        this.#candidates.fire({ root: uri, project: key, pending: candidates }); // an open panel may show what a sidecar that ended told
      }
      if (this.#settings.python !== "") return;
      const deleted = await pruneEnvironments(this.#setUp.place, isAlive);
      if (deleted.length > 0) this.output.info(`Deleted environments of earlier releases: ${deleted.join(", ")}`);
    } catch (error) {
      this.output.warn(`After the start: ${String(error)}`);
    }
  }

  /** Tells the sidecar of the editor's own models. */
  #offerModels(): void {
    const client = this.#sidecar?.client;
    if (client?.state !== State.Running) return;
    this.background(this.models.offered().then((models) => client.sendNotification(protocol.editorModels.method, { models })).then(() => this.#model.fire()));
  }

  /** Tells the sidecar what changes in these folders, as the editor does where its own watcher misses nothing. */
  #watchFolders(client: LanguageClient, folders: string[]): void {
    this.#watch?.dispose();
    if (process.platform !== "linux") return; // elsewhere the system itself watches whole trees
    this.#watch = new FolderWatch(
      folders.map((uri) => vscode.Uri.parse(uri).fsPath),
      (files) => {
        const changes = files.map((file) => ({ uri: vscode.Uri.file(file).toString(), type: FileChangeType.Changed }));
        if (client.state === State.Running) this.background(client.sendNotification("workspace/didChangeWatchedFiles", { changes }));
      },
      (error) => this.output.warn(`Changes made outside this window may appear late: ${error.message}`),
    );
    this.background(this.#watch.ready.then(() => this.lookAround()));
  }

  #synced(progress: protocol.SyncProgressParams): void {
    const over = progress.stage === "done" || progress.stage === "failed" || progress.stage === "cancelled";
    if (over) this.#syncs.delete(progress.root);
    else this.#syncs.set(progress.root, progress);
    this.status.setSyncing(progress.root, over ? "" : progressText(progress));
    this.#progress.fire(progress);
  }

  /** The sidecar is gone, and with it the syncs it would have told the end of. */
  #endSyncs(): void {
    for (const progress of [...this.#syncs.values()]) this.#synced({ ...progress, stage: "failed", message: "The sidecar ended." });
  }

  #failed(error: unknown): void {
    if (this.#closing.signal.aborted) return;
    if (error instanceof BootstrapError && error.reason === "cancelled") {
      this.output.info("Setup was cancelled. Nothing was left behind.");
      this.status.state = { kind: "not-set-up" };
      return;
    }
    const message = error instanceof Error ? error.message : String(error);
    this.output.error(message);
    if (error instanceof BootstrapError && error.detail !== "") this.output.error(error.detail);
    this.status.state = { kind: "failed", message };
    void vscode.window.showErrorMessage(`Lerim: ${message}`, "Retry", "Show Log", "Open Settings").then((choice) => {
      if (choice === "Retry") this.background(this.restart(true));
      if (choice === "Show Log") this.output.show();
      if (choice === "Open Settings") void openSetting("lerim.python");
    });
  }

  async #offerSettings(message: string, setting: string): Promise<void> {
    if ((await vscode.window.showInformationMessage(message, "Open Settings")) !== undefined) await openSetting(setting);
  }
}
