// The review panel, worked with the keyboard alone.
import assert from "node:assert/strict";
import { barriers } from "./barriers.mjs";
import { until } from "./until.mjs";

export class Panel {
  #frame;

  /** The panel of a screen, opened by its command and given the focus. */
  static async open(screen) {
    await screen.command("Lerim: Open Review");
    const panel = new Panel();
    panel.screen = screen;
    panel.#frame = await screen.frame("#review .heading");
    await until("the panel has its list, or is restricted", async () => {
      const text = `${await panel.#frame.locator(".count").innerText()}${await panel.#frame.locator(".restricted").innerText()}`;
      return text !== "";
    });
    if ((await panel.#frame.locator("#edit-title").count()) === 0) await panel.#frame.locator(".heading").click();
    return panel;
  }

  /** The frame of its page. */
  get frame() {
    return this.#frame;
  }

  /** The titles that can be seen, top to bottom. */
  titles() {
    return this.#frame.locator(".candidate-row .row-title").allInnerTexts();
  }

  /** Everything the panel shows. */
  async text() {
    return (await this.#frame.locator("#review").innerText()).replaceAll(/\s+/g, " ");
  }

  async says(pattern) {
    return until(`the panel says ${pattern}`, async () => pattern.test(await this.text()));
  }

  async holds(count) {
    return until(`the panel holds ${count} candidates`, async () => (await this.titles()).length === count);
  }

  /** Waits until a title holds `pattern`, or none does. */
  async lists(pattern, there = true) {
    return until(`the panel ${there ? "lists" : "does not list"} ${pattern}`, async () => (await this.titles()).some((title) => pattern.test(title)) === there);
  }

  /** Waits until a text of the person's is kept whose candidate is gone, and has the focus if its form had. */
  async kept(pattern) {
    return until(`the panel keeps ${pattern}`, async () => pattern.test(await this.#frame.locator(".lost-text").inputValue()));
  }

  /** Discards the text that is kept. */
  async discard() {
    await this.#frame.locator(".lost-draft .discard").click();
    await until("no text is kept", async () => (await this.#frame.locator(".lost-draft").count()) === 0);
  }

  /** Waits until the panel has the colours of a theme, by the mark the editor gives its page. */
  async themed(mark) {
    return until(`the panel is ${mark}`, () => this.#frame.locator("body").evaluate((body, name) => body.classList.contains(name), mark));
  }

  /** The text of the row that the list names as the active one. */
  async active() {
    return this.#frame.locator(".candidate-list").evaluate((list) => list.ownerDocument.getElementById(list.getAttribute("aria-activedescendant"))?.textContent ?? "");
  }

  /** The lines of the difference shown that are "added" or "removed". */
  async changes(kind) {
    const lines = await this.#frame.locator(`.candidate .diff-row.${kind}`).evaluateAll((rows) => rows.map((row) => [...row.childNodes].filter((node) => !node.classList?.contains("sign") && !node.classList?.contains("visually-hidden")).map((node) => node.textContent).join("")));
    return lines;
  }

  /** The memories that would end, each with what takes its place and how its title is drawn. */
  async endings() {
    await this.#frame.locator(".candidate .ending").first().waitFor();
    return this.#frame.locator(".candidate .ending").evaluateAll((items) => items.map((item) => ({
      whole: item.textContent,
      struck: item.querySelector("del")?.textContent ?? "",
      becomes: item.querySelector(".becomes")?.textContent ?? "",
      line: getComputedStyle(item.querySelector(".ended-title")).textDecorationLine,
    })));
  }

  /** The similar memories shown, each with what can be answered about it. */
  similar() {
    return this.#frame.locator(".candidate .neighbour").evaluateAll((items) => items.map((item) => ({
      title: item.querySelector(".neighbour-title").textContent,
      meta: item.querySelector(".neighbour-meta").textContent,
      body: item.querySelector(".neighbour-body").textContent,
      answers: [...item.querySelectorAll(".answer")].map((button) => button.textContent),
      chosen: item.getAttribute("aria-current") === "true" && item.ownerDocument.activeElement === item,
    })));
  }

  /** Goes by its number to the similar memory whose title holds `pattern`, and waits until the keys act on it. */
  async choose(pattern) {
    const at = await until(`${pattern} is among the similar memories`, async () => {
      const place = (await this.similar()).findIndex(({ title }) => pattern.test(title));
      return place < 0 ? false : String(place + 1);
    });
    await this.press(at);
    return until(`${pattern} is chosen`, async () => (await this.similar()).find(({ title, chosen }) => chosen && pattern.test(title)));
  }

  /** Waits until the panel tells what was done last. */
  async did(pattern) {
    return until(`the panel tells ${pattern}`, async () => pattern.test(await this.#frame.locator(".done").innerText()));
  }

  /** Waits until the text of a memory stands beside the form that changes it. */
  async besideForm(pattern) {
    return until(`${pattern} stands beside the form`, async () => pattern.test(await this.#frame.locator(".edit-form .memory-now").innerText()));
  }

  /** Whether something in the candidate or the form reaches out of the panel's width. */
  async cutOff() {
    return this.#frame.locator(".detail").evaluate((detail) => [...detail.querySelectorAll("*")].some((element) => element.getBoundingClientRect().right > detail.getBoundingClientRect().right + 1 && !element.closest(".visually-hidden, .diff")));
  }

  /** Moves with the keys until the candidate whose title holds `pattern` is shown in full, or in its form. */
  async select(pattern, place = ".candidate .candidate-title") {
    await this.#frame.locator(".heading").click();
    await this.press("Home");
    let before = "";
    let unchanged = 0;
    await until(`${pattern} is selected`, async () => {
      const shown = this.#frame.locator(place);
      const title = (await shown.count()) > 0 ? (await shown.innerText()) || (await shown.inputValue()) : "";
      if (pattern.test(title)) return true;
      unchanged = title === before ? unchanged + 1 : 0;
      before = title;
      await this.press(unchanged % 8 === 7 ? "Home" : "j"); // at the end it begins again: an undo may have put a candidate above
      return false;
    });
  }

  /** Types into the filter, once it has the focus. */
  async filter(words) {
    const field = this.#frame.locator(".filter");
    await until("the filter has the focus", () => field.evaluate((element) => element.ownerDocument.activeElement === element));
    await field.fill(words);
  }

  /** Clicks the button of this text above the list, and says yes to its question. */
  async decideMarked(text, question) {
    await this.#frame.locator(".bulk-actions, .older").getByRole("button", { name: text }).click();
    const dialog = this.#frame.locator(".confirm-dialog[open]");
    await until(`the panel asks ${question}`, async () => question.test(await dialog.innerText()));
    await this.screen.shot("confirm");
    await dialog.locator(".confirm").click();
  }

  /** Opens the section of what was left out and waits until its titles are these. */
  async leftOut(...titles) {
    const section = this.#frame.locator(".left-out");
    await section.waitFor();
    if (!(await section.evaluate((element) => element.open))) await section.locator("summary").click();
    await until(`what was left out is ${titles.join(", ")}`, async () => (await section.locator(".left-out-title").allInnerTexts()).join("\n") === titles.join("\n"));
    return (await section.innerText()).replaceAll(/\s+/g, " ");
  }

  /** Waits until nothing is left out. */
  async nothingLeftOut() {
    await until("nothing is left out", async () => (await this.#frame.locator(".left-out").count()) === 0);
  }

  async proposeAnyway(title) {
    await this.#frame.locator(".left-out-item", { hasText: title }).locator(".propose").click();
  }

  press(key) {
    return this.screen.page.keyboard.press(key);
  }

  /** Types over what the focused line holds. Not by Control+a: in a panel the editor selects all only a while after it. */
  async retype(words) {
    await this.press("Home");
    await this.press("Shift+End");
    await this.screen.page.keyboard.type(words);
  }

  /** Chooses from the list of kinds in the form. */
  async chooseKind(kind) {
    await this.#frame.locator("#edit-kind").selectOption(kind);
  }

  /** Begins to type a reference in the form, closes the list, types on and takes the first suggestion, a path that ends with `name`; the focus is left there. A screen reader hears of the list when it opens. */
  async completeReference(typed, name) {
    const field = this.#frame.locator("#edit-references");
    const first = this.#frame.locator("#suggestions-references li").first();
    const active = (id) => until(`the active suggestion is ${id}`, async () => (await field.getAttribute("aria-activedescendant")) === id);
    const suggested = () => until(`${name} is suggested`, async () => (await first.isVisible()) && (await first.innerText()).endsWith(name));
    const told = this.#frame.locator(".suggested-field [role=status]").last();
    await field.fill(typed.slice(0, -1));
    await suggested();
    assert.match(await told.innerText(), /^\d+ suggestions?: Down Arrow chooses one$/);
    assert.deepEqual(await barriers(this.#frame), []);
    await this.press("Escape");
    await until("only the list is closed", async () => !(await first.isVisible()) && (await field.isVisible()));
    assert.equal(await told.innerText(), "");
    await this.screen.page.keyboard.type(typed.slice(-1));
    await suggested();
    await this.press("Enter");
    await until("a line is begun, where nothing is suggested", async () => !(await first.isVisible()));
    await this.press("Backspace");
    await suggested();
    await this.press("ArrowDown");
    await active("suggestions-references-0");
    await this.screen.page.keyboard.type(name[typed.length]);
    await active(null);
    await suggested();
    await this.press("ArrowDown");
    await active("suggestions-references-0");
    await this.screen.shot("suggested");
    await this.press("Enter");
    await until("the suggestion is written", async () => (await field.inputValue()).endsWith(name) && !(await first.isVisible()));
  }

  /** Waits until the title is being edited: its field is there with these words. Its focus is waited for, too, as `e` gives it. */
  async editing(words, { focus = true } = {}) {
    const field = this.#frame.locator("#edit-title");
    await until("the title is being edited", async () => {
      const value = await field.inputValue();
      return typeof words === "string" ? value === words : words.test(value);
    });
    if (focus) await until("the title has the focus", () => field.evaluate((element) => element.ownerDocument.activeElement === element));
  }
}
