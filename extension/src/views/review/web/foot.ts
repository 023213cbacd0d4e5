import type { Model } from "./state";
import { counted } from "../../../text/wording";
import { h } from "../../shared/web/dom";
import { spellOutHidden } from "../../shared/web/text";

/** The collapsed section of blocked candidates and unreadable files, with reasons; undefined if there are none. */
export function footSection(model: Model, open: boolean, onToggle: (open: boolean) => void): HTMLElement | undefined {
  const { list } = model;
  if (list === undefined) return undefined;
  if (list.blocked === 0 && list.problems.length === 0) return undefined;
  const parts = [
    ...(list.blocked > 0 ? [`${list.blocked} rejected before`] : []),
    ...(list.problems.length > 0 ? [counted(list.problems.length, "problem")] : []),
  ];
  const section = h(
    "details",
    { class: "dropped" },
    h("summary", {}, `Not shown: ${parts.join(", ")}`),
    h(
      "ul",
      {},
      ...(list.blocked > 0 ? [h("li", { class: "blocked" }, `Candidates that you had rejected were found again ${counted(list.blocked, "time")}.`)] : []),
      ...list.problems.map((problem) => h("li", { class: "problem" }, `${spellOutHidden(problem.path)}: ${spellOutHidden(problem.message)}`)),
    ),
  );
  section.open = open;
  section.addEventListener("toggle", () => onToggle(section.open));
  return section;
}
