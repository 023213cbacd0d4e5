import { access, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { acquireLock, isHeld, type LockOptions } from "../../extension/src/sidecar/envlock";
import { processStart } from "../../extension/src/sidecar/process";

let home: string;
let path: string;
let cancel: AbortController;
const isLinux = process.platform === "linux";

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "lerim-test-"));
  path = join(home, "env.lock");
  cancel = new AbortController();
});

afterEach(() => rm(home, { recursive: true, force: true }));

function options(changes: Partial<LockOptions> = {}): LockOptions {
  return { signal: cancel.signal, isAlive: () => true, retryEvery: 5, staleAfter: 25, ...changes };
}

async function heldBy(name: string): Promise<void> {
  await mkdir(path);
  await writeFile(join(path, name), "");
}

/** Whether the lock is still waited for when its holder has been looked at as often as would do for one that gives no sign. */
async function waits(): Promise<boolean> {
  let looked = 0;
  const alive = (): boolean => {
    looked += 1;
    if (looked > 20) cancel.abort();
    return true;
  };
  return acquireLock(path, options({ isAlive: alive })).then(
    () => false,
    () => true,
  );
}

test("a lock that was given back leaves nothing, and is taken again", async () => {
  await (await acquireLock(path, options()))();
  expect(await readdir(home)).toEqual([]);
  await (await acquireLock(path, options()))();
});

test("one window at a time holds it", async () => {
  let holders = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    const release = await acquireLock(path, options());
    most = Math.max(most, ++holders);
    await readdir(home);
    holders -= 1;
    await release();
  };
  await Promise.all(Array.from({ length: 8 }, work));
  expect(most).toBe(1);
  expect(await readdir(home)).toEqual([]);
});

test.runIf(isLinux)("a holder that lives keeps it, however long the computer slept", async () => {
  await heldBy(`${process.pid}_${await processStart("linux", process.pid)}_other`);
  expect(await waits()).toBe(true);
});

test.runIf(isLinux)("a holder whose process id was given to another process has ended", async () => {
  await heldBy(`${process.pid}_1_other`);
  expect(await isHeld(path, () => true)).toBe(false);
  await (await acquireLock(path, options({ staleAfter: 60_000 })))();
  expect(await readdir(home)).toEqual([]);
});

test("where nothing is known of a process, a holder that gives no sign while it is waited for has ended", async () => {
  await heldBy(`${process.pid}__other`);
  expect(await isHeld(path, () => true)).toBe(true);
  await (await acquireLock(path, options()))();
});

test("of many windows that find a dead holder one takes over at a time", async () => {
  await heldBy("999999_1_gone");
  let holders = 0;
  const alive = (pid: number): boolean => pid !== 999999;
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      const release = await acquireLock(path, options({ isAlive: alive, staleAfter: 60_000 }));
      expect(++holders).toBe(1);
      await readdir(home);
      holders -= 1;
      await release();
    }),
  );
  expect(await readdir(home)).toEqual([]);
});

test("who was taken over from does not give back what is another's now", async () => {
  const release = await acquireLock(path, options());
  await rm(path, { recursive: true });
  await heldBy("4242_1_other");
  await release();
  await access(join(path, "4242_1_other"));
});

test("a release that was cut off half-way does not keep the lock", async () => {
  await mkdir(path);
  await (await acquireLock(path, options()))();
});
