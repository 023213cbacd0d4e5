// First start: makes Lerim's own Python environment from requirements.lock; later starts use it directly.
import { createHash } from "node:crypto";
import { access, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  appleStub,
  type Command,
  developerToolsCommand,
  type Environ,
  type Interpreter,
  type Platform,
  healthCommand,
  installCommands,
  isRecent,
  parseProbe,
  probeCommand,
  pythonCandidates,
  slimCommand,
  toolEnvironment,
  uvVersionCommand,
  venvPython,
} from "./environment";
import { acquireLock, isHeld } from "./envlock";
import { BootstrapError, type Cause, causeOf } from "./failure";
import type { Outcome, Run } from "./process";

export interface Tools {
  readonly platform: Platform;
  readonly environ: Environ;
  /** VS Code's `http.proxy`, "" for none. */
  readonly proxy: string;
  readonly run: Run;
  readonly alive: (pid: number) => boolean;
  readonly signal: AbortSignal;
  /** A short line for the person. */
  readonly report: (message: string) => void;
  readonly log: (line: string) => void;
}

export interface Place {
  readonly lockFile: string;
  /** The folder holding one environment a lock hash. */
  readonly environments: string;
}

const probeMs = 20_000;
const healthMs = 60_000;

/** The environment's folder: named after the lock, so that a new release with other packages makes a new one. */
export async function environmentFolder(place: Place): Promise<string> {
  const hash = createHash("sha256").update(await readFile(place.lockFile)).digest("hex");
  return join(place.environments, hash.slice(0, 16));
}

/** Whether `folder` holds a whole environment whose interpreter is still there. */
export async function isReady(platform: Platform, folder: string): Promise<boolean> {
  try {
    await access(join(folder, "ready"));
    await access(venvPython(platform, folder)); // follows the link: an uninstalled base interpreter is noticed
    return true;
  } catch {
    return false;
  }
}

/** The interpreter of our environment, made now if it is not there. Throws `BootstrapError`. */
export async function ensureEnvironment(place: Place, tools: Tools): Promise<string> {
  const folder = await environmentFolder(place);
  if (await isReady(tools.platform, folder)) return venvPython(tools.platform, folder);
  return locked(place, folder, tools, async (cwd) =>
    (await isReady(tools.platform, folder)) ? venvPython(tools.platform, folder) : make(folder, place.lockFile, cwd, tools));
}

/** Whether our environment runs Python with all packages. It does not when the Python it was made with was upgraded or removed. */
export async function isHealthy(place: Place, tools: Tools): Promise<boolean> {
  const folder = await environmentFolder(place);
  return (await stepper(folder, tools)(healthCommand(venvPython(tools.platform, folder)), healthMs)).code === 0;
}

/** The interpreter of our environment, made anew unless another window has done so meanwhile. Throws `BootstrapError`. */
export async function repairEnvironment(place: Place, tools: Tools): Promise<string> {
  const folder = await environmentFolder(place);
  return locked(place, folder, tools, async (cwd) => {
    if ((await isReady(tools.platform, folder)) && (await isHealthy(place, tools))) return venvPython(tools.platform, folder);
    tools.log("The environment no longer works. Its Python may have been upgraded or removed. Creating it again.");
    return make(folder, place.lockFile, cwd, tools);
  });
}

/** Works in an empty folder while no other window sets up the same environment. Throws `BootstrapError`. */
async function locked(place: Place, folder: string, tools: Tools, work: (cwd: string) => Promise<string>): Promise<string> {
  try {
    await mkdir(place.environments, { recursive: true });
    const release = await acquireLock(`${folder}.lock`, {
      signal: tools.signal,
      alive: tools.alive,
      onWait: () => tools.report("Another window is setting up Lerim…"),
    });
    try {
      // an empty folder of our own: nothing in a workspace (a module, a uv.toml, a python.exe) can be picked up
      const cwd = await mkdtemp(join(tmpdir(), "lerim-"));
      return await work(cwd).finally(() => tidy(removeFolder(cwd), tools));
    } finally {
      await release().catch((error: unknown) => tools.log(`The setup lock could not be removed: ${String(error)}`));
    }
  } catch (error) {
    if (tools.signal.aborted) throw new BootstrapError("cancelled", "");
    if (error instanceof BootstrapError) throw error;
    const text = String(error);
    throw new BootstrapError(causeOf(text), text);
  }
}

/** Waits for a deletion nothing depends on; when it fails the log says so, and what is under way goes on. */
async function tidy(deletion: Promise<void>, tools: Tools): Promise<void> {
  await deletion.catch((error: unknown) => tools.log(`A folder could not be deleted: ${String(error)}`));
}

/** Its mark of being whole goes first: a deletion that is cut off must not leave half an environment that counts as one. */
async function removeEnvironment(folder: string): Promise<void> {
  await rm(join(folder, "ready"), { force: true });
  await removeFolder(folder);
}

function removeFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function make(folder: string, lock: string, cwd: string, tools: Tools): Promise<string> {
  const step = stepper(cwd, tools);
  tools.report("Looking for Python…");
  const python = await findPython(step, tools);
  tools.log(`Python ${python.version.join(".")} at ${python.path}`);
  const version = await step(uvVersionCommand(), probeMs);
  const uv = version.code === 0 && version.stdout.startsWith("uv ");
  tools.log(uv ? `installing with ${version.stdout.trim()}` : "installing with venv and pip");
  try {
    try {
      await install(installCommands(tools.platform, { uv, python: python.path, folder, lock }), folder, step, tools);
    } catch (error) {
      if (!uv || !(error instanceof BootstrapError) || error.reason !== "unknown") throw error;
      tools.log("uv failed unexpectedly, trying venv and pip");
      await install(installCommands(tools.platform, { uv: false, python: python.path, folder, lock }), folder, step, tools);
    }
    const inside = venvPython(tools.platform, folder);
    tools.report("Checking the environment…");
    expectSuccess(await step(healthCommand(inside), healthMs));
    await writeFile(join(folder, "ready"), `${python.version.join(".")}\n`, "utf8");
    return inside;
  } catch (error) {
    await tidy(removeEnvironment(folder), tools);
    throw error;
  }
}

type Step = (command: Command, timeout?: number) => Promise<Outcome>;

function stepper(cwd: string, tools: Tools): Step {
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

async function install(commands: readonly Command[], folder: string, step: Step, tools: Tools): Promise<void> {
  await removeEnvironment(folder);
  const messages = ["Creating a Python environment…", "Installing packages (about 11 MB, once)…"];
  for (const [position, command] of commands.entries()) {
    tools.report(messages[position] ?? "Installing…");
    tools.log(`> ${[command.file, ...command.args].join(" ")}`);
    expectSuccess(await step(command));
  }
  // without an installer the environment works as well, so a failure here is none
  if (commands[0]?.file !== "uv") await step(slimCommand(venvPython(tools.platform, folder)));
}

function expectSuccess(outcome: Outcome): void {
  if (outcome.code !== 0) throw new BootstrapError(causeOf(outcome.tail), outcome.tail);
}

async function findPython(step: Step, tools: Tools): Promise<Interpreter> {
  let reason: Cause = "no-python";
  for (const candidate of pythonCandidates(tools.platform, tools.environ)) {
    if (tools.platform === "darwin" && !(await mayBeAsked(candidate, step))) continue;
    const outcome = await step(probeCommand(candidate), probeMs);
    const found = outcome.code === 0 ? parseProbe(outcome.stdout) : undefined;
    if (found === undefined) continue;
    if (isRecent(found)) return found;
    reason = "old-python";
  }
  throw new BootstrapError(reason, "");
}

/** On macOS: whether an interpreter is there, and asking it will not open the dialog that installs developer tools. */
async function mayBeAsked(candidate: Command, step: Step): Promise<boolean> {
  const path = await realpath(candidate.file).catch(() => undefined);
  if (path === undefined) return false;
  if (path !== appleStub && candidate.file !== appleStub) return true;
  return (await step(developerToolsCommand(), probeMs)).code === 0;
}

/** Checks the interpreter the person named; returns it. Throws `BootstrapError`. */
export async function checkInterpreter(python: string, extensionPath: string, tools: Tools): Promise<string> {
  const step = stepper(extensionPath, tools);
  const probed = await step(probeCommand({ file: python, args: [] }), probeMs);
  const found = probed.code === 0 ? parseProbe(probed.stdout) : undefined;
  if (found === undefined || !isRecent(found)) throw new BootstrapError("bad-interpreter", probed.tail);
  const healthy = await step(healthCommand(python), healthMs);
  if (healthy.code !== 0) throw new BootstrapError("bad-interpreter", healthy.tail);
  return python;
}

/** Says that this process uses the environment, so that no other window deletes it; returns how to take that back. */
export async function markUsed(folder: string): Promise<() => Promise<void>> {
  const marker = join(folder, "used", String(process.pid));
  await mkdir(join(folder, "used"), { recursive: true });
  await writeFile(marker, "", "utf8");
  return () => rm(marker, { force: true });
}

/** Deletes environments of other locks that no living process uses; returns the deleted names. */
export async function pruneEnvironments(place: Place, alive: (pid: number) => boolean): Promise<string[]> {
  const current = await environmentFolder(place);
  const deleted: string[] = [];
  for (const entry of await readdir(place.environments, { withFileTypes: true })) {
    const folder = join(place.environments, entry.name);
    if (!entry.isDirectory() || folder === current || !/^[0-9a-f]{16}$/.test(entry.name)) continue;
    const users = await readdir(join(folder, "used")).catch(() => []);
    if (users.some((pid) => alive(Number(pid))) || (await isHeld(`${folder}.lock`, alive))) continue;
    await removeEnvironment(folder);
    await rm(`${folder}.lock`, { recursive: true, force: true }); // of a window that was killed in its set-up
    deleted.push(entry.name);
  }
  return deleted;
}
