// Watches single folders with Node's file watcher. VS Code's watcher can miss changes on Linux, where each folder is watched separately: a
// folder created inside a new folder may be created before the new one is watched.
import { type FSWatcher, watch } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";

const batchDelayMs = 50;

/** Reports changed `.md` files in folders that may not exist yet: then the nearest existing parent is watched. */
export class FolderWatch {
  /** Resolves when all folders are watched, or watching has failed. */
  readonly ready: Promise<void>;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #changedFiles = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #lastReport: Promise<unknown>;
  #isDisposed = false;

  /** `onFailed` is called at most once, and nothing is reported afterwards. */
  constructor(
    readonly folders: readonly string[],
    readonly onChanged: (files: string[]) => void,
    readonly onFailed: (error: Error) => void,
  ) {
    this.ready = this.#updateWatchers().then(() => undefined, this.#fail);
    this.#lastReport = this.ready;
  }

  dispose(): void {
    this.#isDisposed = true;
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  readonly #fail = (error: unknown): void => {
    if (this.#isDisposed) return;
    this.dispose();
    this.onFailed(error instanceof Error ? error : new Error(String(error)));
  };

  /** Updates the watchers to the folders that exist now. Returns the folders that are newly watched. */
  async #updateWatchers(): Promise<string[]> {
    const newlyWatched: string[] = [];
    for (;;) {
      const required = new Set(await Promise.all(this.folders.map(nearestExisting)));
      if (this.#isDisposed) return [];
      for (const [folder, watcher] of this.#watchers) {
        if (required.has(folder)) continue;
        watcher.close();
        this.#watchers.delete(folder);
      }
      const missing = [...required].filter((folder) => !this.#watchers.has(folder));
      if (missing.length === 0) return newlyWatched; // no folder was created since they were listed
      for (const folder of missing) if ((await this.#watch(folder)) && this.folders.includes(folder)) newlyWatched.push(folder);
    }
  }

  /** Watches one folder; false if it no longer exists. */
  async #watch(folder: string): Promise<boolean> {
    if (this.#isDisposed) return false;
    try {
      const watcher = watch(folder, { persistent: false }, (event, name) => this.#handleEvent(folder, event, name ?? ""));
      this.#watchers.set(folder, watcher.on("error", this.#fail));
      return true;
    } catch (error) {
      if ((await nearestExisting(folder)) === folder) throw error;
      return false;
    }
  }

  #handleEvent(folder: string, event: string, name: string): void {
    const path = join(folder, name);
    if (event === "rename" && name === basename(folder)) {
      this.#watchers.get(folder)?.close(); // the folder was removed or moved; another may have its name now
      this.#watchers.delete(folder);
    } else if (this.folders.includes(folder)) {
      if (!name.endsWith(".md")) return;
      this.#changedFiles.add(path);
    } else if (!this.folders.some((folder) => `${folder}${sep}`.startsWith(`${path}${sep}`))) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#lastReport = this.#lastReport.then(() => this.#reportChanges()).catch(this.#fail);
    }, batchDelayMs);
  }

  async #reportChanges(): Promise<void> {
    const newlyWatched = await this.#updateWatchers();
    const found = await Promise.all(newlyWatched.map(markdownFilesIn));
    const files = new Set([...this.#changedFiles, ...found.flat()]);
    this.#changedFiles.clear();
    if (files.size > 0 && !this.#isDisposed) this.onChanged([...files]);
  }
}

async function markdownFilesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith(".md")).map((name) => join(folder, name));
  } catch (error) {
    if ((await nearestExisting(folder)) === folder) throw error;
    return []; // removed again
  }
}

/** The folder itself, or its nearest existing parent; a symlink counts as missing. */
async function nearestExisting(folder: string): Promise<string> {
  for (let current = folder; ; current = dirname(current)) {
    const status = await lstat(current).catch(() => undefined);
    if (status?.isDirectory() === true || dirname(current) === current) return current;
  }
}
