import { existsSync } from "node:fs";
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ensureEnvironment, environmentFolder, isHealthy, isReady, markInUse, type EnvironmentPaths, pruneEnvironments, repairEnvironment, type Tools } from "../../extension/src/sidecar/bootstrap";
import type { Command } from "../../extension/src/sidecar/environment";
import { BootstrapError } from "../../extension/src/sidecar/failure";
import type { Outcome, RunOptions } from "../../extension/src/sidecar/process";

const silent: Outcome = { code: 0, stdout: "", tail: "" };

/** Processes as a machine with Python 3.12 and no uv would run them: `venv` really makes a folder with an interpreter in it. */
class Machine {
  readonly ran: string[] = [];
  readonly files: string[] = [];
  readonly folders = new Set<string>();
  answers: ((line: string, options: RunOptions) => Outcome | undefined | Promise<Outcome | undefined>)[] = [];

  readonly run = async (command: Command, options: RunOptions): Promise<Outcome> => {
    const line = [basename(command.file), ...command.args].join(" ");
    this.ran.push(line);
    this.files.push(command.file);
    this.folders.add(options.cwd);
    for (const answer of this.answers) {
      const outcome = await answer(line, options);
      if (outcome !== undefined) return outcome;
    }
    if (basename(command.file) === "python3" && line.includes("version_info")) return { ...silent, stdout: '[[3, 12, 1], "/usr/bin/python3"]' };
    if (command.file === "uv") return { code: null, stdout: "", tail: "spawn uv ENOENT" };
    const folder = command.args.at(-1) ?? "";
    if (command.args.includes("venv")) {
      await mkdir(join(folder, "bin"), { recursive: true });
      await writeFile(join(folder, "bin", "python"), "");
    }
    return silent;
  };

  count(pattern: RegExp): number {
    return this.ran.filter((line) => pattern.test(line)).length;
  }
}

let home: string;
let place: EnvironmentPaths;
let machine: Machine;
let cancel: AbortController;
let reports: string[];
let logged: string[];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "lerim-test-"));
  place = { lockFile: join(home, "requirements.lock"), environments: join(home, "env") };
  await writeFile(place.lockFile, "pygls==2.1.1 --hash=sha256:00\n");
  machine = new Machine();
  cancel = new AbortController();
  reports = [];
  logged = [];
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(home, { recursive: true, force: true });
});

function tools(changes: Partial<Tools> = {}): Tools {
  return {
    platform: "linux",
    environ: { PATH: "/usr/bin" },
    proxy: "",
    run: machine.run,
    isAlive: () => true,
    signal: cancel.signal,
    report: (message) => reports.push(message),
    log: (line) => logged.push(line),
    ...changes,
  };
}

async function failure(made: Promise<string>): Promise<BootstrapError> {
  const error: unknown = await made.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof BootstrapError)) throw new Error(`expected a BootstrapError, got ${String(error)}`);
  return error;
}

test("a first start makes an environment named after the lock and writes ready last", async () => {
  let readyDuringCheck = true;
  machine.answers.push(async (line) => {
    if (!line.includes("import pygls")) return undefined;
    readyDuringCheck = await isReady("linux", await environmentFolder(place));
    return silent;
  });
  const python = await ensureEnvironment(place, tools());
  const folder = await environmentFolder(place);
  expect(python).toBe(join(folder, "bin", "python"));
  expect(readyDuringCheck).toBe(false);
  expect(await readFile(join(folder, "ready"), "utf8")).toBe("3.12.1\n");
  expect(machine.ran.find((line) => line.includes("pip install"))).toMatch(/--no-deps --require-hashes -r .*requirements\.lock$/);
  expect(reports).toContain("Installing packages (about 11 MB, once)…");
  expect(await readdir(place.environments)).toEqual([basename(folder)]);
});

test("a later start runs no process", async () => {
  await ensureEnvironment(place, tools());
  machine.ran.length = 0;
  await ensureEnvironment(place, tools());
  expect(machine.ran).toEqual([]);
});

test("uv is used where it is there, and Python's own tools when uv fails for a reason of its own", async () => {
  machine.answers.push((line) => (line === "uv --version" ? { ...silent, stdout: "uv 0.13.8" } : undefined));
  machine.answers.push((line) => (line.startsWith("uv venv") ? { code: 2, stdout: "", tail: "error: unexpected argument" } : undefined));
  await ensureEnvironment(place, tools());
  expect(machine.count(/^uv venv/)).toBe(1);
  expect(machine.count(/-m venv/)).toBe(1);
});

test("processes run in an empty folder of their own that is gone afterwards", async () => {
  await ensureEnvironment(place, tools());
  expect(machine.folders.size).toBe(1);
  await expect(access([...machine.folders][0] ?? "")).rejects.toThrow();
});

test("a failed installation leaves nothing behind and names the cause", async () => {
  machine.answers.push((line) => (line.includes("pip install") ? { code: 1, stdout: "", tail: "Failed to establish a new connection: [Errno 111]\nNo matching distribution" } : undefined));
  const error = await failure(ensureEnvironment(place, tools()));
  expect(error.reason).toBe("offline");
  expect(error.detail).toContain("Errno 111");
  expect(await readdir(place.environments)).toEqual([]);
});

test("an environment that cannot import its packages is removed", async () => {
  machine.answers.push((line) => (line.includes("import pygls") ? { code: 1, stdout: "", tail: "ImportError: cannot open shared object" } : undefined));
  expect((await failure(ensureEnvironment(place, tools()))).reason).toBe("unknown");
  expect(await readdir(place.environments)).toEqual([]);
});

/** Puts a file where a folder was, so that nothing in it can be deleted any more. */
async function block(folder: string): Promise<void> {
  await rename(folder, `${folder} (moved)`);
  await writeFile(folder, "");
}

async function unblock(folder: string): Promise<void> {
  await rm(folder);
  await rename(`${folder} (moved)`, folder);
}

test.skipIf(process.platform === "win32")("a temporary folder that cannot be deleted keeps neither the environment nor the lock", async () => {
  const temporary = join(home, "tmp");
  await mkdir(temporary);
  vi.stubEnv("TMPDIR", temporary);
  machine.answers.push(async (line) => {
    if (line.includes("import pygls")) await block(temporary);
    return undefined;
  });
  const python = await ensureEnvironment(place, tools());
  expect(await isReady("linux", await environmentFolder(place))).toBe(true);
  expect(await readdir(place.environments)).toEqual([basename(dirname(dirname(python)))]);
  expect(logged.join("\n")).toMatch(/could not be deleted: .*ENOTDIR/);
});

test.skipIf(process.platform === "win32")("what cannot be cleaned up after a failure does not hide its cause", async () => {
  const temporary = join(home, "tmp");
  await mkdir(temporary);
  vi.stubEnv("TMPDIR", temporary);
  machine.answers.push(async (line) => {
    if (!line.includes("pip install")) return undefined;
    await block(temporary);
    await block(place.environments);
    return { code: 1, stdout: "", tail: "[Errno 28] No space left on device" };
  });
  const error = await failure(ensureEnvironment(place, tools()));
  expect(error.reason).toBe("disk");
  await unblock(temporary);
  await unblock(place.environments);
});

test("cancelling leaves nothing behind", async () => {
  machine.answers.push((line) => {
    if (!line.includes("pip install")) return undefined;
    cancel.abort();
    return { code: null, stdout: "", tail: "" };
  });
  expect((await failure(ensureEnvironment(place, tools()))).reason).toBe("cancelled");
  expect(await readdir(place.environments)).toEqual([]);
});

test("a half-made environment is made again", async () => {
  const folder = await environmentFolder(place);
  await mkdir(join(folder, "lib"), { recursive: true });
  await ensureEnvironment(place, tools());
  expect(await isReady("linux", folder)).toBe(true);
  await expect(access(join(folder, "lib"))).rejects.toThrow();
});

test("an environment whose interpreter was uninstalled is made again", async () => {
  const python = await ensureEnvironment(place, tools());
  await rm(python);
  await ensureEnvironment(place, tools());
  expect(machine.count(/-m venv/)).toBe(2);
});

/** From now on the environment's packages are found only once it was made again. */
function breakPackages(): void {
  const made = machine.count(/-m venv/);
  machine.answers.push((line) => (line.includes("import pygls") && machine.count(/-m venv/) === made ? { code: 1, stdout: "", tail: "ModuleNotFoundError: No module named 'pygls'" } : undefined));
}

test("an environment whose Python was upgraded is found out and made again, once", async () => {
  const python = await ensureEnvironment(place, tools());
  expect(await isHealthy(place, tools())).toBe(true);
  breakPackages();
  expect(await isHealthy(place, tools())).toBe(false);
  expect(await repairEnvironment(place, tools())).toBe(python);
  expect(machine.count(/-m venv/)).toBe(2);
  expect(reports).toContain("Creating a Python environment…");
  expect(await isReady("linux", await environmentFolder(place))).toBe(true);
});

test("of two windows that find the environment broken one makes it again", async () => {
  await ensureEnvironment(place, tools());
  machine.ran.length = 0;
  breakPackages();
  await Promise.all([repairEnvironment(place, tools()), repairEnvironment(place, tools())]);
  expect(machine.count(/-m venv/)).toBe(1);
});

test("a repair that fails leaves no environment that counts as one", async () => {
  await ensureEnvironment(place, tools());
  machine.answers.push((line) => (line.includes("import pygls") ? { code: 1, stdout: "", tail: "ImportError" } : undefined));
  await failure(repairEnvironment(place, tools()));
  expect(await readdir(place.environments)).toEqual([]);
});

/** Files asked for their version on a Mac whose PATH names Apple's Python first. */
async function askedOnMac(developerTools: boolean): Promise<string[]> {
  machine.answers.push((line) => (line === "xcode-select -p" ? { ...silent, code: developerTools ? 0 : 2 } : undefined));
  await mkdir(join(home, "bin"));
  await writeFile(join(home, "bin", "python3"), "");
  await ensureEnvironment(place, tools({ platform: "darwin", environ: { PATH: `/usr/bin:${home}/none:${home}/bin` } }));
  return machine.files.filter((_file, position) => machine.ran[position]?.includes("version_info"));
}

test("on macOS without developer tools Apple's Python, which would open a dialog, is not asked", async () => {
  expect(await askedOnMac(false)).toEqual([join(home, "bin", "python3")]);
});

test.runIf(existsSync("/usr/bin/python3"))("on macOS with developer tools Apple's Python is asked", async () => {
  expect(await askedOnMac(true)).toEqual(["/usr/bin/python3"]);
});

test("no Python and an old Python are told apart", async () => {
  machine.answers.push((line) => (line.includes("sys.version_info") ? { code: null, stdout: "", tail: "ENOENT" } : undefined));
  expect((await failure(ensureEnvironment(place, tools()))).reason).toBe("no-python");
  machine.answers.unshift((line) => (line.startsWith("python ") && line.includes("sys.version_info") ? { ...silent, stdout: '[[3, 9, 2], "/usr/bin/python"]' } : undefined));
  expect((await failure(ensureEnvironment(place, tools()))).reason).toBe("old-python");
});

test("of two windows starting at once one installs and the other uses it", async () => {
  const [one, other] = await Promise.all([ensureEnvironment(place, tools()), ensureEnvironment(place, tools())]);
  expect(one).toBe(other);
  expect(machine.count(/-m venv/)).toBe(1);
  expect(reports).toContain("Another window is setting up Lerim…");
});

test("a window that died while installing is taken over from", async () => {
  const folder = await environmentFolder(place);
  await mkdir(`${folder}.lock`, { recursive: true });
  await writeFile(join(`${folder}.lock`, "999999__gone"), "");
  await ensureEnvironment(place, tools({ isAlive: (pid) => pid !== 999999 }));
  expect(await readdir(place.environments)).toEqual([basename(folder)]);
});

test("waiting for another window can be cancelled", async () => {
  const folder = await environmentFolder(place);
  await mkdir(`${folder}.lock`, { recursive: true });
  await writeFile(join(`${folder}.lock`, `${process.pid}__busy`), "");
  const made = ensureEnvironment(place, tools({ report: () => cancel.abort() }));
  expect((await failure(made)).reason).toBe("cancelled");
  expect(await readdir(place.environments)).toEqual([`${basename(folder)}.lock`]);
});

test("environments of earlier locks are deleted unless a living window uses them", async () => {
  const current = await environmentFolder(place);
  const [used, left] = ["a".repeat(16), "b".repeat(16)].map((name) => join(place.environments, name)) as [string, string];
  await ensureEnvironment(place, tools());
  for (const folder of [used, left]) await mkdir(folder, { recursive: true });
  await mkdir(join(place.environments, "something else"));
  await mkdir(join(used, "used"));
  await writeFile(join(used, "used", "4242"), "");
  await mkdir(`${left}.lock`); // its window was killed in the set-up
  await writeFile(join(`${left}.lock`, "4343__gone"), "");
  await mkdir(join(left, "used"));
  await writeFile(join(left, "used", "4343"), "");
  expect(await pruneEnvironments(place, (pid) => pid === 4242)).toEqual(["b".repeat(16)]);
  expect((await readdir(place.environments)).sort()).toEqual([basename(used), basename(current), "something else"].sort());
});

test("a mark of use is taken back", async () => {
  const folder = dirname(dirname(await ensureEnvironment(place, tools())));
  const unmark = await markInUse(folder);
  expect(await readdir(join(folder, "used"))).toEqual([String(process.pid)]);
  await unmark();
  expect(await readdir(join(folder, "used"))).toEqual([]);
});
