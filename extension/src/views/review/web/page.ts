import { h } from "../../shared/web/dom";
import type { ListTools } from "./tools";

const keysText = "a accepts, e edits, r rejects, u undoes, o opens the transcript, 1 to 3 go to similar memories, space marks, question mark lists all keys.";

/** Builds the panel's page and returns the elements that change. */
export function buildPage(list: HTMLElement, tools: ListTools, lastAction: HTMLElement, lostDrafts: HTMLElement, dialogs: readonly HTMLElement[], openHelp: () => void) {
  const heading = h("h1", { class: "heading" }, "Lerim Review");
  const count = h("span", { class: "count" });
  const syncText = h("span", { class: "sync-text" });
  const restricted = h("p", { class: "restricted", role: "note" });
  const detail = h("section", { class: "detail", label: "Candidate", attributes: { tabindex: "-1" } });
  const foot = h("footer", { class: "foot" });
  const liveRegion = h("div", { class: "visually-hidden live", role: "status", attributes: { "aria-live": "polite" } });
  const notice = h("div", { class: "notice", role: "alert" });
  const listColumn = h("div", { class: "list-column" }, tools.above, list, tools.below);
  const columns = h("div", { class: "columns" }, listColumn, detail);
  document.getElementById("review")?.append(
    h("header", { class: "head" }, heading, count, syncText, h("button", { class: "button link help-button", label: "Keyboard help", title: "Keyboard (?)", onClick: openHelp, attributes: { type: "button" } }, "?")),
    restricted,
    lastAction,
    notice,
    lostDrafts,
    h("p", { class: "visually-hidden", id: "list-keys" }, keysText),
    columns,
    foot,
    liveRegion,
    ...dialogs,
  );
  return { heading, count, syncText, restricted, detail, foot, liveRegion, notice, listColumn, columns };
}
