import manifest from "../../package.json";
import { beforeEach, expect, test } from "vitest";
import { openWalkthroughOnce } from "../../extension/src/commands/walkthrough";
import { followSteps, openWalkthrough, tickStep } from "../../extension/src/editor/walkthroughsteps";
import { defaults } from "../../extension/src/editor/settings";
import { FakeContext } from "./fakes/sidecar";
import { activateTab, openWalkthroughTab } from "./fakes/tabs";
import { configured, shown, Uri } from "./fakes/vscode";

let extension: FakeContext["extension"];

beforeEach(() => {
  extension = new FakeContext().extension;
  followSteps(extension.globalState);
});

const ran = (id: string): unknown[] => shown.commands.filter((command) => command.id === id).map(({ args }) => args[0]);

test("a person who comes back to the walkthrough sees the next step, and keeps the one they choose then", async () => {
  const comeBack = openWalkthroughTab();
  tickStep("sync");
  await expect.poll(() => ran("walkthroughs.selectStep")).toEqual(["review"]);
  activateTab(Uri.file("/repo/app.py"));
  tickStep("hover");
  tickStep("review");
  tickStep("review");
  expect(ran("walkthroughs.selectStep")).toEqual(["review"]);
  comeBack();
  activateTab(Uri.file("/repo/app.py"));
  comeBack();
  await expect.poll(() => ran("walkthroughs.selectStep")).toEqual(["review", "model"]);
});

test("the step of the model is passed over once one was chosen in the settings", async () => {
  openWalkthroughTab();
  configured.set("model.provider", "ollama");
  tickStep("hover");
  await expect.poll(() => ran("walkthroughs.selectStep")).toEqual(["agents"]);
});

test("a step that was done while another page of the editor was in front leads on once that page is closed", async () => {
  const comeBack = openWalkthroughTab();
  const showTrust = openWalkthroughTab(); // to an extension it looks the same
  tickStep("setUp");
  await expect.poll(() => ran("walkthroughs.selectStep")).toEqual(["sync"]); // nothing comes of it: the walkthrough is not in front
  comeBack();
  await expect.poll(() => ran("walkthroughs.selectStep")).toEqual(["sync", "sync"]);
  showTrust();
  comeBack();
  expect(ran("walkthroughs.selectStep")).toEqual(["sync", "sync"]);
});

test("what was done in an earlier window is ticked in this one, also where the editor reads the walkthrough only when it is opened", async () => {
  tickStep("sync");
  shown.commands.length = 0;
  followSteps(extension.globalState);
  expect(ran("setContext")).toEqual(["lerim.synced"]);
  openWalkthroughTab();
  await openWalkthrough();
  const start = `${manifest.publisher}.${manifest.name}#start`;
  expect(ran("welcome.markStepComplete")[0]).toBe(`${start}#sync`);
  expect(ran("workbench.action.openWalkthrough")).toEqual([start]);
  expect(shown.commands.at(-1)).toEqual({ id: "walkthroughs.selectStep", args: ["setUp"] });
});

test("the walkthrough opens by itself once, and not where Lerim is off or its interpreter was chosen", async () => {
  const opened = () => ran("workbench.action.openWalkthrough").length;
  shown.commands.length = 0;
  for (const changes of [{ enabled: false }, { python: "/usr/bin/python3" }]) await openWalkthroughOnce(extension, { settings: { ...defaults, ...changes } });
  expect(opened()).toBe(0);
  await openWalkthroughOnce(extension, { settings: defaults });
  await openWalkthroughOnce(extension, { settings: defaults }); // the next start
  expect(opened()).toBe(1);
});
