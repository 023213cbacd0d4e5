// Choosing a model: the first sync offers an installed agent, which reads one session and then the rest; an address that answers; a
// service whose key goes from the input box to the sidecar's environment and nowhere else.
import assert from "node:assert/strict";
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { markdown, missing } from "./machine.mjs";
import { Person } from "./person.mjs";
import { makeRepository } from "./rebuild.mjs";
import { Transcript } from "./records.mjs";
import { step } from "./screen.mjs";
import { JOURNEY, until } from "./until.mjs";

const filler = "The importer reads rows and hands them on to the next one. ".repeat(20);
const quote = (name) => `amounts of \`${name}\` are kept in cents by agreement with billing`;
const title = (name) => `\`${name}\` holds cents in \`src/cart.py\``;
const names = ["Price", "Total"];

/** A program that is called as Claude Code is: it finds in a prompt what was said of each name, and writes down that it was asked. */
const program = (asked) => `#!/usr/bin/env node
const { appendFileSync } = require("node:fs");
let prompt = "";
process.stdin.setEncoding("utf8").on("data", (part) => (prompt += part)).on("end", () => {
  appendFileSync(${JSON.stringify(asked)}, JSON.stringify({ argv: process.argv.slice(2), cwd: process.cwd(), prompt }) + "\\n");
  const items = ${JSON.stringify(names)}.filter((name) => prompt.includes("amounts of \`" + name + "\`")).map((name) => ({
    primitive: "decision", title: "\`" + name + "\` holds cents in \`src/cart.py\`", body: "\`" + name + "\` in \`src/cart.py\` holds cents, as agreed with billing.",
    confidence: 0.8, tags: [], kind: null, evidence: { quote: "amounts of \`" + name + "\` are kept in cents by agreement with billing" }, references: ["src/cart.py"],
  }));
  const result = "[[ ## reasoning ## ]]\\nbecause\\n\\n[[ ## primitives ## ]]\\n" + JSON.stringify(items) + "\\n\\n[[ ## completed ## ]]\\n";
  console.log(JSON.stringify({ type: "result", subtype: "success", is_error: false, result, usage: { input_tokens: 900, output_tokens: 40 } }));
});
`;

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
  const { machine, screen, root } = person;
  let models;
  const run = (name, body) => step(t, () => screen, name, body);
  const asked = join(machine.home, "asked.jsonl");
  const calls = () => (existsSync(asked) ? readFileSync(asked, "utf8").trim().split("\n").map((line) => JSON.parse(line)) : []);
  const about = (name) => calls().filter(({ prompt }) => prompt.includes("[[ ## primitives ## ]]") && prompt.includes(quote(name)));
  const rows = async () => (await screen.listRows()).join("\n");
  const review = () => markdown(root, ".lerim", "review");

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
    const pids = machine.processes(/-m lerim lsp/).map((line) => Number.parseInt(line, 10));
    return pids.length === 1 && readFileSync(`/proc/${pids[0]}/environ`, "latin1").includes(`OPENROUTER_API_KEY=${key}`);
  };

  before(async () => {
    models = await serve();
    const folder = machine.folder("home", ".local", "bin");
    writeFileSync(join(folder, "claude"), program(asked));
    chmodSync(join(folder, "claude"), 0o755);
    makeRepository(root, new Map([["src/cart.py", "def total(prices):\n    return sum(prices)\n"]]));
    for (const [number, name] of names.entries()) {
      const transcript = new Transcript(machine.claude, root, new Date(`2026-05-0${4 + number}T09:00:00Z`));
      transcript.say(`In src/cart.py ${quote(name)}, whatever the form says. ${filler}`, "Noted.");
      transcript.say("ok", "Gladly.");
      transcript.say("thanks", "You are welcome.");
    }
    person.settings({ "lerim.extract.gate": "all" });
    await person.begin();
    await person.work();
  });
  after(async () => {
    models?.server.close();
    await person.end();
  });

  await run("the first sync says what it found without a model, and offers to choose one", async () => {
    await screen.command("Lerim: Sync");
    await screen.notification(/2 sessions read.*With a model, Lerim usually finds more/);
    await screen.shot("offered");
    assert.equal(calls().length, 0, "nothing is started before it is chosen");
    await screen.button("Choose Model");
    await until("Claude Code is offered with what it is paid with", async () => /Claude Code[^]*uses your Claude plan/.test(await rows()));
    await screen.shot("choices");
  });

  await run("one choice lets it read one session, and shows its finds beside those of the rules", async () => {
    await screen.page.locator(".quick-input-widget input.input").fill("Claude Code");
    await until("the list offers Claude Code alone", async () => !(await rows()).includes("without a model;"));
    await screen.page.keyboard.press("Enter");
    await screen.dialog(/Lerim found 0 candidates without a model, and claude-code:sonnet found 1 more/);
    const text = await screen.page.locator(".monaco-dialog-box").innerText();
    assert.ok(names.some((name) => text.includes(title(name))), text);
    assert.match(text, /1 more session is waiting/);
    assert.equal(review().length, 0, "a trial proposes nothing");
    assert.equal(calls().length, 1);
    const [{ argv, cwd }] = calls();
    assert.ok(argv.includes("--tools") && argv.includes("--no-session-persistence"));
    assert.equal(cwd, join(machine.lerim, "agents", "claude-code"));
    assert.deepEqual(readdirSync(cwd), []);
    await screen.shot("tried");
  });

  await run("then it reads the rest, and the tried session is not asked again", async () => {
    await screen.button("Read the Rest");
    await until("both are proposed", () => review().length === 2);
    await screen.notification(/2 new candidates/);
    await screen.shot("read");
    for (const name of names) assert.equal(about(name).length, 1, `${name} was asked about once`);
    await screen.status(/Model: claude-code:sonnet/);
    const settings = readFileSync(join(machine.data, "Machine", "settings.json"), "utf8");
    assert.match(settings, /"lerim.model.provider": "claude-code"/);
  });

  await run("an address that answers is chosen, and tested with one tiny question", async () => {
    await screen.clearNotifications();
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
    const settings = readFileSync(join(machine.data, "Machine", "settings.json"), "utf8");
    assert.match(settings, /"lerim.model.provider": "openrouter"/);
    const written = [...texts(join(machine.data, "Machine")), ...texts(join(machine.data, "logs")), ...texts(machine.lerim), ...texts(root)];
    assert.equal(written.filter((text) => text.includes(key)).length, 0);
    await screen.status(/Model: openrouter:openai\/gpt-5-nano/);
  });

  await run("a key that is forgotten leaves the sidecar's environment", async () => {
    await screen.command("Lerim: Delete Model API Key", { further: true });
    await take("OPENROUTER_API_KEY");
    await screen.notification(/OPENROUTER_API_KEY was deleted/);
    await until("the sidecar began anew without the key", () => machine.processes(/-m lerim lsp/).length === 1 && !withKey());
    await screen.status(/There is no key for openrouter/);
  });
});
