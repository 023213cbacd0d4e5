// What keeps somebody from using a page, as axe-core finds it: in a page of the dashboard and in the frame of a webview.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { until } from "./until.mjs";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The editor's themes, each with the mark that a webview's page gets. */
const themes = [["Default Light Modern", "vscode-light"], ["Default High Contrast", "vscode-high-contrast"], ["Default High Contrast Light", "vscode-high-contrast-light"], ["Default Dark Modern", "vscode-dark"]];

/** What axe-core finds wrong on a page or in a frame, in a line each. */
export async function barriers(page) {
  // evaluated by the browser's own protocol: the page's policy allows no script but its own
  await page.evaluate(source);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] }));
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join("; ").slice(0, 600)}`);
}

/** What axe-core finds wrong in a webview, in each theme; it ends in the dark one. A picture of each is taken. */
export async function barriersInThemes(person, frame, what) {
  const found = [];
  for (const [theme, mark] of themes) {
    person.settings({ ...person.chosen, "workbench.colorTheme": theme });
    await until(`the webview is ${mark}`, () => frame.locator("body").evaluate((body, name) => body.classList.contains(name), mark));
    found.push(...(await barriers(frame)).map((line) => `${what}, ${theme}: ${line}`));
    await person.screen.shot(`${what}-${mark.slice("vscode-".length)}`);
  }
  person.settings(person.chosen);
  return found;
}
