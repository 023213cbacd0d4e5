// Agents in the editor: an extension calls our language model tools, the editor starts our MCP server, and what is known is copied for an agent.
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { markdown, missing, repository } from "./machine.mjs";
import { Person } from "./person.mjs";
import { makeRepository } from "./rebuild.mjs";
import { step } from "./screen.mjs";
import { JOURNEY, until } from "./until.mjs";

const editors = [["the newest editor", "LERIM_EDITOR"], ["the oldest editor", "LERIM_EDITOR_OLDEST"]];
const memory = `---
id: 20260301-cents
title: Amounts in src/cart.py are integer cents
created: 2026-03-01T10:00:00Z
updated: 2026-03-01T10:00:00Z
source: manual
confidence: 0.9
tags: []
references:
  - src/cart.py
---

Floats lost a cent in every hundredth invoice.
`;

for (const [name, variable] of editors) {
  test(`agents in ${name}`, { skip: missing() ?? false, timeout: JOURNEY }, async (t) => {
    const newest = variable === "LERIM_EDITOR";
    const person = new Person(newest ? "chat" : "chat-oldest", "shop", { editor: process.env[variable] });
    const { machine, screen, root } = person;
    const run = (what, body) => step(t, () => screen, what, body);
    const folder = join(machine.home, "agent");
    let asked = 0;

    /** What the scripted agent answers to a request. */
    const agent = async (request) => {
      const id = String((asked += 1));
      writeFileSync(join(folder, "request.new"), JSON.stringify({ id, ...request }));
      renameSync(join(folder, "request.new"), join(folder, "request.json"));
      return until(`the agent has done ${JSON.stringify(request)}`, () => {
        const result = JSON.parse(readFileSync(join(folder, "result.json"), "utf8"));
        return result.id === id && result;
      });
    };

    before(async () => {
      makeRepository(root, new Map([["src/cart.py", "def total(prices):\n    return sum(prices)\n"]]));
      mkdirSync(join(root, ".lerim/memory/decisions"), { recursive: true });
      writeFileSync(join(root, ".lerim/memory/decisions/20260301-cents.md"), memory);
      mkdirSync(folder);
      // before anything is installed: the first installation takes up what lies in the folder, later ones do not
      cpSync(join(repository, "tests/journeys/agent-extension"), join(machine.root, "extensions", "journeys.scripted-agent-0.0.1"), { recursive: true });
      person.settings();
      await person.begin();
      await person.work();
      await until("the scripted agent is there", () => existsSync(join(folder, "result.json")));
    });
    after(() => person.end());

    await run("an agent recalls a memory, asks why a file is so, and proposes one that waits for review", async () => {
      await until("the tools are listed", async () => {
        const { tools } = await agent({});
        return ["lerim_recall", "lerim_why", "lerim_propose"].every((tool) => tools.includes(tool));
      });
      const recalled = await agent({ tool: "lerim_recall", input: { question: "How are amounts kept?" } });
      assert.match(recalled.text ?? recalled.error, /Amounts in src\/cart\.py are integer cents[^]*Floats lost a cent/);
      const why = await agent({ tool: "lerim_why", input: { path: "src/cart.py" } });
      assert.match(why.text ?? why.error, /Floats lost a cent/);
      const proposed = await agent({ tool: "lerim_propose", input: { kind: "pitfall", title: "The tests need a fixed clock" } });
      assert.match(proposed.text ?? proposed.error, /waits for the developer's review/);
      await screen.status(/1 candidate to review/);
      assert.equal(markdown(root, ".lerim", "memory", "learnings").length, 0);
      await screen.shot("proposed");
    });

    await run("what is known of a file is copied as context for an agent", async () => {
      await screen.openFile("src/cart.py");
      await screen.command("Lerim: Copy Memories of File as Context");
      await screen.statusMessage(/Copied what is known here/);
      const copied = await screen.page.evaluate(() => navigator.clipboard.readText());
      assert.match(copied, /^<lerim-memories>\n[^]*integer cents[^]*<\/lerim-memories>/);
    });

    if (newest) {
      await run("the editor starts our MCP server where the person chose it", async () => {
        person.settings({ "lerim.agents.mcpServer": true });
        await until("the server's tools are listed", async () => {
          const { tools, error } = await agent({ startServers: true });
          if (error !== undefined) throw new Error(error);
          return tools.some((tool) => /^mcp_.*recall/.test(tool)) || Promise.reject(new Error(tools.join()));
        });
        assert.ok(machine.processes(/-m lerim mcp --repo/).length > 0);
        person.settings();
      });
    }
  });
}
