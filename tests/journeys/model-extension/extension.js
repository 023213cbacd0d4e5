// A chat model that answers from `script.json` in the folder `model` of the home; what happens to it is told in `told.jsonl` there.
const { appendFileSync, readFileSync, watch } = require("node:fs");
const { homedir } = require("node:os");
const { join } = require("node:path");
const vscode = require("vscode");

const folder = join(homedir(), "model");
const changed = new vscode.EventEmitter();
let script = read();

exports.activate = (context) => {
  const update = vscode.lm.registerLanguageModelChatProvider ? offer(context) : offerOneByOne();
  const watcher = watch(folder, () => {
    const before = JSON.stringify(script.models);
    script = read();
    if (JSON.stringify(script.models) !== before) update();
    changed.fire();
  });
  context.subscriptions.push({ dispose: () => watcher.close() });
  tell({ happened: "registered" });
};

/** Offers the models; what to call when they have changed. */
function offer(context) {
  const models = new vscode.EventEmitter();
  context.subscriptions.push(vscode.lm.registerLanguageModelChatProvider("journeys", {
    onDidChangeLanguageModelChatInformation: models.event,
    provideLanguageModelChatInformation: () => script.models.map((id) => ({ id, ...described(id) })),
    provideTokenCount: (_model, text) => countTokens(text),
    provideLanguageModelChatResponse: answer,
  }));
  return () => models.fire();
}

/** The same before VS Code 1.104, by the proposed API that Copilot had then. */
function offerOneByOne() {
  let offered = [];
  const update = () => {
    for (const model of offered) model.dispose();
    offered = script.models.map((id) => vscode.lm.registerChatModelProvider(id, {
      provideTokenCount: countTokens,
      provideLanguageModelResponse: (messages, options, _extension, progress, token) =>
        answer(id, messages, options, { report: (part) => progress.report({ index: 0, part }) }, token),
    }, { vendor: "journeys", ...described(id) }));
  };
  update();
  return update;
}

function described(family) {
  return { name: "Scripted", family, version: "1", maxInputTokens: 100_000, maxOutputTokens: 10_000, capabilities: {} };
}

function countTokens(text) {
  return Math.ceil(String(text).length / 4);
}

async function answer(_model, messages, _options, progress, token) {
  const prompt = messages.flatMap(({ content }) => content.map((part) => part.value ?? "")).join("\n");
  const found = script.items.filter(({ evidence, when }) => prompt.includes(when ?? evidence.quote)); // `when`: words that are said instead of the quote
  const asked = prompt.includes("[[ ## primitives ## ]]") ? found.map(({ title }) => title) : ["something else"];
  tell({ happened: "asked", asked });
  await new Promise((go) => {
    const look = () => (found.some(({ title }) => script.held.includes(title)) && !token.isCancellationRequested ? undefined : go());
    changed.event(look);
    token.onCancellationRequested(look);
    look();
  });
  if (token.isCancellationRequested) return tell({ happened: "cancelled", asked });
  const text = written(prompt, found);
  for (let at = 0; at < text.length; at += 40) progress.report(new vscode.LanguageModelTextPart(text.slice(at, at + 40)));
}

/** An answer in the form that is asked for; what it asks of summaries and of quotes has nothing to tell. */
function written(prompt, found) {
  const values = { primitives: found.map((item) => ({ ...item, evidence: { ...item.evidence, turn: turnOf(prompt, item.evidence.quote) } })), summary: {}, quotes: [] };
  const field = Object.keys(values).find((name) => prompt.includes(`[[ ## ${name} ## ]]`));
  return `[[ ## reasoning ## ]]\nIt stands there.\n\n[[ ## ${field} ## ]]\n${JSON.stringify(values[field])}\n\n[[ ## completed ## ]]\n`;
}

/** The number in brackets before the turn in which the words stand. */
function turnOf(prompt, quote) {
  return Number([...prompt.slice(0, prompt.indexOf(quote)).matchAll(/^\[(\d+)\]/gm)].at(-1)?.[1] ?? 0);
}

function read() {
  return JSON.parse(readFileSync(join(folder, "script.json"), "utf8"));
}

function tell(line) {
  appendFileSync(join(folder, "told.jsonl"), `${JSON.stringify(line)}\n`);
}
