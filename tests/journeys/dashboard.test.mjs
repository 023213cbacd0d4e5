// The dashboard in a real browser, without an editor: review and undo, search, plots, an answer as it comes, keys, light and dark.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Answering } from "./answering.mjs";
import { barriers } from "./barriers.mjs";
import { markdown } from "./machine.mjs";
import { makeRepository } from "./rebuild.mjs";
import { Transcript } from "./records.mjs";
import { step } from "./screen.mjs";
import { Serving, missing } from "./serving.mjs";
import { JOURNEY, until } from "./until.mjs";

test("a day with the dashboard", { skip: missing() ?? false, timeout: JOURNEY }, async (t) => {
  const serving = new Serving("dashboard", "cart");
  const { machine, screen, root } = serving;
  const model = new Answering([
    { text: "The cache in `src/cache.py` is kept in SQLite.", from: "Keep the cache in src/cache.py in SQLite" },
    { text: "Prices in `src/cart.py` are integer cents.", from: "Always keep the prices in src/cart.py in integer cents" },
  ]);
  const run = (name, body) => step(t, () => screen, name, body);
  const memories = () => ["decisions", "learnings"].flatMap((folder) => markdown(root, ".lerim", "memory", folder));
  const waiting = () => markdown(root, ".lerim", "review").length;
  const said = [];
  let hasDatabase = false;

  before(async () => {
    makeRepository(root, new Map([["src/cart.py", "PRICE = 5\n"], ["src/cache.py", "CACHE = {}\n"]]));
    const talk = new Transcript(machine.claude, root, new Date(Date.now() - 3 * 86_400_000));
    talk.edit("make the price a constant", "src/cart.py", "PRICE = 5", "PRICE = 500", "Done in `src/cart.py`.");
    talk.say("Always keep the prices in src/cart.py in integer cents, never as floats", "I will.");
    talk.say("Keep the cache in src/cache.py in SQLite instead of a dictionary", "Understood.");
    talk.say("Never log <script>alert('x')</script> or what a customer typed in src/cart.py", "I will not.");
    talk.say("thanks, that is all", "You are welcome.");
    await serving.cli("sync");
    await model.start();
    hasDatabase = await serving.startDatabase();
    mkdirSync(machine.lerim, { recursive: true });
    appendFileSync(join(machine.lerim, "config.toml"), `\n[roles.extract]\nprovider = "openai"\nmodel = "tiny"\nbase_url = "${model.url}"\n`);
    await serving.begin();
    serving.page.on("console", (message) => message.type() !== "info" && said.push(`${message.type()}: ${message.text()}`));
    serving.page.on("pageerror", (error) => said.push(`error: ${error.message}`));
  });
  after(async () => {
    model.stop();
    await serving.end();
  });

  await run("the link signs in once and shows what waits", async () => {
    await serving.page.getByRole("heading", { level: 1, name: "Today" }).waitFor();
    await serving.page.getByRole("link", { name: /Review \d+ candidates/ }).waitFor();
    await screen.shot("today");
    assert.ok(waiting() >= 3);
  });

  await run("a candidate is accepted with a key, quotes are asked about once, and undo takes it back", async () => {
    const before = waiting();
    await serving.page.getByRole("link", { name: /integer cents/ }).first().click();
    await serving.page.getByRole("heading", { level: 2, name: /integer cents/ }).waitFor();
    await screen.shot("review");
    assert.equal(await serving.page.evaluate(() => document.activeElement?.id), "candidate-title", "the candidate has the focus");
    await serving.page.keyboard.press("a");
    await serving.page.getByRole("heading", { name: "Share the quotes of memories in git?" }).waitFor();
    await screen.shot("quotes");
    await serving.page.getByRole("button", { name: "Share in git" }).click();
    await serving.page.getByRole("status").getByText(/^Accepted/).waitFor();
    assert.equal(memories().length, 1);
    assert.equal(waiting(), before - 1);
    await serving.page.getByRole("button", { name: /^Undo/ }).click();
    await serving.page.getByRole("status").getByText("Undone.").waitFor();
    assert.equal(memories().length, 0);
    assert.equal(waiting(), before);
  });

  await run("all are accepted and one is edited before", async () => {
    await serving.page.getByRole("link", { name: /SQLite/ }).first().click();
    await serving.page.getByRole("link", { name: "Edit", exact: true }).click();
    await serving.page.locator("textarea[name=body]").fill("Keep the cache in src/cache.py in SQLite, so that it outlives a restart.");
    await screen.shot("edit");
    await serving.page.getByRole("button", { name: "Save and accept" }).click();
    await serving.page.getByRole("status").getByText(/^Accepted/).waitFor();
    while (waiting() > 0) {
      const left = waiting();
      await serving.page.getByRole("button", { name: "Accept", exact: true }).click();
      await until("it no longer waits", () => waiting() < left);
      await serving.page.getByRole("status").getByText(/^Accepted/).waitFor();
    }
    await serving.page.getByText("Nothing waits for review.").waitFor();
    assert.ok(memories().length >= 3);
  });

  await run("a decision about a memory that has changed meanwhile is refused", async () => {
    await serving.open("Memories");
    await serving.page.getByRole("link", { name: /SQLite/ }).click();
    await serving.page.getByRole("heading", { level: 1, name: /SQLite/ }).waitFor();
    await screen.shot("memory");
    const file = memories().map((name) => join(root, ".lerim", "memory", "decisions", name)).find((path) => /restart/.test(readFileSync(path, "utf8")));
    appendFileSync(file, "\nA line by hand.\n");
    await serving.page.getByRole("button", { name: "Archive" }).click();
    await serving.page.getByRole("alert").getByText(/has changed since it was shown/).waitFor();
    assert.match(readFileSync(file, "utf8"), /A line by hand\./);
    await serving.page.getByText("A line by hand.").waitFor();
  });

  await run("search finds memories and turns while one types", async () => {
    await serving.open("Memories");
    await serving.page.getByLabel("Search the memories").pressSequentially("cents");
    await until("only the memory about cents is left", async () => (await serving.page.locator("#results .item").count()) === 1);
    assert.match(serving.page.url(), /q=cents/);
    await screen.shot("search");
    await serving.open("Sessions");
    await serving.page.getByLabel("Search what was said and done").pressSequentially("customer typed");
    await serving.page.locator("#results .snippet").first().waitFor();
    await serving.page.locator("#results .item-title").first().click();
    await serving.page.locator(".turn.found").waitFor();
    assert.match(await serving.page.locator(".turn.found").innerText(), /<script>alert\('x'\)<\/script>/);
    await screen.shot("transcript");
  });

  await run("plots are pictures with a table behind them", async () => {
    await serving.open("Statistics");
    const plot = serving.page.getByRole("img", { name: "Sessions by day" });
    assert.ok(await plot.locator("rect").count() > 0);
    await serving.page.getByText("Table: Sessions by day").click();
    assert.equal(await serving.page.locator(".plot").first().getByRole("rowheader").count(), 1);
    await screen.shot("statistics");
  });

  await run("an answer is shown sentence by sentence, with its sources", async () => {
    await serving.open("Ask");
    await serving.page.getByLabel("Your question about this project").fill("How are the cache and the prices kept?");
    await serving.page.keyboard.press("Enter");
    await serving.page.locator("#answer").getByText("kept in SQLite").waitFor();
    assert.equal(await serving.page.locator("#answer").getByText("integer cents").count(), 0, "the rest is still held back");
    await screen.shot("answer");
    model.release();
    await serving.page.locator("#answer").getByText("integer cents").waitFor();
    await serving.page.locator("#passages .item").first().waitFor();
    await screen.shot("answered");
    await serving.page.locator("#passages .item-title").first().click();
    await serving.page.getByRole("heading", { level: 1 }).waitFor();
  });

  await run("a question after the sign-in has ended says how to sign in", async () => {
    await serving.open("Ask");
    const context = serving.page.context();
    const cookies = await context.cookies();
    await context.clearCookies();
    await serving.page.getByLabel("Your question about this project").fill("How is the cache kept?");
    await serving.page.keyboard.press("Enter");
    await serving.page.locator("#state").getByText("run `lerim dashboard`").waitFor();
    await context.addCookies(cookies);
  });

  await run("the team's page finds what was shared, and shows who approved it and who reviews what was found", async () => {
    if (!hasDatabase) return t.diagnostic("PostgreSQL is not installed: the team's page is left out");
    writeFileSync(join(root, "CODEOWNERS"), "/src/ @ana\n");
    const git = (...args) => execFileSync("git", ["-c", "user.name=Ana", "-c", "user.email=ana@example.org", ...args], { cwd: root, env: machine.environ });
    const cents = markdown(root, ".lerim", "memory", "learnings").find((name) => /cents/.test(name));
    git("add", "CODEOWNERS", join(".lerim", "memory", "learnings", cents));
    git("commit", "-q", "-m", "memory");
    for (const words of ["backfill --model none", "worker --until-done", "share"]) await serving.cli("org", ...words.split(" "));
    await serving.page.getByRole("link", { name: "Team", exact: true }).click();
    await serving.page.getByRole("heading", { level: 1, name: "Team platform" }).waitFor();
    await serving.page.getByLabel("Search the memories of all repositories").fill("integer cents");
    await serving.page.keyboard.press("Enter");
    await serving.page.getByRole("status").getByText("1 memory").waitFor();
    await serving.page.getByText("approved by Ana").waitFor();
    await serving.page.getByRole("region", { name: "Candidates by repository and reviewer" }).getByText("@ana").waitFor();
    await serving.page.getByText(/1 of 1 session/).waitFor();
    const found = [];
    for (const colorScheme of ["light", "dark"]) {
      await serving.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      found.push(...(await barriers(serving.page)).map((line) => `${colorScheme}: ${line}`));
      await screen.shot(`team-${colorScheme}`);
    }
    assert.deepEqual(found, []);
    await serving.page.getByRole("link", { name: "Lerim: all projects" }).click();
    await serving.page.getByRole("heading", { level: 1, name: "Today" }).waitFor();
  });

  await run("no page has a barrier, in light and dark, wide and narrow", async () => {
    const found = [];
    for (const name of ["Today", "Review", "Memories", "Sessions", "Journal", "Ask", "Agents", "Runs", "Statistics"]) {
      await serving.open(name);
      for (const colorScheme of ["light", "dark"]) {
        await serving.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        found.push(...(await barriers(serving.page)).map((line) => `${name}, ${colorScheme}: ${line}`));
        await screen.shot(`${name.toLowerCase()}-${colorScheme}`);
      }
    }
    await serving.page.setViewportSize({ width: 390, height: 800 });
    const broken = [];
    for (const name of ["Agents", "Runs", "Statistics", "Today"]) {
      await serving.open(name);
      const overflow = await serving.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(overflow, 0, `nothing of ${name} is wider than a phone`);
      broken.push(...(await serving.page.evaluate(brokenWords)).map((word) => `${name}: ${word}`));
      await screen.shot(`${name.toLowerCase()}-narrow`);
    }
    assert.deepEqual(found, []);
    assert.deepEqual(broken, [], "a word of a table is on one line");
    // that a stale decision or a browser without a cookie is refused is an error to the browser, too
    assert.deepEqual(said.filter((line) => !/status of (401|409)/.test(line)), [], "the browser had nothing to complain about");
  });
});

/** The words in cells of tables that are broken over several lines; runs in the page. */
function brokenWords() {
  const found = [];
  for (const cell of document.querySelectorAll("th, td")) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      for (const word of texts.currentNode.data.matchAll(/[\p{L}\p{N}]+/gu)) {
        const range = document.createRange();
        range.setStart(texts.currentNode, word.index);
        range.setEnd(texts.currentNode, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map((one) => one.top)).size > 1) found.push(word[0]);
      }
    }
  }
  return found;
}
