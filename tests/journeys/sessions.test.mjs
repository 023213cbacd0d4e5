// One repository, four agents: their sessions in one list, found, opened at a turn, learned from; and a store that is broken.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { brokenOpenCode, codex, copilot, gemini } from "./agents.mjs";
import { barriersInThemes } from "./barriers.mjs";
import { markdown, missing } from "./machine.mjs";
import { Person } from "./person.mjs";
import { makeRepository } from "./rebuild.mjs";
import { Transcript } from "./records.mjs";
import { step } from "./screen.mjs";
import { JOURNEY, until } from "./until.mjs";

const hostile = "[click me](command:workbench.action.terminal.new) <b>bold</b> \u202Edesrever\u202C";

test("sessions of many agents", { skip: missing() ?? false, timeout: JOURNEY }, async (t) => {
  const person = new Person("sessions", "shop");
  const { machine, screen, root } = person;
  const foreign = machine.folder("work", "foreign");
  const run = (name, body) => step(t, () => screen, name, body);
  const sideBar = async () => {
    await screen.page.locator('.activitybar .action-item a[aria-label^="Lerim"]').click();
    await screen.page.locator('.pane-header[aria-label^="Sessions"]').waitFor();
    await fold("Memories", false); // its rows are another journey's; these need the room
  };
  const memories = () => markdown(root, ".lerim", "memory", "learnings");
  const viewer = () => screen.frame("#transcript .heading");
  const target = (pattern) => until(`the viewer stands at ${pattern}`, async () => pattern.test(await screen.turnText()));

  /** Opens or closes a view of the side bar. */
  const fold = async (view, open) => {
    const header = screen.page.locator(`.pane-header[aria-label^="${view}"]`);
    if ((await header.getAttribute("aria-expanded")) !== String(open)) await header.locator(".title").click();
    await until(`${view} is ${open ? "open" : "closed"}`, async () => (await header.getAttribute("aria-expanded")) === String(open));
  };

  before(async () => {
    makeRepository(root, new Map([["src/cart.py", "def total(prices):\n    return sum(prices)\n"]]));
    makeRepository(foreign, new Map([["a.py", "a = 1\n"]]));
    const talk = new Transcript(machine.claude, root);
    talk.edit("add up the prices", "src/cart.py", "return sum(prices)", "return float(sum(prices))", "`total` in `src/cart.py` gives a float now.");
    talk.say("No, always count money in integer cents in src/cart.py, never in floats", "Understood: integer cents.");
    talk.say("thanks", "You are welcome.");
    codex(machine.home, root, [
      { prompt: "Run the tests of the cart", command: "pytest tests/test_cart.py", code: 1, output: "E  AssertionError: 3 != 4\n1 failed", answer: "One test fails: `total` rounds twice." },
      { prompt: "No, never round in src/cart.py, round only where a price is printed", command: "pytest tests/test_cart.py", output: "4 passed", answer: "Rounding is gone from `src/cart.py`." },
      { prompt: `Explain it once more: ${hostile}\n\n## Where\n\n- **What** is in src\\cart.py and __init__.py?\n- \`src/cart.py\` is the one`, answer: `What is rounded:\n\n\`\`\`python\nprint(round(total, 2))\n\`\`\`\n\n${hostile}${"\n\nNothing else is rounded in this file.".repeat(60)}` },
      { prompt: "thanks", command: "git log", output: "nothing more\n".repeat(40), answer: "You are welcome." },
    ], new Date());
    gemini(machine.home, root, [
      { prompt: "Which discounts are there?", answer: "A voucher and a bulk discount." },
      { prompt: "Always apply the voucher before the bulk discount in src/cart.py", answer: "The voucher comes first now." },
      { prompt: "thanks", answer: "Gladly." },
    ], new Date("2026-05-06T10:00:00Z"));
    copilot(machine.home, root, [
      { prompt: "Write a changelog for the cart", answer: "Done." },
      { prompt: "From now on run ruff format before every commit", answer: "I will." },
      { prompt: "bye", answer: "Bye." },
    ], new Date("2026-05-06T11:00:00Z"));
    for (let number = 0; number < 30; number += 1) {
      const other = new Transcript(machine.claude, foreign, new Date(Date.UTC(2026, 3, 1 + (number % 10), 9, number)));
      other.say(`look at part ${number} ${"and once more ".repeat(20)}`, "There is nothing to say about it.");
    }
    const long = new Transcript(machine.claude, foreign, new Date("2026-04-20T09:00:00Z"));
    for (let number = 0; number < 900; number += 1) long.say(`Question ${number} of many`, `Answer ${number}. ${"It says the same at some length. ".repeat(140)}`);
    brokenOpenCode(machine.home);
    person.settings();
    await person.begin();
    await person.work();
  });
  after(() => person.end());

  await run("before the first sync the view says what to do, and does it", async () => {
    await sideBar();
    await until("the welcome offers a sync", async () => /No sessions of this window's repositories/.test(await screen.page.locator(".sidebar").innerText()));
    await screen.shot("welcome");
    await screen.page.locator(".sidebar .welcome-view-content").getByRole("button", { name: "Sync" }).click();
    const text = await screen.notification(/sessions read, \d+ new candidates/);
    assert.match(text, /^.*4 sessions read/);
    await screen.shot("synced");
    await screen.clearNotifications();
    const review = join(root, ".lerim", "review");
    assert.ok(existsSync(review) && readdirSync(review).length >= 3, "all four agents were learned from");
  });

  await run("the sessions of four agents stand in one list, by day", async () => {
    await screen.listed("Sessions", /^Today/);
    await screen.listed("Sessions", /Run the tests of the cart/);
    await screen.listed("Sessions", /Which discounts are there/);
    await screen.listed("Sessions", /Write a changelog for the cart/);
    await screen.listed("Sessions", /add up the prices/);
    await screen.shot("listed");
    await screen.rest(screen.viewRow("Sessions", /Run the tests of the cart/), /Agent: Codex.*4 prompts|4 prompts.*Agent: Codex/, "the row");
    await screen.shot("tooltip");
  });

  await run("the row of a day leads to its journal", async () => {
    const day = screen.viewRow("Sessions", /6 May/);
    await until("the journal of the day is shown", async () => {
      await screen.page.mouse.move(5, 5);
      await day.hover({ timeout: 10_000 });
      await screen.shot("day");
      await day.locator('.action-label[aria-label^="Open Journal of This Day"]').click({ timeout: 10_000 });
      // only a lost click is repeated, not a slow one: it would bring the journal to the front once more, over the next step
      return until("the journal", async () => /^Journal of 6 May 2026/.test(await screen.previewText()), 60_000);
    });
    await screen.shot("journal");
  });

  await run("a session opens as a whole transcript, hostile words as words", async () => {
    await screen.row(screen.viewRow("Sessions", /Run the tests of the cart/), "the session opens", async () => /Run the tests of the cart/.test(await screen.page.locator(".tab.active").innerText()));
    const frame = await viewer();
    await until("its turns are shown", async () => /Rounding is gone/.test(await frame.locator(".feed").innerText()));
    const text = await frame.locator("#transcript").innerText();
    for (const words of [/Codex/, /gpt-5\.2-codex/, /branch main/, /exit code 1/, /pytest tests\/test_cart\.py/, /<b>bold<\/b>/, /U\+202E/]) assert.match(text, words);
    assert.equal(await frame.locator("#transcript b, #transcript a, #transcript script, #transcript img").count(), 0);
    await screen.shot("viewer");
    await frame.locator(".call summary").first().click();
    await until("the call is unfolded, and what it printed is read from the transcript", async () => /Output:[^]*AssertionError/.test(await frame.locator(".call[open]").first().innerText()));
    await frame.locator(".heading").click();
    await screen.page.keyboard.press("n");
    await target(/No, never round/);
    await screen.page.keyboard.press("/");
    await screen.page.keyboard.type("rounding is gone");
    await target(/Rounding is gone/);
    await screen.shot("found");
    const prompt = frame.locator(".turn.from-user", { hasText: "is the one" });
    assert.deepEqual(await prompt.locator("h3, li strong, li code").allInnerTexts(), ["Where", "What", "src/cart.py"]);
    assert.match(await prompt.innerText(), /src\\cart\.py and __init__\.py/);
    await prompt.scrollIntoViewIfNeeded();
    await screen.shot("prompt");
    await frame.locator(".feed").evaluate((feed) => feed.scrollTo(0, 1));
    await until("the summary makes room for the turns", async () => !(await frame.locator(".summary").evaluate((summary) => summary.open)));
    await frame.locator(".summary summary").click();
    await frame.locator(".feed").evaluate((feed) => feed.scrollTo(0, 2));
    await until("the summary that was unfolded stays", () => frame.locator(".summary .markdown").isVisible());
  });

  await run("a transcript that another tab covered comes back as it was left", async () => {
    const place = (frame) => frame.locator(".feed").evaluate((feed) => [...feed.querySelectorAll(".turn")].map((turn) => Math.round(turn.getBoundingClientRect().top - feed.getBoundingClientRect().top)).find((top) => top > 0));
    const coverAndReturn = async () => {
      await screen.openFile("src/cart.py");
      await screen.page.locator(".tab", { hasText: "Run the tests of the cart" }).click();
      return viewer();
    };
    let frame = await coverAndReturn();
    await until("the summary that was unfolded is still unfolded where the reading stopped", async () => (await frame.locator(".feed").evaluate((feed) => feed.scrollTop)) === 2 && (await frame.locator(".summary .markdown").isVisible()));
    await frame.locator(".heading").click();
    await screen.page.keyboard.press("Home");
    await until("the unfolded call is in sight", () => frame.locator(".call[open]").first().isVisible());
    await frame.locator(".feed").hover();
    await screen.page.mouse.wheel(0, 400);
    const before = await until("it stands still in the middle of the session", async () => {
      const [first, second] = [await place(frame), await place(frame)];
      return (await frame.locator(".feed").evaluate((feed) => feed.scrollTop)) >= 300 && first === second && { top: first, open: await frame.locator(".call[open]").count() };
    });
    frame = await coverAndReturn();
    await until("the place and what was unfolded are the same", async () => (await frame.locator(".call[open]").count()) === before.open && Math.abs((await place(frame)) - before.top) <= 2);
    await screen.shot("came-back");
    await frame.locator(".heading").click();
    await screen.page.keyboard.press("End");
    const call = frame.locator(".call", { hasText: "git log" }).locator("summary");
    const top = () => call.evaluate((summary) => Math.round(summary.getBoundingClientRect().top));
    const stood = await until("the last call stands still", async () => {
      const [first, second] = [await top(), await top()];
      return first === second && { top: first };
    });
    await call.click();
    await until("what it printed is read", async () => /Output:/.test(await frame.locator(".call[open]", { hasText: "git log" }).innerText()));
    assert.equal(await top(), stood.top, "what is unfolded at the end of a session stays where it was clicked");
    await screen.page.keyboard.press("Home");
  });

  await run("an answer is shown as markdown: its code is coloured, a file it names opens, and the session can be continued", async () => {
    const frame = await viewer();
    const code = frame.locator(".code-block", { hasText: "print(round(total, 2))" });
    await code.scrollIntoViewIfNeeded();
    await until("the code is coloured", async () => (await code.locator("[class^=hljs-]").count()) > 0);
    await screen.shot("markdown");
    assert.deepEqual(await barriersInThemes(person, frame, "transcript"), []);
    await frame.getByRole("button", { name: "Resume…" }).click();
    await screen.dialog(/Continue this session with Codex\?[^]*codex resume [\w-]+/);
    await screen.shot("resume");
    await screen.page.locator(".monaco-dialog-box").getByRole("button", { name: "Copy Command" }).click();
    await frame.locator(".heading").click();
    await screen.page.keyboard.press("Home");
    const file = frame.locator("button.file", { hasText: "src/cart.py" }).first();
    await until("the answer that names the file is shown", () => file.isVisible());
    await file.click();
    await until("the file is open", async () => /return float\(sum\(prices\)\)/.test(await screen.editorText()));
  });

  await run("an edit opens in the editor's own difference view", async () => {
    await screen.row(screen.viewRow("Sessions", /add up the prices/), "the session opens", async () => /add up the prices/.test(await screen.page.locator(".tab.active").innerText()));
    const frame = await until("its edit is shown", async () => {
      for (const one of screen.page.frames()) if ((await one.locator(".call .open-diff").count()) > 0) return one;
      return undefined;
    });
    await screen.shot("edit");
    await frame.locator(".call .open-diff").click();
    await screen.page.locator(".tab.active", { hasText: "cart.py (edit by Claude Code)" }).waitFor();
    const lines = async (side) => (await screen.page.locator(`.monaco-diff-editor .${side} .view-line`).allInnerTexts()).join("\n").replaceAll("\u00a0", " ");
    await until("both sides are shown", async () => (await lines("original")) === "return sum(prices)" && (await lines("modified")) === "return float(sum(prices))");
    await screen.shot("difference");
  });

  await run("words that are selected in a transcript become a memory", async () => {
    await screen.page.locator(".tab", { hasText: "Run the tests of the cart" }).click();
    const frame = await viewer();
    await frame.locator(".turn", { hasText: "No, never round" }).locator(".words").click({ clickCount: 3 });
    await frame.getByRole("button", { name: "Add memory…" }).click();
    await screen.pick("Choose the kind of the new memory", "preference", "preference", { further: true });
    const title = await screen.inputBox("Add Memory (2/3)", "No, never round in src/cart.py, round only where a price is printed");
    await screen.shot("remember");
    await title.fill("Round only where a price is printed");
    await title.press("Enter");
    await (await screen.inputBox("Add Memory (3/3)", "")).press("Enter");
    await screen.shareQuotes();
    await screen.notification(/Round only where a price is printed/);
    const path = memories().find((name) => name.includes("round-only-where"));
    assert.ok(path, "the memory is on disk");
    const written = readFileSync(join(root, ".lerim", "memory", "learnings", path), "utf8");
    assert.match(written, /source: codex:.*\nconfidence: 0\.9\n[^]*references:\n {2}- src\/cart\.py\n[^]*quote: "?No, never round in src\/cart\.py[^]*who: user/);
    await screen.clearNotifications();
  });

  await run("Add Memory writes a memory about the selected code, with its file and symbol filled in", async () => {
    await screen.openFile("src/cart.py");
    await screen.endOfLine(/return.float/);
    await screen.page.keyboard.press("Shift+Home");
    await screen.command("Lerim: Add Memory", { further: true });
    await screen.pick("Choose the kind of the new memory", "pitfall", "pitfall", { further: true });
    const title = await screen.inputBox("Add Memory about total in cart.py (2/3)", "");
    await title.fill("A float loses cents");
    await title.press("Enter");
    const why = await screen.inputBox("Add Memory about total in cart.py (3/3)", "");
    await why.fill("0.1 + 0.2 is not 0.3.");
    await screen.shot("why");
    await why.press("Enter");
    await screen.notification(/A float loses cents/);
    const name = await until("the memory is on disk", () => memories().find((one) => one.includes("a-float-loses-cents")));
    const text = readFileSync(join(root, ".lerim", "memory", "learnings", name), "utf8");
    assert.match(text, /^references:\n {2}- src\/cart\.py/m);
    assert.match(text, /^0\.1 \+ 0\.2 is not 0\.3\.$/m);
    await screen.hover("def", /1 more about this/); // the memory of the selected words is about this file, too
    await screen.shot("added");
    await screen.clearNotifications();
  });

  await run("search finds what was said to any agent and opens it at its turn", async () => {
    await screen.leaveWebview();
    await screen.command("Lerim: Search Sessions", { further: true });
    const input = screen.page.locator('.quick-input-widget input.input[placeholder^="Words that were said"]');
    await input.fill("agent:gemini voucher before");
    await until("the match is listed", async () => /Always apply the voucher/.test(await screen.page.locator(".quick-input-list").innerText()));
    await screen.shot("search");
    await input.fill("integer cents");
    await until("the match is listed first", async () => /integer cents/.test(await screen.page.locator(".quick-input-list .monaco-list-row").first().innerText()));
    await until("the match is marked", async () => (await screen.page.locator(".quick-input-list .monaco-list-row .highlight").first().innerText()) === "integer cents");
    await screen.shot("marked");
    await screen.page.keyboard.press("Enter");
    await until("the session is shown", async () => (await screen.page.locator(".tab.active").innerText()).includes("add up the prices"));
    await target(/integer cents/);
    await screen.shot("opened");
  });

  await run("the Agents view says how each agent stands, and what is wrong with the broken store", async () => {
    await screen.listed("Agents", /Claude Code\s*1 session/);
    await screen.listed("Agents", /Codex\s*1 session/);
    await screen.listed("Agents", /Gemini CLI\s*1 session/);
    await screen.listed("Agents", /GitHub Copilot\s*1 session/);
    await screen.listed("Agents", /Cursor\s*not found/);
    await fold("Sessions", false);
    await screen.unfold(screen.viewRow("Agents", /OpenCode/), "OpenCode");
    const told = await screen.listed("Agents", /opencode\.db/);
    assert.ok(told);
    await screen.shot("agents-view");
    await screen.command("Lerim: Stop Reading Sessions of an Agent", { further: true });
    await screen.pick("Choose the agent whose sessions are no longer read", "OpenCode", "OpenCode");
    await screen.notification(/OpenCode is no longer read/);
    await screen.listed("Agents", /OpenCode\s*not read/);
    await screen.clearNotifications();
    await fold("Sessions", true);
  });

  await run("the sessions of the whole machine are a click away", async () => {
    await screen.command("Lerim: Show All Sessions on This Machine");
    await screen.listed("Sessions", /10 Apr/);
    await screen.shot("machine");
    const began = Date.now();
    const frame = await screen.row(screen.viewRow("Sessions", /Question 0 of many/), "the long session is shown", async () => {
      for (const one of screen.page.frames()) if ((await one.locator(".turn .words", { hasText: "Answer 0." }).count()) > 0) return one;
      return undefined;
    });
    t.diagnostic(`a session of 4 MB was shown within ${Date.now() - began} ms of the click`);
    await frame.locator(".heading").click();
    await screen.page.keyboard.press("End");
    await until("it stands at its end", async () => /Answer 899\./.test(await frame.locator(".turn.target").innerText()));
    assert.ok((await frame.locator(".turn").count()) < 40, "only what is near exists");
    await screen.page.keyboard.press("/");
    await screen.page.keyboard.type("question 450 of");
    await until("the match is in sight", async () => /Question 450 of many/.test(await frame.locator(".turn.target").innerText()) && (await frame.locator(".turn.target").isVisible()));
    assert.match(await frame.locator(".found").innerText(), /1 of 1 message/);
    await screen.shot("long");
    await frame.locator(".feed").hover();
    for (let turn = 0; turn < 20; turn += 1) await screen.page.mouse.wheel(0, 1500);
    // how far it goes depends on how many turns still have an estimated height when the wheel turns
    await until("what was scrolled to is there", async () => (await frame.locator(".turn.waiting").count()) === 0 && (await frame.locator(".turn .words", { hasText: /Answer (?:4[6-9]|[5-8]\d)\d\./ }).count()) > 0);
    await screen.shot("scrolled");
    await screen.command("Lerim: Show Only Sessions of This Window's Repositories");
  });

  await run("it can be read in a narrow window", async () => {
    await screen.page.setViewportSize({ width: 700, height: 800 });
    await screen.shot("narrow");
    await screen.page.setViewportSize({ width: 1400, height: 900 });
  });
});
