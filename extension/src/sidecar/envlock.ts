import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm, rmdir, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startOf } from "./process";

export interface LockOptions {
  readonly signal: AbortSignal;
  readonly alive: (pid: number) => boolean;
  /** Called once when another window holds the lock. */
  readonly onWait?: () => void;
  /** Milliseconds of waiting without a sign of life after which a holder counts as gone, where the system does not tell who a process is. */
  readonly staleAfter?: number;
  readonly retryEvery?: number;
}

/**
 * Holds the folder `path` as a lock between windows and returns its release. In the folder is one file, named after its holder. A holder that
 * died is taken over from by renaming its file, which succeeds for one window only. Rejects when the signal is aborted.
 */
export async function acquireLock(path: string, options: LockOptions): Promise<() => Promise<void>> {
  const { staleAfter = 60_000, retryEvery = 300 } = options;
  const own = `${process.pid}_${await startOf(process.platform, process.pid)}_${randomUUID()}`;
  let last: Holder | undefined;
  let waited = 0; // not by the clock: that goes on while the computer sleeps, and no holder gives a sign then
  for (let told = false; ; ) {
    options.signal.throwIfAborted();
    const holder = await holderOf(path);
    if (holder === undefined) {
      if (await take(path, own)) break;
    } else {
      waited = holder.name === last?.name && holder.seen === last.seen ? waited + retryEvery : 0;
      last = holder;
      const life = await lifeOf(holder, options.alive);
      if (life === "ended" || (life === "unknown" && waited > staleAfter)) {
        if (await succeeds(rename(join(path, holder.name), join(path, own)))) break;
        continue;
      }
    }
    if (!told) options.onWait?.();
    told = true;
    await pause(retryEvery, undefined, { signal: options.signal });
  }
  const beat = (): void => {
    const now = new Date();
    utimes(join(path, own), now, now).catch(() => undefined);
  };
  beat();
  const beating = setInterval(beat, staleAfter / 4);
  return async () => {
    clearInterval(beating);
    await rm(join(path, own), { force: true });
    await succeeds(rmdir(path)); // another window's by now if it is not empty
  };
}

/** Whether a window that still lives holds the lock. */
export async function isHeld(path: string, alive: (pid: number) => boolean): Promise<boolean> {
  const holder = await holderOf(path);
  return holder !== undefined && (await lifeOf(holder, alive)) !== "ended";
}

interface Holder {
  /** `pid_start_token` */
  readonly name: string;
  /** The time of its last sign of life. */
  readonly seen: number;
}

/** Undefined when nobody holds the lock; a folder without a file is what a release leaves for a moment. */
async function holderOf(path: string): Promise<Holder | undefined> {
  try {
    const [name] = await readdir(path);
    return name === undefined ? undefined : { name, seen: (await stat(join(path, name))).mtimeMs };
  } catch {
    return undefined; // given back meanwhile
  }
}

/** Makes the lock with its holder's file in it, in one step. */
async function take(path: string, own: string): Promise<boolean> {
  const made = `${path}.${own}`;
  await mkdir(made);
  try {
    await writeFile(join(made, own), "", "utf8");
    await succeeds(rmdir(path)); // left empty by a release that was cut off; elsewhere than on Windows the rename would do
    await rename(made, path);
    return true;
  } catch (error) {
    await rm(made, { recursive: true, force: true });
    if (taken.has((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}

// how systems say that a folder is there; the last two are Windows', where a folder beside it was made a moment ago
const taken = new Set(["ENOTEMPTY", "EEXIST", "EPERM", "EACCES"]);

async function lifeOf(holder: Holder, alive: (pid: number) => boolean): Promise<"lives" | "ended" | "unknown"> {
  const [pid, start] = holder.name.split("_");
  if (!alive(Number(pid))) return "ended";
  const now = await startOf(process.platform, Number(pid));
  if (start === "" || now === "") return "unknown";
  return start === now ? "lives" : "ended"; // another process has its id now
}

function succeeds(step: Promise<unknown>): Promise<boolean> {
  return step.then(
    () => true,
    () => false,
  );
}
