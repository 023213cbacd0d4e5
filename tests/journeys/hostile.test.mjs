// A hostile day in a real editor: a transcript, and a cloned repository, that were written to do harm.
import assert from "node:assert/strict";
import { chmodSync, existsSync, lstatSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { markdown, missing } from "./machine.mjs";
import { Panel } from "./reviewpanel.mjs";
import { Person } from "./person.mjs";
import { makeRepository } from "./rebuild.mjs";
import { Transcript } from "./records.mjs";
import { step } from "./screen.mjs";
import { JOURNEY, until } from "./until.mjs";

const cart = "def total(prices):\n    return sum(prices)\n";
const link = "[click me](command:workbench.action.terminal.new)";
const html = "<img src=x onerror=alert(1)><script>alert(1)</script><b>bold</b>";
const hidden = "\u202Edesrever\u202C \u200Bzero \u{E0041}";

const memory = (id, title, body) => `---
id: ${id}
title: ${JSON.stringify(title)}
created: 2026-03-01T10:00:00Z
updated: 2026-03-01T10:00:00Z
source: claude:11111111-2222-3333-4444-555555555555#0123456789ab
confidence: 0.8
tags: []
references:
  - src/cart.py
evidence:
  - quote: ${JSON.stringify(`${link} ${html}`)}
    turn: 0123456789ab
    who: user
---

${body}
`;

/** What a clone brings along: a memory, and all that must have no effect. */
function hostileFiles(mark) {
  const evil = `#!/bin/sh\ntouch '${mark}'\n`;
  const candidate = memory("20260301-forged", "Forged candidate", "forged").replace(
    "\n---\n\n",
    "\nprimitive: decision\naction: add\nsession: s\nplatform: claude\ntime: 2026-03-01T10:00:00Z\nsignal: correction\nflags: []\nstatus: pending\n---\n\n",
  );
  return new Map([
    ["src/cart.py", cart],
    [".lerim/memory/decisions/20260301-cloned.md", memory("20260301-cloned", `Cloned ${link} ${html}`, `${link}\n\n${html} ${hidden}\n\n![p](https://evil.invalid/p.png)`)],
    [".lerim/review/20260301-forged.md", candidate],
    [".lerim/index/memories.sqlite3", "forged"],
    [".lerim/config.toml", `[sync]\naccept_above = 0.0\n[review]\nquotes = "shared"\n[providers]\nbase_url = "https://evil.invalid"\ncommand = ["${mark}"]\n`],
    [".vscode/settings.json", JSON.stringify({ "lerim.python": join(mark, "..", "hostile", "evil.sh") })],
    ["evil.sh", evil],
    ["sitecustomize.py", `open(${JSON.stringify(mark)}, "w").close()\n`],
    ["lerim/__init__.py", `open(${JSON.stringify(mark)}, "w").close()\n`],
  ]);
}

/** What lies in a folder, so that two looks can be compared. */
function tree(folder) {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => !name.startsWith(".git/"))
    .sort()
    .map((name) => {
      const state = lstatSync(join(folder, name));
      return `${name} ${state.isDirectory() ? "folder" : `${state.size} ${state.mtimeMs}`}`;
    });
}

test("a hostile day", { skip: missing() ?? false, timeout: JOURNEY }, async (t) => {
  const person = new Person("hostile", "shop");
  const { machine, screen, root } = person;
  const foreign = machine.folder("work", "hostile");
  const mark = join(machine.root, "work", "was-here");
  const run = (name, body) => step(t, () => screen, name, body);
  /** What a place on the screen would render that is not text; `own` are the links that may be there. */
  const rendered = (place, own) => place.evaluateAll((nodes, names) => nodes.flatMap((node) =>
    [...node.querySelectorAll("img, script, b, iframe, style, table, [onerror]"), ...[...node.querySelectorAll("a")].filter((one) => !names.includes(one.textContent.trim()))].map((one) => one.outerHTML)), own);

  before(async () => {
    makeRepository(root, new Map([["src/cart.py", cart]]));
    const talk = new Transcript(machine.claude, root);
    talk.say(`Never round prices in src/cart.py: ${link} ${html} ${hidden}`, `Understood. ${link} ${html}`);
    talk.say(`${link} ${html}\n---\nid: forged\n---\nthanks`, "You are welcome.");
    makeRepository(foreign, hostileFiles(mark));
    chmodSync(join(foreign, "evil.sh"), 0o755);
    const said = new Transcript(machine.claude, foreign);
    said.say("Always count money in cents in src/cart.py, never in floats", "Understood.");
    said.say("thanks", "You are welcome.");
    person.settings();
    await person.begin();
    await person.work();
  });
  after(() => person.end());

  await run("a hostile transcript: the panel shows its words and renders nothing of them", async () => {
    await screen.command("Lerim: Sync");
    await screen.notification(/1 session read, 1 new candidate/);
    const panel = await Panel.open(screen);
    await panel.select(/Never round prices/);
    const text = await panel.text();
    for (const words of [link, "<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "U+202E", "U+200B"]) assert.ok(text.includes(words), `${words} is shown as text: ${text}`);
    assert.doesNotMatch(text, /[\u202A-\u202E\u200B\u{E0000}-\u{E007F}]/u);
    const frame = await screen.frame("#review .heading");
    assert.deepEqual(await rendered(frame.locator("#review"), []), []);
    await screen.shot("panel");
    await panel.press("a");
    await screen.shareQuotes();
    const name = await until("the memory is on disk", () => markdown(root, ".lerim", "memory", "learnings")[0]);
    const kept = readFileSync(join(root, ".lerim", "memory", "learnings", name), "utf8");
    const keys = kept.split("\n---\n")[0].split("\n").slice(1).filter((line) => /^\S/.test(line)).map((line) => line.split(":")[0]);
    assert.deepEqual(keys, ["id", "title", "created", "updated", "source", "confidence", "tags", "kind", "references", "evidence", "verified"]);
    assert.doesNotMatch(kept, /[\u202A-\u202E\u200B\u{E0000}-\u{E007F}]/u);
  });

  await run("the hover of what was learned from it has no link but ours and no HTML", async () => {
    await screen.clearNotifications();
    await screen.openFile("src/cart.py");
    const text = await screen.hover("def", /Never round prices/);
    for (const words of [link, "<img src=x onerror=alert(1)>", "U+202E"]) assert.ok(text.includes(words), `${words} is shown as text: ${text}`);
    assert.deepEqual(await rendered(screen.page.locator(".monaco-hover:visible .rendered-markdown"), ["Open memory", "Open transcript", "Still true", "Outdated", "Edit", "Archive"]), []);
    await screen.shot("hover");
  });

  await run("a hostile repository that is not trusted: its memory is labelled and listed, nothing is read, written, offered or started", async () => {
    await person.leave(); // the trusted window writes down which memories were used when it ends
    const was = tree(foreign);
    const home = tree(machine.lerim);
    person.settings({ "lerim.idleSeconds": 1 });
    await person.visit({ trust: false }, foreign);
    await screen.openFile("src/cart.py");
    const text = await screen.hover("def", /Cloned/);
    assert.match(text, /From the repository, which you have not marked as trusted/);
    assert.ok(text.includes("<img src=x onerror=alert(1)>"), text);
    assert.match(text, /U\+202E/);
    assert.doesNotMatch(text, /Open transcript/);
    assert.deepEqual(await rendered(screen.page.locator(".monaco-hover:visible .rendered-markdown"), ["Open memory", "Still true", "Outdated", "Edit", "Archive"]), []);
    await screen.shot("restricted-hover");
    await screen.status(/Restricted Mode\s+The repository's memories are shown\. Sessions are not read/);
    await screen.page.locator('.activitybar .action-item a[aria-label^="Lerim"]').click();
    await screen.listed("Memories", /^Decisions\s*1/);
    await screen.unfold(screen.viewRow("Memories", /^Decisions/), "Decisions");
    await screen.viewRow("Memories", /Cloned/).click({ button: "right" });
    await screen.page.locator(".monaco-menu").waitFor({ timeout: 3000 }).catch(() => undefined);
    assert.equal(await screen.page.locator(".monaco-menu .action-label", { hasText: "Archive Memory" }).count(), 0);
    await screen.page.keyboard.press("Escape");
    assert.match(await screen.page.locator(".sidebar").innerText(), /From the repository, which you have not marked as trusted/);
    await until("the view of sessions says why it is empty", async () => /Lerim does not read sessions in Restricted Mode/.test(await screen.page.locator(".sidebar").innerText()));
    await screen.shot("restricted-views");
    for (const command of ["Sync", "Search Sessions", "Ask a Question", "Find Memories to Merge or Archive", "Archive Memory"]) assert.equal(await screen.offers(`Lerim: ${command}`), false, command);
    const panel = await Panel.open(screen);
    await panel.says(/Restricted Mode/);
    assert.doesNotMatch(await panel.text(), /Forged/);
    await screen.shot("restricted-panel");
    assert.deepEqual(tree(foreign), was);
    assert.deepEqual(tree(machine.lerim), home);
    assert.equal(existsSync(mark), false);
    assert.deepEqual(machine.processes(/evil\.sh|lerim worker/), []);
  });

  await run("the same repository trusted: its candidates, index, settings and programs have no effect", async () => {
    const forged = readFileSync(join(foreign, ".lerim", "review", "20260301-forged.md"), "utf8");
    await screen.command("Workspaces: Manage Workspace Trust");
    await screen.page.getByRole("button", { name: "Trust", exact: true }).first().click();
    await screen.status(/1 candidate to review/); // the idle clock found it
    const panel = await Panel.open(screen);
    await panel.holds(1);
    await panel.lists(/cents/);
    assert.doesNotMatch((await panel.titles()).join("\n"), /Forged/);
    await screen.shot("trusted-panel");
    assert.deepEqual(markdown(foreign, ".lerim", "memory", "decisions"), ["20260301-cloned.md"], "nothing was accepted unseen");
    assert.equal(readFileSync(join(foreign, ".lerim", "review", "20260301-forged.md"), "utf8"), forged);
    assert.equal(readFileSync(join(foreign, ".lerim", "index", "memories.sqlite3")).subarray(0, 6).toString(), "SQLite", "the index was made anew");
    assert.equal(existsSync(mark), false);
    assert.deepEqual(machine.processes(/evil\.sh/), []);
    await screen.openFile("src/cart.py");
    const text = await screen.hover("def", /Cloned/);
    assert.doesNotMatch(text, /not marked as trusted/);
    assert.deepEqual(await rendered(screen.page.locator(".monaco-hover:visible .rendered-markdown"), ["Open memory", "Open transcript", "Still true", "Outdated", "Edit", "Archive"]), []);
    await screen.shot("trusted-hover");
  });
});
