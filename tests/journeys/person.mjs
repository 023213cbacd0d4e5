// A person with a repository and the packaged extension in an editor of their own: what every journey begins and ends with.
import { join } from "node:path";
import { Machine } from "./machine.mjs";
import { Screen } from "./screen.mjs";
import { until } from "./until.mjs";

export class Person {
  /** What was set last, but for the theme. */
  chosen = {};

  /** `name` begins the names of the screenshots, `project` is the repository's folder; `editor` as a machine takes it. */
  constructor(name, project, { editor } = {}) {
    this.machine = new Machine({ editor });
    this.screen = new Screen(name, this.machine.isOldest);
    this.root = this.machine.folder("work", project);
  }

  /** What the person has set; the sidecar runs in the journeys' own environment, and the idle clock stands still. */
  settings(values = {}) {
    this.chosen = Object.fromEntries(Object.entries(values).filter(([name]) => name !== "workbench.colorTheme"));
    this.machine.settings({ "lerim.python": join(process.env.LERIM_JOURNEY_ENV, "bin", "python"), "lerim.idleSeconds": 0, ...values });
  }

  /** Makes the editor ready and starts it; the browser starts meanwhile. `prepare` puts the extension into the editor. */
  async begin(prepare = () => this.machine.unpack()) {
    const opened = this.screen.open(this.machine.environ);
    await Promise.all([opened, prepare()]);
    this.address = await this.machine.start();
  }

  /** Opens the repository, or another folder, as `Screen.visit` does. */
  async visit(options, folder = this.root) {
    await this.screen.visit(this.address, folder, options);
  }

  /** Opens the repository, in which nothing waits, and trusts it. */
  async work() {
    await this.visit();
    await this.screen.status(/No candidates to review/);
  }

  /** Closes the window and waits until its sidecar has ended, so that nothing is written late. */
  async leave() {
    await this.screen.leave();
    await until("the sidecar ended with the window", () => this.machine.processes(/-m lerim/).length === 0);
  }

  async end() {
    await this.screen.close();
    await this.machine.close();
  }
}
