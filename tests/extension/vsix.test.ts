import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const largestKb = 3760; // the o200k encoding is 1.7 MB of it, the vocabulary of the sentence model 110 KB, the pictures of the page 50 KB
const onlyServed = /^server\/lerim\/(web\/((api|daemon|pages)\/|(answers|app|events|running_jobs|searches|security|served|server)\.py)|org\/|team\/(?!__init__\.|variables\.))/; // needs packages that the sidecar's environment has not
const wordPieces = "server/lerim/memory/meaning/wordpieces.txt";
const encoding = "server/lerim/models/o200k/fb374d419588a4632f3f557e76b4b70aebbca790";
const ranker = "server/lerim/extraction/ranking/ranker.json";
const page = "docs/MARKETPLACE.md";
const execute = promisify(execFile);
let folder: string;
let vsix: string;
let files: string[];

beforeAll(async () => {
  await execute("npm", ["run", "--silent", "build"], { shell: process.platform === "win32" });
  folder = await mkdtemp(join(tmpdir(), "lerim-test-"));
  vsix = join(folder, "lerim.vsix");
  await execute(process.execPath, ["scripts/package.mjs", vsix]);
  const { stdout } = await execute("unzip", ["-Z1", vsix]);
  files = stdout.trim().split("\n").filter((file) => file.startsWith("extension/")).map((file) => file.slice("extension/".length));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test("the package is small and holds what an installation needs", () => {
  expect(statSync(vsix).size / 1024).toBeLessThan(largestKb);
  const needed = ["package.json", "readme.md", "changelog.md", "LICENSE.txt", "pyproject.toml", "requirements.lock", "requirements-meaning.lock", "extension/media/icon.png", "extension/media/lerim.svg", "extension/media/codex-dark.svg"];
  const built = ["extension/dist/extension.js", "extension/dist/webview/review.js", "extension/dist/webview/review.css", "extension/dist/webview/transcript.js", "extension/dist/webview/transcript.css"];
  for (const file of [...needed, ...built, "server/lerim/__main__.py", "server/lerim/agents/files/SKILL.md", "server/lerim/agents/files/opencode_plugin.js", "agents/.mcp.json", "agents/.claude-plugin/plugin.json", encoding, ranker]) expect(files).toContain(file);
});

test("it holds every source file of the sidecar, and nothing else", () => {
  const source = readdirSync("server/lerim", { recursive: true, encoding: "utf8" })
    .map((file) => `server/lerim/${file.replaceAll("\\", "/")}`)
    .filter((file) => /\.(py|toml)$/.test(file) && !onlyServed.test(file) && statSync(file).isFile());
  expect(source.length).toBeGreaterThan(20);
  expect(source.filter((file) => !files.includes(file))).toEqual([]);
  const known = /^(package\.json|readme\.md|changelog\.md|LICENSE\.txt|pyproject\.toml|requirements(-meaning)?\.lock|extension\/(dist|media)\/[\w./-]+|server\/lerim\/[\w./-]+\.(py|pyi|toml|typed|html|css|js)|server\/lerim\/agents\/files\/SKILL\.md|agents\/[\w./-]+)$/;
  expect(files.filter((file) => !known.test(file)).sort()).toEqual([ranker, wordPieces, encoding]);
  expect(files.filter((file) => onlyServed.test(file))).toEqual([]);
  expect(files.filter((file) => /__pycache__|\.map$|node_modules|\.lerim\//.test(file))).toEqual([]);
});

test("the command line of the package explains itself without what only the server and organisations need", async () => {
  await execute("unzip", ["-q", vsix, "extension/server/*", "-d", folder]);
  const python = join(".venv", process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
  const env = { ...process.env, PYTHONPATH: join(folder, "extension", "server"), LERIM_HOME: join(folder, "home") };
  for (const group of [[], ["org"], ["up"]]) {
    const { stdout } = await execute(python, ["-P", "-m", "lerim", ...group, "--help"], { env });
    expect(stdout).toContain("Usage: lerim");
  }
});

test("the galleries get what they ask for: a page for users whose pictures are in the package, an icon, a banner and a licence", async () => {
  const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Record<string, unknown>;
  for (const key of ["name", "publisher", "version", "displayName", "description", "license", "icon", "galleryBanner"]) expect(manifest[key], key).toBeTruthy();
  expect(JSON.stringify(manifest["galleryBanner"])).toMatch(/^\{"color":"#[0-9a-f]{6}","theme":"dark"\}$/);
  const galleryCategories = ["AI", "Chat", "Data Science", "Debuggers", "Education", "Extension Packs", "Formatters", "Keymaps", "Language Packs", "Linters", "Machine Learning", "Notebooks", "Other", "Programming Languages", "SCM Providers", "Snippets", "Testing", "Themes", "Visualization"];
  expect(galleryCategories).toEqual(expect.arrayContaining(manifest["categories"] as string[]));
  expect((manifest["keywords"] as string[]).length).toBeLessThanOrEqual(30);
  const icon = readFileSync(String(manifest["icon"]));
  expect([icon.readUInt32BE(16), icon.readUInt32BE(20)]).toEqual([128, 128]);
  const text = readFileSync(page, "utf8");
  const pictures = [...text.matchAll(/!\[([^\]]+)\]\(([^)]*)\)/g)];
  expect(pictures.length).toBeGreaterThan(0);
  for (const [, , source] of pictures) expect(source?.startsWith("data:image/webp;base64,")).toBe(true); // a page in a gallery has no files beside it
  expect(text).not.toMatch(/<img|\bmake (run|test)\b|\]\((?!data:image|https:|#|command:)/);
  const { stdout } = await execute("unzip", ["-p", vsix, "extension/readme.md"], { maxBuffer: 2 ** 24 });
  expect(stdout).toBe(text);
});

test("every picture of the walkthrough is in the package and follows the theme, and every button leads to a command", () => {
  interface Step { readonly description: string; readonly media: { readonly svg: string; readonly altText: string }; readonly completionEvents: readonly string[] }
  interface Contributions { readonly commands: readonly { readonly command: string }[]; readonly walkthroughs: readonly { readonly steps: readonly Step[] }[]; readonly viewsWelcome: readonly { readonly contents: string }[] }
  const { contributes } = JSON.parse(readFileSync("package.json", "utf8")) as { contributes: Contributions };
  const steps = contributes.walkthroughs.flatMap((walkthrough) => walkthrough.steps);
  expect(steps).toHaveLength(6);
  for (const { media, completionEvents } of steps) {
    expect(files).toContain(media.svg);
    expect(readFileSync(media.svg, "utf8")).toContain("var(--vscode-");
    expect(media.altText).not.toBe("");
    // a step is ticked when its work is done: a command may be cancelled
    expect(completionEvents.filter((event) => !/^on(Context|SettingChanged):/.test(event))).toEqual([]);
    expect(completionEvents).toHaveLength(1);
  }
  const own = contributes.commands.map(({ command }) => command);
  const linked = [...steps.map(({ description }) => description), ...contributes.viewsWelcome.map(({ contents }) => contents)].flatMap((text) => [...text.matchAll(/\(command:(lerim\.\w+)\)/g)].map(([, id]) => id));
  expect(linked.length).toBeGreaterThan(10);
  expect(linked.filter((id) => !own.includes(id ?? ""))).toEqual([]);
});

test("it runs anywhere: no platform is named and the manifest points at the bundle", () => {
  const manifest = JSON.parse(readFileSync("package.json", "utf8")) as { main: string; icon: string };
  expect(existsSync(manifest.main)).toBe(true);
  expect(existsSync(manifest.icon)).toBe(true);
  expect(readFileSync(manifest.main, "utf8")).not.toMatch(/require\("(?!vscode"|node:|[a-z_]+(\/promises)?"\))/);
});
