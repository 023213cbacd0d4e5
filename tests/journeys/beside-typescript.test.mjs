// A memory beside code that the editor's own language server knows, in the newest and in the oldest editor: Find All References lists
// what both know, and a memory is split by mouse.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { markdown, missing, repository } from "./machine.mjs";
import { Person } from "./person.mjs";
import { makeRepository } from "./rebuild.mjs";
import { step } from "./screen.mjs";
import { JOURNEY, until } from "./until.mjs";

const id = "20260301-sum-once";
const memory = `---\nid: ${id}\ntitle: Sum prices in one place\ncreated: 2026-03-01T09:00:00Z\nupdated: 2026-03-01T09:00:00Z\nsource: manual\nconfidence: 0.9\ntags: []\nreferences:\n  - src/price.ts#sumPrices\n---\n\nAll sums of prices come from one function.\n\nReceipts are printed twice.\n`;
const { LERIM_TEST_EDITOR: chosen, LERIM_TEST_EDITOR_OLDEST: oldest } = process.env; // the same where all journeys run in the oldest

for (const editor of new Set([chosen, oldest])) {
  const name = editor === oldest ? "the oldest editor" : "the newest editor";
  test(`a memory beside code in ${name}`, { skip: missing() ?? (editor ? false : "LERIM_TEST_EDITOR_OLDEST is not set"), timeout: JOURNEY }, async (t) => {
    const person = new Person("beside-typescript", "kiosk", { editor });
    const { screen, root } = person;
    const run = (what, body) => step(t, () => screen, what, body);
    const decisions = () => markdown(root, ".lerim", "memory", "decisions");

    before(async () => {
      makeRepository(root, new Map([
        ["src/price.ts", "export function sumPrices(prices: number[]): number {\n  return prices.reduce((sum, price) => sum + price, 0);\n}\n"],
        ["src/till.ts", 'import { sumPrices } from "./price";\n\nexport const due = sumPrices([1, 2]);\n'],
      ]));
      const path = join(root, ".lerim", "memory", "decisions", `${id}.md`);
      mkdirSync(join(path, ".."), { recursive: true });
      writeFileSync(path, memory);
      const typescript = join(repository, "node_modules", "typescript", "lib"); // VS Code has it in itself, the editor of the journeys has not
      person.settings({ "typescript.tsdk": typescript, "js/ts.tsdk.path": typescript });
      await person.begin();
      await person.work();
      await person.visit({ asked: false }); // it starts its own extensions only for a folder that is trusted from the start
    });
    after(() => person.end());

    await run("Find All References on a symbol of TypeScript lists where the code uses it, and the memory about it", async () => {
      await screen.openFile("src/till.ts");
      await screen.hover("sumPrices", /function sumPrices/); // the editor's own server has read the project
      const found = screen.page.locator('.pane:has(.pane-header[aria-label^="References"]) .monaco-list-row, .sidebar .pane-body .monaco-list-row');
      let asked = 0;
      await until("the references of both are listed", async () => {
        const texts = (await found.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " ").trim());
        if ([/price\.ts/, /till\.ts/, new RegExp(`${id}\\.md`)].every((file) => texts.some((text) => file.test(text)))) return true;
        if (Date.now() - asked < 15_000) return false;
        asked = Date.now();
        await screen.openFile("src/till.ts");
        await screen.page.locator(".editor-instance .view-line span span", { hasText: /^\s*sumPrices\s*$/ }).first().click();
        await screen.command("References: Find All References");
        return false;
      });
      await screen.shot("references");
    });

    await run("a part of a memory that the mouse selected becomes a memory of its own", async () => {
      await screen.openFile(`.lerim/memory/decisions/${id}.md`);
      const line = screen.page.locator(".editor-instance .view-line", { hasText: /Receipts.are.printed/ }).first();
      const offered = screen.page.locator(".action-widget .monaco-list-row, .context-view .monaco-list-row").filter({ hasText: "Split into New Memory" });
      let clicked = 0;
      await until("the menu offers to split the memory", async () => {
        if ((await offered.count()) > 0) return true;
        if (Date.now() - clicked < 8000) return false;
        clicked = Date.now();
        await screen.page.keyboard.press("Escape");
        await line.click({ clickCount: 3, position: { x: 60, y: 8 }, timeout: 5000 });
        await line.click({ button: "right", position: { x: 60, y: 8 }, timeout: 5000 });
        await screen.page.locator(".monaco-menu .action-menu-item, .context-view .action-menu-item", { hasText: /^Refactor/ }).first().click({ timeout: 5000 });
        return false;
      });
      await screen.shot("split");
      const { x, y } = await offered.first().boundingBox();
      await screen.page.mouse.move(x + 40, y + 10, { steps: 3 }); // the oldest editor takes clicks on its menu only once the mouse has moved
      await screen.page.mouse.click(x + 40, y + 10);
      await until("the new memory is there", () => decisions().some((name) => name.includes("receipts-are-printed-twice")));
      await screen.command("File: Save All");
      const [added] = decisions().filter((one) => one !== `${id}.md`);
      await until("both are saved", () => !readFileSync(join(root, ".lerim", "memory", "decisions", `${id}.md`), "utf8").includes("Receipts") && readFileSync(join(root, ".lerim", "memory", "decisions", added), "utf8").includes(`- ${id}`));
      await screen.shot("split-done");
    });
  });
}
