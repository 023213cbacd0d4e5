// Many candidates at once: the sessions of another folder are taken, marked candidates are accepted, old ones dismissed, all rejected. Ranking after
// ten rejections: a kind of candidate that the person rejects falls below the cut, and forgetting brings it back.
import assert from "node:assert/strict";
import { readFileSync, renameSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { barriers } from "./barriers.mjs";
import { markdown, missing } from "./machine.mjs";
import { Panel } from "./reviewpanel.mjs";
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
  const person = new Person("many-candidates", "shop");
  const { machine, screen, root } = person;
  const run = (name, body) => step(t, () => screen, name, body);
  const outcome = async () => JSON.parse(await machine.cli("stats", "--by", "signal", "--json"));
  let minutes = 0;
  let panel;

  const gone = join(machine.root, "before", "shop");
  const waiting = () => markdown(root, ".lerim", "review");
  /** A candidate's file as it was written at `time`, with another text. */
  const rewrite = (name, time, change = (text) => text) => {
    const path = join(root, ".lerim", "review", name);
    writeFileSync(`${path}.new`, change(readFileSync(path, "utf8")));
    utimesSync(`${path}.new`, time, time);
    renameSync(`${path}.new`, path);
  };
  const memories = () => ["decisions", "learnings"].flatMap((folder) => markdown(root, ".lerim", "memory", folder));
  const row = (pattern) => screen.viewRow("Memories", pattern);

  /** A session in which the person says this and goes on. */
  const say = (rule, folder = root) => {
    minutes += 10;
    const talk = new Transcript(machine.claude, folder, new Date(Date.UTC(2026, 4, 4, 9, minutes)));
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
    for (const rule of rules) say(rule, gone);
    person.settings();
    await person.begin();
    await person.work();
  });
  after(() => person.end());

  await run("the welcome's button syncs, and as nothing ran here it offers the sessions of the folder where the repository was", async () => {
    await screen.page.locator('.activitybar .action-item a[aria-label^="Lerim"]').click();
    const welcome = screen.page.locator(".sidebar .welcome-view-content", { hasText: "There are no memories yet" });
    await welcome.getByRole("button", { name: "Sync" }).click();
    const offer = await screen.notification(/10 sessions ran in .*: use them here\?/);
    assert.ok(offer.includes(gone), offer);
    await screen.shot("offered");
    await screen.button("Use Them");
    await screen.notification(/10 sessions read, 10 new candidates/);
    await screen.clearNotifications();
    panel = await Panel.open(screen);
    await panel.holds(rules.length);
    const { groups, learned_from: learned } = await outcome();
    assert.deepEqual([groups[0].name, groups[0].proposed, groups[0].rejected, learned], ["you typed", 10, 0, 0]);
  });

  await run("the filter narrows the list, and letters typed there decide nothing", async () => {
    await panel.press("Control+f");
    await panel.filter("never");
    await panel.holds(rules.filter((rule) => /never/i.test(rule)).length);
    assert.equal(waiting().length, rules.length);
    await screen.shot("filtered");
    await panel.press("Escape");
    await panel.holds(rules.length);
  });

  await run("what is marked is accepted together after one question, and undo brings back all of it", async () => {
    await panel.select(/Always use uv/);
    for (const key of ["Space", "j", "Space"]) await panel.press(key);
    assert.deepEqual(await barriers(panel.frame), []);
    await panel.decideMarked("Accept 2 marked", /Accept 2 candidates\?/);
    await screen.shareQuotes();
    await panel.holds(rules.length - 2);
    await until("two memories are on disk", () => memories().length === 2);
    await panel.did(/8 candidates left/);
    await screen.shot("accepted-marked");
    await panel.press("u");
    await panel.holds(rules.length);
    await until("the memories are gone again", () => memories().length === 0);
    await screen.shot("undone");
  });

  await run("what has waited for more than 30 days is folded away and dismissed together, and undo brings it back", async () => {
    for (const name of waiting().filter((one) => /squash|changelog/.test(one))) rewrite(name, new Date(Date.now() - 40 * 24 * 3600 * 1000));
    await panel.holds(rules.length - 2);
    await panel.says(/Show 2 older than 30 days/);
    await screen.shot("older");
    await panel.decideMarked("Dismiss 2 older", /Reject 2 candidates\?/);
    await until("they are gone", () => waiting().length === rules.length - 2);
    await panel.press("u");
    await panel.holds(rules.length);
  });

  await run("a reference that is not found is said before anything is accepted, with the place it may mean", async () => {
    const name = waiting().find((one) => /mocks/.test(one));
    rewrite(name, new Date(), (text) => text.replace(/^tags:/m, "references:\n  - src/prices.py#total\ntags:"));
    await panel.select(/mocks/);
    await panel.says(/src\/prices\.py#total ⚠ not found\. You can accept this now and correct it later\./);
    await screen.shot("not-found");
    assert.equal(await panel.frame.getByRole("button", { name: "Use src/cart.py#total" }).isVisible(), true);
  });

  await run("all that are shown are rejected after one question, and come back, for the person has not looked at each", async () => {
    await panel.decideMarked("Reject all 10 shown", /Reject 10 candidates\?/);
    await panel.holds(0);
    await until("nothing waits on disk", () => waiting().length === 0);
    assert.equal((await outcome()).learned_from, 0);
    await panel.press("u");
    await panel.holds(rules.length);
  });

  await run("the person rejects all ten in the panel, one after the other", async () => {
    await panel.select(/Always use uv/);
    for (let left = rules.length - 1; left >= 0; left -= 1) {
      await panel.press("r");
      await panel.holds(left);
    }
    await until("nothing waits on disk", () => waiting().length === 0);
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

  await run("a candidate is rejected and accepted on its row in the tree", async () => {
    await screen.listed("Memories", /notes on deploys/);
    await screen.rowAction(row(/notes on deploys/), "Reject", /Rejected/);
    await until("it is gone", () => waiting().length === 0);
    await screen.button("Undo");
    await until("it is back", () => waiting().length === 1);
    await screen.clearNotifications();
    await screen.listed("Memories", /notes on deploys/);
    await screen.rowAction(row(/notes on deploys/), "Accept", /Accepted/);
    await until("the memory is on disk", () => memories().some((name) => /deploys/.test(name)) && waiting().length === 0);
    await screen.shot("row-accepted");
    await screen.clearNotifications();
  });

  await run("whoever works in a terminal and never types in the editor gets candidates", async () => {
    person.settings({ "lerim.idleSeconds": 1 });
    say("Never deploy on a Friday afternoon.");
    await until("the candidate is on disk", () => waiting().length === 1);
    await screen.status(/1 candidate to review/);
    await screen.listed("Memories", /deploy on a Friday/);
    await screen.shot("terminal");
  });
});
