import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, posix, win32 } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openReference, pathInRepository } from "../../extension/src/editor/references";
import { isSupportedFolder, repositoryOf } from "../../extension/src/editor/roots";
import { answers, Range, shown, Uri } from "./fakes/vscode";

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
  const app = { uri: Uri.file(join(repo, "src", "app.py")), line: 0 }; // also one that is open elsewhere goes to its lens
  expect(shown.documents).toEqual([app, app]);
});

test("a link in the repository that leads outside is refused", async () => {
  await symlink("/etc", join(repo, "outside"));
  await expect(openReference(root, "outside/hostname")).rejects.toThrow(/is outside|no longer exists/);
  await expect(openReference(root, "../other")).rejects.toThrow("does not name a file");
  await expect(openReference(root, "src/gone.py")).rejects.toThrow("no longer exists");
  expect(shown.documents).toEqual([]);
});

test.each([
  ["App.run", 5],
  ["Server.run", 5],
  ["twice", 0],
  ["gone", 0],
])("the symbol %s is found where it is declared once, else the file opens at its start", async (name, line) => {
  const symbol = (name: string, line: number, ...children: unknown[]): unknown => ({ name, selectionRange: new Range(line, 0, line, 1), children });
  answers.symbols.push([symbol("App", 3, symbol("run(self)", 5), symbol("twice", 7)), symbol("twice", 9)]);
  await openReference(root, `src/app.py#${name}`);
  expect(shown.documents).toMatchObject([{ line }]);
});

test.each([
  [posix, "/repo", "/repo/src/app.py", "src/app.py"],
  [posix, "/repo", "/other/app.py", undefined],
  [posix, "/repo", "/repo/..app.py", "..app.py"],
  [posix, "/repo", "/repo", undefined],
  [win32, "C:\\repo", "c:\\repo\\src\\app.py", "src/app.py"],
  [win32, "C:\\repo", "D:\\repo\\src\\app.py", undefined],
  [win32, "C:\\repo", "C:\\other\\app.py", undefined],
])("a file is referred to by its path in the repository, on each system, and not at all elsewhere", (paths, repository, file, path) => {
  expect(pathInRepository(repository, file, paths)).toBe(path);
});

test("a file opens at its start while the editor does not know its symbols", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  try {
    answers.symbols.push(new Promise(() => undefined));
    const opened = openReference(root, "src/app.py#App.run");
    await vi.waitFor(() => {
      expect(shown.commands.at(-1)?.id).toBe("vscode.executeDocumentSymbolProvider");
    });
    vi.runAllTimers();
    await opened;
    expect(shown.documents).toMatchObject([{ line: 0 }]);
  } finally {
    vi.useRealTimers();
  }
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
