import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createVSIX, listFiles, PackageManager } from "@vscode/vsce";

const largestKb = 3600; // the o200k encoding is 2 MB of it
const onlyServed = /^server\/lerim\/web\/(api|daemon|pages)\//; // needs packages that the sidecar's environment has not
const encoding = "server/lerim/models/o200k/fb374d419588a4632f3f557e76b4b70aebbca790";
const ranker = "server/lerim/extraction/ranking/ranker.json";
const execute = promisify(execFile);
let folder: string;
let vsix: string;
let files: string[];

beforeAll(async () => {
  await execute("npm", ["run", "--silent", "build"], { shell: process.platform === "win32" });
  folder = await mkdtemp(join(tmpdir(), "lerim-test-"));
  vsix = join(folder, "lerim.vsix");
  await createVSIX({ packagePath: vsix, dependencies: false, allowMissingRepository: true, rewriteRelativeLinks: false });
  files = await listFiles({ packageManager: PackageManager.None });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test("the package is small and holds what an installation needs", () => {
  expect(statSync(vsix).size / 1024).toBeLessThan(largestKb);
  const needed = ["package.json", "README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", "requirements.lock", "extension/media/icon.png", "extension/media/lerim.svg", "extension/media/codex-dark.svg"];
  const built = ["extension/dist/extension.js", "extension/dist/webview/review.js", "extension/dist/webview/review.css", "extension/dist/webview/transcript.js", "extension/dist/webview/transcript.css"];
  for (const file of [...needed, ...built, "server/lerim/__main__.py", "server/lerim/agents/files/SKILL.md", "server/lerim/agents/files/opencode_plugin.js", "agents/.mcp.json", "agents/.claude-plugin/plugin.json", encoding, ranker]) expect(files).toContain(file);
});

test("it holds every source file of the sidecar, and nothing else", () => {
  const source = readdirSync("server/lerim", { recursive: true, encoding: "utf8" })
    .map((file) => `server/lerim/${file.replaceAll("\\", "/")}`)
    .filter((file) => /\.(py|toml)$/.test(file) && !onlyServed.test(file) && statSync(file).isFile());
  expect(source.length).toBeGreaterThan(20);
  expect(source.filter((file) => !files.includes(file))).toEqual([]);
  const known = /^(package\.json|README\.md|CHANGELOG\.md|LICENSE|pyproject\.toml|requirements\.lock|extension\/(dist|media)\/[\w./-]+|server\/lerim\/[\w./-]+\.(py|pyi|toml|typed|html|css|js)|server\/lerim\/agents\/files\/SKILL\.md|agents\/[\w./-]+)$/;
  expect(files.filter((file) => !known.test(file)).sort()).toEqual([ranker, encoding]);
  expect(files.filter((file) => onlyServed.test(file))).toEqual([]);
  expect(files.filter((file) => /__pycache__|\.map$|node_modules|\.lerim\//.test(file))).toEqual([]);
});

test("it runs anywhere: no platform is named and the manifest points at the bundle", () => {
  const manifest = JSON.parse(readFileSync("package.json", "utf8")) as { main: string; icon: string };
  expect(existsSync(manifest.main)).toBe(true);
  expect(existsSync(manifest.icon)).toBe(true);
  expect(readFileSync(manifest.main, "utf8")).not.toMatch(/require\("(?!vscode"|node:|[a-z_]+(\/promises)?"\))/);
});
