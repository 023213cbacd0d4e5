// Choosing a model: an address that answers, a service whose key goes from the input box to the sidecar's environment and nowhere else.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { missing } from "./machine.mjs";
import { Person } from "./person.mjs";
import { makeRepository } from "./rebuild.mjs";
import { step } from "./screen.mjs";
import { JOURNEY, until } from "./until.mjs";

const key = "sk-of-this-journey-alone";

/** A server of models on this machine; what it was asked. */
async function serve() {
  const asked = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk) => (body += chunk)).on("end", () => {
      asked.push(`${request.method} ${request.url} ${body}`);
      const list = { object: "list", data: [{ id: "tiny", object: "model" }] };
      const answer = { id: "1", object: "chat.completion", model: "tiny", choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "ready" } }], usage: { prompt_tokens: 30, completion_tokens: 1, total_tokens: 31 } };
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(request.method === "GET" ? list : answer));
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, asked, url: `http://127.0.0.1:${server.address().port}/v1` };
}

/** Every file below a folder, as text. */
function texts(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
}

test("choosing a model", { skip: missing() ?? false, timeout: JOURNEY }, async (t) => {
  const person = new Person("choosing", "shop");
  const { screen } = person;
  let models;
  const run = (name, body) => step(t, () => screen, name, body);
  const rows = async () => (await screen.listRows()).join("\n");

  /** Takes the entry of the list that is open. */
  const take = async (entry) => {
    await until(`the list offers ${entry}`, async () => (await rows()).includes(entry));
    await screen.page.locator(".quick-input-widget input.input").fill(entry);
    await until(`the list offers ${entry} alone`, async () => (await rows()).includes(entry) && !(await rows()).includes("without a model;"));
    await screen.page.keyboard.press("Enter");
  };
  /** Types into the box of this title, and takes it. */
  const type = async (title, words) => {
    await screen.page.locator(".quick-input-widget .quick-input-title", { hasText: title }).waitFor();
    await screen.page.locator(".quick-input-widget input.input").fill(words);
    await screen.page.keyboard.press("Enter");
  };
  /** The sidecars that have the key in their environment, of all there are. */
  const withKey = () => {
    const pids = person.machine.processes(/-m lerim lsp/).map((line) => Number.parseInt(line, 10));
    return pids.length === 1 && readFileSync(`/proc/${pids[0]}/environ`, "latin1").includes(`OPENROUTER_API_KEY=${key}`);
  };

  before(async () => {
    models = await serve();
    makeRepository(person.root, new Map([["src/cart.py", "def total(prices):\n    return sum(prices)\n"]]));
    person.settings();
    await person.begin();
    await person.work();
  });
  after(async () => {
    models?.server.close();
    await person.end();
  });

  await run("an address that answers is chosen, and tested with one tiny question", async () => {
    await screen.status(/Model: none/);
    await screen.command("Lerim: Choose Model", { further: true });
    await take("Enter an address");
    await type("Model Address", models.url);
    await type("Model from", "tiny");
    await screen.notification(/openai:tiny answered in .* s \(31 tokens/);
    await screen.shot("answered");
    assert.equal(models.asked.filter((line) => line.startsWith("POST")).length, 1);
    await screen.status(/Model: openai:tiny/);
  });

  await run("the choice is marked among all there is", async () => {
    await screen.command("Lerim: Choose Model", { further: true });
    const text = await until("the list shows the choice", async () => (await rows()).includes("chosen") && rows());
    assert.match(text, /tiny/);
    assert.match(text, /OpenRouter/);
    await screen.shot("choices");
    await screen.page.keyboard.press("Escape");
  });

  await run("a key goes into the secret storage and the sidecar's environment, and into no file of ours", async () => {
    assert.equal(withKey(), false);
    await screen.command("Lerim: Choose Model", { further: true });
    await take("OpenRouter");
    await type("Model from OpenRouter", "openai/gpt-5-nano");
    const box = screen.page.locator(".quick-input-widget input.input");
    await until("the key's box hides what is typed", async () => (await box.getAttribute("type")) === "password");
    await type("Key for OpenRouter", key);
    await screen.notification(/costs a fraction of a cent/);
    await screen.shot("paid");
    await screen.button("Not Now");
    await until("the sidecar began anew with the key", withKey);
    const settings = readFileSync(join(person.machine.data, "Machine", "settings.json"), "utf8");
    assert.match(settings, /"lerim.model.provider": "openrouter"/);
    const written = [...texts(join(person.machine.data, "Machine")), ...texts(join(person.machine.data, "logs")), ...texts(person.machine.lerim), ...texts(person.root)];
    assert.equal(written.filter((text) => text.includes(key)).length, 0);
    await screen.status(/Model: openrouter:openai\/gpt-5-nano/);
  });

  await run("a key that is forgotten leaves the sidecar's environment", async () => {
    await screen.command("Lerim: Delete Model API Key", { further: true });
    await take("OPENROUTER_API_KEY");
    await screen.notification(/OPENROUTER_API_KEY was deleted/);
    await until("the sidecar began anew without the key", () => person.machine.processes(/-m lerim lsp/).length === 1 && !withKey());
    await screen.status(/There is no key for openrouter/);
  });
});
