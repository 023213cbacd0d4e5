import { beforeEach, expect, test, vi } from "vitest";
import { EditorModels } from "../../extension/src/editor/editormodels";
import type { AskModelParams } from "../../extension/src/protocol";
import { access, FakeModel, LanguageModelError, lm, offer } from "./fakes/models";
import { CancellationTokenSource, reset, workspace } from "./fakes/vscode";

let models: EditorModels;
let logged: string[];
let heard: string[];

beforeEach(() => {
  reset();
  logged = [];
  heard = [];
  // SAFETY: the fake has every member that is used; its models are other ones than VS Code's
  models = new EditorModels(access as unknown as ConstructorParameters<typeof EditorModels>[0], (line) => logged.push(line));
});

function ask(changes: Partial<AskModelParams> = {}, token = new CancellationTokenSource().token): ReturnType<EditorModels["ask"]> {
  return models.ask({ model: "copilot/gpt", system: "Find decisions.", prompt: "[0] user: use pnpm", maxTokens: null, explicit: true, token: "", ...changes }, token, (text) => heard.push(text));
}

function refused(why: string, message = ""): object {
  return { text: "", why, message };
}

/** An answer that ends only when the test says so. */
function held(): { promise: Promise<void>; end: () => void } {
  let end = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { promise, end };
}

async function* slowly(first: string, until: Promise<void>, last: string): AsyncGenerator<string> {
  yield first;
  await until;
  yield last;
}

test("the words of an answer are told as they come, where the question has a token", async () => {
  const gpt = new FakeModel("copilot", "gpt");
  offer.set(gpt);
  const { promise, end } = held();
  gpt.answer = () => slowly("one ", promise, "two");
  const asked = ask({ token: "t" });
  await vi.waitFor(() => expect(heard).toEqual(["one "]), 120_000);
  end();
  expect(await asked).toEqual({ text: "one two", why: "", message: "" });
  expect(heard).toEqual(["one ", "two"]);
  gpt.answer = () => slowly("one ", promise, "two");
  expect(await ask()).toEqual({ text: "one two", why: "", message: "" });
  expect(heard).toEqual(["one ", "two"]);
});

test("the editor's models are told with what the person allowed", async () => {
  const [gpt, claude] = [new FakeModel("copilot", "gpt"), new FakeModel("other", "claude")];
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
  const model = new FakeModel("copilot", "gpt");
  offer.set(model);
  workspace.isTrusted = false;
  expect(await models.offered()).toEqual([]);
  expect(await ask()).toEqual(refused("no-permission"));
  expect(model.asked).toEqual([]);
});

test("a change of the editor's models is told once however often it is fired", async () => {
  let changes = 0;
  const told = held();
  models.onChanged(() => {
    changes++;
    told.end();
  });
  for (let time = 0; time < 5; time++) offer.set(new FakeModel("copilot", `gpt${time}`));
  await told.promise;
  expect(changes).toBe(1);
});

test("a question is sent with why it is asked, and its answer is put together", async () => {
  const model = new FakeModel("copilot", "gpt", () => ["[[ ## ", "primitives ## ]]"]);
  offer.set(new FakeModel("other", "gpt"), model);
  expect(await ask()).toEqual({ text: "[[ ## primitives ## ]]", why: "", message: "" });
  expect(model.asked).toMatchObject([{ texts: ["Find decisions.", "[0] user: use pnpm"] }]);
  expect(model.asked[0]?.justification).toContain("Lerim");
  await ask({ system: "" });
  expect(model.asked[1]?.texts).toEqual(["[0] user: use pnpm"]);
});

test("several questions are asked at once", async () => {
  const hold = held();
  const model = new FakeModel("copilot", "gpt", (prompt) => slowly(prompt, hold.promise, "!"));
  offer.set(model);
  const answers = ["one", "two", "three"].map((prompt) => ask({ prompt }));
  await expect.poll(() => model.asked.length).toBe(3);
  hold.end();
  expect((await Promise.all(answers)).map(({ text }) => text)).toEqual(["one!", "two!", "three!"]);
});

test("an answer without end is cut and its request stopped", async () => {
  const model = new FakeModel("copilot", "gpt", function* () {
    for (;;) yield "x".repeat(1000);
  });
  offer.set(model);
  expect((await ask()).text?.length).toBe(400_000);
  expect((await ask({ maxTokens: 100 })).text?.length).toBe(1600);
  expect(model.asked.map(({ token }) => token.isCancellationRequested)).toEqual([true, true]);
});

test("cancel stops the request, also of a model that does not listen", async () => {
  const model = new FakeModel("copilot", "gpt", () => slowly("a", new Promise(() => undefined), "b"));
  offer.set(model);
  const source = new CancellationTokenSource();
  const answer = ask({}, source.token);
  await expect.poll(() => model.asked.length).toBe(1);
  source.cancel();
  expect(await answer).toEqual(refused("cancelled"));
  expect(model.asked[0]?.token.isCancellationRequested).toBe(true);
  expect(await ask({}, source.token)).toEqual(refused("cancelled"));
  expect(model.asked.length).toBe(1);
});

test("a model that is taken away while it is asked is gone, and one that never was is not found", async () => {
  const model = new FakeModel("copilot", "gpt", () => slowly("a", new Promise(() => undefined), "b"));
  const other = new FakeModel("other", "claude");
  offer.set(model, other);
  await models.offered();
  const answer = ask();
  await expect.poll(() => model.asked.length).toBe(1);
  offer.set(model);
  offer.set(other);
  expect(await answer).toEqual(refused("gone"));
  expect(model.asked[0]?.token.isCancellationRequested).toBe(true);
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
  const model = new FakeModel("copilot", "gpt", () => Promise.reject(error));
  offer.set(model);
  expect(await ask()).toEqual(refused(why, error.message));
  model.answer = function* () {
    yield "half";
    throw error;
  };
  expect(await ask()).toEqual(refused(why, error.message));
});

test("what is not an error, and a long message, are told within bounds", async () => {
  // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- providers throw what they like
  const model = new FakeModel("copilot", "gpt", () => Promise.reject("plain"));
  offer.set(model);
  expect(await ask()).toEqual(refused("failed", "plain"));
  model.answer = () => Promise.reject(new Error("x".repeat(5000)));
  expect((await ask()).message?.length).toBe(300);
});

test.each([undefined, false])("a sync nobody asked for never makes the editor ask the person (allowed: %s)", async (allowed) => {
  const model = new FakeModel("copilot", "gpt");
  model.allowed = allowed;
  offer.set(model);
  expect(await ask({ explicit: false })).toEqual(refused("no-permission"));
  expect(model.asked).toEqual([]);
  model.allowed = true;
  expect(await ask({ explicit: false })).toMatchObject({ text: "fine" });
});

test("the person is asked once for all questions that wait, and their yes lets all of them through", async () => {
  const said = held();
  const model = new FakeModel("copilot", "gpt", async (prompt) => {
    await said.promise;
    return [prompt];
  });
  model.allowed = undefined;
  offer.set(model);
  const answers = ["one", "two", "three"].map((prompt) => ask({ prompt }));
  await expect.poll(() => model.asked.length).toBe(1);
  model.allowed = true;
  said.end();
  expect((await Promise.all(answers)).map(({ text }) => text)).toEqual(["one", "two", "three"]);
});

test("their no is the answer to all questions that wait", async () => {
  const said = held();
  const model = new FakeModel("copilot", "gpt", async () => {
    await said.promise;
    throw new LanguageModelError("no", "NoPermissions");
  });
  model.allowed = undefined;
  offer.set(model);
  const answers = ["one", "two"].map((prompt) => ask({ prompt }));
  await expect.poll(() => model.asked.length).toBe(1);
  said.end();
  expect(await Promise.all(answers)).toEqual([refused("no-permission", "no"), refused("no-permission", "no")]);
  expect(model.asked.length).toBe(1);
});

test("an editor that cannot list its models has none", async () => {
  const { selectChatModels } = lm;
  lm.selectChatModels = () => Promise.reject(new Error("not here"));
  expect(await models.offered()).toEqual([]);
  expect(await ask()).toEqual(refused("not-found"));
  expect(logged).toEqual(["The editor's models could not be listed: not here", "The editor's models could not be listed: not here"]);
  lm.selectChatModels = selectChatModels;
});
