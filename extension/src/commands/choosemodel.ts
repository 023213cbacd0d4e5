import * as vscode from "vscode";
import type { Context } from "../sidecar/context";
import { sessionTrialText, modelTestText } from "../text/modelwording";
import { openSetting } from "../editor/opensetting";
import * as protocol from "../protocol";
import { withCancelButton } from "../editor/progress";
import { chooseRoot } from "../editor/roots";
import { showError, showInfo } from "../editor/notifications";

type ModelContext = Pick<Context, "request" | "keys" | "applyKeyChanges" | "reloadSettings">;
type Option = Pick<protocol.OptionView, "kind" | "provider" | "model" | "baseUrl" | "name" | "variables" | "billed">;

interface Item extends vscode.QuickPickItem {
  readonly option?: Option;
}

const sections: readonly (readonly [kinds: readonly protocol.OptionView["kind"][], title: string])[] = [
  [["none", "auto"], ""],
  [["agent"], "Coding agents on this machine"],
  [["editor"], "The editor's models"],
  [["server"], "Servers on this machine"],
  [["key"], "Services whose API key is set"],
  [["no-key"], "Services that need an API key"],
  [["address"], "Another address"],
  [["command"], "Your own command"],
];

/** What is listed, and does nothing, where a newcomer may look for something that was not found. */
const missingTexts: Readonly<Record<string, Item>> = {
  agent: { label: "$(info) No agents installed", description: "Lerim looks for commands such as claude, codex and gemini" },
  editor: { label: "$(info) No editor models", description: "they come from extensions, such as GitHub Copilot's once you sign in" },
};

/** A service's key is only sent to its own address, so any other address has a variable of its own. */
const anotherAddress: Option = { kind: "address", provider: "openai", model: "", baseUrl: "", name: "", variables: ["LERIM_MODEL_KEY"], billed: true };

/** Lerim: Choose Model…. Lists the available models, writes the choice into the user settings, and tests it with one tiny question. */
export async function chooseModel(context: ModelContext): Promise<void> {
  const choices = await context.request(protocol.modelChoices, {});
  const currentModel = choices.model === "" ? "no model" : choices.model;
  const placeHolder = choices.problems[0]?.message ?? `Choose the model that reads your sessions. Current: ${currentModel}`;
  const picked = await vscode.window.showQuickPick(listItems(choices.options), { title: "Lerim: Choose Model", placeHolder, matchOnDescription: true, matchOnDetail: true });
  if (picked?.option === undefined) return;
  const option = await completeOption(context, picked.option);
  if (option === undefined) return;
  await writeSettings(option);
  await context.reloadSettings(); // the sidecar must know the choice before the test
  await context.applyKeyChanges();
  if (option.kind === "none") {
    void showInfo("Your sessions are read without a model, and nothing leaves this machine.");
    return;
  }
  if (option.kind === "agent") return tryOnSession(context, option);
  const billed = option.kind === "auto" ? (await context.request(protocol.modelChoices, {})).billed : option.billed;
  await testModel(context, option, billed);
}

/** Lerim: Set Model API Key…, for the chosen service. */
export async function enterKey(context: ModelContext): Promise<void> {
  const { options } = await context.request(protocol.modelChoices, {});
  const chosen = options.find((option) => option.chosen && option.variables.length > 0);
  if (chosen === undefined) return chooseModel(context);
  if (!(await askKey(context, chosen))) return;
  await context.applyKeyChanges();
  await testModel(context, chosen, chosen.billed);
}

/** Lerim: Delete Model API Key…. Deletes a key from the editor's secret storage. */
export async function forgetKey(context: ModelContext): Promise<void> {
  const stored = await context.keys.stored();
  if (stored.length === 0) {
    void showInfo("No model API key is stored in this editor.");
    return;
  }
  const variable = await vscode.window.showQuickPick(stored, { title: "Lerim: Delete Model API Key", placeHolder: "Choose the API key to delete from the editor's secret storage" });
  if (variable === undefined) return;
  await context.keys.forget(variable);
  await context.applyKeyChanges();
  void showInfo(`${variable} was deleted from the editor's secret storage.`);
}

function listItems(options: readonly protocol.OptionView[]): Item[] {
  return sections.flatMap(([kinds, title]) => {
    const items: Item[] = options.filter(({ kind }) => kinds.includes(kind)).map(makeItem);
    const missing = missingTexts[kinds[0] ?? ""];
    if (items.length === 0 && missing !== undefined) items.push(missing);
    if (title === "Another address") items.push({ label: "Enter an address…", description: "any OpenAI-compatible service", option: anotherAddress });
    const separator = { label: title, kind: vscode.QuickPickItemKind.Separator };
    return items.length === 0 || title === "" ? items : [separator, ...items];
  });
}

function makeItem(option: protocol.OptionView): Item {
  const { label, description } = describeOption(option);
  return { label: option.chosen ? `$(check) ${label}` : label, description: [description, option.chosen ? "chosen" : ""].filter((part) => part !== "").join(" · "), option };
}

function describeOption({ kind, name, detail, model, variables }: protocol.OptionView): { label: string; description: string } {
  switch (kind) {
    case "none":
      return { label: "No model", description: "nothing leaves this machine" };
    case "auto":
      return { label: "Automatic", description: name === "" ? "what is found first: an API key, the editor's models, a local server" : `currently ${name}` };
    case "agent":
    case "editor":
    case "server":
      return { label: name, description: detail };
    case "key":
      return { label: name, description: `${model}, each call costs money` };
    case "no-key":
      return { label: name, description: `set an API key… (${variables[0] ?? ""})` };
    case "address":
      return { label: name, description: model };
    case "command":
      return { label: name, description: "the command in your config.toml" };
  }
}

/** Asks for the address, model name and key that a choice still needs; undefined if the person cancels. */
async function completeOption(context: ModelContext, option: Option): Promise<Option | undefined> {
  if (option.kind !== "key" && option.kind !== "no-key" && option.kind !== "address") return option;
  const baseUrl = option.kind === "address" ? await askAddress(option.baseUrl) : option.baseUrl;
  if (baseUrl === undefined) return undefined;
  const model = await askModelName(option.name || baseUrl, option.model);
  if (model === undefined) return undefined;
  const billed = baseUrl === "" || !isLocal(baseUrl);
  const completed = { ...option, baseUrl, model, billed, variables: baseUrl === option.baseUrl ? option.variables : anotherAddress.variables };
  const needsKey = option.kind === "no-key" || (option.kind === "address" && billed && !context.keys.isInEnvironment(option.variables[0] ?? ""));
  return needsKey && !(await askKey(context, { ...completed, name: option.name || baseUrl })) ? undefined : completed;
}

async function askAddress(value: string): Promise<string | undefined> {
  const entered = await vscode.window.showInputBox({
    title: "Lerim: Model Address",
    prompt: "The base URL of an OpenAI-compatible service, such as http://127.0.0.1:8000/v1.",
    value,
    ignoreFocusOut: true,
    validateInput: findAddressError,
  });
  return entered?.trim().replace(/\/+$/, "");
}

async function askModelName(service: string, value: string): Promise<string | undefined> {
  const entered = await vscode.window.showInputBox({
    title: `Lerim: Model from ${service}`,
    prompt: "The name of the model, as the service writes it.",
    value,
    ignoreFocusOut: true,
    validateInput: (name) => (/^\S.*\S$|^\S$/.test(name.trim()) && name.trim().length <= 200 ? undefined : "Enter the name of a model."),
  });
  return entered?.trim();
}

/** Asks for a key and stores it; false if none was stored. */
async function askKey(context: ModelContext, { name, variables }: Pick<Option, "name" | "variables">): Promise<boolean> {
  const [variable] = variables;
  if (variable === undefined) return false;
  const variableInEnvironment = variables.find((one) => context.keys.isInEnvironment(one));
  if (variableInEnvironment !== undefined) {
    void showInfo(`${variableInEnvironment} is set in the environment that the editor was started with, and takes precedence. Change it there and restart the editor.`);
    return false;
  }
  const key = await vscode.window.showInputBox({
    title: `Lerim: API Key for ${name}`,
    prompt: `It is kept in the editor's secret storage as ${variable}, never in a settings file.`,
    password: true,
    ignoreFocusOut: true,
    validateInput: (text) => (/^[!-~]+$/.test(text.trim()) ? undefined : "A key consists of ASCII letters, digits and punctuation, without spaces."),
  });
  if (key === undefined) return false;
  await context.keys.store(variable, key);
  return true;
}

/** Writes the choice into the user settings. The provider is "none" in between, so that no key is sent to the previous address. */
async function writeSettings({ provider, model, baseUrl }: Option): Promise<void> {
  const settings = vscode.workspace.getConfiguration("lerim");
  const set = (name: string, value: string): Thenable<void> => settings.update(name, value === "" ? undefined : value, vscode.ConfigurationTarget.Global);
  await set("model.provider", "none");
  await set("model.baseUrl", baseUrl);
  await set("model.name", model);
  if (provider !== "none") await set("model.provider", provider);
}

/** Lets the chosen model read one session, compares its results with those found without a model, and offers to read the rest. */
async function tryOnSession(context: ModelContext, option: Option): Promise<void> {
  const root = await chooseRoot();
  if (root === undefined) return testModel(context, option, false);
  const trial = await withCancelButton(`Lerim: ${option.name || option.model || "the model"} is reading one session`, (token) => context.request(protocol.modelTry, { root: root.uri.toString() }, token));
  if (trial === undefined) return void showInfo("The test was cancelled. The model is still chosen.");
  if (trial.code === "not-found" && option.kind === "agent") return testModel(context, option, false);
  if (!trial.ok) {
    if ((await showError(trial.message, "Choose Another")) !== undefined) await chooseModel(context);
    return;
  }
  const { message, detail } = sessionTrialText(trial);
  const choice = await vscode.window.showInformationMessage(message, { modal: true, detail }, "Read the Rest", "Choose Another");
  if (choice === "Choose Another") return chooseModel(context);
  if (choice === "Read the Rest") await vscode.commands.executeCommand("lerim.sync");
}

/** Asks the chosen model one tiny question and shows the result. */
async function testModel(context: ModelContext, option: Option, billed: boolean): Promise<void> {
  if (billed) {
    const text = "The model is chosen. Testing it sends one tiny question, which costs a fraction of a cent.";
    if ((await showInfo(text, "Test Model", "Not Now")) !== "Test Model") return;
  }
  const trial = await withCancelButton("Lerim: Testing the model", (token) => context.request(protocol.modelTest, {}, token));
  if (trial === undefined) return void showInfo("The test was cancelled. The model is still chosen.");
  if (trial.ok) {
    const choice = await showInfo(modelTestText(trial), "Try on One Session", "Sync");
    if (choice === "Try on One Session") return tryOnSession(context, option);
    if (choice === "Sync") await vscode.commands.executeCommand("lerim.sync");
    return;
  }
  const actions = ["Choose Another", ...(trial.code === "budget" ? ["Change Budget"] : []), ...(trial.code === "model-key" && option.variables.length > 0 ? ["Set API Key Again"] : [])];
  const choice = await showError(trial.message, ...actions);
  if (choice === "Choose Another") return chooseModel(context);
  if (choice === "Change Budget") await openSetting("lerim.budget.perDayUsd");
  if (choice !== "Set API Key Again" || !(await askKey(context, option))) return;
  await context.applyKeyChanges();
  await testModel(context, option, false); // the person has already been told the cost
}

/** Why a text cannot be the address of a model service; undefined if it can. The sidecar checks it again. */
export function findAddressError(text: string): string | undefined {
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    return "Enter an address such as https://models.example/v1.";
  }
  if (!["http:", "https:"].includes(url.protocol) || url.hostname === "" || /\s/.test(text.trim())) return "The address must start with https:// and include a host.";
  if (url.username !== "" || url.password !== "" || /[?#]/.test(text)) return "The address must not contain a user name, a password, ? or #.";
  if (url.protocol === "http:" && !isLoopback(url.hostname)) return "The address must start with https://. Only a server on this machine can be used without encryption.";
  return undefined;
}

/** Whether an address is on this machine. */
export function isLocal(address: string): boolean {
  return findAddressError(address) === undefined && isLoopback(new URL(address.trim()).hostname);
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}
