import type { CandidateView, TargetView } from "../protocol";
import { difference } from "./difference";
import { button, type Child, h } from "./dom";
import { prose } from "./prose";
import { plain } from "./text";

type Open = (id: string) => void;

/** What accepting a candidate does to memories that are there: the difference, and what ends with what takes its place. */
export function proposedChanges(candidate: CandidateView, open: Open): Child[] {
  const [first] = candidate.targets;
  const ended = candidate.targets.filter(({ id }) => candidate.ends.includes(id));
  const kept = candidate.targets.filter(({ id }) => !candidate.ends.includes(id));
  const parts: Child[] = [];
  if (candidate.diff !== null && candidate.diff !== "") {
    const title = kept[0]?.title ?? first?.title ?? candidate.target ?? "";
    parts.push(h("h3", {}, `Proposed change${title === "" ? "" : " to "}`, ...prose(title)), difference(candidate.diff, "Proposed change"));
  }
  if (ended.length > 0) {
    parts.push(h("h3", { id: "ends" }, headings[candidate.action] ?? "Is put away"));
    const successor = candidate.action === "close" || candidate.action === "merge" ? (kept[0]?.title ?? candidate.title) : candidate.title;
    parts.push(h("ul", { class: "ends", attributes: { "aria-labelledby": "ends" } }, ...ended.map((target) => ending(target, candidate, successor, open))));
  }
  return parts;
}

const headings: Readonly<Record<string, string>> = {
  supersede: "Takes the place of",
  resolve: "Answers",
  close: "Answers",
  merge: "Is joined into it",
  consolidate: "Sums up",
};

/** A memory that would end: struck through with its successor, a question as resolved. */
function ending(target: TargetView, candidate: CandidateView, successor: string, open: Open): HTMLElement {
  const link = button("Open", () => open(target.id), { class: "link open-target", title: `Open ${plain(target.title)}` });
  if (candidate.action === "archive") return h("li", { class: "ending archived" }, h("span", { class: "ended-title" }, ...prose(target.title)), h("span", { class: "becomes" }, "→ archived; it can be restored"), link);
  const resolved = isQuestion(target) && candidate.primitive !== "question";
  if (resolved) {
    return h("li", { class: "ending resolved" }, h("span", { class: "mark", attributes: { "aria-hidden": "true" } }, "✓"), h("span", { class: "ended-title" }, ...prose(target.title)), h("span", { class: "becomes" }, "resolved by: ", ...prose(successor)), link);
  }
  return h("li", { class: "ending superseded" }, h("del", { class: "ended-title" }, ...prose(target.title)), h("span", { class: "becomes" }, h("span", { attributes: { "aria-hidden": "true" } }, "→ "), ...prose(successor)), link);
}

function isQuestion({ path }: TargetView): boolean {
  return /[\\/]questions[\\/][^\\/]+$/.test(path);
}
