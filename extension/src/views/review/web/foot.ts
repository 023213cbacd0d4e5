// The sections below the list: what was left out of the review, and what is not shown.
import type { LeftOutView } from "../../../protocol";
import { counted, kindOf, plainText } from "../../../text/wording";
import { button, h } from "../../shared/web/dom";
import { spellOutHidden, speakerText } from "../../shared/web/text";
import type { Model } from "./state";

/** How many more items "Show more" shows. */
export const leftOutPageSize = 100;

export interface LeftOutActions {
  readonly onToggle: (open: boolean) => void;
  readonly propose: (item: LeftOutView) => void;
  readonly showMore: () => void;
}

/** The collapsed section of items left out of the review, each with its reason and a button; undefined if there are none. */
export function leftOutSection(model: Model, open: boolean, actions: LeftOutActions): HTMLElement | undefined {
  const total = model.list?.leftOut ?? 0;
  if (total === 0 || model.restricted) return undefined;
  const items = model.leftOut ?? [];
  const moreButton = items.length < total && items.length > 0 ? [button(`Show more (${total - items.length})`, actions.showMore, { class: "more-left-out" })] : [];
  const section = h(
    "details",
    { class: "left-out" },
    h("summary", {}, `Left out (${total})`),
    h("p", { class: "left-out-help" }, "Found in your sessions and not proposed, for the reason below each. Propose anyway makes one a candidate like the others."),
    h("ul", { label: "Left out" }, ...items.map((item) => leftOutItem(item, model.pendingRequests.has(item.id), actions))),
    ...moreButton,
  );
  section.open = open;
  section.addEventListener("toggle", () => {
    if (section.isConnected) actions.onToggle(section.open);
  });
  return section;
}

function leftOutItem(item: LeftOutView, isRequested: boolean, actions: LeftOutActions): HTMLElement {
  const title = plainText(item.title);
  const kind = item.primitive === "" ? "" : `${kindOf(item)} · `;
  const why = item.detail === "" ? item.why : `${item.why}: ${item.detail}`;
  const scopeText = item.scope === "global" ? " · personal" : "";
  return h(
    "li",
    { class: "left-out-item", attributes: { "data-id": item.id } },
    h("div", { class: "left-out-title" }, title),
    h("div", { class: "left-out-why" }, `${kind}${spellOutHidden(why)}${scopeText}`),
    ...(item.quote === "" ? [] : [h("blockquote", { class: "left-out-quote" }, `${speakerText(item.who)}: “${plainText(item.quote)}”`)]),
    ...(item.canPropose ? [button("Propose anyway", () => actions.propose(item), { class: "propose", label: `Propose anyway: ${title}`, disabled: isRequested })] : []),
  );
}

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
