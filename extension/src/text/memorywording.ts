// Texts of the Memories view and of messages about memories and proposals.
import type { MaintainReport, MemoryCheckView, Problem, TreeGroup, TreeMemory, TreeProposal } from "../protocol";
import { dateText } from "./sessionwording";
import { counted, driftMark, kindOf, plainText } from "./wording";

const primitiveLabels: Readonly<Record<string, string>> = { decision: "Decisions", learning: "Learnings", question: "Questions", theme: "Themes", summary: "Summaries" };
const driftLabels: Readonly<Record<string, string>> = { fresh: "Fresh", drifted: "Drifted", gone: "Not found", unknown: "Not checked" };

/** The label of a group's row; for a file its name, since the folder is in the description. */
export function groupLabel({ kind, name }: TreeGroup): string {
  switch (kind) {
    case "waiting":
      return "Waiting for review";
    case "problems":
      return "Problems";
    case "primitive":
      return primitiveLabels[name] ?? name;
    case "drift":
      return driftLabels[name] ?? name;
    case "file":
      return name.slice(name.lastIndexOf("/") + 1);
    case "loose":
      return "No file";
    case "ended":
      return "Archived or replaced";
  }
}

export function groupDescription({ kind, name, count }: TreeGroup): string {
  const folder = kind === "file" && name.includes("/") ? `${name.slice(0, name.lastIndexOf("/"))} · ` : "";
  return `${folder}${count}`;
}

export function groupTooltip({ kind, name, count }: TreeGroup): string {
  switch (kind) {
    case "waiting":
      return `${counted(count, "candidate")} to accept or reject`;
    case "problems":
      return "Memory files with something wrong in them, and references to what was not found";
    case "file":
      return name;
    case "loose":
      return "Memories that do not refer to a file in this repository";
    case "ended":
      return "Superseded, resolved and archived memories. They are not shown anywhere else, and you can restore them.";
    case "drift":
      return driftGroupText(name);
    case "primitive":
      return counted(count, "memory", "memories");
  }
}

function driftGroupText(drift: string): string {
  switch (drift) {
    case "fresh":
      return "The code they refer to has not changed since they were last checked";
    case "drifted":
      return "The code they refer to has changed since they were last checked";
    case "gone":
      return "The code they refer to was not found in this checkout";
    default:
      return "Not compared with the code yet";
  }
}

/** The status, drift and scope of a memory and what the person has called it, as far as they are unusual; "" for a fresh memory of the project. */
export function memoryMarks({ status, drift, scope, called }: Pick<TreeMemory, "status" | "drift" | "scope" | "called">): string {
  const marks = [
    ...(status === "active" || status === "" ? [] : [status]),
    ...(called === "" ? [] : [called]),
    ...(driftMark(drift) === "" ? [] : [driftMark(drift)]),
    ...(scope === "global" ? ["personal"] : []),
  ];
  return marks.join(" · ");
}

const memoryConfidenceHelp = "The confidence is at least 90 % once you have accepted a memory. It rises when you call it useful, and falls when you call it wrong or outdated.";

export function memoryTooltip(memory: TreeMemory): string {
  const driftText = memory.drift === "drifted" ? `Changed since it was last checked: ${memory.detail}` : memory.drift === "gone" ? `Not found: ${memory.detail}` : "";
  const ended = memory.status !== "active" && memory.detail !== "" ? `${memory.status === "resolved" ? "Resolved" : "Superseded"} by ${memory.detail}` : "";
  const facts = [kindOf(memory), `confidence ${Math.round(memory.confidence * 100)} %`, `created ${dateText(memory.created)}`, memoryMarks(memory)];
  const called = memory.called === "" ? "" : `You marked this as ${memory.called}`;
  return [plainText(memory.title), facts.filter((fact) => fact !== "").join(" · "), called, driftText, ended, memoryConfidenceHelp].filter((line) => line !== "").join("\n");
}

const actionTexts: Readonly<Record<string, string>> = {
  add: "new",
  same: "adds a quote to a memory",
  update: "changes a memory",
  supersede: "replaces a memory",
  resolve: "answers a question",
  close: "closes a question",
  merge: "merges memories",
  consolidate: "combines memories",
  archive: "archives a memory",
  refer: "changes a reference",
};

/** What a proposal would do, in a few words. */
export function proposedText(action: string): string {
  return actionTexts[action] ?? action;
}

export function proposalDescription(proposal: TreeProposal): string {
  return `${proposedText(proposal.action)}${proposal.scope === "global" ? " · personal" : ""}`;
}

/** What is wrong in a memory file, for a row that also has its name. */
export function problemLabel({ code, message }: Problem): string {
  if (code === "memory-conflict") return "Has a merge conflict";
  return code === "memory-twice" ? "Has the id of another file" : message;
}

/** Whether a problem can be merged: a file with git conflict markers, or two files with the same id. */
export function canMerge({ code }: Problem): boolean {
  return code === "memory-conflict" || code === "memory-twice";
}

const proposalSuffixes: Readonly<Record<string, string>> = {
  merge: "to merge",
  archive: "to archive",
  consolidate: "to combine",
  refer: "with a changed reference",
  close: "to close",
};

/** How much is wrong in the memories, in one sentence. */
export function checkText({ memories, errors, warnings, others }: MemoryCheckView): string {
  const checked = `${counted(memories, "memory", "memories")} checked`;
  if (errors + warnings + others === 0) return `${checked}: nothing is wrong.`;
  const found = ([[errors, "error"], [warnings, "warning"], [others, "note"]] as const).filter(([count]) => count > 0);
  return `${checked}: ${found.map(([count, name]) => counted(count, name)).join(", ")}.`;
}

/** What a maintenance job proposed and did, in one or two sentences. */
export function maintainReportText(report: MaintainReport): string {
  if (report.state === "busy" || report.state === "failed") return report.message || "Memories to merge or archive could not be looked for.";
  const actions = new Map<string, number>();
  for (const { action } of report.proposals) actions.set(action, (actions.get(action) ?? 0) + 1);
  const kinds = [...actions].map(([action, count]) => `${count} ${proposalSuffixes[action] ?? action}`).join(", ");
  const automaticActions = report.done.filter(({ action }) => action === "repaired" || action.startsWith("accepted-"));
  const parts = [
    report.proposals.length === 0 ? "nothing to merge or archive was found" : `${counted(report.proposals.length, "new candidate")} to review (${kinds})`,
    ...(automaticActions.length === 0 ? [] : [`${automaticActions.length} done automatically`]),
    ...(report.problems.length === 0 ? [] : [counted(report.problems.length, "problem")]),
  ];
  const text = parts.join(", ");
  return report.state === "cancelled" ? `Cancelled: ${text}.` : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
