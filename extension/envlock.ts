import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

export interface LockOptions {
  readonly signal: AbortSignal;
  readonly alive: (pid: number) => boolean;
  /** Called once when another window holds the lock. */
  readonly onWait?: () => void;
  /** Milliseconds without a sign of life after which a holder counts as gone. */
  readonly staleAfter?: number;
  readonly retryEvery?: number;
}

/**
 * Holds the folder `path` as a lock between windows and returns its release. A holder that died, or gave no sign of life
 * for a while (its process id may have been reused), is taken over from. Rejects when the signal is aborted.
 */
export async function acquireLock(path: string, options: LockOptions): Promise<() => Promise<void>> {
  const { staleAfter = 60_000, retryEvery = 300 } = options;
  const token = `${process.pid} ${randomUUID()}`;
  for (let waited = false; ; waited = true) {
    options.signal.throwIfAborted();
    try {
      await mkdir(path);
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const holder = await readHolder(path);
    if (holder !== undefined && isGone(holder, options.alive, staleAfter)) {
      await takeAway(path, holder.token);
      continue;
    }
    if (!waited) options.onWait?.();
    await pause(retryEvery, undefined, { signal: options.signal });
  }
  await writeFile(join(path, "owner"), token, "utf8");
  const beat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  }, staleAfter / 4);
  return async () => {
    clearInterval(beat);
    if ((await readHolder(path))?.token === token) await rm(path, { recursive: true, force: true });
  };
}

interface Holder {
  readonly token: string;
  readonly seen: number;
}

async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    const { mtimeMs } = await stat(path);
    // a holder that has made the folder and not yet written its name counts as one without a process
    const token = await readFile(join(path, "owner"), "utf8").catch(() => "");
    return { token, seen: mtimeMs };
  } catch {
    return undefined;
  }
}

function isGone(holder: Holder, alive: (pid: number) => boolean, staleAfter: number): boolean {
  const pid = Number.parseInt(holder.token, 10);
  if (Number.isInteger(pid) && !alive(pid)) return true;
  return Date.now() - holder.seen > staleAfter;
}

/** Renames first, so that of two windows judging the same holder only one proceeds; a newer holder is put back. */
async function takeAway(path: string, token: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  if ((await readHolder(aside))?.token !== token) {
    await rename(aside, path).catch(() => undefined);
    return;
  }
  await rm(aside, { recursive: true, force: true });
}
