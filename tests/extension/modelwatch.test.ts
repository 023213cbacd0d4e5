import { beforeEach, expect, test } from "vitest";
import { ModelWatch } from "../../extension/src/sidecar/modelwatch";
import * as protocol from "../../extension/src/protocol";
import { FakeContext, modelView } from "./fakes/sidecar";
import { act, workspace } from "./fakes/vscode";

let context: FakeContext;
let watch: ModelWatch;

beforeEach(() => {
  context = new FakeContext();
  context.answer(protocol.modelStatus, () => modelView({ provider: "auto" }));
  watch = new ModelWatch(context.as());
});

function ended(stage: protocol.Stage): void {
  context.progress.fire({ root: "file:///repo", stage, sessionsDone: 1, sessionsTotal: 1, candidates: 0, message: "", settling: 0 });
}

test("it asks when something changed and when a sync has ended, and at no other time", async () => {
  context.model.fire();
  await expect.poll(() => context.faces.length).toBe(1);
  expect(context.asked).toEqual([{ method: "lerim/model/status", params: { root: "file:///repo" } }]);
  ended("reading");
  ended("done");
  await expect.poll(() => context.faces.length).toBe(2);
  for (let time = 0; time < 5; time++) context.model.fire(); // told while it asks: asked for once more, not more often
  await expect.poll(() => context.faces.length).toBe(4);
  watch.dispose();
  context.model.fire();
  expect(context.asked.length).toBe(4);
});

test("each folder is asked for, and one without a repository keeps nothing from being told", async () => {
  act.folders("/a", "/b");
  context.answer(protocol.modelStatus, ({ root }) => {
    if (root === "file:///a") throw new Error("no repository");
    return modelView({ provider: "auto" });
  });
  await watch.refresh();
  expect(context.faces).toEqual([{ lines: ["Model: auto"], usedUp: false }]);
  expect(context.logged[0]).toContain("no repository");
});

test("in Restricted Mode, and while the sidecar does not run, nothing is asked", async () => {
  workspace.isTrusted = false;
  await watch.refresh();
  workspace.isTrusted = true;
  context.isRunning = false;
  await watch.refresh();
  expect(context.asked).toEqual([]);
  expect(context.faces.at(-1)).toEqual({ lines: [], usedUp: false });
});
