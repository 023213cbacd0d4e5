import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openReference, findDeclaration } from "../../extension/src/editor/references";
import { isSupportedFolder, repositoryOf } from "../../extension/src/editor/roots";
import { Range, shown, Uri } from "./fakes/vscode";

let repo: string;
let root: string;

beforeEach(async () => {
  repo = await realpath(await mkdtemp(join(tmpdir(), "lerim-test-")));
  await mkdir(join(repo, ".git"));
  await mkdir(join(repo, "src"));
  await writeFile(join(repo, "src", "app.py"), "x = 1\n");
  root = Uri.file(repo).toString();
});

afterEach(() => rm(repo, { recursive: true, force: true }));

test("a reference opens its file, counted from the repository also when a folder inside it is open", async () => {
  await openReference(root, "src/app.py");
  await openReference(`${root}/src`, "src/app.py#x");
  expect(shown.documents.map(({ uri }) => uri.path)).toEqual([join(repo, "src", "app.py"), join(repo, "src", "app.py")]);
});

test("a link in the repository that leads outside is refused", async () => {
  await symlink("/etc", join(repo, "outside"));
  await expect(openReference(root, "outside/hostname")).rejects.toThrow(/is outside|no longer exists/);
  await expect(openReference(root, "../other")).rejects.toThrow("does not name a file");
  await expect(openReference(root, "src/gone.py")).rejects.toThrow("no longer exists");
  expect(shown.documents).toEqual([]);
});

test("a symbol is found where it is declared once, else the file opens at its start", () => {
  type Symbols = Parameters<typeof findDeclaration>[0];
  const symbol = (name: string, line: number, ...children: unknown[]): unknown => ({ name, selectionRange: new Range(line, 0, line, 1), children });
  // SAFETY: as far as a symbol is read
  const symbols = [symbol("App", 3, symbol("run(self)", 5), symbol("twice", 7)), symbol("twice", 9)] as unknown as Symbols;
  expect(findDeclaration(symbols, "run")).toMatchObject({ startLine: 5 });
  expect(findDeclaration(symbols, "twice")).toBeUndefined();
  expect(findDeclaration(symbols, "gone")).toBeUndefined();
});

test("the sidecar is useful in a repository, below one, and where memories lie", async () => {
  const bare = await realpath(await mkdtemp(join(tmpdir(), "lerim-test-")));
  try {
    expect(await repositoryOf(join(repo, "src"))).toBe(repo);
    expect(await isSupportedFolder(join(repo, "src"))).toBe(true);
    expect(await isSupportedFolder(bare)).toBe(false);
    await mkdir(join(bare, ".lerim"));
    expect(await isSupportedFolder(bare)).toBe(true);
  } finally {
    await rm(bare, { recursive: true, force: true });
  }
});
