import { beforeEach, expect, test } from "vitest";
import { EditorModels } from "../../extension/src/editor/editormodels";
import type { AskModelParams } from "../../extension/src/protocol";
import { access, FakeModel, LanguageModelError, lm, offer } from "./fakes/models";
import { heldBack } from "./fakes/sidecar";
import { CancellationTokenSource, workspace } from "./fakes/vscode";

let models: EditorModels;
let gpt: FakeModel;
let logged: string[];
let heard: string[];

beforeEach(() => {
  logged = [];
  heard = [];
  gpt = new FakeModel("copilot", "gpt");
  offer.set(gpt);
  // SAFETY: the fake has every member that is used; its models are other ones than VS Code's
  models = new EditorModels(access as unknown as ConstructorParameters<typeof EditorModels>[0], (line) => logged.push(line));
});

function ask(changes: Partial<AskModelParams> = {}, token = new CancellationTokenSource().token): ReturnType<EditorModels["ask"]> {
  return models.ask({ model: "copilot/gpt", system: "Find decisions.", prompt: "[0] user: use pnpm", maxTokens: null, explicit: true, token: "", ...changes }, token, (text) => heard.push(text));
}

function askAll(...prompts: string[]): ReturnType<EditorModels["ask"]>[] {
  return prompts.map((prompt) => ask({ prompt }));
}

function refused(why: string, message = ""): object {
  return { text: "", why, message };
}

function asked(times: number): Promise<void> {
  return expect.poll(() => gpt.asked.length).toBe(times);
}

async function* slowly(first: string, until: Promise<void>, last: string): AsyncGenerator<string> {
  yield first;
  await until;
  yield last;
}

const never = new Promise<void>(() => undefined);

test("the words of an answer are told as they come, where the question has a token", async () => {
  const { released, release } = heldBack();
  gpt.answer = () => slowly("one ", released, "two");
  const answer = ask({ token: "t" });
  await expect.poll(() => heard).toEqual(["one "]);
  release();
  expect(await answer).toEqual({ text: "one two", why: "", message: "" });
  expect(await ask()).toEqual({ text: "one two", why: "", message: "" });
  expect(heard).toEqual(["one ", "two"]);
});

test("the editor's models are told with what the person allowed", async () => {
  const claude = new FakeModel("other", "claude");
  gpt.allowed = undefined;
  claude.maxInputTokens = Number.NaN;
  offer.set(gpt, claude);
  expect(await models.offered()).toEqual([
    { id: "copilot/gpt", vendor: "copilot", family: "gpt", version: "1", name: "gpt", maxInputTokens: 100_000, allowed: null },
    { id: "other/claude", vendor: "other", family: "claude", version: "1", name: "claude", maxInputTokens: 0, allowed: true },
  ]);
});

test("many models with long names are told as far as an environment variable holds them", async () => {
  offer.set(...Array.from({ length: 500 }, (_, number) => new FakeModel("v", `${number}${"x".repeat(500)}`)));
  const told = await models.offered();
  expect(told.length).toBe(64);
  expect(JSON.stringify(told).length).toBeLessThan(32_000);
});

test("in Restricted Mode no model is told, and none asked", async () => {
  workspace.isTrusted = false;
  expect(await models.offered()).toEqual([]);
  expect(await ask()).toEqual(refused("no-permission"));
  expect(gpt.asked).toEqual([]);
});

test("a change of the editor's models is told once however often it is fired", async () => {
  let changes = 0;
  models.onChanged(() => changes++);
  for (let time = 0; time < 5; time++) offer.set(new FakeModel("copilot", `gpt${time}`));
  await expect.poll(() => changes).toBe(1);
});

test("a question is sent with why it is asked, and its answer is put together", async () => {
  gpt.answer = () => ["[[ ## ", "primitives ## ]]"];
  offer.set(new FakeModel("other", "gpt"), gpt);
  expect(await ask()).toEqual({ text: "[[ ## primitives ## ]]", why: "", message: "" });
  await ask({ system: "" });
  expect(gpt.asked.map(({ texts }) => texts)).toEqual([["Find decisions.", "[0] user: use pnpm"], ["[0] user: use pnpm"]]);
  expect(gpt.asked[0]?.justification).toContain("Lerim");
});

test("several questions are asked at once", async () => {
  const { released, release } = heldBack();
  gpt.answer = (prompt) => slowly(prompt, released, "!");
  const answers = askAll("one", "two", "three");
  await asked(3);
  release();
  expect((await Promise.all(answers)).map(({ text }) => text)).toEqual(["one!", "two!", "three!"]);
});

test("an answer without end is cut and its request stopped", async () => {
  gpt.answer = function* () {
    for (;;) yield "x".repeat(1000);
  };
  expect((await ask()).text?.length).toBe(400_000);
  expect((await ask({ maxTokens: 100 })).text?.length).toBe(1600);
  expect(gpt.asked.map(({ token }) => token.isCancellationRequested)).toEqual([true, true]);
});

test("cancel stops the request, also of a model that does not listen", async () => {
  gpt.answer = () => slowly("a", never, "b");
  const source = new CancellationTokenSource();
  const answer = ask({}, source.token);
  await asked(1);
  source.cancel();
  expect(await answer).toEqual(refused("cancelled"));
  expect(gpt.asked[0]?.token.isCancellationRequested).toBe(true);
  expect(await ask({}, source.token)).toEqual(refused("cancelled"));
  expect(gpt.asked.length).toBe(1);
});

test("where nobody waits for the answers any more, their requests are stopped and nothing is told of them", async () => {
  const { released, release } = heldBack();
  gpt.answer = () => slowly("a", released, "b");
  const answers = [ask({ token: "t" }), ask({ token: "t" })];
  await expect.poll(() => heard).toEqual(["a", "a"]);
  models.stopAnswers();
  expect(await Promise.all(answers)).toEqual([refused("cancelled"), refused("cancelled")]);
  expect(gpt.asked.map(({ token }) => token.isCancellationRequested)).toEqual([true, true]);
  release();
  gpt.answer = () => ["fine"];
  expect(await ask()).toMatchObject({ text: "fine" });
  expect(heard).toEqual(["a", "a"]);
});

test("a model that is taken away while it is asked is gone, and one that never was is not found", async () => {
  gpt.answer = () => slowly("a", never, "b");
  const other = new FakeModel("other", "claude");
  offer.set(gpt, other);
  await models.offered();
  const answer = ask();
  await asked(1);
  offer.set(gpt);
  offer.set(other);
  expect(await answer).toEqual(refused("gone"));
  expect(gpt.asked[0]?.token.isCancellationRequested).toBe(true);
  expect(await ask()).toEqual(refused("gone"));
  expect(await ask({ model: "copilot/none" })).toEqual(refused("not-found"));
});

test.each([
  [new LanguageModelError("not allowed", "NoPermissions"), "no-permission"],
  [new LanguageModelError("blocked by policy", "Blocked"), "blocked"],
  [new LanguageModelError("you have exceeded your premium request quota", "Blocked"), "quota"],
  [new LanguageModelError("Monthly limit", "Unknown", "ChatQuotaExceeded"), "quota"],
  [new LanguageModelError("slow down", "Unknown", "ChatRateLimited"), "blocked"],
  [new LanguageModelError("copilot/gpt", "NotFound"), "gone"],
  [new LanguageModelError("odd", "Unknown"), "failed"],
  [new TypeError("fetch failed"), "failed"],
])("%s is told as its reason, also in the middle of an answer", async (error, why) => {
  gpt.answer = () => Promise.reject(error);
  expect(await ask()).toEqual(refused(why, error.message));
  gpt.answer = function* () {
    yield "half";
    throw error;
  };
  expect(await ask()).toEqual(refused(why, error.message));
});

test("what is not an error, and a long message, are told within bounds", async () => {
  // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- providers throw what they like
  gpt.answer = () => Promise.reject("plain");
  expect(await ask()).toEqual(refused("failed", "plain"));
  gpt.answer = () => Promise.reject(new Error("x".repeat(5000)));
  expect((await ask()).message?.length).toBe(300);
});

test.each([undefined, false])("a sync nobody asked for never makes the editor ask the person (allowed: %s)", async (allowed) => {
  gpt.allowed = allowed;
  expect(await ask({ explicit: false })).toEqual(refused("no-permission"));
  expect(gpt.asked).toEqual([]);
  gpt.allowed = true;
  expect(await ask({ explicit: false })).toMatchObject({ text: "fine" });
});

test.each([true, false])("the person is asked once for all questions that wait, and what they say (%s) is the answer to all", async (allow) => {
  const { released, release } = heldBack();
  gpt.answer = async (prompt) => {
    await released;
    if (!allow) throw new LanguageModelError("no", "NoPermissions");
    return [prompt];
  };
  gpt.allowed = undefined;
  const answers = askAll("one", "two");
  await asked(1);
  if (allow) gpt.allowed = true;
  release();
  expect(await Promise.all(answers)).toMatchObject(allow ? [{ text: "one" }, { text: "two" }] : [refused("no-permission", "no"), refused("no-permission", "no")]);
  expect(gpt.asked.length).toBe(allow ? 2 : 1);
});

test("an editor that cannot list its models has none", async () => {
  const { selectChatModels } = lm;
  lm.selectChatModels = () => Promise.reject(new Error("not here"));
  expect(await models.offered()).toEqual([]);
  expect(await ask()).toEqual(refused("not-found"));
  expect(logged).toEqual(["The editor's models could not be listed: not here", "The editor's models could not be listed: not here"]);
  lm.selectChatModels = selectChatModels;
});
