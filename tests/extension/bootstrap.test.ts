import { existsSync } from "node:fs";
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ensureEnvironment, environmentFolder, isHealthy, isReady, markInUse, type EnvironmentPaths, pruneEnvironments, repairEnvironment, type Tools } from "../../extension/src/sidecar/bootstrap";
import type { Command } from "../../extension/src/sidecar/environment";
import type { Outcome, RunOptions } from "../../extension/src/sidecar/process";
import { EnvironmentSetup } from "../../extension/src/sidecar/setup";
import { FakeContext } from "./fakes/sidecar";

const silent: Outcome = { code: 0, stdout: "", tail: "" };
type Answer = Outcome | undefined;

/** Processes as a machine with Python 3.12 and no uv would run them: `venv` really makes a folder with an interpreter in it. */
class Machine {
  readonly ran: string[] = [];
  readonly files: string[] = [];
  readonly folders = new Set<string>();
  #answers: ((line: string) => Answer | Promise<Answer>)[] = [];

  /** From now on a command whose line holds `words` is answered by this, unless it returns nothing. */
  on(words: string, answer: Outcome | ((line: string) => Answer | Promise<Answer>)): void {
    this.#answers.unshift((line) => (!line.includes(words) ? undefined : typeof answer === "function" ? answer(line) : answer));
  }

  readonly run = async (command: Command, options: RunOptions): Promise<Outcome> => {
    const line = [basename(command.file), ...command.args].join(" ");
    this.ran.push(line);
    this.files.push(command.file);
    this.folders.add(options.cwd);
    for (const answer of this.#answers) {
      const outcome = await answer(line);
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
/** The environment of the lock. */
let folder: string;
let machine: Machine;
let cancel: AbortController;
let reports: string[];
let logged: string[];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "lerim-test-"));
  place = { lockFiles: [join(home, "requirements.lock")], environments: join(home, "env"), megabytes: 11 };
  await writeFile(join(home, "requirements.lock"), "pygls==2.1.1 --hash=sha256:00\n");
  folder = await environmentFolder(place);
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
  const to = { report: (message: string) => reports.push(message), log: (line: string) => logged.push(line) };
  return { platform: "linux", environ: { PATH: "/usr/bin" }, proxy: "", run: machine.run, isAlive: () => true, signal: cancel.signal, ...to, ...changes };
}

function ensure(): Promise<string> {
  return ensureEnvironment(place, tools());
}

/** Who holds the lock of the set-up. */
async function holdLock(of: string, holder: string): Promise<void> {
  await mkdir(`${of}.lock`, { recursive: true });
  await writeFile(join(`${of}.lock`, holder), "");
}

test("a first start makes an environment named after the lock, in an empty folder that is gone afterwards, and writes ready last", async () => {
  let readyDuringCheck = true;
  machine.on("import pygls", async () => {
    readyDuringCheck = await isReady("linux", folder);
    return silent;
  });
  expect(await ensure()).toBe(join(folder, "bin", "python"));
  expect(readyDuringCheck).toBe(false);
  expect(await readFile(join(folder, "ready"), "utf8")).toBe("3.12.1\n");
  expect(machine.ran.find((line) => line.includes("pip install"))).toMatch(/--no-deps --require-hashes -r .*requirements\.lock$/);
  expect(reports).toContain("Installing packages (about 11 MB, once)…");
  expect(await readdir(place.environments)).toEqual([basename(folder)]);
  expect(machine.folders.size).toBe(1);
  await expect(access([...machine.folders][0] ?? "")).rejects.toThrow();
  machine.ran.length = 0;
  await ensure();
  expect(machine.ran, "a later start runs no process").toEqual([]);
});

test("where the interpreter's pip cannot install elsewhere, since a distribution keeps its libraries beside it, the environment gets a pip of its own", async () => {
  machine.on("pip --version", { ...silent, stdout: "pip 23.2.1 from /usr/lib/python3" });
  machine.on("pip --python", { code: 1, stdout: "", tail: "ModuleNotFoundError: No module named 'pip._vendor.certifi'" });
  expect(await ensure()).toBe(join(folder, "bin", "python"));
  expect(machine.count(/^python -I -m pip install/)).toBe(1);
});

test("uv is used where it is there, and Python's own tools when uv fails for a reason of its own", async () => {
  machine.on("uv --version", { ...silent, stdout: "uv 0.13.8" });
  machine.on("uv venv", { code: 2, stdout: "", tail: "error: unexpected argument" });
  await ensure();
  expect([machine.count(/^uv venv/), machine.count(/-m venv/)]).toEqual([1, 1]);
});

test.each([
  ["pip 23.2.1 from /usr/lib/python3", [/python3 -I -m venv --without-pip/, /^python3 -I -m pip --python .* install/]],
  ["pip 20.3.4 from /usr/lib/python3", [/python3 -I -m venv \//, /^python -I -m pip install/, /^python -I -m pip uninstall/]],
] as const)("with %s the packages are installed by the pip that is quickest", async (version, expected) => {
  machine.on("pip --version", { ...silent, stdout: version });
  await ensure();
  const ran = machine.ran.filter((line) => / -m (venv|pip (?!--version))/.test(line));
  expect(ran).toHaveLength(expected.length);
  for (const [position, pattern] of expected.entries()) expect(ran[position]).toMatch(pattern);
});

test.each([
  ["pip install", { code: 1, stdout: "", tail: "Failed to establish a new connection: [Errno 111]\nNo matching distribution" }, "offline"],
  ["import pygls", { code: 1, stdout: "", tail: "ImportError: cannot open shared object" }, "unknown"],
  ["pip install", "cancel", "cancelled"],
])("a failure at %s leaves nothing behind and names the cause", async (words, outcome, reason) => {
  machine.on(words, () => {
    if (typeof outcome !== "string") return outcome;
    cancel.abort();
    return { code: null, stdout: "", tail: "" };
  });
  await expect(ensure()).rejects.toMatchObject({ reason, detail: typeof outcome === "string" ? "" : outcome.tail });
  expect(await readdir(place.environments)).toEqual([]);
});

/** Puts a file where a folder was, so that nothing in it can be deleted any more. */
async function block(path: string): Promise<void> {
  await rename(path, `${path} (moved)`);
  await writeFile(path, "");
}

test.skipIf(process.platform === "win32").each([false, true])("a temporary folder that cannot be deleted keeps neither the environment nor the lock, and hides no failure (%s)", async (fails) => {
  const temporary = join(home, "tmp");
  await mkdir(temporary);
  vi.stubEnv("TMPDIR", temporary);
  machine.on(fails ? "pip install" : "import pygls", async () => {
    await block(temporary);
    if (!fails) return undefined;
    await block(place.environments);
    return { code: 1, stdout: "", tail: "[Errno 28] No space left on device" };
  });
  if (fails) return expect(ensure()).rejects.toMatchObject({ reason: "disk" });
  await ensure();
  expect(await isReady("linux", folder)).toBe(true);
  expect(await readdir(place.environments)).toEqual([basename(folder)]);
  expect(logged.join("\n")).toMatch(/could not be deleted: .*ENOTDIR/);
});

test("an environment that is half made, or whose interpreter was uninstalled, is made again", async () => {
  await mkdir(join(folder, "lib"), { recursive: true });
  const python = await ensure();
  expect(await isReady("linux", folder)).toBe(true);
  await expect(access(join(folder, "lib"))).rejects.toThrow();
  await rm(python);
  await ensure();
  expect(machine.count(/-m venv/)).toBe(2);
});

test("an environment whose Python was upgraded is found out and made again, once, by one of two windows", async () => {
  const python = await ensure();
  expect(await isHealthy(place, tools())).toBe(true);
  machine.on("import pygls", () => (machine.count(/-m venv/) === 1 ? { code: 1, stdout: "", tail: "ModuleNotFoundError: No module named 'pygls'" } : undefined));
  expect(await isHealthy(place, tools())).toBe(false);
  expect(await Promise.all([repairEnvironment(place, tools()), repairEnvironment(place, tools())])).toEqual([python, python]);
  expect(machine.count(/-m venv/)).toBe(2);
  expect(reports).toContain("Creating a Python environment…");
  expect(await isReady("linux", folder)).toBe(true);
  machine.on("import pygls", { code: 1, stdout: "", tail: "ImportError" });
  await expect(repairEnvironment(place, tools())).rejects.toMatchObject({ reason: "unknown" });
  expect(await readdir(place.environments), "a repair that fails leaves none that counts as one").toEqual([]);
});

test.runIf(existsSync("/usr/bin/python3")).each([
  ["without", 2, (bin: string) => join(bin, "python3")],
  ["with", 0, () => "/usr/bin/python3"],
])("on macOS %s developer tools, Apple's Python is asked only if it opens no dialog", async (_with, code, expected) => {
  machine.on("xcode-select -p", { ...silent, code });
  const bin = join(home, "bin");
  await mkdir(bin);
  await writeFile(join(bin, "python3"), "");
  await ensureEnvironment(place, tools({ platform: "darwin", environ: { PATH: `/usr/bin:${home}/none:${bin}` } }));
  expect(machine.files.filter((_file, position) => machine.ran[position]?.includes("version_info"))).toEqual([expected(bin)]);
});

test("no Python and an old Python are told apart", async () => {
  machine.on("version_info", { code: null, stdout: "", tail: "ENOENT" });
  await expect(ensure()).rejects.toMatchObject({ reason: "no-python" });
  machine.on("version_info", (line) => (line.startsWith("python ") ? { ...silent, stdout: '[[3, 9, 2], "/usr/bin/python"]' } : undefined));
  await expect(ensure()).rejects.toMatchObject({ reason: "old-python" });
});

test("of two windows starting at once one installs and the other uses it", async () => {
  const [one, other] = await Promise.all([ensure(), ensure()]);
  expect(one).toBe(other);
  expect(machine.count(/-m venv/)).toBe(1);
  expect(reports).toContain("Another window is setting up Lerim…");
});

test("a window that died while installing is taken over from", async () => {
  await holdLock(folder, "999999__gone");
  await ensureEnvironment(place, tools({ isAlive: (pid) => pid !== 999999 }));
  expect(await readdir(place.environments)).toEqual([basename(folder)]);
});

test("waiting for another window can be cancelled", async () => {
  await holdLock(folder, `${process.pid}__busy`);
  await expect(ensureEnvironment(place, tools({ report: () => cancel.abort() }))).rejects.toMatchObject({ reason: "cancelled" });
  expect(await readdir(place.environments)).toEqual([`${basename(folder)}.lock`]);
});

test("environments of earlier locks are deleted unless a living window uses them; a mark of use is taken back", async () => {
  const [used, left] = ["a".repeat(16), "b".repeat(16)].map((name) => join(place.environments, name)) as [string, string];
  const environment = dirname(dirname(await ensure()));
  const unmark = await markInUse(environment);
  expect(await readdir(join(environment, "used"))).toEqual([String(process.pid)]);
  await unmark();
  expect(await readdir(join(environment, "used"))).toEqual([]);
  for (const [other, pid] of [[used, "4242"], [left, "4343"]] as const) {
    await mkdir(join(other, "used"), { recursive: true });
    await writeFile(join(other, "used", pid), "");
  }
  await mkdir(join(place.environments, "something else"));
  await holdLock(left, "4343__gone"); // its window was killed in the set-up
  expect(await pruneEnvironments(place, (pid) => pid === 4242)).toEqual(["b".repeat(16)]);
  expect((await readdir(place.environments)).sort()).toEqual([basename(used), basename(folder), "something else"].sort());
});

test("a window that stops its sidecar no longer uses the environment for searches by meaning", async () => {
  const extension = { asAbsolutePath: (name: string) => join(home, name), globalStorageUri: { fsPath: home } };
  const context = new FakeContext();
  const setup = new EnvironmentSetup(extension as never, context.output as never, { state: { kind: "off" } }, cancel.signal);
  await writeFile(join(home, "requirements-meaning.lock"), "numpy==2\n");
  const environment = await environmentFolder(setup.meaningPaths);
  await mkdir(join(environment, "bin"), { recursive: true });
  for (const file of ["ready", join("bin", "python")]) await writeFile(join(environment, file), "");
  expect(await setup.findMeaningPython()).toBe(join(environment, "bin", "python"));
  expect(basename(environment)).not.toBe(basename(await environmentFolder(setup.paths)));
  expect(await readdir(join(environment, "used"))).toEqual([String(process.pid)]);
  await setup.release();
  expect(await readdir(join(environment, "used"))).toEqual([]);
});
