// The webview of Lerim: Show Benefit of Memories: a table of the memories that agents were given, and what became of them.
import type { BenefitFigures, BenefitView } from "../../../protocol";
import { plainText } from "../../../text/wording";
import { dateText } from "../../../text/sessionwording";
import { button, h } from "../../shared/web/dom";
import { spellOutHidden } from "../../shared/web/text";
import type { BenefitState, FromBenefit, ToBenefit } from "../messages";

declare function acquireVsCodeApi(): { postMessage(message: FromBenefit): void };

const vscode = acquireVsCodeApi();

type Column = keyof Pick<BenefitFigures, "served" | "sessions" | "followed" | "contradicted" | "corrected" | "notSeen" | "unknown" | "missed">;

const columns: readonly (readonly [Column, string, string])[] = [
  ["served", "Served", "How often an agent was given the memory"],
  ["sessions", "Sessions", "How many known sessions it was served in"],
  ["followed", "Followed", "Sessions in which the agent then did what the memory asks for, and nothing against it"],
  ["contradicted", "Contradicted", "Sessions in which something that the memory gives up was then used"],
  ["corrected", "Corrected", "Sessions in which you then said the same again"],
  ["notSeen", "Not seen", "Sessions in which nothing about it came up afterwards"],
  ["unknown", "Unknown", "Sessions for which this could not be determined"],
  ["missed", "Missed", "Later sessions in which you said the same and it had not been served"],
];

const refreshButton = button("Refresh", () => vscode.postMessage({ type: "refresh" }));
const statusLine = h("p", { class: "status", role: "status" });
const content = h("div", { class: "content" });
document.getElementById("benefit")?.append(h("div", { class: "head" }, h("h1", {}, "Benefit of Memories"), refreshButton), statusLine, content);

window.addEventListener("message", ({ data: message }: MessageEvent<ToBenefit>) => draw(message.state));
vscode.postMessage({ type: "ready" });

function draw({ state, view, message }: BenefitState): void {
  refreshButton.toggleAttribute("disabled", state === "computing");
  statusLine.textContent = state === "computing" ? "Reading the sessions in which memories were served…" : spellOutHidden(message);
  statusLine.className = `status ${state}`;
  content.replaceChildren(...(view === undefined ? [] : viewElements(view)));
}

function viewElements(view: BenefitView): HTMLElement[] {
  if (view.memories.length === 0) return [h("p", {}, "No agent has been given a memory here yet. Once agents get memories, this page shows what became of each."), button("Give Memories to Agents…", () => vscode.postMessage({ type: "connect" }), { class: "primary" })];
  const head = h("tr", {}, h("th", { attributes: { scope: "col" } }, "Memory"), ...columns.map(([, name, title]) => h("th", { class: "number", title, attributes: { scope: "col" } }, name)), h("th", { attributes: { scope: "col" } }, "Last served"));
  const rows = view.memories.map(({ handle, figures }, row) => h("tr", {}, h("th", { class: "memory", attributes: { scope: "row" } }, memoryElement(handle, figures, row)), ...cells(figures)));
  const total = h("tr", { class: "total" }, h("th", { attributes: { scope: "row" } }, `All (${view.servings} ${view.servings === 1 ? "serving" : "servings"})`), ...cells(view.total));
  const notes = [...unknownNotes(view), ...view.problems].map((note) => h("p", { class: "note" }, spellOutHidden(note)));
  return [h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows), h("tfoot", {}, total)), ...notes];
}

function memoryElement(handle: string, { id, title }: BenefitFigures, row: number): HTMLElement {
  if (handle === "") return h("span", { class: "gone" }, `${spellOutHidden(id)} (no longer active)`);
  return button(plainText(title), () => vscode.postMessage({ type: "open", row }), { class: "link", title: "Open the memory" });
}

function cells(figures: BenefitFigures): HTMLElement[] {
  return [...columns.map(([column]) => h("td", { class: "number" }, String(figures[column]))), h("td", {}, dateText(figures.last))];
}

/** Why it is unknown what became of some memories, as sentences. */
function unknownNotes({ unknown }: BenefitView): string[] {
  const notes: string[] = [];
  if (unknown.noSession > 0) notes.push(`Without a known session: ${unknown.noSession}. An agent that uses Lerim's tools does not say which session it is in. A sync finds the session by its time, if only one fits.`);
  if (unknown.nothingToSee > 0) notes.push(`Unknown ${unknown.nothingToSee} times: Lerim cannot recognize in a session what the memory asks for.`);
  if (unknown.notRead > 0) notes.push(`Unknown ${unknown.notRead} times: the transcript is gone or cannot be read.`);
  if (unknown.older > 0) notes.push(`Unknown ${unknown.older} times: only the newest sessions are examined.`);
  return notes;
}
