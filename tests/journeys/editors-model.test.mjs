// The editor's own model, which another extension registers. What was left out of the review: its list with the reasons, Propose anyway
// in the panel and on the command line, and undo; candidates as comments. Then candidates that come in window by window, cancel, and a
// model that goes. Last, a folder outside git.
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { markdown, missing, repository } from "./machine.mjs";
import { Panel } from "./reviewpanel.mjs";
import { Person } from "./person.mjs";
import { makeRepository } from "./rebuild.mjs";
import { Transcript } from "./records.mjs";
import { step } from "./screen.mjs";
import { JOURNEY, until } from "./until.mjs";

const filler = "The importer reads rows and hands them on to the next one. ".repeat(60);
const said = "the totals of `src/cart.py` are kept in cents by agreement with billing";
const kept = "Totals are cents in `src/cart.py`";
const invented = "Deploy to us-east-1 only";
const claim = (title, quote, more = {}) => ({
  primitive: "decision", title, body: `${title}, as agreed with billing.`, confidence: 0.8, tags: [], kind: null, evidence: { quote }, references: ["src/cart.py"], ...more,
});

const quote = (name) => `amounts of \`${name}\` are kept in cents by agreement with billing`;
const title = (name) => `\`${name}\` holds cents in \`src/cart.py\``;
const item = (name) => claim(title(name), quote(name));
const names = ["Price", "Total", "Refund", "Voucher", "Discount", "Postage"];

test("the editor's own model", { skip: missing() ?? false, timeout: JOURNEY }, async (t) => {
  const person = new Person("editors-model", "shop");
  const { machine, screen, root } = person;
  const run = (name, body) => step(t, () => screen, name, body);
  const review = () => markdown(root, ".lerim", "review");
  const proposed = () => review().find((name) => readFileSync(join(root, ".lerim", "review", name), "utf8").includes(`title: ${invented}`));
  const folder = join(machine.home, "model");
  let script = { models: ["scripted"], items: [claim(kept, said), claim(invented, "we have always deployed to that region and to no other", { when: said })], held: [] };
  let panel;

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
    const agreement = new Transcript(machine.claude, root);
    agreement.say(`In src/cart.py, as you know, ${said}, whatever the form says. ${filler}`, "Noted.");
    agreement.say("ok", "Gladly.");
    person.settings({ "lerim.model.provider": "editor", "lerim.extract.gate": "all" });
    // before the first start, which takes up what lies in the folder
    cpSync(join(repository, "tests/journeys/model-extension"), join(machine.root, "extensions", "journeys.scripted-model-0.0.1"), { recursive: true });
    await person.begin();
    await person.work();
    await screen.choosesModel(/Scripted[^]*journeys[^]*chosen/); // else a sync may begin before the editor has its model
  });
  after(() => person.end());

  await run("a claim that nothing shows is not proposed, and the panel lists it with the reason", async () => {
    await screen.command("Lerim: Sync");
    await screen.notification(/1 new candidate/);
    await screen.clearNotifications();
    panel = await Panel.open(screen);
    await panel.lists(/Totals are cents/);
    await panel.says(/Left out \(1\)/);
    assert.match(await panel.leftOut(invented), /no quote in the session supports it/);
    await screen.shot("left-out");
  });

  await run("what waits is a comment on the file it is about, with its quote; no panel opens by itself, and it is edited in its place", async () => {
    await screen.openFile("src/cart.py");
    const comment = await screen.comment("Lerim proposes a decision");
    await screen.shot("comment");
    assert.match(await comment.innerText(), /Lerim proposes a decision[^]*kept in cents by agreement with billing/);
    assert.equal(await screen.page.locator(".part.panel:visible").count(), 0, "the Comments view does not open by itself");
    await comment.locator('.action-label[aria-label^="Edit Candidate"]').click();
    const field = comment.locator(".edit-textarea .view-lines");
    await until("the text can be changed", async () => /Totals\s+are\s+cents/.test(await field.innerText()));
    await field.click();
    await screen.page.keyboard.press("Control+Home");
    await screen.page.keyboard.type("By agreement: ");
    await screen.shot("comment-edited");
    await comment.getByRole("button", { name: "Save" }).click();
    await until("the candidate is changed", () => review().some((name) => /title: .*By agreement: Totals are cents/.test(readFileSync(join(root, ".lerim", "review", name), "utf8"))));
    await screen.notification(/Edited: By agreement: Totals are cents/);
    await screen.clearNotifications();
  });

  await run("it is rejected in its comment, and undo brings it back", async () => {
    const comment = await screen.comment("By agreement");
    await comment.locator('.action-label[aria-label^="Reject Candidate"]').click();
    await screen.notification(/Rejected: By agreement/);
    await until("the comment is gone", async () => (await screen.page.locator(".comment-range-glyph.comment-thread").count()) === 0);
    await screen.shot("comment-rejected");
    await screen.button("Undo");
    await screen.comment("By agreement");
    await screen.clearNotifications();
    panel = await Panel.open(screen);
    await panel.lists(/By agreement/);
  });

  await run("it is accepted in its comment, and undo makes it a candidate again", async () => {
    await screen.openFile("src/cart.py");
    const comment = await screen.comment("By agreement");
    await comment.locator('.action-label[aria-label^="Accept Candidate"]').click();
    await screen.shareQuotes();
    await screen.notification(/Accepted: By agreement/);
    await until("the memory is on disk", () => markdown(root, ".lerim", "memory", "decisions").length === 1);
    await until("the comment is gone", async () => (await screen.page.locator(".comment-range-glyph.comment-thread").count()) === 0);
    await screen.hover("def", /By agreement: Totals are cents/);
    await screen.shot("comment-accepted");
    await screen.button("Undo");
    await screen.comment("By agreement");
    assert.equal(markdown(root, ".lerim", "memory", "decisions").length, 0);
    await screen.clearNotifications();
    panel = await Panel.open(screen);
    await panel.lists(/By agreement/);
  });

  await run("Propose anyway makes it a candidate that says who wanted it and what to look at", async () => {
    await panel.proposeAnyway(invented);
    await until("the candidate is on disk", proposed);
    await panel.nothingLeftOut();
    await panel.lists(/us-east-1/);
    await panel.says(/you proposed it anyway/);
    await panel.says(/No quote from the session supports this/);
    await screen.shot("proposed");
  });

  await run("undo takes it back to where it was", async () => {
    await panel.press("u");
    await until("the candidate is gone", () => proposed() === undefined);
    await panel.lists(/us-east-1/, false);
    await panel.leftOut(invented);
    await screen.shot("undone");
  });

  await run("nothing accepts it unseen, also when the command line proposed it; a person does", async () => {
    const id = JSON.parse(await machine.cli("review", "left-out", "--json", "--repo", root)).items[0].id;
    await machine.cli("review", "propose", id, "--repo", root);
    await panel.lists(/us-east-1/);
    await machine.cli("review", "accept", "--all", "--quotes", "local", "--repo", root);
    await panel.lists(/Totals are cents/, false);
    assert.ok(proposed(), "what nothing shows waits for a person");
    await panel.select(/us-east-1/);
    await panel.press("a");
    await until("the memory is on disk", () => markdown(root, ".lerim", "memory", "decisions").some((name) => /us-east/.test(name)));
    await panel.nothingLeftOut();
  });

  await run("candidates come in window by window", async () => {
    talk("Price", "Total", "Refund");
    play({ items: names.map(item), held: [title("Total"), title("Refund")] });
    await screen.command("Lerim: Sync");
    await until("the first window's candidate is there, and the others are still asked", () => review().length === 1 && asked("Total") > 0 && asked("Refund") > 0);
    panel = await Panel.open(screen);
    await panel.holds(1);
    await screen.shot("first-window");
    play({ held: [title("Refund")] });
    await panel.holds(2);
    await screen.shot("second-window");
    play({ held: [] });
    await panel.holds(3);
    assert.doesNotMatch(await panel.text(), /candidates? left/, "what the last decision left is not said of what has come since");
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
    // the oldest editor tells a model nothing any more once it has begun to answer
    if (!machine.isOldest) await until("the model was told", () => told("cancelled").some((line) => line.asked.includes(title("Discount"))));
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

  await run("in a folder outside git every view says so, nothing loads for ever, and the button makes it a repository", async () => {
    const plain = machine.folder("work", "plain");
    writeFileSync(join(plain, "notes.md"), "Notes.\n");
    person.settings();
    await person.visit({}, plain);
    await screen.page.locator('.activitybar .action-item a[aria-label^="Lerim"]').click();
    const bar = screen.page.locator(".sidebar");
    await until("the view says so", async () => /This folder is not in a git repository/.test(await bar.innerText()));
    await until("nothing loads", async () => (await bar.locator(".monaco-progress-container.active").count()) === 0 && !/Loading|is starting/.test(await bar.innerText()));
    await screen.shot("outside-git");
    await screen.command("Lerim: Open Review");
    const frame = await screen.frame("#review .heading");
    await until("the panel says so, and waits for nothing", async () => /not in a git repository[^]*could not be listed/.test(await frame.locator("#review").innerText()));
    await screen.shot("outside-git-panel");
    await screen.command("Lerim: Sync");
    await screen.notification(/not in a git repository/);
    await screen.shot("outside-git-sync");
    await until("the Sessions view says so, too", async () => (await bar.getByRole("button", { name: "Initialize Repository" }).count()) === 2);
    await screen.button("Initialize Repository");
    await until("the editor asks which folder", async () => (await screen.listRows())[0]?.includes("plain"));
    await screen.page.locator(".quick-input-widget input.input").press("Enter");
    await until("it is a repository", () => existsSync(join(plain, ".git")));
    await until("both views notice it", async () => !/not in a git repository/.test(await bar.innerText()));
    await bar.getByRole("button", { name: "Sync" }).first().click();
    await until("after a sync the view is that of a repository", async () => /There are no memories yet/.test(await bar.innerText()));
    await screen.shot("initialized");
  });
});
