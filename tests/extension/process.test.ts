import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isAlive, run, processStart, startTicks } from "../../extension/src/sidecar/process";

const node = process.execPath;
const env = { PATH: process.env["PATH"] ?? "" };
let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "lerim-test-"));
});

afterEach(() => rm(cwd, { recursive: true, force: true }));

test("output, lines and the exit code come back", async () => {
  const lines: string[] = [];
  const outcome = await run({ file: node, args: ["-e", "console.log('out'); console.error('err'); process.exitCode = 3"] }, { env, cwd, signal: new AbortController().signal, onLine: (line) => lines.push(line) });
  expect(outcome.code).toBe(3);
  expect(outcome.stdout).toBe("out");
  expect(lines.sort()).toEqual(["err", "out"]);
});

test("a program that is not there is an outcome and no exception", async () => {
  const outcome = await run({ file: "no-such-program-of-lerim", args: [] }, { env, cwd, signal: new AbortController().signal });
  expect(outcome.code).toBe(127);
  expect(outcome.tail).toContain("ENOENT");
});

test("nothing is started when it was cancelled before", async () => {
  const cancel = new AbortController();
  cancel.abort();
  expect((await run({ file: node, args: ["-e", "require('fs').writeFileSync('x', '')"] }, { env, cwd, signal: cancel.signal })).code).toBeNull();
  await expect(readFile(join(cwd, "x"))).rejects.toThrow();
});

test("a process that takes too long is ended", async () => {
  const outcome = await run({ file: node, args: ["-e", "setInterval(() => {}, 1000)"] }, { env, cwd, signal: new AbortController().signal, timeout: 200 });
  expect(outcome.code).toBeNull();
});

test.skipIf(process.platform === "win32")("a cancelled process has no exit code, also if it ended before its children", async () => {
  const cancel = new AbortController();
  // speaks once the process that `run` started has ended with its code, and holds the output open
  const orphan = "setInterval(() => { try { process.kill(Number(process.argv[1]), 0) } catch { console.log('alone') } }, 10)";
  const child = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(orphan)}, String(process.ppid)], { stdio: 'inherit' }).once('spawn', () => process.exit(3))`;
  const outcome = await run({ file: node, args: ["-e", child] }, { env, cwd, signal: cancel.signal, onLine: () => cancel.abort() });
  expect(outcome.code).toBeNull();
});

test.skipIf(process.platform === "win32")("cancelling ends what the process started too, also when it does not listen", async () => {
  const cancel = new AbortController();
  const grandchild = "process.on('SIGTERM', () => {}); console.log(process.pid); setInterval(() => {}, 1000)";
  const child = `process.on('SIGTERM', () => {}); require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(grandchild)}], { stdio: 'inherit' }); setInterval(() => {}, 1000)`;
  let pid = 0;
  // `run` waits for the end of the output, which both processes hold open: it returns only when both have ended
  const outcome = await run(
    { file: node, args: ["-e", child] },
    {
      env,
      cwd,
      signal: cancel.signal,
      onLine: (line) => {
        pid = Number(line);
        cancel.abort();
      },
    },
  );
  expect(pid).toBeGreaterThan(0);
  expect(outcome.code).toBeNull();
});

test.skipIf(process.platform === "win32")("cancelling ends the children of a process that has ended itself", async () => {
  const cancel = new AbortController();
  const child = `require('child_process').spawn(process.execPath, ['-e', "process.on('SIGTERM', () => {}); console.log('up'); setInterval(() => {}, 1000)"], { stdio: 'inherit' }).unref()`;
  // its child holds the output open: the outcome comes when that has ended too
  const outcome = await run({ file: node, args: ["-e", child] }, { env, cwd, signal: cancel.signal, onLine: () => cancel.abort() });
  expect(outcome.stdout).toBe("up");
});

test("what the guard needs is not in the environment of what it starts", async () => {
  const outcome = await run({ file: node, args: ["-p", "process.env.ELECTRON_RUN_AS_NODE"] }, { env, cwd, signal: new AbortController().signal });
  expect(outcome.stdout).toBe("undefined");
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
