// A home that `lerim serve` serves, without an editor: a repository with sessions, the server's process, and a signed-in browser.
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { Machine, repository } from "./machine.mjs";
import { Screen } from "./screen.mjs";
import { HANG, until } from "./until.mjs";

/** What is missing to run such a journey here; undefined when nothing is. */
export function missing() {
  if (!process.env.LERIM_PYTHON) return "run by `make test`, which names the Python with the server's packages (LERIM_PYTHON)";
  if (!existsSync(process.env.CHROMIUM || "/usr/bin/chromium")) return "there is no Chromium (CHROMIUM)";
  return undefined;
}

export class Serving {
  #server;
  #database;

  /** `name` begins the names of the screenshots, `project` is the repository's folder. */
  constructor(name, project) {
    this.machine = new Machine();
    this.screen = new Screen(name);
    this.root = this.machine.folder("work", project);
    this.environ = { ...this.machine.environ, PYTHONPATH: join(repository, "server") };
  }

  get page() {
    return this.screen.page;
  }

  /** Runs a command in the repository, as a person does in a terminal; what it printed. */
  async cli(...args) {
    const { stdout } = await promisify(execFile)(process.env.LERIM_PYTHON, ["-P", "-m", "lerim", ...args], { cwd: this.root, env: this.environ, timeout: HANG });
    return stdout;
  }

  /** Starts a PostgreSQL for `lerim org` of this home; whether there is one on this machine. */
  async startDatabase() {
    const tests = join(repository, "tests");
    const environ = { ...this.environ, PYTHONPATH: [this.environ.PYTHONPATH, join(tests, "services"), join(tests, "faults")].join(delimiter) };
    this.#database = spawn(process.env.LERIM_PYTHON, [join(tests, "services", "journey_database.py")], { env: environ, stdio: ["pipe", "pipe", "inherit"] });
    let printed = "";
    this.#database.stdout.setEncoding("utf8").on("data", (chunk) => (printed += chunk));
    await until("the database is there", () => this.#database.exitCode !== null || printed.endsWith("\n"));
    if (printed) this.environ.LERIM_DATABASE_URL = printed.trim();
    return printed !== "";
  }

  /** Starts the server on a free port, and a browser that is signed in by the link of `lerim dashboard`. */
  async begin() {
    const args = ["-P", "-m", "lerim", "serve", "--port", "0"];
    this.#server = spawn(process.env.LERIM_PYTHON, args, { cwd: this.root, env: this.environ, stdio: ["ignore", "pipe", "pipe"] });
    let printed = "";
    for (const stream of [this.#server.stdout, this.#server.stderr]) stream.setEncoding("utf8").on("data", (chunk) => (printed += chunk));
    await until("the server says where it is", () => this.#server.exitCode !== null || /http:\/\/127\.0\.0\.1:\d+/.test(printed));
    if (this.#server.exitCode !== null) throw new Error(`The server ended: ${printed}`);
    await this.screen.open(this.machine.environ);
    await this.screen.page.goto((await this.cli("dashboard", "--no-open")).trim());
  }

  /** Opens a page of the project by its name in the navigation; its scripts have run then, so that what is typed is searched for. */
  async open(name) {
    const loaded = this.page.waitForEvent("load", { timeout: HANG });
    await this.page.getByRole("navigation", { name: "Pages of the project" }).getByRole("link", { name, exact: true }).click();
    await loaded;
    await this.page.getByRole("heading", { level: 1 }).waitFor();
  }

  async end() {
    await this.screen.close();
    if (this.#server?.exitCode === null) {
      this.#server.kill("SIGTERM");
      await until("the server has ended", () => this.#server.exitCode !== null || this.#server.signalCode !== null);
    }
    if (this.#database?.exitCode === null) {
      this.#database.stdin.end();
      await until("the database has ended", () => this.#database.exitCode !== null || this.#database.signalCode !== null);
    }
    await this.machine.close();
  }
}
