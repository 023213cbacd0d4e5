import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { linkCommands } from "../../extension/src/editor/arguments";
import { jobSettings, defaults, readSettings } from "../../extension/src/editor/settings";

interface Manifest {
  readonly engines: { readonly vscode: string };
  readonly extensionKind: readonly string[];
  readonly extensionDependencies?: unknown;
  readonly enabledApiProposals?: unknown;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly capabilities: { readonly untrustedWorkspaces: { readonly supported: string; readonly restrictedConfigurations: readonly string[] }; readonly virtualWorkspaces: { readonly supported: boolean } };
  readonly contributes: {
    readonly commands: readonly { readonly command: string; readonly title: string; readonly category: string }[];
    readonly configuration: { readonly properties: Readonly<Record<string, { readonly default: unknown; readonly scope?: string; readonly enum?: readonly string[]; readonly type: string | readonly string[] }>> };
  };
}

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
const { properties } = manifest.contributes.configuration;

test("the manifest declares exactly the settings the code reads, with the same defaults", () => {
  const declared = Object.fromEntries(Object.entries(properties).map(([key, { default: value }]) => [key.replace(/^lerim\./, ""), value]));
  expect(declared).toEqual(defaults);
});

test("no workspace decides what is asked or written down about the person's sessions", () => {
  const theirs = Object.keys(properties).filter((name) => /^lerim\.(model|extract|budget|trace)\./.test(name));
  expect(theirs.length).toBe(7);
  expect(theirs.filter((name) => properties[name]?.scope !== "machine")).toEqual([]);
});

test("the manifest's commands carry the titles people are told", () => {
  expect(manifest.contributes.commands.map(({ category, title }) => `${category}: ${title}`)).toEqual([
    "Lerim: Sync",
    "Lerim: Open Review",
    "Lerim: Search Memories",
    "Lerim: Open Memory",
    "Lerim: Maintain Memories",
    "Lerim: Ask a Question",
    "Lerim: Show Memories by Kind",
    "Lerim: Show Memories by File",
    "Lerim: Show Memories by Freshness",
    "Lerim: Refresh Memories",
    "Lerim: Show More Memories",
    "Lerim: Edit Memory",
    "Lerim: Archive Memory",
    "Lerim: Restore Memory",
    "Lerim: Promote Question to Decision",
    "Lerim: Copy Memory to Personal Memories",
    "Lerim: Change Memory Kind",
    "Lerim: Mark Memory as Still True",
    "Lerim: Mark Memory as Useful",
    "Lerim: Mark Memory as Wrong",
    "Lerim: Mark Memory as Outdated",
    "Lerim: Delete Theme",
    "Lerim: Merge Memory",
    "Lerim: Search Sessions",
    "Lerim: Open Session",
    "Lerim: Refresh Sessions",
    "Lerim: Show More Sessions",
    "Lerim: Show All Sessions on This Machine",
    "Lerim: Show Only Sessions of This Window's Repositories",
    "Lerim: Refresh Agents",
    "Lerim: Connect Agent",
    "Lerim: Disconnect Agent",
    "Lerim: Retry Job",
    "Lerim: Skip Job",
    "Lerim: Choose Model",
    "Lerim: Set Model API Key",
    "Lerim: Delete Model API Key",
    "Lerim: Show Log",
    "Lerim: Show Debug Information",
    "Lerim: Restart",
  ]);
});

test("every declared command and every link command is registered", () => {
  const source = readFileSync("extension/src/register.ts", "utf8");
  for (const id of [...manifest.contributes.commands.map(({ command }) => command), ...linkCommands]) expect(source).toContain(`"${id}"`);
});

test("only stable API of the oldest supported editor is used, and no other extension", () => {
  expect(manifest.engines.vscode).toBe("^1.100.0");
  expect(manifest.devDependencies["@types/vscode"]).toBe("~1.100.0");
  expect(manifest.extensionDependencies).toBeUndefined();
  expect(manifest.enabledApiProposals).toBeUndefined();
  expect(manifest.extensionKind).toEqual(["workspace"]);
});

test("a workspace cannot name the interpreter", () => {
  expect(properties["lerim.python"]?.scope).toBe("machine");
  expect(manifest.capabilities.untrustedWorkspaces.supported).toBe("limited");
  expect(manifest.capabilities.virtualWorkspaces.supported).toBe(false);
});

test("a workspace can neither choose a model nor where it is, nor what may be spent or is decided for the person", () => {
  const own = ["lerim.model.provider", "lerim.model.name", "lerim.model.baseUrl", "lerim.extract.gate", "lerim.extract.guidance", "lerim.budget.perDayUsd", "lerim.python", "lerim.review"];
  for (const key of own) expect(properties[key]?.scope, key).toBe("machine");
  expect([...manifest.capabilities.untrustedWorkspaces.restrictedConfigurations].sort()).toEqual([...own].sort());
});

test("of the model's settings the sidecar is told those the person set", () => {
  expect(jobSettings(defaults)).toEqual({});
  const set: Record<string, unknown> = { "model.provider": "editor", "model.name": " copilot/gpt-4o ", "budget.perDayUsd": 0 };
  const { settings, rejected } = readSettings({ get: (key) => set[key] });
  expect(rejected).toEqual([]);
  expect(jobSettings(settings)).toEqual({ "model.provider": "editor", "model.name": "copilot/gpt-4o", "budget.perDayUsd": 0 });
});

test("a provider, gate or budget that cannot be is left out and named", () => {
  const set: Record<string, unknown> = { "model.provider": 3, "extract.gate": "some", "budget.perDayUsd": -1 };
  const { settings, rejected } = readSettings({ get: (key) => set[key] });
  expect(rejected).toEqual(["lerim.model.provider", "lerim.extract.gate", "lerim.budget.perDayUsd"]);
  expect(jobSettings(settings)).toEqual({});
});

test("of the model's settings the sidecar is told what cannot be used, so that no model is asked elsewhere than was meant", () => {
  const set: Record<string, unknown> = { "model.baseUrl": 5, model: { provider: "openai", baseUr1: "http://127.0.0.1:1" } };
  const { rejected, unusable } = readSettings({ get: (key) => set[key] });
  expect(rejected).toEqual(["lerim.model.baseUrl", "lerim.model.baseUr1"]);
  expect(unusable).toEqual({ "model.baseUrl": 5, "model.baseUr1": null });
});

test("a workspace may turn Lerim off and let it wait longer, and nothing else", () => {
  const read = (own: Record<string, unknown>, workspace: Record<string, unknown>) =>
    readSettings({
      get: (key) => workspace[key] ?? own[key],
      inspect: (key) => ({ defaultValue: (defaults as unknown as Record<string, unknown>)[key], globalValue: own[key] }),
    });
  for (const [own, wider] of [
    [{ enabled: false }, { enabled: true }],
    [{ idleSeconds: 0 }, { idleSeconds: 1 }],
    [{ idleSeconds: 60 }, { idleSeconds: 30 }],
    [{}, { idleSeconds: 1 }],
  ] as [Record<string, unknown>, Record<string, unknown>][]) {
    const { settings, widened } = read(own, wider);
    expect(settings).toEqual({ ...defaults, ...own });
    expect(widened).toEqual(Object.keys(wider).map((key) => `lerim.${key}`));
  }
  for (const narrower of [{ enabled: false }, { idleSeconds: 0 }, { idleSeconds: 60 }]) {
    const { settings, widened } = read({}, narrower);
    expect(settings).toEqual({ ...defaults, ...narrower });
    expect(widened).toBeUndefined();
  }
});

test("values are taken as they are set and a missing one takes its default", () => {
  const set: Record<string, unknown> = { codeLens: "symbols", idleSeconds: 0, python: " /usr/bin/python3 " };
  expect(readSettings({ get: (key) => set[key] })).toEqual({ settings: { ...defaults, codeLens: "symbols", idleSeconds: 0, python: "/usr/bin/python3" }, rejected: [] });
});

test("a value that does not fit takes its default and is named", () => {
  const set: Record<string, unknown> = { enabled: "yes", codeLens: "everywhere", idleSeconds: -1, python: 3 };
  expect(readSettings({ get: (key) => set[key] })).toEqual({ settings: defaults, rejected: ["lerim.enabled", "lerim.codeLens", "lerim.idleSeconds", "lerim.python"] });
});
