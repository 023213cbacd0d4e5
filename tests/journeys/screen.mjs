// The editor as a person meets it: keys, the mouse, and the text that can be seen.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { repository } from "./machine.mjs";
import { HANG, until } from "./until.mjs";

const browserArguments = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

export class Screen {
  #browser;
  #shots = 0;

  /** `name` begins the names of the screenshots; `isOldest` as a machine has it. */
  constructor(name, isOldest = false) {
    this.name = isOldest ? `${name}-oldest` : name;
    this.isOldest = isOldest;
  }

  async open(environ) {
    const executablePath = process.env.CHROMIUM || "/usr/bin/chromium";
    this.#browser = await chromium.launch({ executablePath, args: browserArguments, env: environ });
    const context = await this.#browser.newContext({ viewport: { width: 1400, height: 900 } });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await context.addInitScript(stopAnimations);
    context.setDefaultTimeout(HANG);
    this.page = await context.newPage();
  }

  async close() {
    await this.#browser?.close();
  }

  /** Closes the window, as far as a browser has one: the page shows nothing, and the editor ends what belonged to it. */
  async leave() {
    await this.page.goto("about:blank");
  }

  /** Opens a folder; `trust` is the answer to the editor's own question, where it has not been `asked` before. */
  async visit(address, folder, { trust = true, asked = true } = {}) {
    await this.page.goto(`${address}/?folder=${encodeURIComponent(folder)}`);
    await this.page.locator(".monaco-workbench").waitFor();
    if (!asked) return;
    const answer = this.page.locator(".monaco-dialog-box").getByRole("button", { name: trust ? "Yes, I trust the authors" : "No, I don't trust the authors" });
    await answer.waitFor();
    await this.shot("trust");
    await answer.click();
    await this.page.locator(".monaco-dialog-box").waitFor({ state: "detached" });
  }

  /** Runs a command through the palette, by its title; one that asks `further` leaves the input open. */
  async command(title, { further = false } = {}) {
    await this.#quickInput("F1", `>${title}`);
    await until(`the palette offers ${title}`, async () => (await this.listRows()).some((row) => row.includes(title)));
    await this.page.keyboard.press("Enter");
    if (!further) await this.#closed();
  }

  /** Opens the list of models until a row says `pattern`: what the editor offers later is not in a list that is open already. */
  choosesModel(pattern) {
    return until(`a model is listed as ${pattern}`, async () => {
      await this.command("Lerim: Choose Model", { further: true });
      await this.inputBox("Lerim: Choose Model", "");
      const rows = await until("the models are listed", async () => {
        const found = await this.listRows();
        return found.length > 0 && found;
      });
      const isListed = rows.some((row) => pattern.test(row));
      if (isListed) await this.shot("choose-model");
      await this.page.keyboard.press("Escape");
      await this.#closed();
      return isListed;
    });
  }

  /** Puts the focus into the side bar: where it was in a webview, the editor gives it back there when the palette closes, and a
   * list that opens meanwhile may lose it. */
  leaveWebview() {
    return until("the side bar has the focus", async () => {
      const there = await this.page.evaluate(() => (document.activeElement?.closest(".part.sidebar") ?? null) !== null);
      if (!there) await this.page.keyboard.press("Control+0");
      return there;
    });
  }

  /** Whether the palette offers a command of this title. */
  async offers(title) {
    await this.#quickInput("F1", `>${title}`);
    const settled = await until("the palette has filtered", async () => {
      const rows = await this.listRows();
      return rows.length > 0 && rows;
    });
    await this.page.keyboard.press("Escape");
    await this.#closed();
    return settled.some((row) => row.includes(title));
  }

  /** Opens a file of the folder by its path. */
  async openFile(path) {
    await this.#quickInput("Control+P", path);
    const name = path.split("/").at(-1);
    await until(`quick open offers ${path}`, async () => (await this.listRows())[0]?.includes(name));
    await this.page.keyboard.press("Enter");
    await this.#closed();
    await this.page.locator(".tab.active", { hasText: name }).waitFor();
    await this.page.locator(".editor-instance .view-line").first().waitFor();
  }

  /** Looks for symbols of the workspace by `words`, until the first row says `pattern`; the list stays open. */
  async findSymbol(words, pattern) {
    await this.#quickInput("Control+P", `#${words}`);
    await until(`# finds ${pattern}`, async () => pattern.test((await this.listRows())[0]));
  }

  /** Types into the list that a command opened, and takes its first entry once that holds `entry`; one that asks `further` leaves the input open. */
  async pick(placeholder, words, entry, { further = false } = {}) {
    await this.page.locator(`.quick-input-widget input.input[placeholder^="${placeholder}"]`).fill(words);
    await until(`the list offers ${entry}`, async () => (await this.listRows())[0]?.includes(entry));
    await this.shot("list");
    await this.page.keyboard.press("Enter");
    if (!further) await this.#closed();
  }

  /** The input box of this title, once it holds `value`: the box before it may still be closing. */
  async inputBox(title, value) {
    await this.page.locator(".quick-input-title", { hasText: title }).waitFor();
    await until(`the box “${title}” holds “${value}”`, async () => (await this.#input.inputValue()) === value);
    return this.#input;
  }

  get #input() {
    return this.page.locator(".quick-input-widget input.input");
  }

  /** Opens the input with a key and types; only once it has the focus, or the words would land in the editor. */
  async #quickInput(key, words) {
    await this.#closed();
    let pressed = 0; // a key that comes while a panel is taking the focus is lost, and an input that is open then closes: a person presses it again
    await until(`${key} opens the input`, async () => {
      if ((await this.#input.count()) > 0 && (await this.#input.evaluate((field) => document.activeElement === field))) {
        return this.#input.fill(words, { timeout: 4000 }).then(() => true, () => false);
      }
      if (Date.now() - pressed < 3000 || (await this.#input.isVisible())) return false;
      pressed = Date.now();
      await this.page.keyboard.press(key);
      return false;
    });
  }

  #closed() {
    return until("the input is closed", async () => !(await this.#input.isVisible()));
  }

  /** The rows of the list that is open below the input. */
  async listRows() {
    return oneLine(await this.page.locator(".quick-input-widget .quick-input-list .monaco-list-row").allInnerTexts());
  }

  /** The rows of a view in the side bar, as far as they are in sight. */
  async viewRows(view) {
    return oneLine(await this.page.locator(viewRow(view)).allInnerTexts());
  }

  /** The first row of a view that holds `pattern`. */
  viewRow(view, pattern) {
    return this.page.locator(viewRow(view), { hasText: pattern }).first();
  }

  /** The text of the first row of a view that holds `pattern`, once one does. */
  listed(view, pattern) {
    return until(`${view} lists ${pattern}`, async () => (await this.viewRows(view)).find((text) => pattern.test(text)));
  }

  clearNotifications() {
    return this.command("Notifications: Clear All Notifications");
  }

  /** The texts of the notifications in sight. */
  async notifications() {
    return oneLine(await this.page.locator(".notification-list-item").allInnerTexts());
  }

  /** The text of the first notification that holds `pattern`, once one does. */
  async notification(pattern) {
    return until(`a notification says ${pattern}`, async () => (await this.notifications()).find((text) => pattern.test(text)));
  }

  /** Clicks a button of the notification or dialog that is shown. */
  async button(name) {
    const place = this.page.locator(".notification-list-item, .monaco-dialog-box").getByRole("button", { name });
    await place.first().click();
  }

  /** Answers the question that the first accept in a repository asks. */
  async shareQuotes() {
    await this.dialog(/Share the quotes of memories in git/);
    await this.button("Share quotes in git");
  }

  /** Waits for the dialog whose text holds `pattern`. */
  async dialog(pattern) {
    await until(`a dialog says ${pattern}`, async () => pattern.test(await this.page.locator(".monaco-dialog-box").innerText()));
    await this.shot("dialog");
  }

  /** What the status item says to a screen reader, once it holds `pattern`. */
  async status(pattern) {
    return until(`the status item says ${pattern}`, async () => {
      const labels = await this.page.locator(".statusbar-item a[aria-label^=Lerim]").evaluateAll((nodes) => nodes.map((node) => node.ariaLabel));
      return labels.find((label) => pattern.test(label));
    });
  }

  /** Waits for a message in the status bar. */
  async statusMessage(pattern) {
    await until(`the status bar says ${pattern}`, async () => (await this.page.locator(".statusbar-item").allInnerTexts()).some((text) => pattern.test(text)));
  }

  /** The visible text of the active editor, lines in order from top to bottom. */
  async editorText() {
    const lines = await this.page.locator(".editor-instance .view-line").evaluateAll((nodes) =>
      nodes.map((node) => ({ top: node.getBoundingClientRect().top, text: node.textContent })));
    return lines.sort((a, b) => a.top - b.top).map(({ text }) => text.replaceAll("\u00a0", " ")).join("\n");
  }

  /** Puts the cursor at the end of the line of the active editor that holds `pattern`. */
  async endOfLine(pattern, timeout = HANG) {
    const line = this.page.locator(".editor-instance .view-line", { hasText: pattern }).first();
    await line.click({ position: { x: 40, y: 8 }, timeout });
    await this.page.keyboard.press("End");
  }

  /** Goes to the definition of what ends a line, in a file of this name. */
  async definition(pattern, name) {
    const tab = this.page.locator(".tab.active", { hasText: name });
    let patience = 4000;
    await until(`the definition of ${pattern} is in ${name}`, async () => {
      if (await tab.isVisible()) return true;
      await this.endOfLine(pattern, patience); // the line goes when the other file opens after all
      await this.page.keyboard.press("F12");
      patience *= 1.5;
      return until("the file opens", () => tab.isVisible(), patience);
    });
  }

  /** Rests the mouse on a word of the active editor; the hover's text once it holds `pattern`. */
  async hover(word, pattern) {
    const target = this.page.locator(".editor-instance .view-line span span", { hasText: new RegExp(`^\\s*${word.replaceAll(/[./]/g, "\\$&")}\\s*$`) }).first();
    return this.rest(target, pattern, word);
  }

  /** Rests the mouse on a place; the text of what then shows, once it holds `pattern`. */
  async rest(target, pattern, what) {
    let patience = 1000; // a hover that was taken away, by an edit or a list made anew, does not come back by itself
    return until(`the hover of ${what} says ${pattern}`, async () => {
      await this.page.mouse.move(5, 5);
      await target.hover({ timeout: 10 * patience });
      patience *= 1.5;
      return until("a hover shows", async () => {
        return oneLine(await this.page.locator(".monaco-hover:visible").allInnerTexts()).find((text) => pattern.test(text));
      }, patience);
    });
  }

  /** Clicks a row of a tree until what it does can be seen, and returns that: a click that falls between two drawings of the tree is lost. */
  async row(target, what, check) {
    let patience = 4000;
    return until(what, async () => {
      await target.click({ timeout: patience });
      patience *= 1.5;
      return until(what, check, patience);
    });
  }

  /** Unfolds a row of a tree. A click can be lost, and a second one would fold the row again if the first was only slow: the arrow key never folds. */
  async unfold(target, what) {
    let clicked = 0;
    await until(`${what} is unfolded`, async () => {
      if ((await target.getAttribute("aria-expanded", { timeout: 5000 })) === "true") return true;
      if (Date.now() - clicked > 20_000) {
        await target.click({ timeout: 5000 });
        clicked = Date.now();
      } else await this.page.keyboard.press("ArrowRight");
      return false;
    });
  }

  /** Clicks an action at the end of a row of a tree until a notification or the title of a list says `told`. The actions show while the pointer is on the row: a tree
   * that is drawn anew under a resting pointer hides them, so the pointer leaves first and comes back. A click on a row that is just being
   * replaced acts on nothing. */
  async rowAction(target, label, told) {
    let patience = 4000;
    return until(`the action ${label} of a row says ${told}`, async () => {
      patience *= 1.5;
      await this.page.mouse.move(5, 5);
      await target.hover({ timeout: patience });
      await target.locator(`.action-label[aria-label^="${label}"]`).click({ timeout: patience });
      return until("the answer", async () => [...(await this.notifications()), ...(await this.page.locator(".quick-input-title:visible").allInnerTexts())].some((text) => told.test(text)), patience);
    });
  }

  /** Clicks a link of the hover that is shown. */
  async hoverLink(name) {
    await this.page.locator(".monaco-hover:visible").getByRole("link", { name }).or(this.page.locator(".monaco-hover:visible a", { hasText: name })).first().click();
  }

  /** The text of the code lens that holds `pattern`. */
  async lens(pattern) {
    return until(`a code lens says ${pattern}`, async () => {
      const texts = await this.page.locator(".codelens-decoration").allInnerTexts();
      return texts.find((text) => pattern.test(text));
    });
  }

  /** Unfolds the comment in the margin of the active editor; its widget, once its text holds `pattern`. In the oldest editor a click on the mark
   * opens nothing (decision 0055), the key that goes to the comment before the cursor does. */
  async comment(pattern) {
    const widget = this.page.locator(".review-widget:visible", { hasText: pattern }).first();
    let clicked = 0; // a click that falls between two drawings of the margin is lost; one that comes too soon after another folds the comment again
    await until(`a comment says ${pattern}`, async () => {
      if (await widget.isVisible()) return true;
      if (Date.now() - clicked < 8000) return false;
      await this.page.locator(".comment-range-glyph.comment-thread").first().click({ timeout: 5000 });
      if (this.isOldest) for (const key of ["Control+End", "Shift+Alt+F9"]) await this.page.keyboard.press(key);
      clicked = Date.now();
      return false;
    });
    return widget;
  }

  /** The frame of the webview in which `selector` is found. */
  async frame(selector) {
    return until(`a panel shows ${selector}`, async () => {
      for (const frame of this.page.frames()) {
        if (frame !== this.page.mainFrame() && (await frame.locator(selector).count()) > 0) return frame;
      }
      return undefined;
    });
  }

  /** What the turns say that transcript viewers stand at. */
  turnText() {
    return this.#webviewText("#transcript .turn.target");
  }

  /** The text of the markdown document that is shown formatted. */
  previewText() {
    return this.#webviewText(".markdown-body");
  }

  async #webviewText(selector) {
    const texts = await Promise.all(this.page.frames().map((frame) => frame.locator(selector).allInnerTexts().catch(() => [])));
    return texts.flat().join("\n").trim();
  }

  /** The words on the screen, for the report of a failure. */
  async words() {
    const parts = await this.page.locator(".part.sidebar, .notification-list-item, .quick-input-widget:visible, .monaco-hover:visible").allInnerTexts();
    return parts.map((text) => text.replaceAll(/\s*\n\s*/g, " | ").slice(0, 2000)).join("\n");
  }

  /** A picture for a person to look at, in the git-ignored folder. */
  async shot(what) {
    const folder = join(repository, "screenshots");
    mkdirSync(folder, { recursive: true });
    this.#shots += 1;
    await this.page.screenshot({ path: join(folder, `${this.name}-${String(this.#shots).padStart(2, "0")}-${what}.png`) });
  }
}

function oneLine(texts) {
  return texts.map((text) => text.replaceAll(/\s+/g, " ").trim());
}

/** Runs in every frame: what moves costs a renderer without a graphics card more than everything else on the page. */
function stopAnimations() {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("*, *::before, *::after { animation: none !important; transition: none !important; scroll-behavior: auto !important; }");
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}

function viewRow(view) {
  return `.pane:has(.pane-header[aria-label^="${view}"]) .monaco-list-row`;
}

/** A step of a journey: a sub-test that leaves a picture of what was on the screen when it failed. */
export function step(t, screen, name, run) {
  return t.test(name, async () => {
    try {
      await run();
    } catch (error) {
      await screen()?.shot("FAILED").catch(() => undefined);
      console.error(`On the screen when “${name}” failed:\n${await screen()?.words().catch(String)}`);
      throw error;
    }
  });
}
