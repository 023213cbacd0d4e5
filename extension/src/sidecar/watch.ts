// Watching single folders by the system itself, which misses nothing in them. VS Code's own watcher can: where the system tells of
// one folder at a time (Linux), a folder made inside a new one may be made before the new one is watched.
import { type FSWatcher, watch } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";

const gatherMs = 50;

/** Tells of changed `.md` files in folders that may be yet to be made: each is watched by the nearest folder that is there. */
export class FolderWatch {
  /** Resolves when all of them are watched, or cannot be. */
  readonly ready: Promise<void>;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #touched = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #work: Promise<unknown>;
  #ended = false;

  /** `failed` is called at most once, and nothing is told afterwards. */
  constructor(
    readonly folders: readonly string[],
    readonly changed: (files: string[]) => void,
    readonly failed: (error: Error) => void,
  ) {
    this.ready = this.#settle().then(() => undefined, this.#fail);
    this.#work = this.ready;
  }

  dispose(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  readonly #fail = (error: unknown): void => {
    if (this.#ended) return;
    this.dispose();
    this.failed(error instanceof Error ? error : new Error(String(error)));
  };

  /** Watches what is there now; the folders that were not watched before. */
  async #settle(): Promise<string[]> {
    const made: string[] = [];
    for (;;) {
      const wanted = new Set(await Promise.all(this.folders.map(nearest)));
      if (this.#ended) return [];
      for (const [place, watcher] of this.#watchers) {
        if (wanted.has(place)) continue;
        watcher.close();
        this.#watchers.delete(place);
      }
      const missing = [...wanted].filter((place) => !this.#watchers.has(place));
      if (missing.length === 0) return made; // nothing was made between the look and the watching
      for (const place of missing) if ((await this.#watch(place)) && this.folders.includes(place)) made.push(place);
    }
  }

  /** False where the folder is gone. */
  async #watch(place: string): Promise<boolean> {
    if (this.#ended) return false;
    try {
      const watcher = watch(place, { persistent: false }, (event, name) => this.#happened(place, event, name ?? ""));
      this.#watchers.set(place, watcher.on("error", this.#fail));
      return true;
    } catch (error) {
      if ((await nearest(place)) === place) throw error;
      return false;
    }
  }

  #happened(place: string, event: string, name: string): void {
    const path = join(place, name);
    if (event === "rename" && name === basename(place)) {
      this.#watchers.get(place)?.close(); // it was removed or moved, and what has its name now is another one
      this.#watchers.delete(place);
    } else if (this.folders.includes(place)) {
      if (!name.endsWith(".md")) return;
      this.#touched.add(path);
    } else if (!this.folders.some((folder) => `${folder}${sep}`.startsWith(`${path}${sep}`))) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#work = this.#work.then(() => this.#tell()).catch(this.#fail);
    }, gatherMs);
  }

  async #tell(): Promise<void> {
    const made = await this.#settle();
    const found = await Promise.all(made.map(filesIn));
    const files = new Set([...this.#touched, ...found.flat()]);
    this.#touched.clear();
    if (files.size > 0 && !this.#ended) this.changed([...files]);
  }
}

async function filesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith(".md")).map((name) => join(folder, name));
  } catch (error) {
    if ((await nearest(folder)) === folder) throw error;
    return []; // gone again
  }
}

/** The folder itself, or the nearest above it that is there; a link counts as not there. */
async function nearest(folder: string): Promise<string> {
  for (let place = folder; ; place = dirname(place)) {
    const found = await lstat(place).catch(() => undefined);
    if (found?.isDirectory() === true || dirname(place) === place) return place;
  }
}
