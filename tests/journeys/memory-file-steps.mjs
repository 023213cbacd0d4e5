// A memory's file in the editor: what a hover says, what is completed, what is marked with its fix, and what `#` finds.
import { until } from "./until.mjs";

/** The steps in the file at `path` of a memory that refers to `src/cache.py#load` and is related to `related`, whose title says "rounds down". */
export async function workInMemoryFile(run, screen, path, related) {
  const line = /cache\.py#/;
  const marked = screen.page.locator(".editor-instance .squiggly-error, .editor-instance .squiggly-warning");
  const suggested = screen.page.locator(".suggest-widget.visible .monaco-list-row");

  await run("in a memory's file, a hover says which memory an id means, and paths and keys are completed", async () => {
    await screen.openFile(path);
    await screen.hover(related, /rounds down/);
    await screen.shot("id");
    const before = await screen.editorText();
    await screen.endOfLine(line);
    await screen.page.keyboard.type("\n- src/car");
    await suggests(/src\/cart\.py/);
    await screen.shot("completed");
    await screen.page.keyboard.press("Enter");
    await until("the path is completed", async () => /^ *- src\/cart\.py$/m.test(await screen.editorText()));
    await screen.page.keyboard.press("Enter");
    await screen.page.keyboard.press("Shift+Home"); // a key stands at the edge
    await screen.page.keyboard.type("supe");
    await suggests(/supersedes/);
    await screen.page.keyboard.press("Escape");
    await until("all is undone", async () => {
      await screen.page.keyboard.press("Control+z");
      return (await screen.editorText()) === before;
    });
  });

  await run("a reference to nothing is marked at once, and a quick fix leads it to the place that is meant", async () => {
    await screen.endOfLine(line);
    await screen.page.keyboard.type("s");
    await until("it is marked", async () => (await marked.count()) > 0);
    const menu = screen.page.locator(".action-widget .monaco-list-row, .context-view .monaco-list-row");
    let pressed = 0; // pressed again where the fixes were not there yet
    await until("the fix is offered", async () => {
      if ((await menu.allInnerTexts()).some((text) => text.includes("Change to src/cache.py#load"))) return true;
      if (Date.now() - pressed < 3000) return false;
      pressed = Date.now();
      await screen.page.keyboard.press("Escape");
      await screen.page.keyboard.press("Control+.");
      return false;
    });
    await screen.shot("fix");
    await screen.page.keyboard.press("Enter"); // the preferred fix is the first
    await until("nothing is marked", async () => /cache\.py#load$/m.test(await screen.editorText()) && (await marked.count()) === 0);
    await screen.page.keyboard.press("Control+s");
  });

  await run("what can be done with a memory is in the menu of its file", async () => {
    const menu = screen.page.locator(".action-widget .monaco-list-row, .context-view .monaco-list-row");
    let pressed = 0;
    await until("the actions are offered", async () => {
      const offered = (await menu.allInnerTexts()).join("\n");
      if (["Mark Memory as Still True", "Archive Memory", "Move Memory to Personal Memories", "Split into New Memory"].every((title) => offered.includes(title))) return true;
      if (Date.now() - pressed < 3000) return false;
      pressed = Date.now();
      await screen.page.keyboard.press("Escape");
      await screen.endOfLine(/^Files.of.the.cache/);
      for (const key of ["Control+Shift+ArrowLeft", "Control+Shift+ArrowLeft", "Control+Shift+R"]) await screen.page.keyboard.press(key);
      return false;
    });
    await screen.shot("actions");
    await screen.page.keyboard.press("Escape");
  });

  await run("# finds a memory by its title", async () => {
    await screen.findSymbol("rounds down", /rounds down/);
    await screen.shot("symbol");
    await screen.page.keyboard.press("Enter");
    await until("the memory is shown", async () => /^title: .*rounds down/m.test(await screen.editorText()));
  });

  /** Asks for suggestions until one is as `pattern`. */
  async function suggests(pattern) {
    let pressed = 0;
    await until(`${pattern} is suggested`, async () => {
      if ((await suggested.allInnerTexts()).some((text) => pattern.test(text))) return true;
      if (Date.now() - pressed < 3000) return false;
      pressed = Date.now();
      await screen.page.keyboard.press("Control+Space");
      return false;
    });
  }
}
