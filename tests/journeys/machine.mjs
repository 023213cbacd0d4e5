// A machine of the journey's own: home, agents' store, the editor's server, and the end of every process it started.
import { execFile, execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, readdirSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { HANG, until } from "./until.mjs";

export const repository = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..");
export const sessions = process.env.LERIM_TEST_SESSIONS || resolve(repository, "..", "shared", "transcripts");
export const extension = join(repository, "lerim.vsix");

/** Names a variable that every process of a journey inherits, so that all of them can be found and ended. */
const marker = "LERIM_JOURNEY";

/** What is missing to run a journey here; undefined when nothing is. */
export function missing() {
  if (!process.env.LERIM_TEST_EDITOR) return "run by `make test`, which installs the editor (LERIM_TEST_EDITOR)";
  if (!existsSync(extension)) return "lerim.vsix is not built: `make package`";
  return undefined;
}

export class Machine {
  #server;
  /** Begins with the name of the whole run, by which `scripts/test.py` ends what a killed journey left. */
  #mark = `${process.env[marker] ?? "alone"}-${randomUUID()}`;

  /** `editor` is the folder that `scripts/install_editor.py` made. */
  constructor({ editor = process.env.LERIM_TEST_EDITOR } = {}) {
    this.editor = editor;
    this.root = realpathSync(mkdtempSync(join(tmpdir(), "lerim-journey-")));
    this.home = join(this.root, "home");
    this.claude = join(this.home, ".claude");
    this.lerim = join(this.home, ".lerim");
    this.data = join(this.root, "editor");
    this.log = join(this.root, "editor.log");
    mkdirSync(this.claude, { recursive: true });
    this.environ = {
      ...without(process.env, /^(VIRTUAL_ENV|PYTHON.*|NODE_.*|VSCODE_.*|LERIM_.*|XDG_.*|CLAUDE_.*|CODEX_.*|COPILOT_.*|GEMINI_.*|OPENCODE_.*|PASSWORD)$/),
      HOME: this.home,
      LERIM_HOME: this.lerim,
      CLAUDE_CONFIG_DIR: this.claude,
      [marker]: this.#mark,
    };
  }

  /** Whether the editor is the oldest that the manifest allows. */
  get isOldest() {
    return this.editor === process.env.LERIM_TEST_EDITOR_OLDEST;
  }

  /** A folder of this machine. */
  folder(...names) {
    const path = join(this.root, ...names);
    mkdirSync(path, { recursive: true });
    return path;
  }

  /** A folder of programs that are found before those of the real machine; the editor asks the person's shell for the PATH. */
  tools() {
    const path = this.folder("tools");
    this.environ.SHELL = "/bin/bash";
    writeFileSync(join(this.home, ".profile"), `export PATH=${path}:$PATH\n`);
    return path;
  }

  /** What the person has set in the editor; machine settings are where an editor reached over a server keeps them. */
  settings(values) {
    const quiet = {
      "workbench.startupEditor": "none",
      "workbench.secondarySideBar.defaultVisibility": "hidden",
      "security.workspace.trust.startupPrompt": "always",
      "workbench.colorTheme": "Default Dark Modern",
      "workbench.reduceMotion": "on", // from here on: what moves or is drawn small costs a software renderer most of its time
      "editor.cursorBlinking": "solid",
      "editor.minimap.enabled": false,
      "editor.stickyScroll.enabled": false, // a line under it is nowhere to rest the mouse on
    };
    for (const scope of ["User", "Machine"]) {
      mkdirSync(join(this.data, scope), { recursive: true });
      writeFileSync(join(this.data, scope, "settings.json"), JSON.stringify({ ...quiet, ...values }, null, 2));
    }
  }

  /** Installs the packaged extension, as `code --install-extension` does. */
  async install() {
    await promisify(execFile)(this.node, [...this.#editor, "--install-extension", extension], { env: this.environ, timeout: HANG });
  }

  /** Puts the packaged extension where `install` would: enough for an editor that starts for the first time, and quicker. */
  async unpack() {
    const extensions = this.folder("extensions");
    await promisify(execFile)("unzip", ["-q", extension, "extension/*", "-d", extensions], { timeout: HANG });
    const { publisher, name, version } = JSON.parse(readFileSync(join(extensions, "extension", "package.json"), "utf8"));
    renameSync(join(extensions, "extension"), join(extensions, `${publisher}.${name}-${version}`));
  }

  /** Runs the `lerim` command of the installed extension, as a person does in a terminal; what it printed. */
  async cli(...args) {
    const python = join(process.env.LERIM_JOURNEY_ENV, "bin", "python");
    const [name] = readdirSync(join(this.root, "extensions")).filter((entry) => entry.startsWith("lerim."));
    const env = { ...this.environ, PYTHONPATH: join(this.root, "extensions", name, "server") };
    const { stdout } = await promisify(execFile)(python, ["-P", "-m", "lerim", ...args], { env, timeout: HANG });
    return stdout;
  }

  /** Starts the editor's server; its address. A server that does not come up in time is started once more. */
  async start() {
    for (let attempt = 1; ; attempt += 1) {
      const port = await freePort();
      const log = openSync(this.log, "a");
      const options = ["--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--disable-telemetry", "--disable-update-check"];
      const command = [...this.#editor, ...options, ...(this.isOldest ? [] : ["--reconnection-grace-time", "1"])];
      this.#server = spawn(this.node, command, { env: this.environ, detached: true, stdio: ["ignore", log, log] });
      closeSync(log);
      try {
        const address = `http://127.0.0.1:${port}`;
        await until("the editor's server answers", async () => (await fetch(`${address}/healthz`)).ok);
        return address;
      } catch (error) {
        await this.stop();
        if (attempt === 2) throw new Error(`${error.message}\n${readFileSync(this.log, "utf8").slice(-3000)}`);
      }
    }
  }

  /** Ends the editor as closing its window does: asked, not killed. */
  async stop() {
    const server = this.#server;
    if (server === undefined || server.exitCode !== null) return;
    process.kill(-server.pid, "SIGTERM");
    await until("the editor's server has ended", () => server.exitCode !== null || server.signalCode !== null);
  }

  /** Kills the editor's own processes at once, as a crash does; what the extension started is left to itself. */
  kill() {
    for (const line of this.processes(/code-server/)) if (!/-m lerim/.test(line)) tryKill(Number.parseInt(line, 10));
  }

  /** Processes of this machine whose command line matches, as `pid command`; Linux's /proc is what tells. */
  processes(pattern = /./) {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/environ`, "latin1").includes(`${marker}=${this.#mark}`)) return [];
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
        return command !== "" && pattern.test(command) ? [`${pid} ${command}`] : [];
      } catch {
        return []; // it ended meanwhile, or is not ours
      }
    });
  }

  /** Ends whatever is left and removes the machine. */
  async close() {
    await this.stop().catch(() => undefined);
    await until("every process of the journey has ended", () => {
      const left = this.processes();
      for (const line of left) tryKill(Number.parseInt(line, 10));
      return left.length === 0;
    });
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }

  /** The Node.js that the editor runs on. */
  get node() {
    const [name] = readdirSync(join(this.editor, "node", "node_modules")).filter((entry) => entry.startsWith("node-"));
    return join(this.editor, "node", "node_modules", name, "bin", "node");
  }

  get #editor() {
    const entry = join(this.editor, "editor", "node_modules", "code-server", "out", "node", "entry.js");
    return [entry, "--user-data-dir", this.data, "--extensions-dir", join(this.root, "extensions")];
  }
}

/** The names of a folder's markdown files; none where it is not there. */
export function markdown(...folder) {
  const path = join(...folder);
  return existsSync(path) ? readdirSync(path).filter((name) => name.endsWith(".md")).sort() : [];
}

/** Runs git in a folder. */
export function git(folder, ...args) {
  return execFileSync("git", args, { cwd: folder, encoding: "utf8" });
}

function tryKill(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it ended meanwhile
  }
}

function without(environ, pattern) {
  return Object.fromEntries(Object.entries(environ).filter(([name]) => !pattern.test(name)));
}

/** A port of this machine at which nothing answers. */
export function freePort() {
  return new Promise((found, failed) => {
    const server = createServer();
    server.once("error", failed);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => found(port));
    });
  });
}
