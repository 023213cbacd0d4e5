// An installed agent as the model: the first sync offers it, it reads one session, its finds stand beside the rules', then it reads the rest.
import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
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

test("an installed agent as the model", { skip: missing() ?? false, timeout: JOURNEY }, async (t) => {
  const person = new Person("agentmodel", "shop");
  const { machine, screen, root } = person;
  const run = (name, body) => step(t, () => screen, name, body);
  const asked = join(machine.home, "asked.jsonl");
  const calls = () => (existsSync(asked) ? readFileSync(asked, "utf8").trim().split("\n").map((line) => JSON.parse(line)) : []);
  const about = (name) => calls().filter(({ prompt }) => prompt.includes("[[ ## primitives ## ]]") && prompt.includes(quote(name)));
  const rows = async () => (await screen.listRows()).join("\n");
  const review = () => markdown(root, ".lerim", "review");

  before(async () => {
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
  after(() => person.end());

  await run("the first sync says what it found without a model, and offers to choose one", async () => {
    await screen.command("Lerim: Sync");
    await screen.notification(/2 sessions were read without a model/);
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
});
