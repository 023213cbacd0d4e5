import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import * as protocol from "../../extension/src/protocol";
import { Context } from "../../extension/src/sidecar/context";
import { clients, type LanguageClient } from "./fakes/languageclient";
import { access, FakeModel, offer } from "./fakes/models";
import { FakeContext, FakeSecrets, present } from "./fakes/sidecar";
import { act, CancellationTokenSource, configured, shown } from "./fakes/vscode";

let home: string;
let context: Context;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "lerim-context-"));
  clients.length = 0;
  configured.set("python", "/env/bin/python");
  const { globalState } = new FakeContext().extension;
  const extension = { globalState, secrets: new FakeSecrets(), globalStorageUri: { fsPath: home }, extensionPath: "/extension", languageModelAccessInformation: access };
  context = new Context(extension as never);
});

afterEach(async () => {
  await context.stop();
  context.dispose();
  rmSync(home, { recursive: true });
});

async function started(): Promise<LanguageClient> {
  await context.ensureStarted();
  return present(clients[0]);
}

test("a command waits while the background process, which has ended unexpectedly, starts again by itself", async () => {
  const client = await started();
  client.crash();
  const answer = context.request(protocol.agents, { root: null });
  client.startAgain();
  await answer;
  expect([clients.length, client.asked.at(-1)]).toEqual([1, protocol.agents.method]);
});

test("the status bar says that the background process starts, and restarts only where it had run", async () => {
  const item = present(shown.statusItems.at(-1));
  const told: unknown[] = [];
  context.onRunningChanged(() => told.push(item.tooltip));
  const client = await started();
  expect(told).toEqual(["Lerim: starting", "Lerim: starting"]);
  client.crash();
  expect(item.tooltip).toBe("Lerim: restarting");
  client.startAgain();
});

test("where Lerim is turned off, a command does not send the person to Restart", async () => {
  configured.set("enabled", false);
  await context.reloadSettings();
  await expect(context.request(protocol.agents, { root: null })).rejects.toThrow("Lerim is turned off by the setting lerim.enabled.");
  configured.delete("enabled");
});

test("the background process is told that the commands in its links are this extension's", async () => {
  const client = await started();
  expect(client.capabilities).toEqual({ experimental: { lerimCommands: true } });
});

test("a folder that is added while the background process starts does not start it anew", async () => {
  mkdirSync(join(home, ".git"));
  act.folders(home);
  const first = context.ensureStarted();
  await context.startForNewFolders();
  await first;
  present(clients[0]).crash();
  await context.startForNewFolders();
  expect(clients).toHaveLength(1);
  await present(clients[0]).stop();
  await context.startForNewFolders();
  expect(clients).toHaveLength(2);
});

test("what the background process asked the editor's model is stopped when it ends", async () => {
  const model = new FakeModel("copilot", "gpt");
  model.answer = () => new Promise(() => undefined);
  offer.set(model);
  const client = await started();
  const answer = client.handlers.get(protocol.askModel.method)?.({ model: "copilot/gpt", system: "", prompt: "x", maxTokens: null, explicit: true, token: "" }, new CancellationTokenSource().token);
  await expect.poll(() => model.asked.length).toBe(1);
  client.crash();
  expect(await answer).toMatchObject({ why: "cancelled" });
});
