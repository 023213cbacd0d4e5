import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import * as protocol from "../../extension/src/protocol";
import { Status } from "../../extension/src/sidecar/status";
import { candidateOf, conflictOf, parseHandle, type MemoriesNode, MemoriesView } from "../../extension/src/views/memories/host";
import { FakeContext, present } from "./fakes/sidecar";
import { act, shown, type ThemeIcon, type TreeItem, TreeItemCollapsibleState, Uri, workspace } from "./fakes/vscode";

const root = "file:///repo";
let context: FakeContext;
let view: MemoriesView;
let rows: Record<string, Partial<protocol.TreeView>>;

function memory(id: string, changes: Partial<protocol.TreeMemory> = {}): protocol.TreeMemory {
  return {
    id, handle: `h-${id}`, primitive: "decision", kind: null, title: `Title of ${id}`, confidence: 0.8, created: "2026-01-02T03:04:05Z",
    scope: "project", status: "active", drift: "fresh", detail: "", path: `/repo/.lerim/memory/decisions/${id}.md`, called: "", ...changes,
  };
}

beforeEach(() => {
  context = new FakeContext();
  rows = {
    "": { groups: [{ node: "waiting", kind: "waiting", name: "", count: 1 }, { node: "primitive:decision", kind: "primitive", name: "decision", count: 3 }] },
    waiting: { proposals: [{ id: "c1", action: "supersede", primitive: "decision", kind: null, title: "Use pnpm", reason: "", scope: "global" }] },
    "primitive:decision": { memories: [memory("a"), memory("b")], total: 3 },
  };
  context.answer(protocol.memoryTree, ({ node = "", start = 0 }) => {
    const view = { groups: [], proposals: [], memories: [], problems: [], ...rows[node] };
    const all = start === 0 ? view : { ...view, memories: [memory("c")] };
    return { ...all, total: rows[node]?.total ?? all.groups.length + all.proposals.length + all.memories.length + all.problems.length };
  });
  view = openView(context.as());
});

/** A view that is disposed after its test: it would answer to the events of the next ones. */
function openView(of: ConstructorParameters<typeof MemoriesView>[0]): MemoriesView {
  const opened = new MemoriesView(of);
  onTestFinished(() => opened.dispose());
  return opened;
}

const itemOf = (node: MemoriesNode | undefined): TreeItem => view.getTreeItem(present(node)) as unknown as TreeItem;

const told = (key: string): unknown => shown.commands.filter(({ id, args }) => id === "setContext" && args[0] === key).at(-1)?.args[1];

test("what waits stands on top and open, and its row leads to the proposal", async () => {
  const [waiting, decisions] = await view.getChildren();
  expect([itemOf(waiting).label, itemOf(waiting).collapsibleState]).toEqual(["Waiting for review", TreeItemCollapsibleState.Expanded]);
  expect([itemOf(decisions).label, itemOf(decisions).description, itemOf(decisions).collapsibleState]).toEqual(["Decisions", "3", TreeItemCollapsibleState.Collapsed]);
  const [proposal] = await view.getChildren(waiting);
  expect(itemOf(proposal)).toMatchObject({ label: "Use pnpm", description: "replaces a memory · personal", command: { command: "lerim.openReview", arguments: [{ root, id: "c1" }] } });
});

test("in Restricted Mode the view says whose its memories are, and an empty one leaves its place to the welcome text", async () => {
  workspace.isTrusted = false;
  await view.getChildren();
  expect([told("lerim.memoriesState"), shown.trees[0]?.message]).toEqual(["listed", "From the repository, which you have not marked as trusted. Read-only."]);
  rows = {};
  view.refresh();
  await view.getChildren();
  expect([told("lerim.memoriesState"), shown.trees[0]?.message]).toEqual(["empty", ""]);
});

test("the view's badge tells how many candidates wait, over all folders, and its rows name their candidate", async () => {
  const other = `${root}/packages/api`;
  const folders = workspace.workspaceFolders;
  workspace.workspaceFolders = ["/repo", "/repo/packages/api", "/another"].map((path, index) => ({ uri: Uri.file(path), name: path, index }));
  const status = new Status(context.extension.globalState);
  status.state = { kind: "ready" };
  openView(Object.assign(context, { status }).as());
  status.setPending(root, 2, "repo");
  status.setPending(other, 2, "repo"); // another folder of the same repository
  status.setPending("file:///another", 1, "another");
  status.setPending("file:///closed", 4, "closed");
  const badge = (): unknown => (shown.trees.at(-1) as { badge?: unknown } | undefined)?.badge;
  expect(badge()).toEqual({ value: 3, tooltip: "3 candidates to review" });
  status.setPending(other, 1); // as the review panel counts
  expect(badge()).toEqual({ value: 2, tooltip: "2 candidates to review" });
  status.state = { kind: "off" };
  expect(badge(), "Lerim is turned off").toBeUndefined();
  workspace.workspaceFolders = folders;
  const [waiting] = await view.getChildren();
  const [proposal] = await view.getChildren(waiting);
  expect([candidateOf(proposal), candidateOf(waiting)]).toEqual([{ root, id: "c1", scope: "global" }, undefined]);
});

test("a group's memories are asked for when it is opened, page by page", async () => {
  const [, decisions] = await view.getChildren();
  expect(context.asked.map(({ params }) => (params as protocol.TreeParams).node)).toEqual([""]);
  const first = await view.getChildren(decisions);
  expect(first.map((node) => itemOf(node).label)).toEqual(["Title of a", "Title of b", "Show more (1 left)"]);
  await view.loadMore(first.at(-1));
  expect(context.asked.at(-1)?.params).toMatchObject({ node: "primitive:decision", start: 2 });
  const asked = context.asked.length;
  expect((await view.getChildren(decisions)).map((node) => itemOf(node).label)).toEqual(["Title of a", "Title of b", "Title of c"]);
  await view.loadMore("nonsense");
  expect(context.asked).toHaveLength(asked);
});

test("memories whose files have the same id are rows of their own", async () => {
  rows["primitive:decision"] = { memories: [memory("a"), memory("a", { path: "/repo/.lerim/memory/decisions/a copy.md" })] };
  const [, decisions] = await view.getChildren();
  const ids = (await view.getChildren(decisions)).map((node) => itemOf(node).id);
  expect(new Set(ids).size).toBe(2);
});

test("what drifted, is missing or inactive looks so and says of what; hostile words stay words", async () => {
  const hostile = "[x](command:evil) <b>hi</b>";
  rows["primitive:decision"] = {
    memories: [
      memory("a", { drift: "drifted", detail: "src/a.py#load", title: hostile }),
      memory("b", { drift: "gone", detail: "src/b.py" }),
      memory("c", { status: "superseded", drift: "", detail: "20260101-new" }),
      memory("f", { called: "outdated" }),
      memory("d", { scope: "global", drift: "", kind: "pitfall", primitive: "learning" }),
      memory("e"),
    ],
  };
  const [, decisions] = await view.getChildren();
  const items = (await view.getChildren(decisions)).map(itemOf);
  expect(items.map(({ description, iconPath, contextValue }) => [description, (iconPath as ThemeIcon).id, contextValue])).toEqual([
    ["drifted", "git-compare", "lerim.memory.active.decision.project.drifted"],
    ["not found", "circle-slash", "lerim.memory.active.decision.project.gone"],
    ["superseded", "history", "lerim.memory.over.decision.project."],
    ["outdated", "warning", "lerim.memory.active.decision.project.fresh.outdated"],
    ["personal · pitfall", "warning", "lerim.memory.active.learning.global."],
    ["", "law", "lerim.memory.active.decision.project.fresh"],
  ]);
  expect(items[0]?.tooltip).toBeTypeOf("string");
  expect(items[0]?.tooltip).toContain("Changed since it was last checked: src/a.py#load");
  expect(items[2]?.tooltip).toContain("Superseded by 20260101-new");
  expect(items[3]?.tooltip).toContain("You marked this as outdated");
  expect(items[0]?.command).toMatchObject({ command: "lerim.openMemory", arguments: ["h-a"] });
});

test("a file that git left in two can be merged from its row, another problem cannot", async () => {
  rows[""] = { groups: [{ node: "problems", kind: "problems", name: "", count: 2 }] };
  rows["problems"] = {
    problems: [
      { code: "memory-conflict", path: "/repo/.lerim/memory/decisions/a.md:3", message: "Both sides." },
      { code: "memory-value", path: "/repo/.lerim/memory/decisions/b.md", message: "No title." },
    ],
  };
  const [problems] = await view.getChildren();
  const both = await view.getChildren(problems);
  expect(both.map((node) => itemOf(node).contextValue)).toEqual(["lerim.problem.merge", "lerim.problem"]);
  expect(both.map(conflictOf)).toEqual([{ root, path: "/repo/.lerim/memory/decisions/a.md" }, undefined]);
});

test("the row of a problem begins with what is wrong, since the beginnings of file names are alike", async () => {
  rows[""] = { groups: [{ node: "problems", kind: "problems", name: "", count: 3 }] };
  rows["problems"] = {
    problems: [
      { code: "memory-conflict", path: "/repo/.lerim/memory/decisions/a.md:3", message: "Both sides." },
      { code: "memory-twice", path: "/repo/.lerim/memory/decisions/c.md", message: "One id has 2 files: decisions/c.md and learnings/c.md." },
      { code: "memory-value", path: "/repo/.lerim/memory/decisions/b.md:4", message: "No title." },
    ],
  };
  const [problems] = await view.getChildren();
  const listed = (await view.getChildren(problems)).map(itemOf);
  expect(listed.map(({ label, description }) => [label, description])).toEqual([["Has a merge conflict", "a.md"], ["Has the id of another file", "c.md"], ["No title.", "b.md"]]);
});

test("a command acts on the memory of its row or link; a row that the list no longer has is no reason to act on another memory", async () => {
  const [, decisions] = await view.getChildren();
  const [row] = await view.getChildren(decisions);
  expect([parseHandle([row, [row]]), parseHandle(["h-b"]), parseHandle([])]).toEqual(["h-a", "h-b", undefined]);
  expect(() => parseHandle([undefined, undefined])).toThrow("The list has just changed");
  expect(() => parseHandle([{ kind: "other" }])).toThrow("This link is broken");
});

test("it lists anew when memories changed, and in the order that is chosen, also in the next window", async () => {
  let changes = 0;
  view.onDidChangeTreeData(() => changes++);
  context.notify(protocol.memoriesChanged, { root, memories: 4 });
  expect(changes).toBe(1);
  await view.groupBy("freshness");
  expect(changes).toBe(2);
  await view.getChildren();
  expect(context.asked.at(-1)?.params).toMatchObject({ by: "freshness" });
  expect([told("lerim.memoriesBy"), shown.trees[0]?.description]).toEqual(["freshness", "by freshness"]);
  const next = openView(context.as());
  await next.getChildren();
  expect(context.asked.at(-1)?.params).toMatchObject({ by: "freshness" });
});

test("each folder of a window is a row of its own, and without one the person's own memories are listed", async () => {
  act.folders("/one", "/two");
  const folders = await view.getChildren();
  expect(folders.map((node) => itemOf(node).label)).toEqual(["one", "two"]);
  await view.getChildren(folders[1]);
  expect(context.asked.at(-1)?.params).toMatchObject({ root: "file:///two", node: "" });
  act.folders();
  await view.getChildren();
  expect(context.asked.at(-1)?.params).toMatchObject({ root: null });
});

test("a folder that becomes a repository is listed anew", () => {
  let changes = 0;
  view.onDidChangeTreeData(() => (changes += 1));
  act.create("/repo/.git");
  expect(changes).toBe(1);
});

test("an empty store, a sidecar that does not run and a failure are told apart", async () => {
  rows[""] = {};
  expect(await view.getChildren()).toEqual([]);
  expect(told("lerim.memoriesState")).toBe("empty");
  (shown.trees.at(-1) as { visible: boolean }).visible = false; // what is accepted then shows in no row
  view.refresh();
  expect(told("lerim.memoriesState")).toBe("unknown");
  context.isRunning = false;
  expect(await view.getChildren()).toEqual([]);
  expect(told("lerim.memoriesState")).toBe("stopped");
  context.isRunning = true;
  view.refresh();
  context.refuse(protocol.memoryTree, "The disk is gone.");
  expect(await view.getChildren()).toEqual([]);
  expect([told("lerim.memoriesState"), shown.trees[0]?.message]).toEqual(["outside", ""]); // there is no repository at /repo
  const repository = mkdtempSync(join(tmpdir(), "lerim-view-"));
  mkdirSync(join(repository, ".git"));
  const folders = workspace.workspaceFolders;
  workspace.workspaceFolders = [{ uri: Uri.file(repository), name: "repo", index: 0 }];
  expect(await view.getChildren()).toEqual([]);
  expect(shown.trees[0]?.message).toBe("The memories could not be listed: The disk is gone.");
  workspace.workspaceFolders = [repository, "/plain"].map((path, index) => ({ uri: Uri.file(path), name: index === 0 ? "repo" : "plain", index }));
  const items = (await view.getChildren()).map(itemOf);
  expect(items.map(({ label, description, collapsibleState }) => [label, description, collapsibleState]), "a folder without a repository has no rows that could fail").toEqual([
    ["repo", undefined, TreeItemCollapsibleState.Expanded],
    ["plain", "not in a git repository", TreeItemCollapsibleState.None],
  ]);
  workspace.workspaceFolders = folders;
  rmSync(repository, { recursive: true });
});

