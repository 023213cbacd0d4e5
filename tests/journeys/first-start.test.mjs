// A fresh profile: the packaged extension makes its own environment, with pip and then with uv, says what keeps it from that, and mends what broke.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { freePort, missing, repository } from "./machine.mjs";
import { Person } from "./person.mjs";
import { makeRepository } from "./rebuild.mjs";
import { step } from "./screen.mjs";
import { JOURNEY, until } from "./until.mjs";

const skip = missing() ?? false;

/** A person who starts the editor for the first time, in a repository without a memory. */
class Newcomer extends Person {
  constructor() {
    super("first-start", "project");
    makeRepository(this.root, new Map([["app.py", "def main():\n    return 1\n"]]));
    this.machine.settings({});
    this.tools = this.machine.tools();
  }

  get environments() {
    return join(this.machine.data, "User", "globalStorage", "lerim.lerim", "env");
  }

  /** The requirements.lock of the installed extension. */
  get lock() {
    const extensions = join(this.machine.root, "extensions");
    return join(extensions, readdirSync(extensions).find((name) => name.startsWith("lerim.lerim")), "requirements.lock");
  }

  /** The environment that belongs to the lock. */
  get environment() {
    return join(this.environments, createHash("sha256").update(readFileSync(this.lock)).digest("hex").slice(0, 16));
  }

  /** Where the environment's packages are. */
  get library() {
    const lib = join(this.environment, "lib");
    return join(lib, readdirSync(lib).find((name) => name.startsWith("python3")));
  }

  /** The first start, in Restricted Mode: the walkthrough opens by itself, its button says what is needed, and the set-up starts once the person trusts the workspace. */
  async agree() {
    const { screen } = this;
    await this.visit({ trust: false });
    const walkthrough = screen.page.locator(".gettingStartedContainer");
    const button = walkthrough.getByRole("button", { name: "Set Up Lerim", exact: true });
    await button.waitFor();
    await screen.shot("walkthrough");
    assert.match(await walkthrough.innerText(), /Get Started with Lerim/);
    assert.equal(existsSync(this.environments), false);
    await button.click();
    await screen.dialog(/Trust this workspace to set up Lerim/);
    assert.equal(existsSync(this.environments), false);
    await screen.button("Manage Workspace Trust");
    await screen.page.getByRole("button", { name: "Trust", exact: true }).first().click();
    if (this.machine.isOldest) { // which shows the page of trust in a tab, and not in front of all
      await screen.page.getByRole("tab", { name: /Welcome|Walkthrough/ }).first().click();
      return;
    }
    const trustPage = screen.page.locator(".monaco-modal-editor-block");
    await trustPage.locator(".codicon-close").first().click();
    await trustPage.waitFor({ state: "detached" });
  }

  async setUp() {
    const { machine, screen, environment } = this;
    await screen.notification(/Setting up Lerim/);
    await screen.notification(/Setting up Lerim.*Installing packages/);
    await screen.shot("setting-up");
    await until("the environment is marked as whole", () => existsSync(join(environment, "ready")));
    await this.runs();
    assert.deepEqual(readdirSync(this.environments), [environment.slice(this.environments.length + 1)]);
    assert.equal(machine.processes(/-m (venv|pip)|\buv /).length, 0);
  }

  async runs() {
    await until("the sidecar runs from it", () => this.machine.processes(/-m lerim lsp/).some((line) => line.includes(this.environment)));
    await this.screen.status(/No candidates to review\s+Click to sync/);
  }

  /** The set-up failed for a reason that is told, and left nothing. */
  async failed(reason) {
    const told = await this.screen.notification(reason);
    await this.screen.shot("failed");
    assert.match(told, /Retry/);
    assert.deepEqual(readdirSync(this.environments), []);
  }
}

test("first start", { skip, timeout: JOURNEY }, async (t) => {
  const person = new Newcomer();
  const index = process.env.PIP_INDEX_URL;
  let released;

  before(() => person.begin(async () => {
    await person.machine.install();
    // no uv here, whatever the real machine has
    writeFileSync(join(person.tools, "uv"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    delete person.machine.environ.PIP_INDEX_URL;
    writePipConfig(`index-url = http://127.0.0.1:${await freePort()}/simple\n`);
  }));
  after(() => person.end());

  function writePipConfig(lines) {
    writeFileSync(join(person.machine.folder("home", ".config", "pip"), "pip.conf"), `[global]\n${lines}`);
  }

  await step(t, () => person.screen, "an index that cannot be reached is named, and nothing is left half-made", async () => {
    await person.agree();
    await person.failed(/package index could not be reached/);
  });

  await step(t, () => person.screen, "Retry makes the environment with progress, and nothing is left half-made", async () => {
    writePipConfig(index === undefined ? "" : `index-url = ${index}\n`);
    await person.screen.command("Focus on Memories View");
    await person.screen.button("Retry");
    await Promise.all([person.setUp(), person.screen.page.locator(".sidebar").getByText(/Lerim is being set up/).first().waitFor()]);
    await person.screen.page.locator(".gettingStartedContainer").getByRole("button", { name: "Sync", exact: true }).waitFor(); // the walkthrough shows the next step
    await person.screen.shot("next-step");
  });

  await step(t, () => person.screen, "Debug Information says what runs", async () => {
    const text = await debugInformation(person.screen);
    await person.screen.shot("debug");
    assert.match(text, /^- Extension: \d+\.\d+\.\d+ at /m);
    assert.match(text, /^- version: \d+\.\d+\.\d+/m);
    assert.match(text, /^- python: 3\.\d+/m);
    assert.match(text, person.machine.isOldest ? /^- Editor: code-server 1\.100\./m : /^- Editor: code-server 1\.139\./m);
    assert.match(text, /trusted: true/);
  });

  await step(t, () => person.screen, "nothing was written into the repository", () => {
    assert.equal(existsSync(join(person.root, ".lerim")), false);
  });

  await step(t, () => person.screen, "the second start uses the environment directly", async () => {
    const ready = join(person.environment, "ready");
    const made = statSync(ready).mtimeMs;
    await again(person);
    await debugInformation(person.screen);
    assert.equal(statSync(ready).mtimeMs, made);
    assert.doesNotMatch((await person.screen.notifications()).join("\n"), /Setting up Lerim/);
  });

  await step(t, () => person.screen, "a package that is not the one of the release is refused", async () => {
    await person.leave();
    released = readFileSync(person.lock, "utf8");
    rmSync(person.environment, { recursive: true });
    rmSync(join(person.tools, "uv"));
    symlinkSync(join(repository, ".venv", "bin", "uv"), join(person.tools, "uv"));
    writeFileSync(person.lock, released.replaceAll(/sha256:[0-9a-f]{64}/g, `sha256:${"0".repeat(64)}`));
    await person.visit({ asked: false });
    await person.failed(/not the one Lerim was released with/);
  });

  await step(t, () => person.screen, "uv makes the environment from hashed packages, where the person has uv", async () => {
    writeFileSync(person.lock, released);
    await person.screen.button("Retry");
    await person.setUp();
    assert.match(readFileSync(join(person.environment, "pyvenv.cfg"), "utf8"), /^uv = /m);
    const packages = join(person.library, "site-packages");
    const installers = readdirSync(packages).filter((name) => name.endsWith(".dist-info")).map((name) => readFileSync(join(packages, name, "INSTALLER"), "utf8").trim());
    assert.ok(installers.length > 10);
    assert.deepEqual([...new Set(installers)], ["uv"]);
  });

  await step(t, () => person.screen, "what uv made answers", async () => {
    assert.match(await debugInformation(person.screen), /^- version: \d+\.\d+\.\d+/m);
  });

  await step(t, () => person.screen, "an environment whose Python was upgraded under it is made again", async () => {
    // what an upgrade leaves: the packages are where only the former Python looks for them
    renameSync(person.library, join(person.environment, "lib", "python3.0"));
    const made = statSync(join(person.environment, "ready")).mtimeMs;
    await person.visit({ asked: false });
    await until("the environment is made again", () => statSync(join(person.environment, "ready")).mtimeMs > made);
    await person.screen.status(/No candidates to review/);
    assert.equal(existsSync(join(person.environment, "lib", "python3.0")), false);
  });
});

/** Opens the window again, and waits until another sidecar has answered. */
async function again(person) {
  const { machine, screen } = person;
  const first = machine.processes(/-m lerim lsp/);
  await person.visit({ asked: false });
  await until("another sidecar runs", () => machine.processes(/-m lerim lsp/).some((line) => !first.includes(line)));
  await screen.status(/No candidates to review/);
}

/** The text of Lerim: Show Debug Information once it names the sidecar. */
async function debugInformation(screen) {
  await screen.command("Lerim: Show Debug Information");
  return until("the document names the sidecar", async () => {
    const shown = await screen.editorText();
    return /^- version: /m.test(shown) && shown;
  });
}
