// `lerim mcp` as the protocol's own Inspector meets it: a client that neither Lerim nor an agent's maker wrote.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { Machine, git, missing, repository } from "./machine.mjs";
import { HANG } from "./until.mjs";

const inspector = join(repository, "tests/journeys/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
const memory = `---
id: 20260301-cents
title: Amounts are integer cents
created: 2026-03-01T10:00:00Z
updated: 2026-03-01T10:00:00Z
source: manual
confidence: 0.9
tags: []
---

Floats lost a cent in every hundredth invoice.
`;

test("the MCP Inspector lists the tools of lerim mcp and recalls a memory", { skip: missing() ?? false, timeout: 4 * HANG }, async (t) => {
  const machine = new Machine();
  after(() => machine.close());
  const root = machine.folder("work", "shop");
  git(root, "init", "-q");
  mkdirSync(join(root, ".lerim/memory/decisions"), { recursive: true });
  writeFileSync(join(root, ".lerim/memory/decisions/20260301-cents.md"), memory);

  /** What the Inspector prints for one request to a server of its own; its exit code is not 0 for an answer that is an error. */
  const inspect = async (...request) => {
    const server = ["-e", `PYTHONPATH=${join(repository, "server")}`, join(process.env.LERIM_JOURNEY_ENV, "bin", "python"), "-P", "-m", "lerim", "mcp"];
    const options = { cwd: root, env: machine.environ, timeout: HANG };
    const { stdout } = await promisify(execFile)(machine.node, [inspector, "--cli", ...server, ...request], options).catch((error) => error);
    return JSON.parse(stdout);
  };

  await t.test("the tools have names, descriptions and flat schemas", async () => {
    const { tools } = await inspect("--method", "tools/list");
    assert.deepEqual(tools.map(({ name }) => name), ["recall", "why", "sessions", "propose"]);
    for (const { description, inputSchema } of tools) {
      assert.ok(description.length > 40);
      assert.equal(inputSchema.type, "object");
    }
  });

  await t.test("a question is answered with the memory, as text", async () => {
    const { content, isError } = await inspect("--method", "tools/call", "--tool-name", "recall", "--tool-arg", "question=How are amounts kept?");
    assert.notEqual(isError, true);
    assert.match(content[0].text, /Amounts are integer cents/);
    assert.match(content[0].text, /Floats lost a cent/);
  });

  await t.test("a wrong argument is an answer that says what to do", async () => {
    const { content, isError } = await inspect("--method", "tools/call", "--tool-name", "why");
    assert.equal(isError, true);
    assert.match(content[0].text, /`path` is missing/);
  });
});
