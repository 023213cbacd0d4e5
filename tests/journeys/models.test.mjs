// The editor's own model, which another extension registers: candidates come in window by window, cancel stops, a model that goes is survived.
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { markdown, missing, repository } from "./machine.mjs";
import { Panel } from "./panel.mjs";
import { Person } from "./person.mjs";
import { makeRepository } from "./rebuild.mjs";
import { Transcript } from "./records.mjs";
import { step } from "./screen.mjs";
import { JOURNEY, until } from "./until.mjs";

const filler = "The importer reads rows and hands them on to the next one. ".repeat(60);
const quote = (name) => `amounts of \`${name}\` are kept in cents by agreement with billing`;
const title = (name) => `\`${name}\` holds cents in \`src/cart.py\``;
const item = (name) => ({
  primitive: "decision", title: title(name), body: `\`${name}\` in \`src/cart.py\` holds cents, as agreed with billing.`,
  confidence: 0.8, tags: [], kind: null, evidence: { quote: quote(name) }, references: ["src/cart.py"],
});
const names = ["Price", "Total", "Refund", "Voucher", "Discount", "Postage"];

test("the editor's own model", { skip: missing() ?? false, timeout: JOURNEY }, async (t) => {
  const person = new Person("models", "shop");
  const { machine, screen, root } = person;
  const run = (name, body) => step(t, () => screen, name, body);
  const folder = join(machine.home, "model");
  const review = () => markdown(root, ".lerim", "review");
  let script = { models: ["scripted"], items: names.map(item), held: [] };

  /** Changes what the model does, at once and whole. */
  const play = (changes) => {
    script = { ...script, ...changes };
    writeFileSync(`${folder}.new`, JSON.stringify(script));
    renameSync(`${folder}.new`, join(folder, "script.json"));
  };
  const told = (happened) => {
    const file = join(folder, "told.jsonl");
    return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line)).filter((line) => line.happened === happened) : [];
  };
  const asked = (name) => told("asked").filter((line) => line.asked.includes(title(name))).length;
  /** A session in which the rules find nothing, long enough for a window each. */
  const talk = (...about) => {
    const transcript = new Transcript(machine.claude, root);
    for (const name of about) transcript.say(`In src/cart.py ${quote(name)}, whatever the form says. ${filler}`, "Noted.");
    transcript.say("ok", "Gladly.");
  };

  before(async () => {
    makeRepository(root, new Map([["src/cart.py", "def total(prices):\n    return sum(prices)\n"]]));
    mkdirSync(folder, { recursive: true });
    mkdirSync(machine.lerim, { recursive: true });
    play({});
    writeFileSync(join(machine.lerim, "config.toml"), "[roles.extract]\nmax_window_tokens = 1000\nwindow_overlap_tokens = 0\n");
    talk("Price", "Total", "Refund");
    person.settings({ "lerim.model.provider": "editor", "lerim.extract.gate": "all" });
    // before anything is installed: the first installation takes up what lies in the folder, later ones do not
    cpSync(join(repository, "tests/journeys/model-extension"), join(machine.root, "extensions", "journeys.scripted-model-0.0.1"), { recursive: true });
    await person.begin();
    await person.work();
    await until("the model is registered", () => told("registered").length > 0);
  });
  after(() => person.end());

  await run("Choose Model lists what the editor offers, and marks it", async () => {
    await screen.choosesModel(/Scripted[^]*journeys[^]*chosen/);
  });

  await run("candidates come in window by window", async () => {
    play({ held: [title("Total"), title("Refund")] });
    await screen.command("Lerim: Sync");
    await until("the first window's candidate is there, and the others are still asked", () => review().length === 1 && asked("Total") > 0 && asked("Refund") > 0);
    const panel = await Panel.open(screen);
    await panel.holds(1);
    await screen.shot("first-window");
    play({ held: [title("Refund")] });
    await panel.holds(2);
    await screen.shot("second-window");
    play({ held: [] });
    await panel.holds(3);
    await screen.notification(/3 new candidates/);
    await screen.shot("found");
    await panel.select(/Refund/);
    assert.match(await panel.text(), /amounts of `Refund` are kept in cents/);
    await screen.shot("review");
    await screen.clearNotifications();
  });

  await run("cancel stops what the model was asked, and the next sync asks only what is open", async () => {
    play({ held: [title("Discount")] });
    talk("Voucher", "Discount");
    await screen.command("Lerim: Sync");
    await until("one window is answered and one is asked", () => review().length === 4 && asked("Discount") > 0);
    await screen.shot("asking");
    await screen.button("Cancel");
    await until("the model was told", () => told("cancelled").some((line) => line.asked.includes(title("Discount"))));
    await screen.notification(/Sync cancelled/);
    await until("the job is gone", () => machine.processes(/-m lerim worker/).length === 0);
    assert.equal(review().length, 4, "what was found is kept");
    await screen.shot("cancelled");
    play({ held: [] });
    const before = asked("Voucher");
    await screen.clearNotifications();
    await screen.command("Lerim: Sync");
    await until("the rest is found", () => review().length === 5);
    await screen.notification(/new candidate/);
    assert.equal(asked("Voucher"), before, "an answered window is not asked again");
    await screen.clearNotifications();
  });

  await run("a model that is taken away in the middle is survived, and told", async () => {
    play({ held: [title("Postage")] });
    talk("Postage");
    await screen.command("Lerim: Sync");
    await until("the window is asked", () => asked("Postage") > 0);
    play({ models: [] });
    await screen.notification(/removed the model/);
    await screen.shot("gone");
    assert.equal(review().length, 5, "what was found is kept");
    await screen.clearNotifications();
    play({ models: ["scripted"], held: [] });
    await until("the editor offers the model again", async () => {
      await screen.command("Lerim: Sync");
      return review().length === 6;
    });
  });
});
