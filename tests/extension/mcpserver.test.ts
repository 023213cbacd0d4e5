import { beforeEach, expect, test } from "vitest";
import * as vscode from "vscode";
import { registerMcpServer } from "../../extension/src/chat/mcpserver";
import { FakeContext, heldBack } from "./fakes/sidecar";
import { act, configured, lm, workspace } from "./fakes/vscode";

interface Registered {
  readonly name: string;
  readonly server: { readonly command: string; readonly args: readonly string[] };
}

const logged: string[] = [];
const registered: Registered[] = [];
const unregistered: string[] = [];

beforeEach(() => {
  logged.length = registered.length = unregistered.length = 0;
  configured.set("agents.mcpServer", true);
  Object.assign(workspace, { onDidChangeConfiguration: () => ({ dispose: () => undefined }) });
});

function context(): Parameters<typeof registerMcpServer>[0] {
  const fake = Object.assign(new FakeContext(), {
    output: { info: (line: string) => logged.push(line), warn: (line: string) => logged.push(line) },
    extension: { extensionPath: "/extension" },
    interpreter: () => Promise.resolve("/env/bin/python"),
    version: "1",
  });
  return fake.as();
}

test("Cursor is told of the server where it is offered, and no longer when the extension ends", async () => {
  Object.assign(vscode, { cursor: { mcp: { registerServer: (server: Registered) => registered.push(server), unregisterServer: (name: string) => unregistered.push(name) } } });
  const registration = registerMcpServer(context());
  await expect.poll(() => registered).toHaveLength(1);
  expect(registered[0]?.name).toBe("lerim");
  expect(registered[0]?.server.command).toBe("/env/bin/python");
  expect(registered[0]?.server.args.slice(-3)).toEqual(["mcp", "--repo", "/repo"]);
  registration.dispose();
  expect(unregistered).toEqual(["lerim"]);
  configured.set("agents.mcpServer", false);
  registerMcpServer(context());
  await expect.poll(() => unregistered).toHaveLength(2);
  expect(registered).toHaveLength(1);
});

test("Cursor is told in the order of what changed", async () => {
  const told: string[] = [];
  Object.assign(vscode, { cursor: { mcp: { registerServer: () => told.push("registered"), unregisterServer: () => told.push("unregistered") } } });
  const { released, release } = heldBack();
  registerMcpServer(Object.assign(context(), { interpreter: () => released.then(() => "/env/bin/python") }));
  configured.set("agents.mcpServer", false); // while the interpreter is looked for
  act.folders("/repo");
  release();
  await expect.poll(() => told).toEqual(["registered", "unregistered"]);
});

test("an editor whose function for MCP servers throws, as VS Code 1.100 does, is left alone", () => {
  Object.assign(lm, {
    registerMcpServerDefinitionProvider: () => {
      throw new Error("proposed");
    },
  });
  registerMcpServer(context());
  expect(logged.join()).toMatch(/takes no MCP servers from extensions.*proposed/);
});
