import { beforeEach, expect, test, vi } from "vitest";
import { chooseModel, enterKey, findAddressError, forgetKey, isLocal } from "../../extension/src/commands/choosemodel";
import * as protocol from "../../extension/src/protocol";
import { FakeContext } from "./fakes/sidecar";
import { answers, cancelProgress, QuickPickItemKind, shown } from "./fakes/vscode";

let context: FakeContext;
const secret = "sk-very-secret";

function option(kind: protocol.OptionView["kind"], provider: string, changes: Partial<protocol.OptionView> = {}): protocol.OptionView {
  return { kind, provider, model: "", baseUrl: "", name: provider, detail: "", variables: [], billed: false, chosen: false, ...changes };
}

const all = [
  option("none", "none", { chosen: true }),
  option("auto", "auto", { name: "" }),
  option("agent", "claude-code", { name: "Claude Code", detail: "uses your Claude plan" }),
  option("editor", "editor", { model: "copilot/gpt", name: "GPT", detail: "copilot" }),
  option("server", "ollama", { model: "qwen", baseUrl: "http://127.0.0.1:11434/v1", name: "qwen", detail: "Ollama" }),
  option("key", "zai", { model: "glm", name: "Z.ai", variables: ["ZAI_API_KEY"], billed: true }),
  option("no-key", "openrouter", { model: "openai/gpt-5-nano", name: "OpenRouter", variables: ["OPENROUTER_API_KEY"], billed: true }),
  option("command", "command", { name: "claude" }),
];

function choices(options = all, changes: Partial<protocol.ChoicesView> = {}): void {
  context.answer(protocol.modelChoices, () => ({ model: "", provider: "none", billed: false, budgetUsd: 1, options, problems: [], ...changes }));
}

function answersWith(...trials: Partial<protocol.ModelTestView>[]): void {
  context.answer(protocol.modelTest, () => ({ ok: true, message: "", code: "", model: "openrouter:openai/gpt-5-nano", seconds: 1.24, tokens: 40, cost: 0.00002, ...trials.shift() }));
}

beforeEach(() => {
  context = new FakeContext();
  choices();
  answersWith({});
});

/** Chooses the row that begins so, types into the boxes that follow, and presses buttons. */
async function choose(pick: string, inputs: string[] = [], ...buttons: string[]): Promise<void> {
  answers.picks.push(pick);
  answers.inputs.push(...inputs);
  answers.choices.push(...buttons);
  await chooseModel(context);
}

function settings(): Record<string, unknown> {
  return Object.fromEntries(shown.written.map(({ name, value }) => [name.replace("lerim.model.", ""), value]));
}

function methods(): string[] {
  return context.asked.map(({ method }) => method);
}

test("everything there is stands in sections, and the present choice is marked", async () => {
  await chooseModel(context);
  const [list] = shown.lists;
  expect(list?.placeHolder).toContain("Current: no model");
  expect(list?.items.map(({ label, description, kind }) => (kind === QuickPickItemKind.Separator ? `-- ${label}` : `${label} | ${description ?? ""}`))).toEqual([
    "$(check) No model | nothing leaves this machine · chosen",
    "Automatic | what is found first: an API key, the editor's models, a local server",
    "-- Coding agents on this machine",
    "Claude Code | uses your Claude plan",
    "-- The editor's models",
    "GPT | copilot",
    "-- Servers on this machine",
    "qwen | Ollama",
    "-- Services whose API key is set",
    "Z.ai | glm, each call costs money",
    "-- Services that need an API key",
    "OpenRouter | set an API key… (OPENROUTER_API_KEY)",
    "-- Another address",
    "Enter an address… | any OpenAI-compatible service",
    "-- Your own command",
    "claude | the command in your config.toml",
  ]);
  expect(shown.written).toEqual([]);
});

test("a model of the editor is chosen, told to the sidecar, and tested", async () => {
  answersWith({ model: "editor:copilot/gpt", cost: null });
  await choose("GPT");
  expect(settings()).toEqual({ provider: "editor", name: "copilot/gpt", baseUrl: undefined });
  expect(shown.written.every(({ target }) => target === 1)).toBe(true);
  expect(methods()).toEqual(["lerim/models", "(settings told)", "lerim/model/test"]);
  expect(shown.messages).toMatchObject([{ severity: "info", text: "Lerim: editor:copilot/gpt answered in 1.2 s (40 tokens).", choices: ["Try on One Session", "Sync"] }]);
});

test("between two choices nobody is asked: no key goes to the address of the one before", async () => {
  await choose("qwen");
  expect(shown.written.map(({ name, value }) => `${name.slice(12)}=${String(value)}`)).toEqual(["provider=none", "baseUrl=http://127.0.0.1:11434/v1", "name=qwen", "provider=ollama"]);
});

test("a key is asked for in a box that hides it, kept in the secret storage, and the sidecar starts with it before the test", async () => {
  await choose("OpenRouter", ["openai/gpt-5-nano", secret], "Test Model");
  expect(shown.inputs).toMatchObject([{ title: "Lerim: Model from OpenRouter", value: "openai/gpt-5-nano" }, { title: "Lerim: API Key for OpenRouter", password: true }]);
  expect(context.secrets.held.get("lerim.key.OPENROUTER_API_KEY")).toBe(secret);
  expect(methods()).toEqual(["lerim/models", "(settings told)", "(restarted)", "lerim/model/test"]);
  expect(shown.messages[0]?.text).toContain("a fraction of a cent");
  expect(shown.messages[1]?.text).toBe("Lerim: openrouter:openai/gpt-5-nano answered in 1.2 s (40 tokens, less than $0.01).");
  expect(JSON.stringify([shown.messages, shown.written, context.logged, context.asked])).not.toContain(secret);
});

test.each(["", "two words", "é"])("what cannot be a key is not taken: %j", async (typed) => {
  await choose("OpenRouter", ["m", typed]);
  expect(shown.inputs[1]?.refused).toContain("A key");
  expect([context.secrets.held.size, shown.written.length]).toEqual([0, 0]);
});

test("who leaves a box has changed nothing", async () => {
  await choose("Z.ai");
  await choose("Enter an address");
  expect(shown.written).toEqual([]);
});

test("a paid model, also one that Automatic leads to, is tested only once the person knows that it costs something", async () => {
  await choose("Z.ai", ["glm"], "Not Now");
  expect(settings()).toMatchObject({ provider: "zai", name: "glm" });
  choices(all, { billed: true });
  await choose("Automatic");
  expect(shown.messages.map(({ text }) => text.includes("a fraction of a cent"))).toEqual([true, true]);
  expect(methods()).not.toContain("lerim/model/test");
});

test("no model is chosen without a test", async () => {
  await choose("No model");
  expect(settings()).toEqual({ provider: "none", name: undefined, baseUrl: undefined });
  expect(methods()).toEqual(["lerim/models", "(settings told)"]);
});

test("an address is checked, and one of this machine needs no key", async () => {
  await choose("Enter an address", ["http://models.example/v1"]);
  expect(shown.inputs[0]?.refused).toContain("https://");
  await choose("Enter an address", ["http://127.0.0.1:8000/v1/", "m"]);
  expect(settings()).toEqual({ provider: "openai", name: "m", baseUrl: "http://127.0.0.1:8000/v1" });
  expect(methods().at(-1)).toBe("lerim/model/test");
});

test.each(["Enter an address", "OpenAI two"])("an address elsewhere, also one that is changed, asks for its own key, never for a service's, and is paid for: %s", async (pick) => {
  choices([option("address", "openai", { model: "m", baseUrl: "https://api.openai.com/v2", name: "OpenAI two", variables: ["OPENAI_API_KEY"] })]);
  await choose(pick, ["https://models.example/v1", "m", secret]);
  expect([...context.secrets.held]).toEqual([["lerim.key.LERIM_MODEL_KEY", secret]]);
  expect(shown.messages[0]?.text).toContain("a fraction of a cent");
});

test("a key that is refused can be entered again", async () => {
  answersWith({ ok: false, code: "model-key", message: "zai:glm did not answer: [bad key](command:evil)." }, {});
  await choose("Z.ai", ["glm", secret], "Test Model", "Set API Key Again");
  expect(shown.messages[1]).toMatchObject({ severity: "error", choices: ["Choose Another", "Set API Key Again"] });
  expect(shown.messages[1]?.text, "what a service says makes no link").not.toContain("](command:");
  expect(methods().slice(-3)).toEqual(["lerim/model/test", "(restarted)", "lerim/model/test"]);
  expect(shown.messages.at(-1)?.text).toContain("answered in");
});

test("a key of the environment counts, and is changed there", async () => {
  context.environ["ZAI_API_KEY"] = "mine";
  answersWith({ ok: false, code: "model-key", message: "no" });
  await choose("Z.ai", ["glm"], "Test Model", "Set API Key Again");
  expect(shown.messages.at(-1)?.text).toContain("ZAI_API_KEY is set in the environment");
  expect(context.secrets.held.size).toBe(0);
});

test("after a failed test another model can be chosen, or a budget that is used up changed at once", async () => {
  answersWith({ ok: false, code: "model-silent", message: "It does not answer." }, { ok: false, code: "budget", message: "Today's budget of $1 is used up." });
  answers.picks.push("qwen", "No model");
  answers.choices.push("Choose Another");
  await chooseModel(context);
  expect([shown.lists.length, settings()["provider"]]).toEqual([2, "none"]);
  await choose("Z.ai", ["glm"], "Test Model", "Change Budget");
  expect(shown.commands).toEqual([{ id: "workbench.action.openSettings", args: ["lerim.budget.perDayUsd"] }]);
});

test("Cancel ends the test, and the model is still chosen", async () => {
  context.answer(protocol.modelTest, (_params, token) => new Promise((_resolve, reject) => {
    token?.onCancellationRequested(() => reject(new Error("cancelled")));
  }));
  vi.useFakeTimers();
  const done = choose("GPT");
  await vi.waitUntil(() => cancelProgress.isShown);
  cancelProgress.press();
  await done;
  expect(shown.messages.at(-1)?.text).toContain("The model is still chosen");
});

test("the chosen service's key can be entered anew; without a service that begins with the choice", async () => {
  await enterKey(context);
  expect(shown.lists.length).toBe(1);
  choices(all.map((one) => ({ ...one, chosen: one.provider === "openrouter" })));
  answers.inputs.push(secret);
  await enterKey(context);
  expect(context.secrets.held.get("lerim.key.OPENROUTER_API_KEY")).toBe(secret);
  expect(shown.written).toEqual([]);
});

test("a key is forgotten, and the sidecar starts without it", async () => {
  await forgetKey(context);
  expect(shown.messages[0]?.text).toContain("No model API key is stored");
  await context.keys.store("ZAI_API_KEY", secret);
  await context.applyKeyChanges();
  answers.picks.push("ZAI_API_KEY");
  await forgetKey(context);
  expect(context.secrets.held.size).toBe(0);
  expect(methods()).toEqual(["(restarted)", "(restarted)"]);
  expect(shown.messages.at(-1)?.text).toBe("Lerim: ZAI_API_KEY was deleted from the editor's secret storage.");
});

/** The model reads one session for a trial. */
function reads(changes: Partial<protocol.SessionTrialView>): void {
  const found = (title: string): protocol.TrialProposal => ({ primitive: "decision", title, quote: "" });
  const cost = { seconds: 9.5, tokens: 1200, cost: null, again: 4 };
  context.answer(protocol.modelTry, () => ({ ok: true, message: "", code: "", model: "claude-code:sonnet", session: "s1", rules: [found("One")], found: [found("Two"), found("Three")], ...cost, ...changes }));
}

test("an installed agent reads one session, and its finds stand beside those of the rules", async () => {
  reads({});
  await choose("Claude Code", [], "Read the Rest");
  expect(settings()["provider"]).toBe("claude-code");
  expect(methods()).toEqual(["lerim/models", "(settings told)", "lerim/model/try"]);
  expect(shown.messages.at(-1)).toMatchObject({ text: "In one session, Lerim found 1 candidate without a model, and claude-code:sonnet found 2 more." });
  expect(shown.commands).toEqual([{ id: "lerim.sync", args: [] }]);
});

test("where no session waits, an agent is asked one tiny question instead; one that fails says why", async () => {
  reads({ ok: false, code: "not-found" });
  await choose("Claude Code");
  expect(methods()).toContain("lerim/model/test");
  reads({ ok: false, code: "model-key", message: "Claude Code is not logged in." });
  await choose("Claude Code");
  expect(shown.messages.at(-1)).toMatchObject({ severity: "error", text: "Lerim: Claude Code is not logged in.", choices: ["Choose Another"] });
});

test("any other model can be tried on one session once it answered", async () => {
  reads({ model: "editor:copilot/gpt" });
  await choose("GPT", [], "Try on One Session");
  expect(methods()).toContain("lerim/model/try");
  expect(shown.messages.at(-1)?.text).toContain("and editor:copilot/gpt found 2 more.");
});

test.each(["https://models.example/v1", "http://127.0.0.1:8000/v1", "http://localhost:1234/v1", "http://[::1]:80/v1", " https://a.example "])("%s can be an address", (address) => {
  expect(findAddressError(address)).toBeUndefined();
});

test.each(["", "models.example", "http://models.example/v1", "ftp://a.example", "https://me:secret@a.example", "https://a.example/?key=1", "https://a.example/#x", "http://127.0.0.1.evil.example/v1"])("%s cannot", (address) => {
  expect(findAddressError(address)).toEqual(expect.any(String));
});

test("what is on this machine is told apart", () => {
  expect(isLocal("http://127.0.0.1:8000/v1")).toBe(true);
  expect(isLocal("https://localhost/v1")).toBe(true);
  expect(isLocal("https://models.example/v1")).toBe(false);
  expect(isLocal("nonsense")).toBe(false);
});
