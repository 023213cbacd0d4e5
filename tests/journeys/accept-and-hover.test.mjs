// A person's day with one editor and one environment: sync, review, hover, lens, search, idle sync, and the end of it.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { barriers, barriersInThemes } from "./barriers.mjs";
import { untilTabStored } from "./storedtab.mjs";
import { git, markdown, missing, sessions } from "./machine.mjs";
import { Panel } from "./reviewpanel.mjs";
import { Person } from "./person.mjs";
import { makeRepository, moveTranscript, recorded, transcripts } from "./rebuild.mjs";
import { Transcript } from "./records.mjs";
import { step } from "./screen.mjs";
import { JOURNEY, until } from "./until.mjs";

/** The real session whose repository is made again: small, and it touches a few files of source. */
const wanted = "130d7b7e-5801-4345-9bd6-f32fd9b8429b";
const contextFile = "cmd/entire/cli/logging/context.go";
const loggerFile = "cmd/entire/cli/logging/logger.go";

const absent = existsSync(join(sessions, "claude", "projects"))
  ? undefined
  : `no real sessions at ${sessions}; set LERIM_TEST_SESSIONS to the folder that holds claude/projects`;
const skip = missing() ?? absent ?? false;

test("a person's day", { skip, timeout: JOURNEY }, async (t) => {
  const person = new Person("accept-and-hover", "cli");
  const { machine, screen, root } = person;
  let talk, panel;
  const run = (name, body) => step(t, () => screen, name, body);
  const files = (...names) => markdown(root, ".lerim", ...names);
  const waiting = (pattern) => files("review").find((name) => pattern.test(readFileSync(join(root, ".lerim", "review", name), "utf8")));
  const memory = (pattern) => ["decisions", "learnings"]
    .flatMap((folder) => files("memory", folder).map((name) => join(root, ".lerim", "memory", folder, name)))
    .find((path) => pattern.test(readFileSync(path, "utf8")));
  const sync = async (pattern) => {
    await screen.command("Lerim: Sync");
    const text = await screen.notification(pattern);
    await screen.shot("synced");
    await screen.clearNotifications();
    return text;
  };

  before(async () => {
    const file = transcripts(sessions).find((path) => path.includes(wanted));
    assert.ok(file, `the session ${wanted} is not among ${sessions}`);
    const { cwd, files: known } = recorded(file);
    makeRepository(root, new Map([...known, ["notes.txt", `Read this first:\n${contextFile}\n`]]));
    moveTranscript(file, cwd, root, machine.claude);
    talk = new Transcript(machine.claude, root);
    talk.edit("log a line when the log file cannot be opened", loggerFile, 'const LogsDir = ".entire/logs"', 'const LogsDir = ".entire/logs" // relative to the root', "I added a `fmt.Println` for it in `logger.go`.");
    talk.say("no, always use slog.String attributes, never fmt.Sprintf, for log lines: they must stay searchable", "Understood, I will keep to `slog.String`.");
    talk.edit("now name the agent in the context", contextFile, "type contextKey int", "type contextKey int // private: no key of another package collides", "Done: `contextKey` in `context.go`.");
    talk.say("Always use the private contextKey type of context.go for context values, never string keys", "Right, `contextKey` it is.");
    talk.say("Never write to os.Stdout in logger.go, use os.Stderr", "Agreed, only `os.Stderr` there.");
    talk.say("From now on run mise run lint before every commit", "I will.");
    talk.say("Never rename LogsDir in logger.go", "I will leave `LogsDir` alone.");
    talk.say("thanks, that is all for today", "You are welcome.");
    person.settings();
    await person.begin();
    await person.work();
  });
  after(() => person.end());

  await run("Sync says what it read and found, and the open panel fills", async () => {
    assert.equal(existsSync(join(root, ".lerim")), false, "nothing is written before something is to be kept");
    panel = await Panel.open(screen);
    await panel.says(/no candidates|Sync/);
    const text = await sync(/sessions? read, \d+ new candidates?/);
    assert.match(text, /2 sessions read/);
    const found = Number(/(\d+) new candidate/.exec(text)[1]);
    assert.ok(found >= 4, text);
    await panel.holds(found);
    await screen.status(new RegExp(`${found} candidates to review`));
    assert.equal(files("review").length, found);
    assert.equal(git(root, "status", "--porcelain", ".lerim/review").trim(), "", "candidates are not for git");
    for (const pattern of [/contextKey/, /os\.Stderr/, /mise run lint/, /LogsDir/, /slog\.String/]) assert.ok(waiting(pattern), String(pattern));
  });

  await run("a candidate shows its evidence, and o opens the turn it comes from", async () => {
    await panel.select(/contextKey/);
    await panel.says(/Always use the private contextKey type of context\.go for context values, never string keys/);
    await screen.shot("candidate");
    await panel.press("o");
    await until("the transcript is shown at the turn", async () => (await screen.turnText()).includes("Always use the private contextKey type"));
    await screen.shot("turn");
    panel = await Panel.open(screen);
    await panel.says(/contextKey/);
  });

  await run("accept asks once about quotes, then writes the memory", async () => {
    const name = waiting(/contextKey/);
    await panel.select(/contextKey/);
    await panel.press("a");
    await screen.dialog(/Share the quotes of memories in git/);
    assert.equal(memory(/contextKey/), undefined, "nothing is written before the answer");
    await screen.shareQuotes();
    const path = await until("the memory is on disk", () => memory(/^title: .*contextKey/m));
    await until("the candidate is gone from disk", () => !existsSync(join(root, ".lerim", "review", name)));
    assert.match(path, /\d{8}-[a-z0-9-]+\.md$/);
    const text = readFileSync(path, "utf8");
    assert.match(text, /^---\nid: .*\ntitle: .*\ncreated: .*\nupdated: .*\nsource: claude:[0-9a-f-]{36}#[0-9a-f]+\nconfidence: .*\ntags:/);
    assert.match(text, /quote: .*Always use the private contextKey type of context\.go for context values, never string keys/);
    assert.match(text, new RegExp(contextFile.replaceAll(".", "\\.")));
    assert.equal(git(root, "status", "--porcelain", "-uall", ".lerim/memory").trim(), `?? ${path.slice(root.length + 1)}`, "the memory is for git");
    await panel.did(/Accepted: .*contextKey/);
    await screen.openFile("notes.txt");
    panel = await Panel.open(screen);
    await panel.did(/Accepted: .*contextKey/);
    await screen.shot("accepted");
    assert.match(await panel.frame.locator(".done").innerText(), /^Open context\.go\s+Accepted: /, "where the memory shows comes first");
    await panel.frame.getByRole("button", { name: "Open Memory" }).click();
    await until("the memory's file is shown", async () => /^title: .*contextKey/m.test(await screen.editorText()));
    panel = await Panel.open(screen);
  });

  await run("edit: the words are the person's, kept while the panel is hidden, saved and accepted with Ctrl+Enter", async () => {
    await panel.select(/os\.Std/);
    await panel.press("e");
    await panel.editing(/os\.Std/);
    assert.match(await panel.frame.locator(".edit-form .evidence").innerText(), /You said:\s+Never write to os\.Stdout in logger\.go/);
    await panel.retype("Write to os.Stderr in the logger, never to os.Stdout");
    await screen.shot("editing");
    await screen.openFile("notes.txt");
    panel = await Panel.open(screen);
    await panel.editing("Write to os.Stderr in the logger, never to os.Stdout");
    await panel.chooseKind("pitfall");
    await panel.completeReference("logg", "logger.go");
    await screen.shot("kind");
    await panel.press("Control+Enter");
    const path = await until("the edited memory is on disk", () => memory(/^title: Write to os\.Stderr in the logger, never to os\.Stdout$/m));
    assert.match(readFileSync(path, "utf8"), /^kind: pitfall$/m);
    assert.match(readFileSync(path, "utf8"), /^references:\n  - \S*logger\.go$/m);
    assert.match(readFileSync(path, "utf8"), /quote: .*Never write to os\.Stdout in logger\.go, use os\.Stderr/);
    await until("the candidate is gone", () => waiting(/os\.Stdout/) === undefined);
  });

  await run("a filter that hides every candidate says so, and clearing it shows them", async () => {
    await panel.press("Control+f");
    await screen.page.keyboard.type("nobody said this");
    await screen.shot("filtered");
    await panel.frame.getByRole("button", { name: "Clear Filter" }).click();
    await panel.lists(/mise run lint/);
  });

  await run("reject takes the candidate away and writes no memory", async () => {
    await panel.select(/mise run lint/);
    await panel.press("r");
    await until("the candidate is gone", () => waiting(/mise run lint/) === undefined);
    assert.equal(memory(/mise run lint/), undefined);
    await panel.did(/Rejected: .*mise run lint/);
    await machine.cli("review", "undo", "--repo", root);
    await panel.lists(/mise run lint/);
    await until("the panel no longer says that it is rejected", async () => (await panel.frame.locator(".done").innerText()) === "");
    await panel.select(/mise run lint/);
    await panel.press("r");
    await until("the candidate is gone", () => waiting(/mise run lint/) === undefined);
  });

  await run("what is decided on the command line goes from the panel, and the words being typed into it are kept", async () => {
    const name = waiting(/LogsDir/);
    await panel.select(/slog\.String/);
    await panel.press("e");
    await panel.editing(/slog\.String/);
    await panel.retype("Mine of slog.String");
    await panel.select(/LogsDir/);
    await panel.press("e");
    await panel.editing(/LogsDir/);
    await panel.retype("LogsDir stays as it is");
    await machine.cli("review", "reject", name.slice(0, -".md".length), "--repo", root);
    await panel.kept(/^LogsDir stays as it is\n/);
    await panel.lists(/LogsDir/, false);
    await screen.page.keyboard.type("aer"); // whoever was typing types on: nothing else is decided by it
    await screen.shot("kept");
    assert.ok(waiting(/slog\.String/));
    await machine.cli("review", "undo", "--repo", root);
    await panel.lists(/LogsDir/);
    await panel.select(/LogsDir/, "#edit-title");
    await panel.editing("LogsDir stays as it is", { focus: false });
    await panel.press("r");
    await panel.kept(/^LogsDir stays as it is\n/);
    await panel.discard();
    await until("the candidate is gone", () => waiting(/LogsDir/) === undefined);
    await panel.select(/Mine of slog/, "#edit-title");
    await panel.press("e");
    await panel.editing("Mine of slog.String");
    await panel.press("Escape");
  });

  await run("undo brings back what was there, one action at a time", async () => {
    const name = waiting(/slog\.String/);
    const before = readFileSync(join(root, ".lerim", "review", name), "utf8");
    await panel.select(/slog\.String/);
    await panel.press("a");
    const path = await until("the memory is on disk", () => memory(/slog\.String/));
    await until("the candidate is gone", () => !existsSync(join(root, ".lerim", "review", name)));
    await panel.press("u");
    await until("the memory is gone again", () => !existsSync(path));
    assert.equal(await until("the candidate is back", () => existsSync(join(root, ".lerim", "review", name)) && readFileSync(join(root, ".lerim", "review", name), "utf8")), before);
    await panel.select(/slog\.String/);
    await screen.shot("undone");
  });

  await run("the panel follows the theme and has no barrier in any, and a screen reader is told which row is selected", async () => {
    await panel.select(/slog\.String/);
    await panel.press("Tab");
    const found = await barriersInThemes(person, panel.frame, "panel");
    await panel.press("e");
    await panel.editing(/slog\.String/);
    found.push(...(await barriersInThemes(person, panel.frame, "editing")));
    await panel.press("Escape");
    assert.match(await panel.active(), /slog\.String/);
    await panel.press("?");
    found.push(...(await barriers(panel.frame)));
    await screen.shot("panel-help");
    await panel.press("Escape");
    assert.deepEqual(found, []);
  });

  await run("line 1 of the referenced file shows the memory, who said it, and a lens", async () => {
    await screen.openFile(contextFile);
    await screen.lens(/^Lerim: 1 \w+/);
    const text = await screen.hover("package", /contextKey/);
    assert.match(text, /decision|preference/);
    assert.match(text, /Always use the private contextKey type of context\.go for context values, never string keys/);
    assert.match(text, /Said by you|\(you\)/);
    await screen.shot("hover");
    await screen.hoverLink("Open transcript");
    await until("the transcript is shown at the turn", async () => (await screen.turnText()).includes("Always use the private contextKey type"));
    await screen.openFile(contextFile);
    await screen.hover("package", /contextKey/);
    await screen.hoverLink("Open memory");
    await until("the memory is shown", async () => /^title: .*contextKey/m.test(await screen.editorText()));
  });

  await run("a path in a text shows what is known of the file", async () => {
    await screen.openFile("notes.txt");
    await screen.hover(contextFile, /contextKey/);
    await screen.openFile(contextFile);
  });

  await run("a memory that came by git shows on its symbol as soon as its file is there", async () => {
    const folder = join(root, ".lerim", "memory", "learnings");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "20260301-a-new-session-keeps-its-parent.md"), symbolMemory);
    const text = await screen.hover("WithSession", /Nested sessions keep their parent/);
    assert.match(text, /the agent/);
    await screen.lens(/pitfall/);
    await until("the function has a lens of its own", async () => (await screen.page.locator(".codelens-decoration", { hasText: /^Lerim: 1 pitfall$/ }).count()) === 1);
    await screen.shot("symbol");
    for (const width of [1400, 700]) {
      await screen.page.setViewportSize({ width, height: 900 });
      await screen.hover("WithSession", /Nested sessions keep their parent/);
      const [hover, link] = await Promise.all([screen.page.locator(".monaco-hover:visible").boundingBox(), screen.page.locator(".monaco-hover:visible a", { hasText: "Archive" }).boundingBox()]);
      assert.ok(link.y + link.height <= hover.y + hover.height, `the links of a long memory are in sight ${width} pixels wide`);
      await screen.shot(`long-hover-${width}`);
    }
    await screen.page.setViewportSize({ width: 1400, height: 900 });
  });

  await run("search opens the memory", async () => {
    await screen.command("Lerim: Search Memories", { further: true });
    await screen.pick("Search memories", "stderr logger", "Write to os.Stderr in the logger");
    await screen.page.locator(".tab.active", { hasText: /stderr|stdout/ }).waitFor();
    await until("the memory is shown", async () => (await screen.editorText()).includes("title: Write to os.Stderr in the logger, never to os.Stdout"));
  });

  await run("Show Log tells what the sync did", async () => {
    await screen.command("Lerim: Show Log");
    await until("the log is shown", async () => /Sync of .*: 2 sessions read/.test((await screen.page.locator(".panel .view-lines").innerText()).replaceAll("\u00a0", " ")));
    await screen.shot("log");
    await screen.command("View: Hide Panel");
  });

  await run("a second sync proposes nothing new, also of what was rejected and when review/ was deleted", async () => {
    await sync(/Nothing new was said in your sessions/);
    const again = new Transcript(machine.claude, root, new Date("2026-05-05T09:00:00Z"));
    again.say("From now on run mise run lint before every commit", "Yes, as you said.");
    again.say("that is all", "Good.");
    await sync(/1 session read, 0 new candidates/);
    assert.equal(waiting(/mise run lint/), undefined);
    panel = await Panel.open(screen);
    await panel.says(/\d+ rejected before/);
    await screen.shot("blocked");
    rmSync(join(root, ".lerim", "review"), { recursive: true });
    const third = new Transcript(machine.claude, root, new Date("2026-05-06T09:00:00Z"));
    third.say("from now on run mise run lint before every commit!", "Always.");
    third.say("bye", "Bye.");
    await sync(/1 session read, 0 new candidates/);
    assert.equal(waiting(/mise run lint/), undefined);
    assert.equal(memory(/mise run lint/), undefined);
  });

  await run("when the editor is idle, a session that grew is read and its candidate waits", async () => {
    await screen.openFile(loggerFile);
    person.settings({ "lerim.idleSeconds": 1 });
    talk.edit("shorten the comment", loggerFile, "// relative to the root", "// below the root", "Shortened.");
    talk.say("Never hold the mutex mu while writing to logFile in logger.go", "Understood: `mu` is released first.");
    talk.say("fine", "Thanks.");
    await screen.page.keyboard.press("Control+Home");
    await until("the candidate is on disk", () => waiting(/logFile/));
    await screen.status(/[1-9]\d* candidates? to review/);
    person.settings();
    panel = await Panel.open(screen);
    await panel.says(/logFile/);
    await screen.shot("idle");
    await panel.select(/logFile/);
    await panel.press("a");
    await panel.says(/There are no candidates to review\. Hover over line 1 of logger\.go to see what you accepted\./);
    await screen.shot("last-accepted");
    assert.equal(await panel.frame.getByRole("button", { name: /^Undo/ }).count(), 1, "one button undoes it");
    assert.doesNotMatch(await panel.frame.locator(".done").innerText(), /candidates? left/);
    assert.equal(await panel.frame.getByRole("button", { name: "Open logger.go" }).count(), 1);
    await panel.frame.locator(".empty-state").getByRole("button", { name: "Open logger.go" }).click();
    await screen.page.locator(".tab.active", { hasText: "logger.go" }).waitFor();
  });

  await run("the journal shows today, and the buttons of its tab the days before and after", async () => {
    const today = new Date().toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" }).replace("Sept", "Sep");
    const shows = (pattern) => until(`the journal says ${pattern}`, async () => pattern.test(await screen.previewText()));
    await screen.command("Lerim: Open Journal");
    await shows(new RegExp(`^Journal of ${today}`));
    await screen.shot("journal");
    await screen.page.getByRole("button", { name: "Previous Day in Journal" }).click();
    await shows(/^Journal of 6 May 2026[^]*From now on run mise run lint/i);
    await screen.shot("journal-before");
    const link = (kind) => until(`the journal links to a ${kind}`, async () => {
      for (const frame of screen.page.frames()) if ((await frame.locator(`.markdown-body a[data-href^="${kind}/"]`).count()) > 0) return frame.locator(`.markdown-body a[data-href^="${kind}/"]`).first();
      return undefined;
    });
    await (await link("turn")).click();
    await until("the turn is shown", async () => /From now on run mise run lint/i.test(await screen.turnText()));
    await screen.shot("journal-turn");
    await screen.page.locator(".tab", { hasText: "Journal of 6 May 2026" }).click();
    await screen.page.getByRole("button", { name: "Next Day in Journal" }).click();
    await shows(new RegExp(`^Journal of ${today}`));
    await untilTabStored(screen.page, `Journal of ${today}`);
    await person.visit({ asked: false });
    await shows(new RegExp(`^Journal of ${today}`)); // it comes back with the window
    await screen.shot("journal-reloaded");
    await (await link("commit")).click();
    await until("the commit is shown", async () => /\.diff/.test(await screen.page.locator(".tab.active").innerText()) && /diff --git/.test(await screen.editorText()));
  });

  await run("Cancel in the notification ends a sync, its job is gone, and the next one carries on", async () => {
    const many = [];
    for (let number = 0; number < 200; number += 1) {
      const long = new Transcript(machine.claude, root, new Date("2026-04-01T09:00:00Z"));
      for (let part = 0; part < 60; part += 1) long.say(`look at part ${part} of ${number} once more ${"and once more ".repeat(60)}`, "There is nothing to say about it. ".repeat(40));
      many.push(long.file);
    }
    await screen.command("Lerim: Sync");
    await screen.notification(/Lerim: .*\d+ of 20\d sessions/);
    await screen.shot("cancel");
    await screen.button("Cancel");
    await screen.notification(/Sync cancelled/);
    await until("the job is gone", () => machine.processes(/-m lerim worker/).length === 0);
    await screen.status(/candidates? to review/);
    await screen.clearNotifications();
    for (const file of many) rmSync(file);
    await sync(/sessions? read, \d+ new candidates?|Nothing new was said in your sessions/);
  });

  await run("closing the editor leaves no process of Lerim, also when it is killed", async () => {
    person.settings();
    assert.ok(machine.processes(/-m lerim/).length > 0);
    if (machine.isOldest) await screen.leave(); // its server waits three hours for a window that vanished, and cannot be told otherwise
    await screen.close();
    await until("the sidecar ended with the window", () => machine.processes(/-m lerim/).length === 0);
    await screen.open(machine.environ);
    await person.visit({ asked: false });
    await until("the sidecar runs", () => machine.processes(/-m lerim/).length > 0);
    machine.kill();
    await until("the sidecar ended with the editor", () => machine.processes(/-m lerim/).length === 0);
  });
});

const symbolMemory = `---
id: 20260301-a-new-session-keeps-its-parent
title: Nested sessions keep their parent
created: 2026-03-01T10:00:00Z
updated: 2026-03-01T10:00:00Z
source: manual
confidence: 0.8
tags: [logging]
kind: pitfall
references:
  - ${contextFile}#WithSession
evidence:
  - quote: The parent was lost when WithSession was called twice.
    turn: 0a1b2c3d4e5f
    who: assistant
---

WithSession makes the session that was there the parent; setting it by hand first is lost.

${"A caller that wants another parent begins a context without one and adds both, the parent first. ".repeat(4)}
`;
