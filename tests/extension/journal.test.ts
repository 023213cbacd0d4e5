import manifest from "../../package.json";
import { beforeEach, expect, test } from "vitest";
import { JournalDocuments } from "../../extension/src/commands/journal";
import * as protocol from "../../extension/src/protocol";
import { FakeContext } from "./fakes/sidecar";
import { activateTab, openTab } from "./fakes/tabs";
import { act, shown, Uri, window, workspace } from "./fakes/vscode";

let context: FakeContext;
let journal: JournalDocuments;
const root = "file:///repo";

beforeEach(() => {
  context = new FakeContext();
  context.answer(protocol.journal, ({ day }) => page(day === "" ? "2026-03-03" : String(day)));
  journal = new JournalDocuments(context);
});

function page(day: string): protocol.JournalPage {
  const known = ["2026-03-01", "2026-03-03"];
  const markdown = `# Journal of ${day}\n`;
  const previous = known.filter((one) => one < day).at(-1) ?? "";
  return { day, title: `Journal of ${day}`, markdown, previous, next: known.find((one) => one > day) ?? "", problems: [] };
}

/** The document that was opened last; it is in the active tab then. */
async function lastDocument(): Promise<Uri> {
  const [uri, editor] = shown.commands.filter(({ id }) => id === "vscode.openWith").at(-1)?.args ?? [];
  if (!(uri instanceof Uri)) throw new Error("no document was opened");
  expect(editor).toBe("vscode.markdown.preview.editor");
  await workspace.openTextDocument(uri); // as the editor does
  activateTab(uri);
  return uri;
}

test("today is shown as readable markdown, and the days before and after it that have something to tell", async () => {
  await journal.show();
  expect(context.asked).toEqual([{ method: "lerim/journal", params: { root, day: "" } }]);
  const today = await lastDocument();
  expect([today.scheme, today.path]).toEqual(["lerim-journal", "/Journal of 2026-03-03.md"]);
  expect(workspace.textDocuments.at(-1)?.getText()).toBe("# Journal of 2026-03-03\n");
  await journal.move("previous");
  const before = await lastDocument();
  expect(before.path).toBe("/Journal of 2026-03-01.md");
  await journal.move("previous", before as never); // the button of a tab names its document
  expect(shown.messages.at(-1)).toMatchObject({ text: "There is no earlier day in the journal." });
  await journal.move("next");
  expect((await lastDocument()).path).toBe("/Journal of 2026-03-03.md");
  await journal.show("2026-03-01"); // from the row of that day in the Sessions view
  expect((await lastDocument()).path).toBe("/Journal of 2026-03-01.md");
});

test("a day that has come since the journal was opened is its next day", async () => {
  await journal.show();
  await lastDocument();
  context.answer(protocol.journal, ({ day }) => ({ ...page(String(day)), next: day === "2026-03-03" ? "2026-03-04" : "" }));
  await journal.move("next");
  expect((await lastDocument()).path).toBe("/Journal of 2026-03-04.md");
});

test("a double click on the button of a day leads there once", async () => {
  await journal.show();
  const today = await lastDocument();
  openTab(today, { input: { uri: today } });
  await Promise.all([journal.move("previous", today as never), journal.move("previous", today as never)]);
  expect(window.tabGroups.all[0]?.tabs).toEqual([]);
  expect((await lastDocument()).path).toBe("/Journal of 2026-03-01.md");
});

test("links of the journal lead to the repository of the page that is in front", async () => {
  await journal.show();
  const first = await lastDocument();
  act.folders("/other");
  await journal.show();
  await lastDocument();
  expect(journal.lastRoot?.path).toBe("/other");
  activateTab(first);
  activateTab(Uri.file("/other/a.ts"));
  expect(journal.lastRoot?.path).toBe("/repo");
});

test("a tab that could not be opened with the window is replaced when the journal is opened, one that was opened stays", async () => {
  const day = Uri.from({ scheme: "lerim-journal", path: "/Journal of 2026-03-03.md", query: JSON.stringify({ root, day: "2026-03-03" }) });
  openTab(day, { input: { uri: day } });
  await journal.show();
  expect(window.tabGroups.all[0]?.tabs).toEqual([]);
  openTab(await lastDocument(), { input: { uri: day } });
  await journal.show();
  expect(window.tabGroups.all[0]?.tabs.length).toBe(1);
});

test("the editor starts Lerim before it opens a restored tab of the journal or of a commit", () => {
  expect(manifest.activationEvents).toEqual(expect.arrayContaining(["onFileSystem:lerim-journal", "onFileSystem:lerim-commit"]));
});

test("a tab restored with the window is told again, and any other document has no neighbours", async () => {
  const uri = Uri.from({ scheme: "lerim-journal", path: "/x.md", query: JSON.stringify({ root, day: "2026-03-01" }) });
  expect((await workspace.openTextDocument(uri)).getText()).toBe("# Journal of 2026-03-01\n");
  const broken = Uri.from({ scheme: "lerim-journal", path: "/x.md", query: "no JSON" });
  expect((await workspace.openTextDocument(broken)).getText()).toBe("");
  window.tabGroups.activeTabGroup.activeTab = { input: { uri: Uri.file("/repo/a.ts") }, isPreview: false };
  await expect(journal.move("next")).rejects.toThrow("Open the journal first.");
});
