import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { followMovedMemories } from "../../extension/src/editor/movedmemories";
import { openTab, tabGroups } from "./fakes/tabs";
import { shown, Uri } from "./fakes/vscode";

let root: string;
const file = (name: string): string => join(root, ".lerim", "memory", name);

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "lerim-moved-"));
  for (const name of ["decisions/a.md", "decisions/b.md", "decisions/c.md", "learnings/a.md", "archived/learnings/a.md"]) await mkdir(dirname(file(name)), { recursive: true });
  for (const name of ["decisions/a.md", "decisions/b.md", "decisions/c.md"]) await writeFile(file(name), "x");
});

afterEach(() => rm(root, { recursive: true }));

const tabs = (): string[] => tabGroups.all.flatMap((group) => group.tabs.map(({ input }) => (input as { uri: { path: string } }).uri.path));

test("the tab of a memory follows its file to its new kind, and a tab whose file is gone is closed", async () => {
  openTab(Uri.file(file("decisions/c.md")));
  openTab(Uri.file(join(root, "gone.py")));
  openTab(Uri.file(file("decisions/b.md")), { isDirty: true });
  openTab(Uri.file(file("decisions/a.md")), { isActive: true });
  await followMovedMemories();
  expect(shown.documents).toEqual([]); // everything is where it was
  await rename(file("decisions/a.md"), file("learnings/a.md"));
  await rm(file("decisions/b.md"));
  await rm(file("decisions/c.md"));
  await followMovedMemories();
  expect(shown.documents.map(({ uri }) => uri.path)).toEqual([file("learnings/a.md")]);
  expect(tabs()).toEqual([join(root, "gone.py"), file("decisions/b.md")]); // what was typed is not thrown away, and other files are the editor's

  openTab(Uri.file(file("learnings/a.md")), { isActive: true });
  await rename(file("learnings/a.md"), file("archived/learnings/a.md"));
  await followMovedMemories();
  expect(shown.documents.at(-1)?.uri.path).toBe(file("archived/learnings/a.md"));
});

test("a preview that has taken the place of a tab leaves the others to follow", async () => {
  openTab(Uri.file(file("decisions/a.md")), { isActive: true, isPreview: true });
  openTab(Uri.file(file("decisions/b.md")));
  await rename(file("decisions/a.md"), file("learnings/a.md"));
  await rm(file("decisions/b.md"));
  await followMovedMemories();
  expect(tabs()).toEqual([file("learnings/a.md")]);
});
