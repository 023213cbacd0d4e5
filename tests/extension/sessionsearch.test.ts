import { beforeEach, expect, test } from "vitest";
import * as protocol from "../../extension/src/protocol";
import { searchSessions } from "../../extension/src/commands/sessionsearch";
import { FakeContext, present } from "./fakes/sidecar";
import { type FakeQuickPick, shown } from "./fakes/vscode";

let context: FakeContext;
let opened: [string, string][];

beforeEach(() => {
  context = new FakeContext();
  opened = [];
});

function hit(id: string): protocol.HitView {
  return { id, turn: `t-${id}`, platform: "codex", agent: "Codex", title: "Mend the `cart`", time: "", role: "user", snippet: `… **${id}** \`$(alert)\` …` };
}

function search(everywhere = false): FakeQuickPick {
  void searchSessions(context.as(), everywhere, (id, turn) => Promise.resolve(void opened.push([id, turn])));
  return present(shown.quickPicks[0]);
}

test("matches stand in the sidecar's order with who said it and what; Enter opens the turn", async () => {
  context.answer(protocol.sessionsSearch, () => ({ hits: [hit("b"), hit("a")], problems: [] }));
  const pick = search();
  pick.type("agent:codex cart");
  await expect.poll(() => pick.items.length).toBe(2);
  expect(context.asked).toEqual([{ method: "lerim/sessions/search", params: { query: "agent:codex cart", everywhere: false, limit: 50 } }]);
  expect(pick.items[0]).toMatchObject({ label: "", description: "… b \\$(alert) …", detail: "Codex · you · Mend the cart", alwaysShow: true });
  expect(pick, "the editor marks what was typed").toHaveProperty("matchOnDescription", true);
  pick.accept(1);
  expect(opened).toEqual([["a", "t-a"]]);
  expect(pick.visible).toBe(false);
});

test("a match that begins as the title of its session does names the session only once", async () => {
  const long = "Requests to the order service must have a timeout of 10 seconds, we had a worker hanging";
  context.answer(protocol.sessionsSearch, () => ({ hits: [{ ...hit("a"), snippet: long, title: `${long.slice(0, 60)}…` }, hit("b")], problems: [] }));
  const pick = search();
  pick.type("timeout");
  await expect.poll(() => pick.items.map(({ detail }) => detail)).toEqual(["Codex · you", "Codex · you · Mend the cart"]);
});

test("nothing is asked for an empty text, and only the last one while a person types", async () => {
  context.answer(protocol.sessionsSearch, () => ({ hits: [hit("a")], problems: [] }));
  const pick = search(true);
  for (const value of ["c", "ca", "car"]) pick.type(value);
  await expect.poll(() => pick.items.length).toBe(1);
  pick.type("  ");
  await expect.poll(() => pick.items.length).toBe(0);
  expect(context.asked.map(({ params }) => params)).toEqual([{ query: "car", everywhere: true, limit: 50 }]);
});

test("a filter that is not understood, no match, and a failure are said in the title", async () => {
  context.answer(protocol.sessionsSearch, ({ query }) => {
    if (query === "broken") throw new Error("The catalog is locked.");
    return { hits: [], problems: query === "agent:x" ? ["agent: 'x' is none."] : [] };
  });
  const pick = search();
  pick.type("agent:x");
  await expect.poll(() => pick.title).toBe("agent: 'x' is none.");
  pick.type("nothing");
  await expect.poll(() => pick.title).toBe("No matches");
  pick.type("broken");
  await expect.poll(() => pick.title).toBe("Search failed: The catalog is locked.");
});
