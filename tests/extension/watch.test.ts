import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FolderWatch } from "../../extension/src/sidecar/watch";

let root: string;
let review: string;
let decisions: string;
let watch: FolderWatch | undefined;
let told: string[];
let failures: Error[];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "lerim-test-"));
  review = join(root, ".lerim", "review");
  decisions = join(root, ".lerim", "memory", "decisions");
  told = [];
  failures = [];
});

afterEach(async () => {
  watch?.dispose();
  await rm(root, { recursive: true, force: true });
});

async function begin(): Promise<void> {
  watch = new FolderWatch(
    [review, decisions],
    (files) => told.push(...files),
    (error) => failures.push(error),
  );
  await watch.ready;
}

async function add(folder: string, name: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), "");
  return join(folder, name);
}

async function hears(file: string): Promise<void> {
  await expect.poll(() => [...told, ...failures]).toContain(file);
}

test("a file in folders that are made with it is told, and what happens to it afterwards", async () => {
  await begin();
  expect(existsSync(join(root, ".lerim"))).toBe(false);
  const file = await add(review, "a.md");
  await hears(file);
  told.length = 0;
  await rm(file);
  await hears(file);
  await hears(await add(decisions, "b.md"));
  watch?.dispose();
  const late = await add(decisions, "late.md");
  await begin();
  await hears(await add(decisions, "c.md"));
  expect(told, "nothing is told once it was disposed of").not.toContain(late);
});

test("a folder that is removed and made again, at once or later, is watched again", async () => {
  await add(review, "a.md");
  await begin();
  await rm(review, { recursive: true });
  await hears(await add(review, "b.md"));
  await hears(await add(review, "c.md"));
  await rm(join(root, ".lerim"), { recursive: true });
  await hears(join(review, "c.md"));
  await hears(await add(review, "d.md"));
  expect(await readdir(review)).toEqual(["d.md"]);
});

test("a folder that another one took the place of is watched", async () => {
  await add(review, "a.md");
  const other = join(root, "other");
  await add(other, "b.md");
  await begin();
  await rename(review, join(root, "gone"));
  await rename(other, review);
  await hears(join(review, "b.md"));
  await hears(await add(review, "c.md"));
});

test("many changes are all told, those of other files and folders are not", async () => {
  await add(review, "a.md");
  await begin();
  await Promise.all([add(root, "README.md"), add(review, ".a.tmp"), add(join(review, "deeper"), "x.md"), add(join(root, ".lerim", "workspace"), "y.md")]);
  for (let number = 0; number < 200; number++) await add(review, `${number}.md`);
  await hears(join(review, "199.md"));
  expect(new Set(told)).toEqual(new Set(Array.from({ length: 200 }, (_, number) => join(review, `${number}.md`))));
  expect(failures).toEqual([]);
});

test("a link in the place of a folder leads nowhere", async () => {
  const outside = join(root, "outside");
  await add(outside, "a.md");
  await mkdir(join(root, ".lerim"));
  await symlink(outside, review);
  await begin();
  await add(outside, "b.md");
  await hears(await add(decisions, "c.md"));
  expect(told).toEqual([join(decisions, "c.md")]);
});

test("where the system has no watcher left that is said once, and nothing else happens", async () => {
  const bundle = join(root, "watcher.cjs");
  await build({ entryPoints: ["tests/extension/fakes/watcher.ts"], bundle: true, platform: "node", outfile: bundle, logLevel: "warning" });
  const command = 'ulimit -n 64; exec "$0" "$@"';
  const { stdout, stderr } = await promisify(execFile)("/bin/sh", ["-c", command, process.execPath, bundle, review, decisions, root]);
  expect(stdout).toMatch(/^EMFILE: .*\n$/);
  expect(stderr).toBe("");
});
