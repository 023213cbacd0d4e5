import { h } from "../../shared/web/dom";
import { spellOutHidden } from "../../shared/web/text";
import { counted } from "../../../text/wording";
import { candidateOrder, type Model, pendingIds } from "./state";
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
  /** Shows what is reviewed, how much of it is waiting and in the list, and what a running sync does. */
  const showHead = (model: Model): void => {
    const [waiting, listed] = [pendingIds(model).length, candidateOrder(model).length];
    heading.textContent = model.name === "" ? "Lerim Review" : `Lerim Review: ${spellOutHidden(model.name)}`;
    count.textContent = model.list === undefined ? "" : `${counted(waiting, "candidate")}${listed === waiting ? "" : `, ${listed} shown`}`;
    syncText.textContent = model.sync.running ? `Syncing: ${model.sync.text}` : "";
    restricted.hidden = !model.restricted;
    restricted.textContent = model.restricted ? "Restricted Mode: The memories in this folder come from the repository. Nothing is synced, written or sent until you trust this workspace." : "";
  };
  return { showHead, detail, foot, liveRegion, notice, listColumn, columns };
}
