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
    readonly commands: readonly { readonly command: string; readonly title: string; readonly category?: string }[];
    readonly menus: Readonly<Record<"editor/context" | "explorer/context" | "view/item/context", readonly { readonly command: string; readonly group?: string; readonly when?: string }[]>>;
    readonly configuration: { readonly properties: Readonly<Record<string, { readonly default: unknown; readonly scope?: string; readonly enum?: readonly string[]; readonly type: string | readonly string[] }>> };
  };
}

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
const { properties } = manifest.contributes.configuration;

test("the manifest declares exactly the settings the code reads, with the same defaults", () => {
  const declared = Object.fromEntries(Object.entries(properties).map(([key, { default: value }]) => [key.replace(/^lerim\./, ""), value]));
  expect(declared).toEqual(defaults);
});

test("every declared command and every link command is registered", () => {
  const source = readFileSync("extension/src/register.ts", "utf8");
  const declared = manifest.contributes.commands.map(({ command }) => command);
  expect(declared.length).toBeGreaterThan(30);
  for (const id of [...declared, ...linkCommands]) expect(source).toContain(`"${id}"`);
});

test("the menus of the editor and the Explorer, which show no category, name Lerim with each command", () => {
  const titles = new Map(manifest.contributes.commands.map((one) => [one.command, one.title]));
  const { "editor/context": editor, "explorer/context": explorer } = manifest.contributes.menus;
  expect([...editor, ...explorer].map(({ command }) => titles.get(command))).toEqual(["Lerim: Add Memory…", "Lerim: Copy Memories of Selection as Context", "Lerim: Copy Memories of File as Context"]);
});

test("what a button of a row does is in the row's menu, too, which the keyboard opens", () => {
  const entries = manifest.contributes.menus["view/item/context"];
  const names = (inline: boolean): string[] => entries.filter(({ group = "" }) => group.startsWith("inline") === inline).map(({ command, when = "" }) => `${command} ${/^view == [\w.]+/.exec(when)?.[0] ?? ""}`);
  expect(names(true).length).toBeGreaterThan(5);
  expect(names(false)).toEqual(expect.arrayContaining(names(true)));
});

test("only stable API of the oldest supported editor is used, and no other extension", () => {
  expect(manifest.engines.vscode).toBe("^1.100.0");
  expect(manifest.devDependencies["@types/vscode"]).toBe("~1.100.0");
  expect(manifest.extensionDependencies).toBeUndefined();
  expect(manifest.enabledApiProposals).toBeUndefined();
  expect(manifest.extensionKind).toEqual(["workspace"]);
});

test("a workspace can neither name the interpreter nor choose a model, nor what may be spent, written down or decided for the person", () => {
  const own = Object.keys(properties).filter((name) => /^lerim\.((model|extract|budget|agents|trace)\.|python$|review$)/.test(name));
  expect(own.filter((name) => properties[name]?.scope !== "machine")).toEqual([]);
  const { untrustedWorkspaces, virtualWorkspaces } = manifest.capabilities;
  expect([untrustedWorkspaces.supported, virtualWorkspaces.supported]).toEqual(["limited", false]);
  expect([...untrustedWorkspaces.restrictedConfigurations, "lerim.trace.server"].sort()).toEqual(own.sort());
});

const read = (set: Record<string, unknown>): ReturnType<typeof readSettings> => readSettings({ get: (key) => set[key] });

test("values are taken as they are set, a missing one takes its default, and the sidecar is told those of the model that are set", () => {
  expect(jobSettings(defaults)).toEqual({});
  const { settings, rejected } = read({ codeLens: "file", idleSeconds: 0, python: " /usr/bin/python3 ", "model.provider": "editor", "model.name": " copilot/gpt-4o ", "budget.perDayUsd": 0 });
  const model = { "model.provider": "editor", "model.name": "copilot/gpt-4o", "budget.perDayUsd": 0 };
  expect(settings).toEqual({ ...defaults, codeLens: "file", idleSeconds: 0, python: "/usr/bin/python3", ...model });
  expect([jobSettings(settings), rejected]).toEqual([model, []]);
});

test("a value that does not fit takes its default and is named", () => {
  const broken = { enabled: "yes", codeLens: "everywhere", idleSeconds: -1, python: 3, "model.provider": 3, "extract.gate": "some", "budget.perDayUsd": -1 };
  const { settings, rejected } = read(broken);
  expect(settings).toEqual(defaults);
  expect(rejected).toEqual(Object.keys(broken).map((key) => `lerim.${key}`));
});

test("of the model's settings the sidecar is told what cannot be used, so that no model is asked elsewhere than was meant", () => {
  const { rejected, unusable } = read({ "model.baseUrl": 5, model: { provider: "openai", baseUr1: "http://127.0.0.1:1" } });
  expect(rejected).toEqual(["lerim.model.baseUrl", "lerim.model.baseUr1"]);
  expect(unusable).toEqual({ "model.baseUrl": 5, "model.baseUr1": null });
});

test("a workspace may turn Lerim off and let it wait longer, and nothing else", () => {
  const readBoth = (own: Record<string, unknown>, workspace: Record<string, unknown>) =>
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
    const { settings, widened } = readBoth(own, wider);
    expect(settings).toEqual({ ...defaults, ...own });
    expect(widened).toEqual(Object.keys(wider).map((key) => `lerim.${key}`));
  }
  for (const narrower of [{ enabled: false }, { idleSeconds: 0 }, { idleSeconds: 60 }]) {
    const { settings, widened } = readBoth({}, narrower);
    expect(settings).toEqual({ ...defaults, ...narrower });
    expect(widened).toEqual([]);
  }
});
