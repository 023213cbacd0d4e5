// Ranking after ten rejections: a kind of candidate that the person rejects falls below the cut, and forgetting brings it back.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { markdown, missing } from "./machine.mjs";
import { Panel } from "./panel.mjs";
import { Person } from "./person.mjs";
import { makeRepository } from "./rebuild.mjs";
import { Transcript } from "./records.mjs";
import { step } from "./screen.mjs";
import { JOURNEY, until } from "./until.mjs";

const rules = [
  "Always use uv to install packages, never pip.",
  "Never squash commits when you merge a branch.",
  "Always run the linter before you commit.",
  "Never print secrets in the logs of a job.",
  "Always write the changelog in English.",
  "Never use mocks in the tests of billing.",
  "Always name branches after their issue.",
  "Always answer in short sentences, please.",
  "Never touch the generated files by hand.",
  "Always keep one assertion in each test.",
];

test("ranking after ten rejections", { skip: missing() ?? false, timeout: JOURNEY }, async (t) => {
  const person = new Person("learning", "shop");
  const { machine, screen, root } = person;
  const run = (name, body) => step(t, () => screen, name, body);
  const outcome = async () => JSON.parse(await machine.cli("stats", "--by", "signal", "--json"));
  let minutes = 0;
  let panel;

  /** A session in which the person says this and goes on. */
  const say = (rule) => {
    minutes += 10;
    const talk = new Transcript(machine.claude, root, new Date(Date.UTC(2026, 4, 4, 9, minutes)));
    talk.say(rule, "Understood.");
    talk.say("ok", "Fine.");
  };

  /** Syncs from the palette; what it tells must match. */
  const sync = async (told) => {
    await screen.command("Lerim: Sync");
    await screen.notification(told);
    await screen.clearNotifications();
  };

  before(async () => {
    makeRepository(root, new Map([["src/cart.py", "def total(prices):\n    return sum(prices)\n"]]));
    for (const rule of rules) say(rule);
    person.settings();
    await person.begin();
    await person.work();
  });
  after(() => person.end());

  await run("ten rules that the person typed are proposed", async () => {
    await sync(/10 sessions read, 10 new candidates/);
    panel = await Panel.open(screen);
    await panel.holds(rules.length);
    const { groups, learned_from: learned } = await outcome();
    assert.deepEqual([groups[0].name, groups[0].proposed, groups[0].rejected, learned], ["you typed", 10, 0, 0]);
  });

  await run("the person rejects all ten in the panel", async () => {
    await panel.select(/Always use uv/);
    for (let left = rules.length - 1; left >= 0; left -= 1) {
      await panel.press("r");
      await panel.holds(left);
    }
    await until("nothing waits on disk", () => markdown(root, ".lerim", "review").length === 0);
    const { groups, learned_from: learned } = await outcome();
    assert.deepEqual([groups[0].rejected, learned], [10, 10]);
    await screen.shot("rejected");
  });

  await run("the next rule of the kind is not proposed but left out, and the reason says why", async () => {
    say("Always keep the notes on releases in one place.");
    await sync(/1 session read, 0 new candidates/);
    panel = await Panel.open(screen);
    const shown = await panel.leftOut("Always keep the notes on releases in one place");
    assert.match(shown, /your decisions about ones like it lowered its rank/);
    await screen.shot("left-out");
  });

  await run("after `lerim review forget` the kind is proposed again, and what was rejected stays rejected", async () => {
    assert.match(await machine.cli("review", "forget", "--yes"), /Forgotten: 10 decisions/);
    assert.equal((await outcome()).learned_from, 0);
    say("Always put the notes on deploys in one place.");
    say(rules[0]);
    await sync(/2 sessions read, 1 new candidate/);
    panel = await Panel.open(screen);
    await panel.lists(/notes on deploys/);
    await panel.holds(1);
    await screen.shot("forgotten");
  });
});
