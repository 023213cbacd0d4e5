// Takes the pictures of README.md and docs/MARKETPLACE.md anew, in a real editor with the sample. Run it as one journey (CONTRIBUTING.md, “Tests”).
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "./machine.mjs";
import { Person } from "./person.mjs";
import { Panel } from "./reviewpanel.mjs";

const copySample = `
import shutil, sys
from pathlib import Path
sys.path.insert(0, "scripts")
import run
repo, target = Path(sys.argv[1]), Path(sys.argv[2])
shutil.copytree(run.EXAMPLES / "project", repo, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
for step in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "The sample project"]):
    run.run_git(repo, *step)
run.copy_sessions(run.EXAMPLES / "sessions", target, repo)
run.connect_sample_stores(target)
`;
const page = join(repository, "docs", "MARKETPLACE.md");

const person = new Person("pictures", "tally");
const { machine, screen, root } = person;
const sample = machine.folder("sample");
Object.assign(machine.environ, { LERIM_HOME: join(sample, "lerim"), CLAUDE_CONFIG_DIR: join(sample, "claude") });
execFileSync(process.env.LERIM_PYTHON, ["-c", copySample, root, sample], { cwd: repository, stdio: "inherit" });
person.settings({
  "workbench.activityBar.location": "hidden", "workbench.layoutControl.enabled": false, "window.commandCenter": false, "editor.fontSize": 13,
  "breadcrumbs.enabled": false,
});

/** A picture of the window's upper `height` pixels, as the address that holds it: WebP is a third of PNG. */
async function picture(height) {
  const { width } = screen.page.viewportSize();
  const png = await screen.page.screenshot({ clip: { x: 0, y: 0, width, height } });
  const tab = await screen.page.context().newPage();
  const address = await tab.evaluate(async (bytes) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${bytes}`)).blob());
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas.toDataURL("image/webp", 0.5);
  }, png.toString("base64"));
  await tab.close();
  return address;
}

/** Replaces the picture of this description in the Marketplace page, which holds its pictures itself. */
function putIntoPage(description, address) {
  const before = readFileSync(page, "utf8");
  const start = before.indexOf(`![${description}](data:`);
  if (start < 0) throw new Error(`docs/MARKETPLACE.md has no picture “${description}”`);
  writeFileSync(page, `${before.slice(0, start)}![${description}](${address})${before.slice(before.indexOf(")", start) + 1)}`);
}

try {
  await person.begin();
  await screen.page.setViewportSize({ width: 1000, height: 560 });
  await person.work();
  await screen.command("View: Close Primary Side Bar");
  await screen.command("Lerim: Sync");
  await screen.status(/\d+ candidates to review/);
  const panel = await Panel.open(screen);
  await panel.select(/Decimal/);
  await panel.press("a");
  await screen.shareQuotes();
  await panel.did(/Accepted/);
  await panel.select(/InvoiceStore/);
  await screen.clearNotifications();
  putIntoPage("The review shows candidates with their quotes, who said them, and the code they are about", await picture(535));
  await screen.openFile("src/tally/money.py");
  await screen.lens(/decision/);
  const firstLine = screen.page.locator(".editor-instance .view-line span span", { hasText: "Amounts" }).first();
  await screen.rest(firstLine, /Decimal/, "line 1");
  putIntoPage("A hover in a source file shows what an earlier session decided, in the words that were said", await picture(300));
  await screen.page.setViewportSize({ width: 1280, height: 680 });
  await screen.command("View: Move Editor into Right Group");
  await screen.rest(firstLine, /Decimal/, "line 1");
  await screen.page.screenshot({ path: join(repository, "docs", "screenshot.png") });
} finally {
  await person.end();
}
