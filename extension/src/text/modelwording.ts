// Texts about models: waiting sessions, costs, and results of tests.
import type { TrialProposal, ModelView, SessionTrialView, SyncReport, ModelTestView, WaitingWork } from "../protocol";
import { counted } from "./wording";

/** An amount with cents, or "less than $0.01". */
export function dollarText(amount: number): string {
  return amount > 0 && amount < 0.01 ? "less than $0.01" : `$${amount.toFixed(2)}`;
}

function approximatePriceText(cost: number): string {
  return cost > 0 && cost < 0.01 ? dollarText(cost) : `about ${dollarText(cost)}`;
}

/** "3 sessions waiting, about $0.02". */
export function waitingText({ sessions, cost }: Pick<WaitingWork, "sessions" | "cost">): string {
  const lead = `${counted(sessions, "session")} waiting`;
  return cost === null ? lead : `${lead}, ${approximatePriceText(cost)}`;
}

/** The question for approval before a paid model is used for the first time. */
export function consentText({ sessions, tokens, cost, model }: WaitingWork): string {
  const price = cost === null ? "at an unknown price" : approximatePriceText(cost);
  return `Let ${model} read ${counted(sessions, "session")} (about ${tokens.toLocaleString("en-US")} tokens, ${price})? Secrets are removed before anything is sent.`;
}

export function modelTestText({ model, seconds, tokens, cost }: ModelTestView): string {
  const price = cost === null || cost === 0 ? "" : `, ${dollarText(cost)}`;
  return `${model} answered in ${seconds.toFixed(1)} s (${counted(tokens, "token")}${price}).`;
}

const maxListed = 8;

/** The result of a trial on one session: the counts, what was found without the model and with it, and what went wrong. */
export function sessionTrialText({ message: notes, model, rules, found, seconds, tokens, again }: SessionTrialView): { message: string; detail: string } {
  const message = `In one session, Lerim found ${counted(rules.length, "candidate")} without a model, and ${model} found ${found.length} more.`;
  const list = (who: string, proposals: readonly TrialProposal[]): string => {
    const more = proposals.length > maxListed ? [`… and ${proposals.length - maxListed} more`] : [];
    return [`${who}:`, ...proposals.slice(0, maxListed).map(({ title }) => `• ${title}`), ...more, ...(proposals.length === 0 ? ["• nothing"] : [])].join("\n");
  };
  const summaryText = `It took ${seconds.toFixed(1)} s and ${counted(tokens, "token")}. Nothing has been proposed yet. ${counted(again, "more session")} ${again === 1 ? "is" : "are"} waiting.`;
  return { message, detail: [list("Without a model", rules), list(model, found), ...(notes ? [notes] : []), summaryText].join("\n\n") };
}

/** The status item's tooltip lines about the models of the window's repositories; `usedUp`: today's budget is used up. */
export function modelSummary(views: readonly ModelView[]): { lines: string[]; usedUp: boolean } {
  const [first] = views;
  if (first === undefined) return { lines: [], usedUp: false };
  const names = [...new Set(views.map(modelName))];
  const lines = [`Model: ${names.join(", ")}`];
  const { todayUsd, budgetUsd } = first;
  const usedUp = views.some(({ waits }) => waits.why === "budget");
  if (todayUsd > 0 || views.some(({ waits }) => waits.cost !== null)) lines.push(`Spent today: ${dollarText(todayUsd)}${budgetUsd > 0 ? ` of ${dollarText(budgetUsd)}` : ", no limit"}`);
  const waiting = views.map(({ waits }) => waits).filter(({ sessions, why }) => sessions > 0 && why !== "none");
  if (waiting.length > 0) lines.push(waitingText(sumWaiting(waiting)) + waitReasonText(waiting));
  else if (usedUp) lines.push("Today's budget is used up");
  lines.push(...new Set(views.flatMap(({ problems }) => problems.slice(0, 1).map(({ message }) => message))));
  return { lines, usedUp };
}

function modelName({ model, provider }: ModelView): string {
  if (model !== "") return model;
  return provider;
}

function sumWaiting(waiting: readonly WaitingWork[]): { sessions: number; cost: number | null } {
  const costs = waiting.map(({ cost }) => cost).filter((cost) => cost !== null);
  const sum = costs.reduce((total, cost) => total + cost, 0);
  return { sessions: waiting.reduce((total, { sessions }) => total + sessions, 0), cost: costs.length === 0 ? null : sum };
}

function waitReasonText(waiting: readonly WaitingWork[]): string {
  if (waiting.some(({ why }) => why === "consent")) return ": Lerim asks for your approval when you next run Sync";
  return waiting.some(({ why }) => why === "budget") ? ": today's budget is used up" : "";
}

/** A message about a model that was not called, or was stopped, with the actions that fix it. */
export interface SuggestedFix {
  readonly text: string;
  readonly actions: readonly Action[];
}

export type Action = "Choose Model" | "Set API Key" | "Change Budget";

/** The part of a sync's message about the model: how often it was called, and what stopped it, with actions to fix that. */
export function modelText(report: SyncReport, neverChosen = false): SuggestedFix {
  const { calls, cost } = report.usage;
  const callsText = calls > 0 ? `Called ${report.model} ${calls === 1 ? "once" : `${calls} times`}${cost > 0 ? `, ${approximatePriceText(cost)}` : ""}.` : "";
  const fix = neverChosen && report.waits.why === "none" ? suggestModel(report.waits) : stopReason(report);
  return { text: [callsText, fix.text].filter((text) => text !== "").join(" "), actions: fix.actions };
}

/** The suggestion to choose a model, for a person who never chose one. */
function suggestModel({ sessions }: WaitingWork): SuggestedFix {
  if (sessions === 0) return { text: "", actions: [] };
  return { text: "With a model, Lerim usually finds more.", actions: ["Choose Model"] };
}

function stopReason({ waits, problems }: SyncReport): SuggestedFix {
  const findProblem = (...codes: string[]): string | undefined => problems.find(({ code }) => codes.includes(code))?.message;
  const key = findProblem("model-key");
  if (key !== undefined) return { text: key, actions: ["Set API Key", "Choose Model"] };
  if (waits.why === "budget") return { text: `Today's budget is used up${waits.sessions > 0 ? `: ${waitingText(waits)}` : ""}.`, actions: ["Change Budget"] };
  if (waits.why === "consent") {
    const { sessions, model, cost } = waits;
    const price = cost === null ? "" : ` (${approximatePriceText(cost)})`;
    return { text: sessions > 0 ? `${waitingText({ sessions, cost: null })} for your approval to use ${model}${price}.` : "", actions: [] };
  }
  const failure = findProblem("model-gone", "model-silent", "model", "spending");
  return failure === undefined ? { text: "", actions: [] } : { text: failure, actions: ["Choose Model"] };
}
