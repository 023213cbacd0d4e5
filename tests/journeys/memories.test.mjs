// The lives of memories: what changes, replaces and answers them, how they follow the code, how they are kept in order, and what they answer.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Answering } from "./answering.mjs";
import { askQuestions } from "./ask-steps.mjs";
import { barriersInThemes } from "./barriers.mjs";
import { git, markdown, missing } from "./machine.mjs";
import { searchByMeaning, standInForMeaning } from "./meaning-steps.mjs";
import { workInMemoryFile } from "./memory-file-steps.mjs";
import { Panel } from "./reviewpanel.mjs";
import { Person } from "./person.mjs";
import { makeRepository } from "./rebuild.mjs";
import { Transcript } from "./records.mjs";
import { step } from "./screen.mjs";
import { JOURNEY, until } from "./until.mjs";

const day = 24 * 3600 * 1000;
const before3Weeks = new Date(Date.now() - 21 * day);
const cart = `def total(prices):
    return sum(prices)


def discount(price):
    rate = 10
    return price - price * rate // 100
`;
const receipt = `from cart import discount


def receipt(price):
    return f"{discount(price)} due"
`;
const cache = `import json


def load(path):
    with open(path) as file:
        return json.load(file)
`;

test("the lives of memories", { skip: missing() ?? false, timeout: JOURNEY }, async (t) => {
  const person = new Person("memories", "shop");
  const { machine, screen, root } = person;
  const model = new Answering([
    { text: "The cache in `src/cache.py` is kept in SQLite.", from: "Keep the cache in src/cache.py in SQLite" },
    { text: "Prices in `src/cart.py` are integer cents.", from: "Always keep the prices in src/cart.py in integer cents" },
  ]);
  let panel;
  const run = (name, body) => step(t, () => screen, name, body);
  const files = (...names) => markdown(root, ".lerim", "memory", ...names);
  const text = (...names) => readFileSync(join(root, ".lerim", "memory", ...names), "utf8");

  /** A memory as a teammate's commit brings it. */
  const remember = (folder, slug, { title, body, created = before3Weeks, keys = "", references = [] }) => {
    const time = created.toISOString().replace(/\.\d+Z$/, "Z");
    const id = `${time.slice(0, 10).replaceAll("-", "")}-${slug}`;
    const path = join(root, ".lerim", "memory", folder, `${id}.md`);
    mkdirSync(join(path, ".."), { recursive: true });
    const named = references.length > 0 ? `references:\n${references.map((reference) => `  - ${reference}\n`).join("")}` : "";
    writeFileSync(path, `---\nid: ${id}\ntitle: ${JSON.stringify(title)}\ncreated: ${time}\nupdated: ${time}\nsource: manual\nconfidence: 0.8\ntags: [shop]\n${keys}${named}---\n\n${body}\n`);
    utimesSync(path, created, created); // it has lain here since: where nothing tells of a use, disuse begins with the file
    return { id, path };
  };
  const row = (pattern) => screen.viewRow("Memories", pattern);
  const listed = (pattern) => screen.listed("Memories", pattern);
  const unfold = async (pattern) => {
    await listed(pattern);
    await screen.unfold(row(pattern), pattern);
  };
  /** Types over a word of the active editor and saves. */
  const retype = async (word, words) => {
    await screen.page.locator(".editor-instance .view-line span span", { hasText: new RegExp(`^\\s*${word}\\s*$`) }).first().dblclick();
    await screen.page.keyboard.type(words);
    await screen.page.keyboard.press("Escape");
    await screen.page.keyboard.press("Control+s");
    await until("the file is saved", async () => (await screen.page.locator(".tab.active.dirty").count()) === 0);
  };

  before(async () => {
    makeRepository(root, new Map([["src/cart.py", cart], ["src/cache.py", cache], ["src/receipt.py", receipt]]));
    remember("learnings", "retry-send", { title: "Always retry `send` 2 times in src/cart.py", body: "`send` in src/cart.py is retried 2 times.", keys: "kind: preference\n", references: ["src/cart.py"] });
    remember("decisions", "floats", { title: "Keep the prices in src/cart.py in floats, not in integer cents", body: "Prices in `src/cart.py` are floats, not integer cents.", references: ["src/cart.py"] });
    remember("questions", "which-cache", { title: "Should the cache in src/cache.py be kept in Redis or in SQLite?", body: "Redis or SQLite for the cache in `src/cache.py`.", references: ["src/cache.py"] });
    const { id } = remember("learnings", "discount", { title: "`discount` rounds down", body: "`discount` cuts off what is less than a cent.", keys: "kind: pitfall\n", references: ["src/cart.py#discount"] });
    remember("learnings", "load", { title: "`load` reads a whole file at once", body: "Files of the cache are small: `load` reads each at once.", keys: `kind: insight\nrelated:\n  - ${id}\n`, references: ["src/cache.py#load"] });
    remember("learnings", "format", { title: "Run ruff format before every commit", body: "Run `ruff format` on `src` before every commit.", keys: "kind: procedure\n" });
    remember("learnings", "format-again", { title: "Run ruff format before each commit", body: "Run `ruff format` on `src` before each commit.", keys: "kind: procedure\n", created: new Date(before3Weeks.getTime() + day) });
    remember("learnings", "old", { title: "The printer in room 4 is slow", body: "Print on the second floor.", keys: "kind: insight\n", created: new Date(Date.now() - 500 * day) });
    git(root, "add", "-A");
    git(root, "-c", "user.name=A Tester", "-c", "user.email=tester@example.invalid", "commit", "-q", "-m", "Memories");
    const talk = new Transcript(machine.claude, root, new Date(Date.now() - 2 * day));
    talk.say("What does src/cart.py do?", "`total` adds up prices, `discount` takes off the rate.");
    talk.say("Always retry `send` 3 times in src/cart.py", "Three times it is.");
    talk.say("Always keep the prices in src/cart.py in integer cents, not in floats", "Integer cents it is.");
    talk.say("Keep the cache in src/cache.py in SQLite, not in Redis", "The cache is in SQLite then.");
    talk.say("thanks", "Gladly.");
    await model.start();
    person.settings();
    standInForMeaning(machine);
    await person.begin();
    await person.work();
  });
  after(async () => {
    model.stop();
    await person.end();
  });

  await run("the Memories view lists what there is by kind, and the welcome is gone", async () => {
    await screen.page.locator('.activitybar .action-item a[aria-label^="Lerim"]').click();
    await listed(/^Decisions\s*1/);
    await listed(/^Learnings\s*6/);
    await unfold(/^Learnings/);
    await listed(/discount rounds down/);
    await screen.shot("memories");
  });

  await run("what a sync proposes waits on top of the view, and the panel shows the similar memories", async () => {
    await screen.command("Lerim: Sync");
    await screen.notification(/1 session read, 3 new candidates/);
    await screen.clearNotifications();
    await listed(/Waiting for review\s*3/);
    await listed(/Always keep the prices in src\/cart\.py in integer cents.*new/);
    await screen.shot("waiting");
    await screen.row(row(/Always keep the prices in src\/cart\.py in integer cents/), "the panel opens at the candidate", async () => {
      for (const frame of screen.page.frames()) if (/Similar memories/.test(await frame.locator("#review .detail").innerText({ timeout: 500 }).catch(() => ""))) return true;
      return false;
    });
    panel = await Panel.open(screen);
    await panel.select(/Keep the cache/);
    const question = await panel.choose(/Redis or in SQLite\?/);
    assert.match(question.meta, /^question · \d+ % similar$/);
    assert.match(question.body, /Redis or SQLite for the cache/);
    assert.deepEqual(question.answers, ["Answers this", "Same as this", "Replaces this", "Changes this…"]);
    assert.equal(await panel.cutOff(), false);
    assert.deepEqual(await barriersInThemes(person, panel.frame, "similar"), []);
  });

  await run("c changes a memory: its text stands beside the form, and the edited text takes its place", async () => {
    const [learning] = files("learnings").filter((name) => name.includes("retry-send"));
    await panel.select(/Always retry/);
    const { answers } = await panel.choose(/retry send 2 times/);
    assert.deepEqual(answers, ["Same as this", "Replaces this", "Changes this…"]);
    await panel.press("c");
    await panel.editing(/Always retry `send` 3 times/);
    await panel.besideForm(/`send` in src\/cart\.py is retried 2 times/);
    assert.equal(await panel.cutOff(), false);
    await screen.shot("changes");
    await panel.retype("Retry `send` 3 times in src/cart.py");
    await panel.press("Control+Enter");
    await screen.shareQuotes();
    await panel.lists(/Always retry/, false);
    await panel.did(/Changed “Always retry `send` 2 times in src\/cart\.py”/);
    assert.match(text("learnings", learning), /^title: .*Retry `send` 3 times in src\/cart\.py/m);
    assert.doesNotMatch(text("learnings", learning), /2 times/);
  });

  await run("p replaces a memory, w answers a question, and undo opens the question again", async () => {
    await panel.select(/Always keep the prices/);
    await panel.choose(/in floats, not in integer cents/);
    await panel.press("p");
    await panel.did(/Replaced “Keep the prices in src\/cart\.py in floats, not in integer cents” with “Always keep the prices/);
    const [floats] = await until("the old decision is over", () => files("archived", "decisions").length === 1 && files("archived", "decisions"));
    assert.match(text("archived", "decisions", floats), /^superseded_by: .*integer-cents/m);
    const answer = async () => {
      await panel.select(/Keep the cache/);
      await panel.choose(/Redis or in SQLite\?/);
      await panel.press("w");
      await panel.did(/Answered “Should the cache in src\/cache\.py be kept in Redis or in SQLite\?”/);
    };
    await answer();
    const [asked] = await until("the question is over", () => files("archived", "questions").length === 1 && files("archived", "questions"));
    assert.match(text("archived", "questions", asked), /^resolved_by: .*sqlite/m);
    assert.equal(files("questions").length, 0);
    await screen.shot("answered");
    await panel.press("u");
    await panel.did(/Undone/);
    await until("the question is open again", () => files("questions").length === 1 && files("archived", "questions").length === 0);
    await panel.lists(/Keep the cache/);
    await answer();
    await until("the question is over again", () => files("questions").length === 0);
    await unfold(/^Archived or replaced/);
    await listed(/Keep the prices in src\/cart\.py in floats.*superseded/);
    await listed(/Should the cache.*resolved/);
    await screen.shot("over");
  });

  await run("what was replaced is not shown in the source any more; one memory is shown, and the others are a click away", async () => {
    await screen.openFile("src/cart.py");
    const hover = await screen.hover("def", /Always keep the prices in src\/cart\.py in integer cents.*2 more about this/);
    assert.doesNotMatch(hover, /in floats, not|Retry `?send/);
    await screen.shot("hover");
    await screen.hoverLink("2 more about this");
    await until("all three are listed", async () => {
      const rows = (await screen.listRows()).join("\n");
      return [/integer cents/, /send.* 3 times/, /rounds down/].every((title) => title.test(rows));
    });
    await screen.shot("more");
    await screen.page.keyboard.press("Escape");
  });

  await run("a symbol has its memory also in a file that uses it", async () => {
    await screen.openFile("src/receipt.py");
    await screen.hover("discount", /rounds down/);
    await screen.shot("used");
  });

  const named = (word) => files("learnings").find((name) => name.includes(word)).replace(/\.md$/, "");
  await workInMemoryFile(run, screen, `.lerim/memory/learnings/${named("load")}.md`, named("discount"));

  await run("in a memory's file, F12 on a reference leads to its line, and F2 on the id renames the file and every link", async () => {
    const discount = () => files("learnings").find((name) => name.includes("discount"));
    const id = discount().replace(/\.md$/, "");
    await screen.openFile(`.lerim/memory/learnings/${id}.md`);
    await screen.definition(/cart\.py#discount/, "cart.py");
    await screen.statusMessage(/^Ln 5, Col 5$/);
    await screen.openFile(`.lerim/memory/learnings/${id}.md`);
    const name = screen.page.locator(".rename-box input");
    await until("the id can be changed", async () => {
      await screen.endOfLine(/^id:/, 10_000);
      await screen.page.keyboard.press("F2");
      return until("the box is open", () => name.isVisible(), 5000);
    });
    await screen.shot("rename-id");
    await name.fill(`${id}-down`);
    await screen.page.keyboard.press("Enter");
    await until("the file has the new name", () => discount() === `${id}-down.md`);
    await screen.command("File: Save All");
    await until("the id and the link are saved", () => text("learnings", discount()).includes(`id: ${id}-down\n`) && files("learnings").some((one) => text("learnings", one).includes(`  - ${id}-down\n`)));
    await screen.shot("renamed-id");
    assert.doesNotMatch((await screen.notifications()).join("\n"), /Failed to save/);
    assert.equal(files("learnings").filter((name) => name.includes("discount")).length, 1, "no file is left under the old name");
  });

  await run("F12 on the source of a memory opens what was said in its session", async () => {
    const name = files("decisions").find((one) => one.includes("sqlite"));
    await screen.openFile(`.lerim/memory/decisions/${name}`);
    await screen.definition(/^source:/, "What does");
    await until("what was said is shown", async () => /^## You[^]*Keep the cache in src\/cache\.py in SQLite/m.test(await screen.editorText()));
    await screen.shot("said");
  });

  await run("a function renamed in the editor keeps its memory", async () => {
    await screen.openFile("src/cache.py");
    await screen.hover("load", /reads a whole file at once/);
    await retype("load", "load_text");
    const hover = await screen.hover("load_text", /reads a whole file at once/);
    assert.doesNotMatch(hover, /gone|missing since/i);
    await screen.shot("renamed");
  });

  await run("a changed one marks it drifted, and Still True takes the mark away", async () => {
    await screen.openFile("src/cart.py");
    await screen.hover("discount", /rounds down/);
    await retype("10", "25");
    await screen.hover("discount", /rounds down.*drifted|drifted.*rounds down/i);
    await screen.shot("drifted");
    await screen.command("Lerim: Show Memories by Freshness");
    await unfold(/^Drifted\s*1/);
    await listed(/discount rounds down.*drifted/);
    await screen.shot("by-freshness");
    await screen.hover("discount", /drifted/i);
    await screen.hoverLink("Still true");
    await screen.notification(/Marked as still true: .*rounds down/);
    await until("the hover says nothing of a drift", async () => !/drifted/i.test(await screen.hover("discount", /rounds down/)));
    await screen.clearNotifications();
    await screen.command("Lerim: Show Memories by Kind");
  });

  await run("maintain proposes to merge, to archive and to change a reference; what is accepted is undone", async () => {
    await screen.command("Lerim: Find Memories to Merge or Archive");
    const told = await screen.notification(/\d+ new candidates to review \(/);
    await screen.shot("maintained");
    assert.match(told, /1 to merge/);
    assert.match(told, /1 to archive/);
    assert.match(told, /1 with a changed reference/);
    await screen.button("Open Review");
    panel = await Panel.open(screen);
    await panel.select(/ruff format before/);
    await panel.says(/Merges/);
    await panel.says(/Why/);
    await screen.shot("join");
    const learnings = files("learnings").length;
    await panel.press("a");
    await until("two are one", () => files("learnings").length === learnings - 1);
    await panel.press("u");
    await until("they are two again", () => files("learnings").length === learnings && files("archived", "learnings").length === 0);
    await panel.says(/Merges/); // an undo selects what it restored, which would take the next selection back
    await panel.select(/printer in room 4/);
    await panel.says(/archived; it can be restored/);
    await screen.shot("archive");
    await panel.press("a");
    await until("it is put away", () => files("archived", "learnings").length === 1);
    await panel.select(/reads a whole file at once/);
    await panel.says(/src\/cache\.py#load_text/);
    await screen.shot("refer");
    await panel.press("a");
    await until("the reference follows", () => files("learnings").some((name) => text("learnings", name).includes("src/cache.py#load_text")));
    await screen.clearNotifications();
  });

  await run("by hand: a memory is renamed and archived, each undone from its message", async () => {
    await unfold(/^Learnings/);
    await screen.rowAction(row(/discount rounds down/), "Archive Memory", /Archived: .*rounds down/);
    await until("it is put away", () => files("archived", "learnings").some((name) => name.includes("discount")));
    await screen.shot("archived");
    await screen.button("Undo");
    await until("it is back", () => files("learnings").some((name) => name.includes("discount")));
    await screen.clearNotifications();
    const query = screen.page.locator('.quick-input-widget input.input[placeholder^="Choose a memory."]');
    const offered = (words) => screen.page.locator(".quick-input-list .monaco-list-row", { hasText: words });
    await until("only what is meant is offered", async () => {
      // the list closes when something else takes the focus; a person opens it again
      if (!(await query.isVisible())) await screen.command("Lerim: Edit Memory", { further: true });
      await query.fill("", { timeout: 5000 });
      await query.fill("kind:pitfall rounds", { timeout: 5000 });
      return until("the list has it alone", async () => (await offered("").count()) === 1 && (await offered("rounds down").count()) === 1, 5000);
    });
    await screen.page.keyboard.press("Enter");
    await offered("Change the title").click();
    await screen.page.locator(".quick-input-title", { hasText: "Title of the memory" }).waitFor();
    const title = screen.page.locator(".quick-input-widget input.input");
    await until("the title there is can be changed", async () => (await title.inputValue()) === "`discount` rounds down");
    await title.fill("`discount` cuts off less than a cent");
    await title.press("Enter");
    await screen.notification(/Edited: .*cuts off/);
    await listed(/discount cuts off less than a cent/);
    await screen.clearNotifications();
  });

  await run("a file in which git left both sides is a row that joins them", async () => {
    const { path } = remember("learnings", "both", { title: "Count in cents", body: "Cents.", keys: "kind: insight\n" });
    writeFileSync(path, readFileSync(path, "utf8").replace("confidence: 0.8", "<<<<<<< HEAD\nconfidence: 0.8\n=======\nconfidence: 0.9\n>>>>>>> other"));
    await unfold(/^Problems\s*1/);
    const problem = await listed(/both\.md/);
    assert.match(problem, /merge conflict/);
    await screen.command("Lerim: Check Memories");
    await screen.notification(/Lerim: .*error/);
    await screen.button("Show Problems");
    const problems = screen.page.locator(".markers-panel");
    await until("the Problems view lists the conflict at its file", async () => /both\.md[^]*conflict/.test(await problems.innerText()));
    await screen.shot("checked");
    await screen.clearNotifications();
    await screen.command("View: Hide Panel");
    await screen.rowAction(row(/both\.md/), "Resolve Merge Conflict in Memory", /Resolve Merge Conflict in Memory/);
    await screen.shot("merge");
    await screen.pick("Merge both sides of the conflict as shown?", "", "Merge Both Sides");
    await until("the file is one again", () => !readFileSync(path, "utf8").includes("<<<<<<<"));
    await screen.notification(/Merged: Count in cents/);
    await screen.clearNotifications();
  });

  await run("search understands filters", async () => {
    await screen.command("Lerim: Search Memories", { further: true });
    await screen.page.locator('.quick-input-widget input.input[placeholder*="kind: tag: file: is: since:"]').waitFor();
    await screen.pick("Search memories", "is:superseded prices", "in floats, not in integer cents");
    await until("the memory is shown", async () => /superseded_by/.test(await screen.editorText()));
  });

  await searchByMeaning(run, person);

  await askQuestions(run, person, model);

  await run("a file renamed in the explorer takes its references with it", async () => {
    await screen.command("View: Show Explorer");
    const entry = (pattern) => screen.page.locator(".explorer-folders-view .monaco-list-row", { hasText: pattern }).first();
    await screen.unfold(entry(/^\s*src\s*$/), "src");
    const name = screen.page.locator(".explorer-folders-view .monaco-inputbox input");
    await screen.row(entry(/^\s*cart\.py/), "its name can be changed", async () => {
      await screen.page.keyboard.press("F2");
      return name.isVisible();
    });
    await name.fill("basket.py");
    await name.press("Enter");
    await screen.dialog(/Lerim.* wants to make refactoring changes with this file move/);
    await screen.button("OK");
    await screen.page.locator(".tab", { hasText: "basket.py" }).waitFor();
    await screen.command("File: Save All");
    // also in the memory whose tab is still open and which Lerim has changed since
    const moved = (kind, reference = "src/basket.py") => files(kind).some((one) => text(kind, one).includes(`  - ${reference}\n`));
    await until("the references are saved", () => moved("decisions") && moved("learnings") && moved("learnings", "src/basket.py#discount"));
    assert.doesNotMatch((await screen.notifications()).join("\n"), /Failed to save/);
    await screen.shot("moved-file");
    await screen.clearNotifications();
  });
});
