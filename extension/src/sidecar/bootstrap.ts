// Creates Lerim's own Python environments from lock files, when one is first needed; later starts reuse them.
import { createHash } from "node:crypto";
import { access, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  appleStub,
  canInstallElsewhere,
  type Command,
  developerToolsCommand,
  type Environ,
  type Installer,
  type Interpreter,
  type Platform,
  healthCommand,
  installCommands,
  isSupportedVersion,
  parseProbe,
  pipVersionCommand,
  probeCommand,
  pythonCandidates,
  slimCommand,
  toolEnvironment,
  uvVersionCommand,
  venvPython,
} from "./environment";
import { acquireLock, isHeld } from "./envlock";
import { BootstrapError, type Cause, findCause } from "./setupfailure";
import type { Outcome, Run } from "./process";

export interface Tools {
  readonly platform: Platform;
  readonly environ: Environ;
  /** The setting `http.proxy` of VS Code; "" for none. */
  readonly proxy: string;
  readonly run: Run;
  readonly isAlive: (pid: number) => boolean;
  readonly signal: AbortSignal;
  /** Shows a short progress message. */
  readonly report: (message: string) => void;
  readonly log: (line: string) => void;
}

export interface EnvironmentPaths {
  readonly lockFiles: readonly string[];
  /** The folder that contains one environment per hash of the lock files. */
  readonly environments: string;
  /** How much is downloaded. */
  readonly megabytes: number;
}

const probeTimeoutMs = 20_000;
const healthTimeoutMs = 60_000;

/** The environment's folder, named by the hash of the lock files, so that a release with other packages gets a new one. */
export async function environmentFolder(paths: EnvironmentPaths): Promise<string> {
  const hash = createHash("sha256");
  for (const file of paths.lockFiles) hash.update(await readFile(file));
  return join(paths.environments, hash.digest("hex").slice(0, 16));
}

/** Whether `folder` contains a complete environment whose interpreter still exists. */
export async function isReady(platform: Platform, folder: string): Promise<boolean> {
  try {
    await access(join(folder, "ready"));
    await access(venvPython(platform, folder)); // follows the link: an uninstalled base interpreter is noticed
    return true;
  } catch {
    return false;
  }
}

/** The interpreter of our environment, which is created if it does not exist. Throws `BootstrapError`. */
export async function ensureEnvironment(paths: EnvironmentPaths, tools: Tools): Promise<string> {
  const folder = await environmentFolder(paths);
  if (await isReady(tools.platform, folder)) return venvPython(tools.platform, folder);
  return withSetupLock(paths, folder, tools, async (cwd) =>
    (await isReady(tools.platform, folder)) ? venvPython(tools.platform, folder) : createEnvironment(folder, paths, cwd, tools));
}

/** Whether our environment can import all packages. It cannot after its base Python was upgraded or removed. */
export async function isHealthy(paths: EnvironmentPaths, tools: Tools): Promise<boolean> {
  const folder = await environmentFolder(paths);
  return (await makeStepRunner(folder, tools)(healthCommand(venvPython(tools.platform, folder)), healthTimeoutMs)).code === 0;
}

/** The interpreter of our environment, which is recreated unless another window has just done so. Throws `BootstrapError`. */
export async function repairEnvironment(paths: EnvironmentPaths, tools: Tools): Promise<string> {
  const folder = await environmentFolder(paths);
  return withSetupLock(paths, folder, tools, async (cwd) => {
    if ((await isReady(tools.platform, folder)) && (await isHealthy(paths, tools))) return venvPython(tools.platform, folder);
    tools.log("The environment no longer works. Its Python may have been upgraded or removed. Creating it again.");
    return createEnvironment(folder, paths, cwd, tools);
  });
}

/** Runs `work` in an empty folder, under a lock against other windows setting up the same environment. Throws `BootstrapError`. */
async function withSetupLock(paths: EnvironmentPaths, folder: string, tools: Tools, work: (cwd: string) => Promise<string>): Promise<string> {
  try {
    await mkdir(paths.environments, { recursive: true });
    const release = await acquireLock(`${folder}.lock`, {
      signal: tools.signal,
      isAlive: tools.isAlive,
      onWait: () => tools.report("Another window is setting up Lerim…"),
    });
    try {
      // an empty folder of our own: nothing in a workspace (a module, a uv.toml, a python.exe) can be picked up
      const cwd = await mkdtemp(join(tmpdir(), "lerim-"));
      return await work(cwd).finally(() => logIfFailed(removeFolder(cwd), tools));
    } finally {
      await release().catch((error: unknown) => tools.log(`The lock of the set-up could not be removed: ${String(error)}`));
    }
  } catch (error) {
    if (tools.signal.aborted) throw new BootstrapError("cancelled", "");
    if (error instanceof BootstrapError) throw error;
    const text = String(error);
    throw new BootstrapError(findCause(text), text);
  }
}

/** Waits for a deletion that nothing depends on; a failure is only logged. */
async function logIfFailed(deletion: Promise<void>, tools: Tools): Promise<void> {
  await deletion.catch((error: unknown) => tools.log(`A folder could not be deleted: ${String(error)}`));
}

/** Deletes the "ready" file first, so that an interrupted deletion does not leave a partial environment that looks complete. */
async function removeEnvironment(folder: string): Promise<void> {
  await rm(join(folder, "ready"), { force: true });
  await removeFolder(folder);
}

function removeFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function createEnvironment(folder: string, { lockFiles: locks, megabytes }: EnvironmentPaths, cwd: string, tools: Tools): Promise<string> {
  const step = makeStepRunner(cwd, tools);
  tools.report("Looking for Python…");
  const python = await findPython(step, tools);
  tools.log(`Python ${python.version.join(".")} at ${python.path}`);
  const version = await step(uvVersionCommand(), probeTimeoutMs);
  const hasUv = version.code === 0 && version.stdout.startsWith("uv ");
  tools.log(hasUv ? `installing with ${version.stdout.trim()}` : "installing with venv and pip");
  const installers: readonly Installer[] = [...(hasUv ? (["uv"] as const) : []), ...((await hasCapablePip(python, step)) ? (["pip"] as const) : []), "own-pip"];
  try {
    for (const installer of installers) {
      try {
        await install({ installer, python: python.path, folder, locks }, megabytes, step, tools);
        break;
      } catch (error) {
        if (installer === "own-pip" || !isUnexpected(error)) throw error;
        tools.log(`${installer} failed unexpectedly, trying the next installer`);
      }
    }
    const venvInterpreter = venvPython(tools.platform, folder);
    tools.report("Checking the environment…");
    expectSuccess(await step(healthCommand(venvInterpreter), healthTimeoutMs));
    await writeFile(join(folder, "ready"), `${python.version.join(".")}\n`, "utf8");
    return venvInterpreter;
  } catch (error) {
    await logIfFailed(removeEnvironment(folder), tools);
    throw error;
  }
}

type StepRunner = (command: Command, timeout?: number) => Promise<Outcome>;

function makeStepRunner(cwd: string, tools: Tools): StepRunner {
  const env = toolEnvironment(tools.platform, tools.environ, tools.proxy);
  return async (command, timeout) => {
    const outcome = await tools.run(command, {
      env,
      cwd,
      signal: tools.signal,
      onLine: tools.log,
      ...(timeout === undefined ? {} : { timeout }),
    });
    if (tools.signal.aborted) throw new BootstrapError("cancelled", "");
    return outcome;
  };
}

/** Whether the base interpreter has a pip that is recent enough; Debian's Python, for one, may have none. */
async function hasCapablePip(python: Interpreter, step: StepRunner): Promise<boolean> {
  const { code, stdout } = await step(pipVersionCommand(python.path), probeTimeoutMs);
  return code === 0 && canInstallElsewhere(stdout);
}

/** Whether an installer failed for a reason of its own. A pip whose libraries a distribution keeps beside it does not find them in another environment. */
function isUnexpected(error: unknown): boolean {
  return error instanceof BootstrapError && (error.reason === "unknown" || error.reason === "no-venv");
}

async function install(plan: Parameters<typeof installCommands>[1], megabytes: number, step: StepRunner, tools: Tools): Promise<void> {
  const { folder } = plan;
  await removeEnvironment(folder);
  const messages = ["Creating a Python environment…", `Installing packages (about ${megabytes} MB, once)…`];
  for (const [position, command] of installCommands(tools.platform, plan).entries()) {
    tools.report(messages[position] ?? "Installing…");
    tools.log(`> ${[command.file, ...command.args].join(" ")}`);
    expectSuccess(await step(command));
  }
  // removing the installer only saves space, so a failure does not matter
  if (plan.installer === "own-pip") await step(slimCommand(venvPython(tools.platform, folder)));
}

function expectSuccess(outcome: Outcome): void {
  if (outcome.code !== 0) throw new BootstrapError(findCause(outcome.tail), outcome.tail);
}

async function findPython(step: StepRunner, tools: Tools): Promise<Interpreter> {
  let reason: Cause = "no-python";
  for (const candidate of pythonCandidates(tools.platform, tools.environ)) {
    if (tools.platform === "darwin" && !(await isSafeToProbe(candidate, step))) continue;
    const outcome = await step(probeCommand(candidate), probeTimeoutMs);
    const found = outcome.code === 0 ? parseProbe(outcome.stdout) : undefined;
    if (found === undefined) continue;
    if (isSupportedVersion(found)) return found;
    reason = "old-python";
  }
  throw new BootstrapError(reason, "");
}

/** On macOS, whether an interpreter exists and running it does not open the dialog that installs developer tools. */
async function isSafeToProbe(candidate: Command, step: StepRunner): Promise<boolean> {
  const path = await realpath(candidate.file).catch(() => undefined);
  if (path === undefined) return false;
  if (path !== appleStub && candidate.file !== appleStub) return true;
  return (await step(developerToolsCommand(), probeTimeoutMs)).code === 0;
}

/** Checks the interpreter set by the person and returns it. Throws `BootstrapError`. */
export async function checkInterpreter(python: string, extensionPath: string, tools: Tools): Promise<string> {
  const step = makeStepRunner(extensionPath, tools);
  const probed = await step(probeCommand({ file: python, args: [] }), probeTimeoutMs);
  const found = probed.code === 0 ? parseProbe(probed.stdout) : undefined;
  if (found === undefined || !isSupportedVersion(found)) throw new BootstrapError("bad-interpreter", probed.tail);
  const healthy = await step(healthCommand(python), healthTimeoutMs);
  if (healthy.code !== 0) throw new BootstrapError("bad-interpreter", healthy.tail);
  return python;
}

/** Marks the environment as used by this process, so that no other window deletes it. Returns a function that removes the mark. */
export async function markInUse(folder: string): Promise<() => Promise<void>> {
  const marker = join(folder, "used", String(process.pid));
  await mkdir(join(folder, "used"), { recursive: true });
  await writeFile(marker, "", "utf8");
  return () => rm(marker, { force: true });
}

/** Deletes environments of other lock files that no running process uses. Returns their names. */
export async function pruneEnvironments(paths: EnvironmentPaths, isAlive: (pid: number) => boolean): Promise<string[]> {
  const current = await environmentFolder(paths);
  const deleted: string[] = [];
  for (const entry of await readdir(paths.environments, { withFileTypes: true })) {
    const folder = join(paths.environments, entry.name);
    if (!entry.isDirectory() || folder === current || !/^[0-9a-f]{16}$/.test(entry.name)) continue;
    const users = await readdir(join(folder, "used")).catch(() => []);
    if (users.some((pid) => isAlive(Number(pid))) || (await isHeld(`${folder}.lock`, isAlive))) continue;
    await removeEnvironment(folder);
    await rm(`${folder}.lock`, { recursive: true, force: true }); // left by a window that was killed during setup
    deleted.push(entry.name);
  }
  return deleted;
}
