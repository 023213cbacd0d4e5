import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm, rmdir, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { processStart } from "./process";

export interface LockOptions {
  readonly signal: AbortSignal;
  readonly isAlive: (pid: number) => boolean;
  /** Called once when another window holds the lock. */
  readonly onWait?: () => void;
  /** Milliseconds without a sign of life after which a holder counts as ended, on systems that cannot identify a process. */
  readonly staleAfter?: number;
  readonly retryEvery?: number;
}

/**
 * Acquires the folder `path` as a lock between windows and returns a function that releases it. The folder contains one file, named after
 * the holder. The lock of a dead holder is taken over by renaming its file, which only one window can do. Rejects if the signal is aborted.
 */
export async function acquireLock(path: string, options: LockOptions): Promise<() => Promise<void>> {
  const { staleAfter = 60_000, retryEvery = 300 } = options;
  const ownName = `${process.pid}_${await processStart(process.platform, process.pid)}_${randomUUID()}`;
  let last: Holder | undefined;
  let silentMs = 0; // counted, not measured: the clock goes on while the computer sleeps, but the holder gives no sign of life
  for (let hasReportedWait = false; ; ) {
    options.signal.throwIfAborted();
    const holder = await holderOf(path);
    if (holder === undefined) {
      if (await createLock(path, ownName)) break;
    } else {
      silentMs = holder.name === last?.name && holder.seen === last.seen ? silentMs + retryEvery : 0;
      last = holder;
      const state = await holderState(holder, options.isAlive);
      if (state === "ended" || (state === "unknown" && silentMs > staleAfter)) {
        if (await isFulfilled(rename(join(path, holder.name), join(path, ownName)))) break;
      }
    }
    if (!hasReportedWait) options.onWait?.();
    hasReportedWait = true;
    await pause(retryEvery, undefined, { signal: options.signal });
  }
  const updateHolderTime = (): void => {
    const now = new Date();
    utimes(join(path, ownName), now, now).catch(() => undefined);
  };
  updateHolderTime();
  const updateTimer = setInterval(updateHolderTime, staleAfter / 4);
  return async () => {
    clearInterval(updateTimer);
    await rm(join(path, ownName), { force: true });
    await isFulfilled(rmdir(path)); // fails if another window has already taken the lock
  };
}

/** Whether a running window holds the lock. */
export async function isHeld(path: string, isAlive: (pid: number) => boolean): Promise<boolean> {
  const holder = await holderOf(path);
  return holder !== undefined && (await holderState(holder, isAlive)) !== "ended";
}

interface Holder {
  /** `pid_start_token` */
  readonly name: string;
  /** The time of its last sign of life. */
  readonly seen: number;
}

/** The lock's holder; undefined if there is none. A release leaves an empty folder for a moment. */
async function holderOf(path: string): Promise<Holder | undefined> {
  try {
    const [name] = await readdir(path);
    return name === undefined ? undefined : { name, seen: (await stat(join(path, name))).mtimeMs };
  } catch {
    return undefined; // released meanwhile
  }
}

/** Creates the lock with its holder's file in one step; false if the lock already exists. */
async function createLock(path: string, ownName: string): Promise<boolean> {
  const newFolder = `${path}.${ownName}`;
  await mkdir(newFolder);
  try {
    await writeFile(join(newFolder, ownName), "", "utf8");
    await isFulfilled(rmdir(path)); // an interrupted release leaves it empty; only Windows cannot rename onto it
    await rename(newFolder, path);
    return true;
  } catch (error) {
    await rm(newFolder, { recursive: true, force: true });
    if (folderExistsCodes.has((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}

// error codes for an existing folder; the last two occur on Windows
const folderExistsCodes = new Set(["ENOTEMPTY", "EEXIST", "EPERM", "EACCES"]);

async function holderState(holder: Holder, isAlive: (pid: number) => boolean): Promise<"lives" | "ended" | "unknown"> {
  const [pid, recordedStart] = holder.name.split("_");
  if (!isAlive(Number(pid))) return "ended";
  const currentStart = await processStart(process.platform, Number(pid));
  if (recordedStart === "" || currentStart === "") return "unknown";
  return recordedStart === currentStart ? "lives" : "ended"; // the id now belongs to another process
}

function isFulfilled(step: Promise<unknown>): Promise<boolean> {
  return step.then(
    () => true,
    () => false,
  );
}
