// Links of the journal: what they name, and what opens.
import { existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { JournalLinks, parseJournalLink } from "../../extension/src/commands/journallinks";
import * as protocol from "../../extension/src/protocol";
import { FakeContext } from "./fakes/sidecar";
import { shown, Uri } from "./fakes/vscode";

test("only turns, commits and memories of a repository can be linked", () => {
  const hash = "0123456789abcdef0123456789abcdef01234567";
  expect(parseJournalLink("/turn/0123456789ab.lerim-link")).toEqual({ kind: "turn", turn: "0123456789ab" });
  expect(parseJournalLink(`/commit/${hash}.lerim-link`)).toEqual({ kind: "commit", hash });
  expect(parseJournalLink("/memory/.lerim/memory/decisions/x.md.lerim-link")).toEqual({ kind: "memory", path: ".lerim/memory/decisions/x.md" });
  for (const path of ["/commit/--output=x.lerim-link", "/commit/HEAD.lerim-link", "/memory/src/app.py.lerim-link", "/memory/.lerim/memory/../../x.md.lerim-link", "/memory/.lerim/memory/a/b/../../../x.md.lerim-link", "/x.lerim-link", "/turn/.lerim-link"]) {
    expect(parseJournalLink(path), path).toBeUndefined();
  }
});

test("only commits are shown as commits", async () => {
  const links = new JournalLinks(new FakeContext().as(), { open: () => Promise.resolve() }, { lastRoot: undefined });
  const written = join(mkdtempSync(join(tmpdir(), "journal-")), "written");
  for (const path of [`/--output=${written}.diff`, "/HEAD.diff"]) {
    await expect(links.provideTextDocumentContent(Uri.from({ scheme: "lerim-commit", path, query: process.cwd() }) as never)).rejects.toThrow("This link is broken.");
  }
  expect(existsSync(written)).toBe(false);
});

test("a link opens its turn or its memory, and its own editor closes", async () => {
  const root = mkdtempSync(join(tmpdir(), "journal-"));
  mkdirSync(join(root, ".git"));
  const context = new FakeContext();
  context.answer(protocol.memoryShow, () => ({ path: join(root, "x.md") }) as never);
  const turns: unknown[] = [];
  const links = new JournalLinks(context.as(), { open: (target) => Promise.resolve(void turns.push(target)) }, { lastRoot: Uri.file(root) as never });
  let closed = 0;
  const follow = (path: string): Promise<void> => links.resolveCustomEditor({ uri: Uri.from({ scheme: "lerim-journal", path }) } as never, { dispose: () => (closed += 1) } as never);
  await follow("/turn/0123456789ab.lerim-link");
  expect(turns).toEqual([{ root: Uri.file(root).toString(), session: "", turn: "0123456789ab" }]);
  await follow("/memory/.lerim/memory/decisions/x.md.lerim-link");
  expect(context.params(protocol.memoryShow)).toEqual([{ id: Uri.file(join(root, ".lerim/memory/decisions/x.md")).toString() }]);
  await follow("/nonsense.lerim-link");
  expect(shown.messages.at(-1)).toMatchObject({ severity: "error", text: "Lerim: This link is broken." });
  expect(closed).toBe(3);
});
