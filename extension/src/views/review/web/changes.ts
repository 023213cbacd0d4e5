import type { CandidateView, TargetView } from "../../../protocol";
import { difference } from "./difference";
import { button, type Child, h } from "../../shared/web/dom";
import { prose } from "../../shared/web/prose";
import { spellOutHidden } from "../../shared/web/text";

type OpenMemory = (id: string) => void;

/** What accepting a candidate does to existing memories: the diff, and the memories that end with their successors. */
export function proposedChanges(candidate: CandidateView, open: OpenMemory): Child[] {
  const [first] = candidate.targets;
  const ended = candidate.targets.filter(({ id }) => candidate.ends.includes(id));
  const remaining = candidate.targets.filter(({ id }) => !candidate.ends.includes(id));
  const parts: Child[] = [];
  if (candidate.diff !== null && candidate.diff !== "") {
    const title = remaining[0]?.title ?? first?.title ?? candidate.target ?? "";
    parts.push(h("h3", {}, `Proposed change${title === "" ? "" : " to "}`, ...prose(title)), difference(candidate.diff, "Proposed change"));
  }
  if (ended.length > 0) {
    parts.push(h("h3", { id: "ends" }, endedHeadings[candidate.action] ?? "Archives"));
    const successor = candidate.action === "close" ? (remaining[0]?.title ?? candidate.title) : candidate.title;
    parts.push(h("ul", { class: "ends", attributes: { "aria-labelledby": "ends" } }, ...ended.map((target) => endedItem(target, candidate, successor, open))));
  }
  return parts;
}

const endedHeadings: Readonly<Record<string, string>> = {
  supersede: "Replaces",
  resolve: "Answers",
  close: "Answers",
  merge: "Merges",
  consolidate: "Combines",
};

/** A memory that would end: struck through with its successor, or for a question, shown as resolved. */
function endedItem(target: TargetView, candidate: CandidateView, successor: string, open: OpenMemory): HTMLElement {
  const resolved = candidate.action !== "archive" && isQuestion(target) && candidate.primitive !== "question";
  const kind = candidate.action === "archive" ? "archived" : resolved ? "resolved" : "superseded";
  const mark = h("span", { class: "mark", attributes: { "aria-hidden": "true" } }, resolved ? "✓ " : "→ ");
  const title = h(kind === "superseded" ? "del" : "span", { class: "ended-title" }, ...prose(target.title));
  const outcome = h("div", { class: "becomes" }, ...(resolved ? ["resolved by: ", ...prose(successor)] : kind === "archived" ? [mark, "archived; it can be restored"] : [mark, ...prose(successor)]));
  return h(
    "li",
    { class: `ending ${kind}` },
    h("div", { class: "ending-text" }, h("div", {}, ...(resolved ? [mark] : []), title), outcome),
    button("Open", () => open(target.id), { class: "link open-target", title: `Open ${spellOutHidden(target.title)}` }),
  );
}

function isQuestion({ path }: TargetView): boolean {
  return /[\\/]questions[\\/][^\\/]+$/.test(path);
}
