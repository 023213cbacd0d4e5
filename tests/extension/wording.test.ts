import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { splitHiddenCharacters } from "../../extension/src/text/hidden";
import { Status, statusDisplay } from "../../extension/src/sidecar/status";
import { checkText } from "../../extension/src/text/memorywording";
import { acceptedText, beginning, kindOf, memoryDetail, pendingText, plainText, progressText, referenceProblemsText, rowText, shorten, syncReportText, wholeWords } from "../../extension/src/text/wording";
import { FakeContext, memory, report } from "./fakes/sidecar";
import { openWalkthroughTab } from "./fakes/tabs";
import { act, shown } from "./fakes/vscode";

const progress = { root: "file:///repo", stage: "reading", sessionsDone: 3, sessionsTotal: 12, candidates: 2, message: "", settling: 0 } as const;

test("progress names the part of the sync, whose numbers begin at 0", () => {
  expect(progressText(progress)).toBe("Reading (3 of 12 sessions, 2 candidates)");
  expect(progressText({ ...progress, stage: "learning", sessionsDone: 0, sessionsTotal: 1, candidates: 1 })).toBe("Finding candidates (0 of 1 session, 1 candidate)");
  expect(progressText({ ...progress, stage: "learning", message: "asking openai:tiny" })).toBe("Asking openai:tiny (3 of 12 sessions, 2 candidates)");
  expect(progressText({ ...progress, stage: "looking", sessionsTotal: 0, candidates: 0 })).toBe("Looking for sessions");
});

test("a title loses the marks of code and bold, but not the stars that code has", () => {
  expect(plainText("**Always** use `uv`, **not `pip`**")).toBe("Always use uv, not pip");
  expect(plainText("Run ```sh make``` or `make`, then ```python x = 1")).toBe("Run sh make or make, then python x = 1");
  expect(plainText("list `.claude/**`, `.git/**` and `a**b`")).toBe("list .claude/**, .git/** and a**b");
});

test("a shortened text has no half of a character", () => {
  expect(shorten("Use 🚀🚀", 6)).toBe("Use…");
  expect(shorten("Use 🚀🚀", 7)).toBe("Use 🚀…");
  expect(beginning("👩‍👩‍👧e\u0301x", 7)).toBe("");
  expect(beginning("👩‍👩‍👧e\u0301x", 9)).toBe("👩‍👩‍👧");
  expect(beginning("abc", 3)).toBe("abc");
});

test("a title spells out hidden characters, and shows no icon of its own in a row of a list", () => {
  expect(plainText("use \u202evu\u200b")).toBe("use ⟨U+202E⟩vu⟨U+200B⟩");
  expect(rowText("$(verified) `uv`\u2066")).toBe("\\$(verified) uv⟨U+2066⟩");
});

test.each([
  [{}, "3 sessions read, 2 new candidates to review."],
  [{ state: "cancelled" }, "Sync cancelled: 3 sessions read, 2 new candidates to review."],
  [{ state: "busy", message: "make (process 7) is syncing this project." }, "make (process 7) is syncing this project."],
  [{ state: "failed", message: "The catalog is locked." }, "Sync failed. The catalog is locked."],
  [{ sessions: { found: 0, new: 0, changed: 0, unchanged: 0, failed: 0 }, candidates: [], dropped: {} }, "No sessions were found for this repository."],
  [{ sessions: { found: 3, new: 0, changed: 0, unchanged: 3, failed: 0 }, candidates: [], dropped: {} }, "Nothing new was said in your sessions."],
  [{ candidates: [] }, "3 sessions read, 0 new candidates to review. The review lists 1 finding under “Left out”, with the reason."],
  [{ withdrawn: [{ id: "c9", reason: "refuted" }], problems: [{ code: "x", path: "y", message: "z" }] }, "3 sessions read, 2 new candidates to review. 1 earlier candidate was withdrawn. 1 problem was written to the log."],
] as const)("a report %j is told as %s", (changes, text) => {
  expect(syncReportText(report(changes as Parameters<typeof report>[0]))).toBe(text);
});

test("a learning is called by its kind", () => {
  expect(kindOf({ primitive: "learning", kind: "pitfall" })).toBe("pitfall");
  expect(kindOf({ primitive: "decision", kind: null })).toBe("decision");
  expect(memoryDetail(memory("m", { primitive: "learning", kind: "pitfall", scope: "global", body: "\n\nFirst line.\nSecond." }))).toBe("pitfall · confidence 80 % · personal · First line.");
  const said = { title: "Use `uv` in CI", body: "Use uv in CI.", kind: null, primitive: "decision" } as const;
  expect(memoryDetail(memory("m", said))).toBe("decision · confidence 80 %");
  expect(memoryDetail(memory("m", { ...said, body: "Use uv in CI, never pip: it is faster." }))).toBe("decision · confidence 80 % · never pip: it is faster");
  expect(memoryDetail(memory("m", { ...said, drift: "gone" }))).toBe("decision · confidence 80 % · not found");
  expect(memoryDetail(memory("m", { ...said, title: "Use u", body: "Use uv in CI." }))).toBe("decision · confidence 80 % · Use uv in CI.");
});

test("the status item counts what waits, follows a sync and says what is wrong", () => {
  expect(statusDisplay({ kind: "ready" }, 3, "")).toMatchObject({ text: "$(checklist) Lerim: 3 to review", tooltip: "Lerim: 3 candidates to review\nLerim reads new sessions by itself", command: "lerim.openReview" });
  expect(statusDisplay({ kind: "ready" }, 0, "")).toMatchObject({ text: "$(checklist) Lerim" });
  expect(statusDisplay({ kind: "ready" }, 3, "", undefined, 1)).toMatchObject({
    text: "$(checklist) Lerim: 3 to review · more soon",
    tooltip: "Lerim: 3 candidates to review\nThe last exchange of 1 session is not over yet. Lerim reads it by itself when nothing has been written for 90 seconds.\nLerim reads new sessions by itself",
  });
  expect(statusDisplay({ kind: "setting-up", message: "Installing packages…" }, 0, "")).toMatchObject({ text: "$(loading~spin) Lerim", tooltip: "Lerim: Installing packages…" });
  expect(statusDisplay({ kind: "ready" }, 3, "3 of 12 sessions, 2 candidates")?.text).toBe("$(sync~spin) Lerim: 3 of 12 sessions, 2 candidates");
  expect(statusDisplay({ kind: "failed", message: "no" }, 0, "")).toMatchObject({ command: "lerim.restart", warning: true });
  expect(statusDisplay({ kind: "not-set-up" }, 0, "")).toMatchObject({ text: "$(debug-disconnect) Lerim: Set Up", tooltip: "Lerim is not set up. Click to set it up.", command: "lerim.setUp" });
  expect(statusDisplay({ kind: "off" }, 3, "")).toBeUndefined();
  expect(pendingText(1)).toBe("1 candidate to review");
});

function statusOf(...folders: string[]): Status {
  act.folders(...folders);
  const status = new Status(new FakeContext().extension.globalState);
  status.state = { kind: "ready" };
  return status;
}

test("the status item shows a person who has just begun the next step: trust, the set-up, the first sync, then the review", async () => {
  const begun = { trusted: true, synced: false };
  expect(statusDisplay({ kind: "not-set-up" }, 0, "", undefined, 0, { trusted: false, synced: false })?.tooltip).toContain("first you are asked to trust this workspace");
  expect(statusDisplay({ kind: "ready" }, 0, "", undefined, 0, begun)).toMatchObject({ text: "$(sync) Lerim: Sync", command: "lerim.sync", tooltip: expect.stringContaining("No candidates to review") as string });
  expect(statusDisplay({ kind: "ready" }, 2, "", undefined, 0, begun)).toMatchObject({ text: "$(checklist) Lerim: 2 to review", command: "lerim.openReview" });
  expect(statusDisplay({ kind: "ready" }, 2, "", undefined, 0, { trusted: false, synced: true })).toMatchObject({ text: "$(workspace-untrusted) Lerim", command: "workbench.trust.manage", tooltip: expect.stringMatching(/Restricted Mode[^]*Sessions are not read/) as string });
  const status = statusOf("/one");
  expect(shown.statusItems.at(-1)?.text).toBe("$(sync) Lerim: Sync");
  status.markSynced();
  expect(shown.statusItems.at(-1)?.text).toBe("$(checklist) Lerim");
  expect(shown.commands.at(-1)).toEqual({ id: "setContext", args: ["lerim.synced", true] });
  const another = statusOf("/one");
  openWalkthroughTab();
  another.setSyncing("file:///one", "1 of 2 sessions");
  expect(shown.statusItems.at(-1)).toMatchObject({ text: "$(sync~spin) Lerim: 1 of 2 sessions", tooltip: undefined });
  another.markSynced();
  await expect.poll(() => shown.commands.at(-1)).toEqual({ id: "walkthroughs.selectStep", args: ["review"] });
});

test("a sync of a folder that left the window is not shown, nor what waits in its sessions", () => {
  const status = statusOf("/one", "/two");
  status.markSynced();
  status.setSyncing("file:///two", "1 of 2 sessions");
  status.setSettling("file:///two", 1);
  expect(shown.statusItems.at(-1)?.text).toBe("$(sync~spin) Lerim: 1 of 2 sessions");
  act.folders("/one");
  expect(shown.statusItems.at(-1)?.text).toBe("$(checklist) Lerim");
});

test("candidates of a project with several folders in the window are counted once, those of a folder that left it not, until it comes back", () => {
  const status = statusOf("/main", "/worktree", "/other");
  status.setPending("file:///main", 3, "p1");
  status.setPending("file:///worktree", 3, "p1");
  status.setPending("file:///other", 2, "p2");
  expect(status.pending).toBe(5);
  status.setPending("file:///main", 4); // as the panel counts, which knows no projects
  expect(status.pending).toBe(6);
  act.folders("/other");
  expect(shown.statusItems.at(-1)?.text).toBe("$(checklist) Lerim: 2 to review");
  act.folders("/main", "/worktree", "/other");
  expect(status.pending).toBe(6);
});

test("a status made anew says that nothing waits: before it was restarted, something may have", () => {
  act.folders("/one");
  const before = shown.commands.length;
  const status = new Status(new FakeContext().extension.globalState);
  status.state = { kind: "ready" };
  for (const pending of [0, 2, 2]) status.setPending("file:///one", pending);
  const told = shown.commands.slice(before).filter(({ args }) => args[0] === "lerim.hasCandidates");
  expect(told.map(({ args }) => args[1])).toEqual([false, true]);
});

test("of the folders of one project one is asked about", () => {
  const status = statusOf("/main", "/worktree", "/other");
  status.setPending("file:///main", 3, "p1");
  status.setPending("file:///worktree", 3, "p1");
  expect(status.projects()).toEqual(["file:///worktree", "file:///other"]);
});

test("what is known of the model stands below what waits for review", () => {
  const status = statusOf("/one");
  status.markSynced();
  status.setModel({ lines: ["Model: editor:gpt"], usedUp: true });
  expect(shown.statusItems.at(-1)).toMatchObject({ text: "$(checklist) Lerim $(circle-slash)", tooltip: "Lerim: No candidates to review\nLerim reads new sessions by itself\nModel: editor:gpt" });
});

test("where the sync of an idle editor is turned off, the status item does not say that Lerim reads by itself", () => {
  const status = statusOf("/one");
  status.markSynced();
  status.applySettings({ statusBar: true, idleSeconds: 0 });
  expect(shown.statusItems.at(-1)?.tooltip).toBe("Lerim: No candidates to review\nNew sessions are read when you run Lerim: Sync, because lerim.idleSeconds is 0");
  status.setPending("file:///one", 2);
  status.applySettings({ statusBar: true, idleSeconds: 30 });
  expect(shown.statusItems.at(-1)?.tooltip).toBe("Lerim: 2 candidates to review\nLerim reads new sessions by itself");
});

test("a check of the memories counts what was found, and nothing else", () => {
  const result = { memories: 1, errors: 0, warnings: 0, others: 0 };
  expect(checkText(result)).toBe("1 memory checked: nothing is wrong.");
  expect(checkText({ ...result, errors: 2, others: 1 })).toBe("1 memory checked: 2 errors, 1 note.");
});

test("what is wrong with references is one short sentence, and where they may be another", () => {
  const lost = { reference: "a.py#load", state: "not-found", likely: [] as string[] } as const;
  const twice = { reference: "b.py#run", state: "ambiguous", likely: ["b.py#A.run", "b.py#B.run"] as string[] } as const;
  expect([[lost], [twice], [lost, lost], [lost, twice]].map((problems) => referenceProblemsText(problems))).toEqual([
    "a.py#load was not found.",
    "b.py#run was found more than once. The review shows where it may be.",
    "2 references were not found.",
    "2 references were not found or are ambiguous. The review shows where they may be.",
  ]);
  expect(referenceProblemsText([{ ...lost, reference: "a\u202eyp.b" }])).toBe("a⟨U+202E⟩yp.b was not found.");
});

test("the characters that the editor spells out are those that the sidecar spells out", () => {
  const listed = readFileSync("server/lerim/redaction/hidden.py", "utf8").split("HIDDEN_CHARACTERS = compile_later(")[1]?.split("\n)")[0] ?? "";
  const ranges = [...listed.matchAll(/"(.*)"/g)].map(([, part]) => part).join("").slice(1, -1);
  const pattern = ranges.replaceAll(/\\U000?([0-9a-f]{5,})/g, "\\u{$1}").replaceAll(/\\x([0-9a-f]{2})/g, "\\u00$1");
  const hidden = new RegExp(`^[${pattern}]$`, "u");
  const all = Array.from({ length: 0x20000 }, (_, at) => String.fromCodePoint(at < 0x1e000 ? at : at + 0xc2000)).filter((character) => character !== "\ufe0f"); // which makes an emoji colourful
  expect(all.filter((character) => hidden.test(character) !== (splitHiddenCharacters(character)[0]?.hidden ?? false))).toEqual([]);
});

test("after an accept it is said where the memory shows, also if it is about no code", () => {
  expect(acceptedText({ action: "add" }, "src/app.py")).toBe("Hover over line 1 of app.py to see it.");
  expect(acceptedText({ action: "supersede" }, "src/app.py#Store.save")).toBe("Hover over Store.save in app.py to see it.");
  expect(acceptedText({ action: "add" }, "")).toBe("It refers to no file, so no hover shows it; you can find it by searching and in the Memories view. For a hover, accept a candidate that names a file.");
  expect(acceptedText({ action: "archive" }, "src/app.py")).toBe("");
});

test("a word of which a part is selected is taken as a whole, and nothing else is", () => {
  const of = (text: string, words: string) => wholeWords(text.slice(0, text.indexOf(words)), words, text.slice(text.indexOf(words) + words.length));
  const said = "not forever! the last time an endless retry";
  expect(of(said, "e last time an endless retr")).toBe("the last time an endless retry");
  expect([of(said, "the last time"), of(said, " last "), of(said, "! the last")]).toEqual(["the last time", " last ", "! the last"]);
  expect([of("für übermäßige Größen", "berm"), of("数据库统一使用", "统一"), of("", "")]).toEqual(["übermäßige", "统一", ""]);
});

test("a long text is cut after a word, and one that is a single word where it must be", () => {
  expect(shorten("Use uv, not pip: it is faster", 20)).toBe("Use uv, not pip: it…");
  expect(shorten("Use uv, not pip: it is faster", 19)).toBe("Use uv, not pip:…");
  expect(shorten(`Use ${"x".repeat(30)}`, 20)).toBe(`Use ${"x".repeat(15)}…`);
});
