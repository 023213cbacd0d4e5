import { access, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { acquireLock, isHeld, type LockOptions } from "../../extension/src/sidecar/envlock";
import { processStart } from "../../extension/src/sidecar/process";

let home: string;
let path: string;
const isLinux = process.platform === "linux";

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "lerim-test-"));
  path = join(home, "env.lock");
});

afterEach(() => rm(home, { recursive: true, force: true }));

function acquire(changes: Partial<LockOptions> = {}): Promise<() => Promise<void>> {
  return acquireLock(path, { signal: new AbortController().signal, isAlive: () => true, retryEvery: 5, staleAfter: 25, ...changes });
}

async function heldBy(...names: string[]): Promise<void> {
  await mkdir(path);
  for (const name of names) await writeFile(join(path, name), "");
}

test("a lock that was given back leaves nothing, and is taken again, also if its release was cut off half-way", async () => {
  await (await acquire())();
  expect(await readdir(home)).toEqual([]);
  await heldBy();
  await (await acquire())();
});

test("of many windows that find a dead holder one at a time holds it", async () => {
  await heldBy("999999_1_gone");
  let holders = 0;
  await Promise.all(Array.from({ length: 8 }, async () => {
    const release = await acquire({ isAlive: (pid) => pid !== 999999, staleAfter: 60_000 });
    expect(++holders).toBe(1);
    await readdir(home);
    holders -= 1;
    await release();
  }));
  expect(await readdir(home)).toEqual([]);
});

test.runIf(isLinux)("a holder that lives keeps it, however long the computer slept", async () => {
  await heldBy(`${process.pid}_${await processStart("linux", process.pid)}_other`);
  const cancel = new AbortController();
  let looked = 0; // as often as would do for a holder that gives no sign
  const isAlive = (): boolean => {
    looked += 1;
    if (looked > 20) cancel.abort();
    return true;
  };
  await expect(acquire({ signal: cancel.signal, isAlive })).rejects.toThrow();
});

test.runIf(isLinux)("a holder whose process id was given to another process has ended", async () => {
  await heldBy(`${process.pid}_1_other`);
  expect(await isHeld(path, () => true)).toBe(false);
  await (await acquire({ staleAfter: 60_000 }))();
  expect(await readdir(home)).toEqual([]);
});

test("where nothing is known of a process, a holder that gives no sign while it is waited for has ended", async () => {
  await heldBy(`${process.pid}__other`);
  expect(await isHeld(path, () => true)).toBe(true);
  await (await acquire())();
});

test("who was taken over from does not give back what is another's now", async () => {
  const release = await acquire();
  await rm(path, { recursive: true });
  await heldBy("4242_1_other");
  await release();
  await access(join(path, "4242_1_other"));
});
