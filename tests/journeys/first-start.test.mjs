// A fresh profile: the packaged extension makes its own environment, answers, and uses that environment again.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Machine, missing, repository } from "./machine.mjs";
import { makeRepository } from "./rebuild.mjs";
import { Screen, step } from "./screen.mjs";
import { until } from "./until.mjs";

const skip = missing() ?? false;

test("first start", { skip, timeout: 300_000 }, async (t) => {
  let machine, screen, address, root;
  const environments = () => join(machine.data, "User", "globalStorage", "lerim.lerim", "env");
  const lock = createHash("sha256").update(readFileSync(join(repository, "requirements.lock"))).digest("hex").slice(0, 16);

  before(async () => {
    machine = new Machine();
    screen = new Screen("first-start");
    root = machine.folder("project");
    makeRepository(root, new Map([["app.py", "def main():\n    return 1\n"]]));
    machine.settings({});
    await machine.install();
    address = await machine.start();
    await screen.open(machine.environ);
  });
  after(async () => {
    await screen?.close();
    await machine?.close();
  });

  await step(t, () => screen, "the environment is made with progress, and nothing is left half-made", async () => {
    await screen.visit(address, root);
    await screen.notification(/Setting up Lerim/, 60);
    await screen.notification(/Setting up Lerim.*Installing packages/, 60);
    await screen.shot("setting-up");
    const folder = join(environments(), lock);
    await until("the environment is marked as whole", () => existsSync(join(folder, "ready")), 180);
    await until("the sidecar runs from it", () => machine.processes(/-m lerim lsp/).some((line) => line.includes(folder)), 60);
    await screen.status(/No candidates wait/);
  });

  await step(t, () => screen, "Debug Information says what runs", async () => {
    await screen.command("Lerim: Debug Information");
    const text = await until("the document names the sidecar", async () => {
      const shown = await screen.editorText();
      return /^- version: /m.test(shown) && shown;
    }, 60);
    await screen.shot("debug");
    assert.match(text, /^- Extension: \d+\.\d+\.\d+ at /m);
    assert.match(text, /^- version: \d+\.\d+\.\d+/m);
    assert.match(text, /^- python: 3\.\d+/m);
    assert.match(text, /^- Editor: code-server 1\.139\./m);
    assert.match(text, /trusted: true/);
  });

  await step(t, () => screen, "nothing was written into the repository", () => {
    assert.equal(existsSync(join(root, ".lerim")), false);
  });

  await step(t, () => screen, "the second start uses the environment directly", async () => {
    const ready = join(environments(), lock, "ready");
    const made = statSync(ready).mtimeMs;
    const first = machine.processes(/-m lerim lsp/);
    await screen.visit(address, root, { asked: false });
    await until("another sidecar runs", () => machine.processes(/-m lerim lsp/).some((line) => !first.includes(line)), 60);
    await screen.status(/No candidates wait/);
    await screen.command("Lerim: Debug Information");
    await until("the document names the sidecar", async () => /^- version: /m.test(await screen.editorText()), 60);
    assert.equal(statSync(ready).mtimeMs, made);
    assert.doesNotMatch((await screen.notifications()).join("\n"), /Setting up Lerim/);
  });
});
