// Giving memories to agents: every difference is seen before anything is written, the files are asked apart, and all of it is undone to the byte.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { missing } from "./machine.mjs";
import { Person } from "./person.mjs";
import { makeRepository } from "./rebuild.mjs";
import { step } from "./screen.mjs";
import { JOURNEY, until } from "./until.mjs";

const settings = '{\n    "ui" : { "theme": "Dark" },\n    "mcpServers": { "mine": { "command": "mine" } }\n}';

for (const [version, editor] of [["", process.env.LERIM_EDITOR], ["-oldest", process.env.LERIM_EDITOR_OLDEST]]) {
  test(`giving memories to agents${version}`, { skip: missing() ?? (editor ? false : "LERIM_EDITOR_OLDEST is not set"), timeout: JOURNEY }, async (t) => {
    const person = new Person(`agentmemory${version}`, "shop", { editor });
    const { machine, screen, root } = person;
    const run = (name, body) => step(t, () => screen, name, body);
    const gemini = join(machine.home, ".gemini", "settings.json");
    const skill = join(machine.home, ".agents", "skills", "lerim", "SKILL.md");

    /** Waits for the list with this question, and takes what is picked in it. */
    const accept = async (placeholder, pick) => {
      const field = screen.page.locator(`.quick-input-widget input.input[placeholder^="${placeholder}"]`);
      await field.waitFor();
      if (pick !== undefined) await pick();
      await field.press("Enter");
      await field.waitFor({ state: "hidden" });
    };
    /** Leaves only the rows that begin with one of these names picked. */
    const only = (...names) => async () => {
      const rows = screen.page.locator(".quick-input-widget .quick-input-list .monaco-list-row");
      for (const row of await rows.all()) {
        const text = (await row.innerText()).trim();
        const isPicked = await row.locator('input[type="checkbox"], [role="checkbox"]').first().evaluate((box) => box.checked ?? box.ariaChecked === "true");
        if (names.some((name) => text.startsWith(name)) !== isPicked) await row.click();
      }
    };

    before(async () => {
      makeRepository(root, new Map([["src/cart.py", "def total(prices):\n    return sum(prices)\n"]]));
      mkdirSync(dirname(gemini), { recursive: true });
      writeFileSync(gemini, settings);
      person.settings();
      await person.begin();
      await person.work();
    });
    after(() => person.end());

    await run("the differences are shown, and nothing is written while the question waits", async () => {
      await screen.command("Lerim: Connect Agents to Memory…", { further: true });
      await accept("Choose the agents", only("Gemini CLI"));
      await accept("Choose how");
      await accept("Choose where");
      const question = screen.page.locator('.quick-input-widget input.input[placeholder^="Change your own files"]');
      await question.waitFor();
      await screen.page.locator(".tab", { hasText: "Planned changes of 2 files" }).waitFor();
      await until("the change is seen", async () => /BeforeAgent/.test(await screen.page.locator(".multiDiffEditor, .editor-instance").first().innerText()));
      await screen.shot("differences");
      assert.equal(readFileSync(gemini, "utf8"), settings);
      assert.equal(existsSync(skill), false);
      assert.match((await screen.listRows()).join("\n"), /Change 2 files/);
      await question.press("Enter");
      await screen.notification(/2 files changed/);
      await screen.shot("written");
    });

    await run("what was written is there, beside what the person has, and the differences are closed", async () => {
      const text = readFileSync(gemini, "utf8");
      const value = JSON.parse(text);
      assert.deepEqual(Object.keys(value.mcpServers), ["mine", "lerim"]);
      assert.ok(text.startsWith('{\n    "ui" : { "theme": "Dark" },\n    "mcpServers": { "mine": { "command": "mine" }, "lerim":'));
      assert.match(value.hooks.BeforeAgent[0].hooks[0].command, /\.lerim\/bin\/hook.*exit 0$/);
      assert.ok(existsSync(skill));
      await until("the differences are closed", async () => (await screen.page.locator(".tab", { hasText: "Planned changes" }).count()) === 0);
    });

    await run("the Agents view says what the agent gets", async () => {
      await screen.page.locator('.activitybar .action-item a[aria-label^="Lerim"]').click();
      const header = screen.page.locator('.pane-header[aria-label^="Agents"]');
      await header.waitFor();
      for (const view of ["Memories", "Sessions"]) {
        const other = screen.page.locator(`.pane-header[aria-label^="${view}"]`);
        if ((await other.getAttribute("aria-expanded")) === "true") await other.locator(".title").click();
      }
      if ((await header.getAttribute("aria-expanded")) !== "true") await header.locator(".title").click();
      await screen.row(screen.viewRow("Agents", "Gemini CLI"), "the facts of Gemini CLI", async () => (await screen.viewRows("Agents")).some((row) => /MCP server.*installed/.test(row)));
      await screen.listed("Agents", /Hooks.*installed · your files/);
      await screen.shot("view");
    });

    await run("it is undone from the message, to the byte", async () => {
      await screen.button("Undo");
      await screen.notification(/2 files are as before/);
      assert.equal(readFileSync(gemini, "utf8"), settings);
      assert.equal(existsSync(dirname(skill)), false);
      await screen.listed("Agents", /Gets no memories/);
      await screen.clearNotifications();
    });

    await run("the repository's files are asked apart, and whoever says no has changed nothing", async () => {
      await screen.command("Lerim: Connect Agents to Memory…", { further: true });
      await accept("Choose the agents", only("Gemini CLI"));
      await accept("Choose how");
      await accept("Choose where", only("Files of this repository"));
      const question = screen.page.locator('.quick-input-widget input.input[placeholder^="Change files of this repository"]');
      await question.waitFor();
      await question.press("Escape");
      await question.waitFor({ state: "hidden" });
      assert.equal(existsSync(join(root, ".gemini")), false);
      assert.equal(existsSync(join(root, ".agents")), false);
    });
  });
}
