// The oldest editor that the manifest allows, VS Code 1.100: install, sync, the transcript and what a call changed, a candidate's mark
// beside its line, accept, the lens, and hovers: with the other memories about the place, and where a symbol is used.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { markdown } from "./machine.mjs";
import { Panel } from "./reviewpanel.mjs";
import { makeRepository } from "./rebuild.mjs";
import { Transcript } from "./records.mjs";
import { until } from "./until.mjs";

/** Runs the steps with `run`, in a repository of their own that the person opens in the same editor. */
export async function useOldestEditor(person, run) {
  const { machine, screen } = person;
  const root = machine.folder("work", "till");

  await run("another repository is opened in the same window", async () => {
    makeRepository(root, new Map([
      ["src/cart.py", "def total(prices):\n    return sum(prices)\n"],
      ["src/receipt.py", "from cart import total\n\n\ndef receipt(prices):\n    return f'{total(prices)} due'\n"],
    ]));
    const memory = join(root, ".lerim", "memory", "decisions", "20260301-sum-once.md");
    mkdirSync(join(memory, ".."), { recursive: true });
    writeFileSync(memory, "---\nid: 20260301-sum-once\ntitle: Sum prices in one place\ncreated: 2026-03-01T09:00:00Z\nupdated: 2026-03-01T09:00:00Z\nsource: manual\nconfidence: 0.9\ntags: []\nreferences:\n  - src/cart.py#total\n---\n\nAll sums of prices come from `total`.\n");
    const talk = new Transcript(machine.claude, root);
    talk.edit("add up the prices", "src/cart.py", "return sum(prices)", "return float(sum(prices))", "`total` in `src/cart.py` gives a float now.");
    talk.say("No, always count money in integer cents in src/cart.py, never in floats", "Understood: integer cents.");
    talk.say("Always keep the names of currencies out of src/cart.py", "Only numbers there then.");
    talk.say("thanks", "You are welcome.");
    await person.leave();
    await person.visit({}, root);
    await screen.status(/No candidates to review/);
  });

  await run("what the person said is found, shown at its turn and accepted; a call of the session shows what it changed", async () => {
    await screen.command("Lerim: Sync");
    await screen.notification(/1 session read, 2 new candidates/);
    await screen.clearNotifications();
    const panel = await Panel.open(screen);
    await panel.select(/cents/);
    await screen.shot("candidate");
    await panel.press("o");
    await until("the transcript is shown at the turn", async () => (await screen.turnText()).includes("integer cents"));
    await screen.shot("turn");
    await (await screen.frame(".open-diff")).locator(".open-diff").click();
    await until("the editor shows what the call changed", async () => /return float\(sum\(prices\)\)/.test((await screen.page.locator(".monaco-diff-editor .modified-in-monaco-diff-editor, .monaco-diff-editor").first().innerText()).replaceAll("\u00a0", " ")));
    await screen.shot("diff");
    await (await Panel.open(screen)).select(/cents/);
    await panel.press("a");
    await screen.shareQuotes();
    await until("the memory is on disk", () => markdown(root, ".lerim", "memory", "learnings").length === 1);
  });

  await run("the other candidate has its mark beside the line, until it is accepted", async () => {
    await screen.openFile("src/cart.py");
    const mark = screen.page.locator(".comment-range-glyph.comment-thread");
    await until("its mark is there", async () => (await mark.count()) === 1);
    await screen.shot("mark");
    await (await Panel.open(screen)).select(/names of currencies/);
    await screen.page.keyboard.press("a");
    await until("the memory is on disk", () => markdown(root, ".lerim", "memory", "learnings").length === 2);
    await screen.openFile("src/cart.py");
    await until("the mark is gone", async () => (await mark.count()) === 0);
  });

  await run("the lens counts the memories, the hover shows one of them and leads to the others", async () => {
    await screen.lens(/^Lerim: 1 decision · 2 preferences$/);
    const text = await screen.hover("def", /2 more about this/);
    assert.match(text, /Said by you/); // its quote is its title
    await screen.shot("hover");
    await screen.hoverLink("2 more about this");
    await until("all three are listed", async () => {
      const rows = (await screen.listRows()).join("\n");
      return [/integer cents/, /names of currencies/, /Sum prices in one place/].every((title) => title.test(rows));
    });
    await screen.shot("more");
    await screen.page.keyboard.press("Escape");
  });

  await run("a symbol has its memory also in a file that uses it", async () => {
    await screen.openFile("src/receipt.py");
    await screen.hover("total", /Sum prices in one place/);
    await screen.shot("used");
  });
}
