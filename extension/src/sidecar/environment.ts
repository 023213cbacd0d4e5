// How interpreters are found and processes are started, as functions of platform and environment. Nothing here accesses the disk.
import { posix, win32 } from "node:path";

export type Platform = NodeJS.Platform;
export type Environ = Readonly<Record<string, string | undefined>>;

/** A process to start: never through a shell. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
}

/** The oldest Python the sidecar runs on. */
export const oldestPython = [3, 11] as const;

const probeScript = "import sys,json;print(json.dumps([list(sys.version_info[:3]),sys.executable]))";
const healthScript = "import pygls,lsprotocol,msgspec,pydantic,frontmatter,filelock,typer,importlib.util as u;assert u.find_spec('dspy'),'dspy is missing'";
const droppedVariables = /^(PYTHON.*|VIRTUAL_ENV|CONDA_PREFIX|__PYVENV_LAUNCHER__|ELECTRON_RUN_AS_NODE|NODE_OPTIONS|PIP_(TARGET|PREFIX|USER|ROOT|REQUIRE_VIRTUALENV|PYTHON)|UV_(PYTHON|PROJECT.*|TARGET|PREFIX|SYSTEM_PYTHON))$/;

export function pathOf(platform: Platform): typeof posix {
  return platform === "win32" ? win32 : posix;
}

/**
 * Interpreters to try, best first. On macOS they are absolute paths, since `python3` alone may be Apple's stub (`appleStub`). Editors there
 * do not see the shell's PATH, so well-known folders are added.
 */
export function pythonCandidates(platform: Platform, environ: Environ): Command[] {
  if (platform === "win32") return [{ file: "py", args: ["-3"] }, { file: "python", args: [] }, { file: "python3", args: [] }];
  const names = ["python3", "python", "python3.14", "python3.13", "python3.12", "python3.11"];
  const files = platform === "darwin"
    ? names.flatMap((name) => foldersOnMac(environ).map((folder) => posix.join(folder, name)))
    : [...names, "/usr/local/bin/python3"];
  return files.map((file) => ({ file, args: [] }));
}

function foldersOnMac(environ: Environ): string[] {
  const onPath = (environ["PATH"] ?? "").split(":").filter((folder) => folder.startsWith("/"));
  return [...new Set([...onPath, "/opt/homebrew/bin", "/usr/local/bin"])];
}

/** Apple's Python, which opens a dialog to install developer tools if there are none. */
export const appleStub = "/usr/bin/python3";

/** Succeeds on macOS if the developer tools are installed; opens no dialog. */
export function developerToolsCommand(): Command {
  return { file: "/usr/bin/xcode-select", args: ["-p"] };
}

/** Makes an interpreter print its version and path, as read by `parseProbe`. */
export function probeCommand(python: Command): Command {
  return { file: python.file, args: [...python.args, "-I", "-c", probeScript] };
}

export interface Interpreter {
  readonly path: string;
  readonly version: readonly [number, number, number];
}

/** Parses the output of a probe; undefined if it is not such output. */
export function parseProbe(stdout: string): Interpreter | undefined {
  let value: unknown;
  try {
    value = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
  } catch {
    return undefined;
  }
  if (!Array.isArray(value) || !Array.isArray(value[0]) || typeof value[1] !== "string" || value[1] === "") return undefined;
  const [major, minor, patch] = value[0] as unknown[];
  if (typeof major !== "number" || typeof minor !== "number" || typeof patch !== "number") return undefined;
  return { path: value[1], version: [major, minor, patch] };
}

export function isSupportedVersion(interpreter: Interpreter): boolean {
  const [major, minor] = interpreter.version;
  return major === oldestPython[0] && minor >= oldestPython[1];
}

/** The interpreter of a virtual environment. */
export function venvPython(platform: Platform, folder: string): string {
  return platform === "win32" ? win32.join(folder, "Scripts", "python.exe") : posix.join(folder, "bin", "python");
}

/** What installs packages into an environment: uv, the pip of the base interpreter, or one that is first put into the environment, which takes longer. */
export type Installer = "uv" | "pip" | "own-pip";

/** Creates the environment in `folder` from the hashed `locks`. */
export function installCommands(platform: Platform, plan: { installer: Installer; python: string; folder: string; locks: readonly string[] }): Command[] {
  const venvInterpreter = venvPython(platform, plan.folder);
  const pinned = ["--no-deps", "--require-hashes", ...plan.locks.flatMap((lock) => ["-r", lock])];
  if (plan.installer === "uv") {
    return [
      { file: "uv", args: ["venv", "--no-project", "--python", plan.python, plan.folder] },
      { file: "uv", args: ["pip", "install", "--python", venvInterpreter, ...pinned] },
    ];
  }
  const install = ["install", "--disable-pip-version-check", "--no-input", "--progress-bar", "off"];
  if (plan.installer === "pip") {
    return [
      { file: plan.python, args: ["-I", "-m", "venv", "--without-pip", plan.folder] },
      { file: plan.python, args: ["-I", "-m", "pip", "--python", venvInterpreter, ...install, "--no-compile", ...pinned] },
    ];
  }
  return [
    { file: plan.python, args: ["-I", "-m", "venv", plan.folder] },
    { file: venvInterpreter, args: ["-I", "-m", "pip", ...install, ...pinned] },
  ];
}

export function uvVersionCommand(): Command {
  return { file: "uv", args: ["--version"] };
}

export function pipVersionCommand(python: string): Command {
  return { file: python, args: ["-I", "-m", "pip", "--version"] };
}

/** Whether a pip of this version can install into another environment, as it can since 22.3. */
export function canInstallElsewhere(pipVersion: string): boolean {
  const [, major, minor] = /^pip (\d+)\.(\d+)/.exec(pipVersion)?.map(Number) ?? [];
  return major !== undefined && minor !== undefined && (major > 22 || (major === 22 && minor >= 3));
}

/** Uninstalls pip and setuptools, about a fifth of the size; nothing is ever added to the environment. */
export function slimCommand(python: string): Command {
  return { file: python, args: ["-I", "-m", "pip", "uninstall", "--disable-pip-version-check", "--yes", "pip", "setuptools"] };
}

export function healthCommand(python: string): Command {
  return { file: python, args: ["-I", "-c", healthScript] };
}

/** Starts the sidecar, without the user site and the current folder on the module path. */
export function sidecarCommand(python: string): Command {
  return { file: python, args: ["-s", "-P", "-X", "utf8", "-m", "lerim", "lsp"] };
}

/** `lerim mcp` for the repository of a folder. */
export function mcpCommand(python: string, folder: string): Command {
  return { file: python, args: ["-s", "-P", "-X", "utf8", "-m", "lerim", "mcp", "--repo", folder] };
}

/** What the MCP server needs beside the environment that the editor gives it: Lerim's code in the extension. */
export function mcpEnvironment(platform: Platform, extensionPath: string): Record<string, string> {
  return { PYTHONPATH: pathOf(platform).join(extensionPath, "server") };
}

/** The editor's environment without variables that redirect Python, pip or uv. Package indexes, certificates and proxies are kept. */
export function toolEnvironment(platform: Platform, environ: Environ, proxy = ""): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(environ)) {
    const normalizedName = platform === "win32" ? name.toUpperCase() : name;
    if (value !== undefined && !droppedVariables.test(normalizedName)) variables[name] = value;
  }
  const names = new Set(Object.keys(variables).map((name) => name.toUpperCase()));
  if (proxy !== "") {
    if (!names.has("HTTPS_PROXY")) variables["HTTPS_PROXY"] = proxy;
    if (!names.has("HTTP_PROXY")) variables["HTTP_PROXY"] = proxy;
  }
  variables["PYTHONUTF8"] = "1";
  return variables;
}

export function sidecarEnvironment(platform: Platform, environ: Environ, extensionPath: string): Record<string, string> {
  return { ...toolEnvironment(platform, environ), PYTHONPATH: pathOf(platform).join(extensionPath, "server") };
}
