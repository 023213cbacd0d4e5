import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isAlive, type Outcome, run, type RunOptions, processStart, startTicks } from "../../extension/src/sidecar/process";

let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "lerim-test-"));
});

afterEach(() => rm(cwd, { recursive: true, force: true }));

/** Runs Node with a script. */
function runScript(script: string, options: Partial<RunOptions> = {}): Promise<Outcome> {
  return run({ file: process.execPath, args: ["-e", script] }, { env: { PATH: process.env["PATH"] ?? "" }, cwd, signal: new AbortController().signal, ...options });
}

test("output, lines and the exit code come back, and what the guard needs is not in the environment of what it starts", async () => {
  const lines: string[] = [];
  const outcome = await runScript("console.log(process.env.ELECTRON_RUN_AS_NODE); console.error('err'); process.exitCode = 3", { onLine: (line) => lines.push(line) });
  expect(outcome).toMatchObject({ code: 3, stdout: "undefined" });
  expect(lines.sort()).toEqual(["err", "undefined"]);
});

test("a program that is not there is an outcome and no exception", async () => {
  const outcome = await run({ file: "no-such-program-of-lerim", args: [] }, { env: {}, cwd, signal: new AbortController().signal });
  expect(outcome).toMatchObject({ code: 127, tail: expect.stringContaining("ENOENT") as string });
});

test("nothing is started when it was cancelled before, and a process that takes too long is ended", async () => {
  expect((await runScript("require('fs').writeFileSync('x', '')", { signal: AbortSignal.abort() })).code).toBeNull();
  expect(await readdir(cwd)).toEqual([]);
  expect((await runScript("setInterval(() => {}, 1000)", { timeout: 200 })).code).toBeNull();
});

test.skipIf(process.platform === "win32")("a cancelled process has no exit code, also if it ended before its children", async () => {
  const cancel = new AbortController();
  // speaks once the process that `run` started has ended with its code, and holds the output open
  const orphan = "setInterval(() => { try { process.kill(Number(process.argv[1]), 0) } catch { console.log('alone') } }, 10)";
  const child = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(orphan)}, String(process.ppid)], { stdio: 'inherit' }).once('spawn', () => process.exit(3))`;
  const outcome = await runScript(child, { signal: cancel.signal, onLine: () => cancel.abort() });
  expect(outcome.code).toBeNull();
});

test.skipIf(process.platform === "win32")("cancelling ends what the process started too, also when it does not listen", async () => {
  const cancel = new AbortController();
  const grandchild = "process.on('SIGTERM', () => {}); console.log(process.pid); setInterval(() => {}, 1000)";
  const child = `process.on('SIGTERM', () => {}); require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(grandchild)}], { stdio: 'inherit' }); setInterval(() => {}, 1000)`;
  let pid = 0;
  // `run` waits for the end of the output, which both processes hold open: it returns only when both have ended
  const outcome = await runScript(child, {
    signal: cancel.signal,
    onLine: (line) => {
      pid = Number(line);
      cancel.abort();
    },
  });
  expect(pid).toBeGreaterThan(0);
  expect(outcome.code).toBeNull();
});

test("the start of a process is told by the system, and differs between processes", async () => {
  expect(startTicks("42 (a) b) c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777 20")).toBe("777");
  const own = await processStart(process.platform, process.pid);
  expect(await processStart(process.platform, process.pid)).toBe(own);
  expect(await processStart(process.platform, 2 ** 30)).toBe("");
  expect(await processStart("win32", process.pid)).toBe("");
  if (process.platform === "linux") expect(own).toMatch(/^\d+$/);
});

test("this process is alive and one that never was is not", () => {
  expect(isAlive(process.pid)).toBe(true);
  expect(isAlive(2 ** 30)).toBe(false);
});
