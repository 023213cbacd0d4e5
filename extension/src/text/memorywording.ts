// What the Memories view and messages say of memories and of what is proposed.
import type { MaintainReport, Problem, TreeGroup, TreeMemory, TreeProposal } from "../protocol";
import { dateText } from "./sessionwording";
import { counted, kindOf } from "./wording";

const primitives: Readonly<Record<string, string>> = { decision: "Decisions", learning: "Learnings", question: "Questions", theme: "Themes", summary: "Summaries" };
const standings: Readonly<Record<string, string>> = { fresh: "Fresh", drifted: "Drifted", gone: "Gone", unknown: "Not checked" };

/** A group's row; of a file its name, the folder stands behind it. */
export function groupLabel({ kind, name }: TreeGroup): string {
  switch (kind) {
    case "waiting":
      return "Waiting for review";
    case "problems":
      return "Problems";
    case "primitive":
      return primitives[name] ?? name;
    case "standing":
      return standings[name] ?? name;
    case "file":
      return name.slice(name.lastIndexOf("/") + 1);
    case "loose":
      return "No file";
    case "ended":
      return "Inactive";
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
      return "Memory files that could not be read";
    case "file":
      return name;
    case "loose":
      return "Memories that do not refer to a file in this repository";
    case "ended":
      return "Superseded, resolved and archived memories. They are not shown anywhere else, and you can restore them.";
    case "standing":
      return standingText(name);
    case "primitive":
      return counted(count, "memory", "memories");
  }
}

function standingText(standing: string): string {
  switch (standing) {
    case "fresh":
      return "The code they refer to has not changed since they were last checked";
    case "drifted":
      return "The code they refer to has changed since they were last checked";
    case "gone":
      return "The code they refer to no longer exists";
    default:
      return "Not compared with the code yet";
  }
}

/** Why a memory is not quite as the others: "" for one that is fresh and the project's own. */
export function markOf({ status, standing, scope }: Pick<TreeMemory, "status" | "standing" | "scope">): string {
  const marks = [
    ...(status === "active" || status === "" ? [] : [status]),
    ...(standing === "drifted" || standing === "gone" ? [standing] : []),
    ...(scope === "global" ? ["global"] : []),
  ];
  return marks.join(" · ");
}

export function memoryTooltip(memory: TreeMemory): string {
  const told = memory.standing === "drifted" ? `Changed since it was last checked: ${memory.detail}` : memory.standing === "gone" ? `No longer exists: ${memory.detail}` : "";
  const ended = memory.status !== "active" && memory.detail !== "" ? `${memory.status === "resolved" ? "Resolved" : "Superseded"} by ${memory.detail}` : "";
  const facts = [kindOf(memory), `confidence ${Math.round(memory.confidence * 100)} %`, `since ${dateText(memory.created)}`, markOf(memory)];
  return [memory.title, facts.filter((fact) => fact !== "").join(" · "), told, ended].filter((line) => line !== "").join("\n");
}

const proposed: Readonly<Record<string, string>> = {
  add: "new",
  same: "adds a quote to a memory",
  update: "changes a memory",
  supersede: "replaces a memory",
  resolve: "answers a question",
  close: "closes a question",
  merge: "merges memories",
  consolidate: "summarizes memories",
  archive: "archives a memory",
  refer: "changes a reference",
};

/** What a proposal would do, in a few words. */
export function proposedText(action: string): string {
  return proposed[action] ?? action;
}

export function proposalDescription(proposal: TreeProposal): string {
  return `${proposedText(proposal.action)}${proposal.scope === "global" ? " · global" : ""}`;
}

/** Whether a problem is a file in which git left both sides of a conflict, or of one id twice: both can be joined. */
export function canMerge({ code }: Problem): boolean {
  return code === "memory-conflict" || code === "memory-twice";
}

const toDo: Readonly<Record<string, string>> = {
  merge: "to merge",
  archive: "to archive",
  consolidate: "to summarize",
  refer: "with a changed reference",
  close: "to close",
};

/** What a maintenance proposed and did, in one or two sentences. */
export function maintainedText(report: MaintainReport): string {
  if (report.state === "busy" || report.state === "failed") return report.message || "The memories could not be maintained.";
  const actions = new Map<string, number>();
  for (const { action } of report.proposals) actions.set(action, (actions.get(action) ?? 0) + 1);
  const kinds = [...actions].map(([action, count]) => `${count} ${toDo[action] ?? action}`).join(", ");
  const atOnce = report.done.filter(({ action }) => action === "repaired" || action.startsWith("accepted-"));
  const parts = [
    report.proposals.length === 0 ? "nothing to propose" : `${counted(report.proposals.length, "new candidate")} (${kinds})`,
    ...(atOnce.length === 0 ? [] : [`${atOnce.length} done automatically`]),
    ...(report.problems.length === 0 ? [] : [counted(report.problems.length, "problem")]),
  ];
  const lead = report.state === "cancelled" ? "Maintain cancelled: " : "Maintain: ";
  return `${lead}${parts.join(", ")}.`;
}
