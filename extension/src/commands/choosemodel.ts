import * as vscode from "vscode";
import { addressFault, isLocal } from "./address";
import type { Context } from "../sidecar/context";
import { sessionTrialText, trialText, unlinked } from "../text/modelwording";
import { openSetting } from "../editor/opensetting";
import * as protocol from "../protocol";
import { chooseRoot } from "../editor/roots";

type Choosing = Pick<Context, "request" | "keys" | "keysChanged" | "settingsChanged">;
type Option = Pick<protocol.OptionView, "kind" | "provider" | "model" | "baseUrl" | "name" | "variables" | "billed">;

interface Item extends vscode.QuickPickItem {
  readonly option?: Option;
}

const sections: readonly (readonly [kinds: readonly protocol.OptionView["kind"][], title: string])[] = [
  [["none", "auto"], ""],
  [["agent"], "Coding agents on this machine"],
  [["editor"], "The editor's models"],
  [["server"], "Servers on this machine"],
  [["key"], "Services with a key"],
  [["no-key"], "Services without a key"],
  [["address"], "Another address"],
  [["command"], "Your own command"],
];

/** A service's own key goes to its own address alone, so that another has a variable of its own. */
const anotherAddress: Option = { kind: "address", provider: "openai", model: "", baseUrl: "", name: "", variables: ["LERIM_MODEL_KEY"], billed: true };

/** Lerim: Choose Model. Lists what there is, writes the choice into the person's settings, and tests it with one tiny question. */
export async function chooseModel(context: Choosing): Promise<void> {
  const choices = await context.request(protocol.modelChoices, {});
  const now = choices.model === "" ? "no model, rules only" : choices.model;
  const placeHolder = choices.problems[0]?.message ?? `Choose the model that reads your sessions in addition to the rules. Current: ${now}`;
  const picked = await vscode.window.showQuickPick(itemsOf(choices.options), { title: "Lerim: Choose Model", placeHolder, matchOnDescription: true, matchOnDetail: true });
  if (picked?.option === undefined) return;
  const option = await completed(context, picked.option);
  if (option === undefined) return;
  await write(option);
  await context.settingsChanged(); // the sidecar hears of it before it is asked
  await context.keysChanged();
  if (option.kind === "none") {
    void vscode.window.showInformationMessage("Lerim: No model is used. Your sessions are read by the rules only, and nothing leaves this machine.");
    return;
  }
  if (option.kind === "agent") return tryOnSession(context, option);
  const billed = option.kind === "auto" ? (await context.request(protocol.modelChoices, {})).billed : option.billed;
  await test(context, option, billed);
}

/** Lerim: Enter Model Key. Of the service that is chosen. */
export async function enterKey(context: Choosing): Promise<void> {
  const { options } = await context.request(protocol.modelChoices, {});
  const chosen = options.find((option) => option.chosen && option.variables.length > 0);
  if (chosen === undefined) return chooseModel(context);
  if (!(await askKey(context, chosen))) return;
  await context.keysChanged();
  await test(context, chosen, chosen.billed);
}

/** Lerim: Forget Model Key. Deletes a key from the editor's secret storage. */
export async function forgetKey(context: Choosing): Promise<void> {
  const stored = await context.keys.stored();
  if (stored.length === 0) {
    void vscode.window.showInformationMessage("Lerim: No model key is stored in this editor.");
    return;
  }
  const variable = await vscode.window.showQuickPick(stored, { title: "Lerim: Forget Model Key", placeHolder: "Choose the key to delete from the editor's secret storage" });
  if (variable === undefined) return;
  await context.keys.forget(variable);
  await context.keysChanged();
  void vscode.window.showInformationMessage(`Lerim: ${variable} was deleted from the editor's secret storage.`);
}

function itemsOf(options: readonly protocol.OptionView[]): Item[] {
  return sections.flatMap(([kinds, title]) => {
    const items: Item[] = options.filter(({ kind }) => kinds.includes(kind)).map(itemOf);
    if (title === "Another address") items.push({ label: "Enter an address…", description: "any OpenAI-compatible service", option: anotherAddress });
    const head = { label: title, kind: vscode.QuickPickItemKind.Separator };
    return items.length === 0 || title === "" ? items : [head, ...items];
  });
}

function itemOf(option: protocol.OptionView): Item {
  const { label, description } = words(option);
  return { label: option.chosen ? `$(check) ${label}` : label, description: [description, option.chosen ? "chosen" : ""].filter((part) => part !== "").join(" · "), option };
}

function words({ kind, name, detail, model, variables }: protocol.OptionView): { label: string; description: string } {
  switch (kind) {
    case "none":
      return { label: "None", description: "rules only; nothing leaves this machine" };
    case "auto":
      return { label: "Automatic", description: name === "" ? "a key in the environment, the editor's models, or a server on this machine, whichever is found first" : `currently ${name}` };
    case "agent":
    case "editor":
      return { label: name, description: detail };
    case "server":
      return { label: name, description: detail };
    case "key":
      return { label: name, description: `${model}, paid by the token` };
    case "no-key":
      return { label: name, description: `enter a key… (${variables[0] ?? ""})` };
    case "address":
      return { label: name, description: model };
    case "command":
      return { label: name, description: "the command in your config.toml" };
  }
}

/** The choice with what the person adds to it; undefined when they stop. */
async function completed(context: Choosing, option: Option): Promise<Option | undefined> {
  if (option.kind !== "key" && option.kind !== "no-key" && option.kind !== "address") return option;
  const baseUrl = option.kind === "address" ? await askAddress(option.baseUrl) : option.baseUrl;
  if (baseUrl === undefined) return undefined;
  const model = await askModelName(option.name || baseUrl, option.model);
  if (model === undefined) return undefined;
  const billed = baseUrl === "" || !isLocal(baseUrl);
  const whole = { ...option, baseUrl, model, billed, variables: baseUrl === option.baseUrl ? option.variables : anotherAddress.variables };
  const missing = option.kind === "no-key" || (option.kind === "address" && billed && !context.keys.inEnvironment(option.variables[0] ?? ""));
  return missing && !(await askKey(context, { ...whole, name: option.name || baseUrl })) ? undefined : whole;
}

async function askAddress(value: string): Promise<string | undefined> {
  const given = await vscode.window.showInputBox({
    title: "Lerim: Model Address",
    prompt: "The base URL of an OpenAI-compatible service, such as http://127.0.0.1:8000/v1.",
    value,
    ignoreFocusOut: true,
    validateInput: addressFault,
  });
  return given?.trim().replace(/\/+$/, "");
}

async function askModelName(of: string, value: string): Promise<string | undefined> {
  const given = await vscode.window.showInputBox({
    title: `Lerim: Model from ${of}`,
    prompt: "The name of the model, as the service writes it.",
    value,
    ignoreFocusOut: true,
    validateInput: (name) => (/^\S.*\S$|^\S$/.test(name.trim()) && name.trim().length <= 200 ? undefined : "Enter the name of a model."),
  });
  return given?.trim();
}

/** Asks for a key and stores it; false when there is none afterwards. */
async function askKey(context: Choosing, { name, variables }: Pick<Option, "name" | "variables">): Promise<boolean> {
  const [variable] = variables;
  if (variable === undefined) return false;
  const own = variables.find((one) => context.keys.inEnvironment(one));
  if (own !== undefined) {
    void vscode.window.showInformationMessage(`Lerim: ${own} is set in the environment that the editor was started with, and takes precedence. Change it there and restart the editor.`);
    return false;
  }
  const key = await vscode.window.showInputBox({
    title: `Lerim: Key for ${name}`,
    prompt: `It is kept in the editor's secret storage as ${variable}, never in a settings file.`,
    password: true,
    ignoreFocusOut: true,
    validateInput: (text) => (/^[!-~]+$/.test(text.trim()) ? undefined : "A key consists of ASCII letters, digits and punctuation, without spaces."),
  });
  if (key === undefined) return false;
  await context.keys.store(variable, key);
  return true;
}

/** Writes the choice into the person's own settings. In between nobody is asked, so that no key goes to the address of the choice before. */
async function write({ provider, model, baseUrl }: Option): Promise<void> {
  const settings = vscode.workspace.getConfiguration("lerim");
  const set = (name: string, value: string): Thenable<void> => settings.update(name, value === "" ? undefined : value, vscode.ConfigurationTarget.Global);
  await set("model.provider", "none");
  await set("model.baseUrl", baseUrl);
  await set("model.name", model);
  if (provider !== "none") await set("model.provider", provider);
}

/** Lets the chosen model read one session, shows what it found beside what the rules found, and lets it read the rest. */
async function tryOnSession(context: Choosing, option: Option): Promise<void> {
  const root = await chooseRoot();
  if (root === undefined) return test(context, option, false);
  const trial = await cancellable(`Lerim: ${option.name || option.model || "the model"} is reading one session`, (token) => context.request(protocol.modelTry, { root: root.uri.toString() }, token));
  if (trial === undefined) return;
  if (trial.code === "not-found" && option.kind === "agent") return test(context, option, false);
  if (!trial.ok) {
    if ((await vscode.window.showErrorMessage(`Lerim: ${unlinked(trial.message)}`, "Choose Another")) !== undefined) await chooseModel(context);
    return;
  }
  const { message, detail } = sessionTrialText(trial);
  const choice = await vscode.window.showInformationMessage(message, { modal: true, detail }, "Read the Rest", "Choose Another");
  if (choice === "Choose Another") return chooseModel(context);
  if (choice === "Read the Rest") await vscode.commands.executeCommand("lerim.sync");
}

/** Asks the chosen model one tiny question, and says what came of it. */
async function test(context: Choosing, option: Option, billed: boolean): Promise<void> {
  if (billed) {
    const text = "Lerim: The model is chosen. Testing it sends one tiny question, which costs a fraction of a cent.";
    if ((await vscode.window.showInformationMessage(text, "Test Model", "Not Now")) !== "Test Model") return;
  }
  const trial = await tried(context);
  if (trial === undefined) return;
  if (trial.ok) {
    const choice = await vscode.window.showInformationMessage(`Lerim: ${unlinked(trialText(trial))}`, "Try on One Session", "Sync");
    if (choice === "Try on One Session") return tryOnSession(context, option);
    if (choice === "Sync") await vscode.commands.executeCommand("lerim.sync");
    return;
  }
  const actions = ["Choose Another", ...(trial.code === "budget" ? ["Change Budget"] : []), ...(trial.code === "model-key" && option.variables.length > 0 ? ["Enter Key Again"] : [])];
  const choice = await vscode.window.showErrorMessage(`Lerim: ${unlinked(trial.message)}`, ...actions);
  if (choice === "Choose Another") return chooseModel(context);
  if (choice === "Change Budget") await openSetting("lerim.budget.perDayUsd");
  if (choice !== "Enter Key Again" || !(await askKey(context, option))) return;
  await context.keysChanged();
  await test(context, option, false); // they were told what it costs
}

/** What came of the question; undefined when the person cancelled. */
async function tried(context: Choosing): Promise<protocol.ModelTestView | undefined> {
  return cancellable("Lerim: Testing the model", (token) => context.request(protocol.modelTest, {}, token));
}

async function cancellable<T>(title: string, ask: (token: vscode.CancellationToken) => Promise<T>): Promise<T | undefined> {
  return vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title, cancellable: true }, async (_progress, token) => {
    try {
      return await ask(token);
    } catch (error) {
      if (!token.isCancellationRequested) throw error;
      void vscode.window.showInformationMessage("Lerim: The test was cancelled. The model is still chosen.");
      return undefined;
    }
  });
}
