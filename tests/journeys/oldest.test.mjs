// The oldest editor that the manifest allows, VS Code 1.100: install, sync, the transcript, accept, hover and lens.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { markdown, missing } from "./machine.mjs";
import { Panel } from "./panel.mjs";
import { Person } from "./person.mjs";
import { makeRepository } from "./rebuild.mjs";
import { Transcript } from "./records.mjs";
import { step } from "./screen.mjs";
import { JOURNEY, until } from "./until.mjs";

test("the oldest editor", { skip: missing() ?? false, timeout: JOURNEY }, async (t) => {
  const person = new Person("oldest", "shop", { editor: process.env.LERIM_EDITOR_OLDEST });
  const { machine, screen, root } = person;
  const run = (name, body) => step(t, () => screen, name, body);

  before(async () => {
    makeRepository(root, new Map([["src/cart.py", "def total(prices):\n    return sum(prices)\n"]]));
    const talk = new Transcript(machine.claude, root);
    talk.edit("add up the prices", "src/cart.py", "return sum(prices)", "return float(sum(prices))", "`total` in `src/cart.py` gives a float now.");
    talk.say("No, always count money in integer cents in src/cart.py, never in floats", "Understood: integer cents.");
    talk.say("thanks", "You are welcome.");
    person.settings();
    await person.begin();
    await person.work();
  });
  after(() => person.end());

  await run("what the person said is found, accepted and shown in the hover and the lens", async () => {
    await screen.command("Lerim: Sync");
    await screen.notification(/1 session read, 1 new candidate/);
    const panel = await Panel.open(screen);
    await panel.select(/cents/);
    await screen.shot("candidate");
    await panel.press("o");
    await until("the transcript is shown at the turn", async () => (await screen.turnText()).includes("integer cents"));
    await screen.shot("turn");
    await (await Panel.open(screen)).select(/cents/);
    await panel.press("a");
    await screen.shareQuotes();
    await until("the memory is on disk", () => markdown(root, ".lerim", "memory", "learnings").length === 1);
    await screen.openFile("src/cart.py");
    await screen.lens(/^Lerim: 1 preference$/);
    const text = await screen.hover("def", /integer cents/);
    assert.match(text, /\(the user\)/);
    await screen.shot("hover");
  });
});
