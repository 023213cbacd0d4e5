// Packages the extension (`npm run package`): node scripts/package.mjs FILE.vsix
//
// vsce compares every file of the folder it packages with every pattern of .vscodeignore. Here that would be the files of two
// environments and of the tests, too, and take minutes; so it gets a copy of the few files and folders that the patterns allow.
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { createVSIX } from "@vscode/vsce";

const repository = fileURLToPath(new URL("..", import.meta.url));
const target = process.argv[2];
if (target === undefined) throw new Error("usage: node scripts/package.mjs FILE.vsix");
performance.mark = () => undefined; // the search for secrets looks each of its marks up among all before it: most of the time of packaging
const folder = mkdtempSync(join(tmpdir(), "lerim-package-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true })); // vsce ends the process itself where it finds a secret
for (const name of [".vscodeignore", ...allowed()]) copy(name);
await createVSIX({
  cwd: folder,
  packagePath: resolve(target),
  dependencies: false,
  allowMissingRepository: true,
  rewriteRelativeLinks: false,
  readmePath: "docs/MARKETPLACE.md",
});

/** The files, and the folders up to the first wildcard, that .vscodeignore allows. */
function allowed() {
  const patterns = readFileSync(join(repository, ".vscodeignore"), "utf8").split("\n").filter((line) => line.startsWith("!"));
  return new Set(patterns.map((pattern) => pattern.slice(1).replace(/\/[^/]*[*!].*/, "")));
}

function copy(name) {
  cpSync(join(repository, name), join(folder, name), { recursive: true, filter: (source) => !source.endsWith("__pycache__") });
}
