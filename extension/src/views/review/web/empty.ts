import { counted, fileName, hoverPlaceText, plainText, shorten } from "../../../text/wording";
import { button, h } from "../../shared/web/dom";

export interface PanelState {
  readonly loading: boolean;
  /** The list could not be loaded; the notice says why. */
  readonly failed: boolean;
  readonly syncing: boolean;
  readonly restricted: boolean;
  /** What undo would revert; "" for nothing. */
  readonly undoText: string;
  /** How many candidates wait that the list does not show, because of the filter or, without one, their age. */
  readonly hidden: number;
  readonly filter: string;
  /** The first place that the memory accepted last is about; "" for none. */
  readonly accepted: string;
}

/** The text and buttons of the panel if there is no candidate to show. */
export function emptyState(state: PanelState, actions: { sync: () => void; undo: () => void; trust: () => void; showHidden: () => void; open: (reference: string) => void }): HTMLElement {
  const undo = state.undoText === "" ? [] : [button(`Undo “${shorten(plainText(state.undoText))}”`, actions.undo, { class: "undo", title: `Undo “${state.undoText}” (u)` })];
  if (state.restricted) {
    return messageBox("Candidates are not shown in Restricted Mode.", "Trust this workspace to sync its sessions and review candidates.", button("Manage Workspace Trust", actions.trust, { class: "primary" }));
  }
  if (state.hidden > 0) {
    const waiting = `${counted(state.hidden, "candidate")} ${state.hidden === 1 ? "waits" : "wait"} for your review.`;
    const [title, action] = state.filter === "" ? ["All candidates are older than 30 days.", "Show Older"] : ["No candidate matches the filter.", "Clear Filter"];
    return messageBox(title, waiting, button(action, actions.showHidden, { class: "primary show-hidden" }), ...undo);
  }
  if (state.syncing) return messageBox("Reading sessions…", "Candidates appear here as they are found.", ...undo);
  if (state.failed) return messageBox("The candidates could not be listed.", "");
  if (state.loading) return messageBox("Loading candidates…", "");
  const title = "There are no candidates to review.";
  if (state.accepted !== "") return messageBox(title, `${hoverPlaceText(state.accepted, "what you accepted")} It is a file in .lerim/memory: commit it, or run Lerim: Give Memories to Agents.`, button(`Open ${fileName(state.accepted)}`, () => actions.open(state.accepted), { class: "primary open-accepted" }), button("Sync", actions.sync, { class: "sync" }), ...undo);
  return messageBox(title, "A sync reads the new sessions of your coding agents and proposes the decisions and learnings it finds in them.", button("Sync", actions.sync, { class: undo.length === 0 ? "primary sync" : "sync" }), ...undo);
}

function messageBox(title: string, text: string, ...buttons: HTMLElement[]): HTMLElement {
  return h("div", { class: "empty-state" }, h("h2", {}, title), h("p", {}, text), h("div", { class: "actions", role: "group", label: "Actions" }, ...buttons));
}
