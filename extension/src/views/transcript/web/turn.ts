import type { CallView, SessionTurn } from "../../../protocol";
import { clockText, momentText } from "../../../text/sessionwording";
import { blocks } from "./blocks";
import { button, h } from "../../shared/web/dom";
import { prose, shown } from "../../shared/web/prose";

export interface TurnActions {
  readonly whole: () => void;
  /** Which of its calls are unfolded. */
  readonly isOpen: (call: number) => boolean;
  readonly opened: (call: number, open: boolean) => void;
}

export interface TurnPlace {
  readonly position: number;
  readonly count: number;
  readonly agent: string;
  /** When its session began: turns of the same day only show the time. */
  readonly began: string;
}

const speakers: Readonly<Record<string, string>> = { prompt: "You", shell: "You ran", command: "You" };

/** One turn in full: speaker, time, text, and folded tool calls. Every text becomes text nodes. */
export function turnArticle(turn: SessionTurn, place: TurnPlace, actions: TurnActions): HTMLElement {
  const who = turn.role === "user" ? (speakers[turn.kind] ?? "You") : place.agent;
  const head = `turn-head-${place.position}`;
  return h(
    "article",
    { class: `turn from-${turn.role}`, attributes: { ...articleAttributes(place), "aria-labelledby": head } },
    h("h2", { class: "turn-head", id: head }, h("span", { class: "who" }, who), h("span", { class: "when", title: momentText(turn.time) }, clockText(turn.time, place.began) || "at an unknown time")),
    ...blocks(turn.text).map((block) =>
      block.code || turn.kind === "shell" ? h("pre", { attributes: { tabindex: "0" } }, ...shown(block.text)) : h("div", { class: "words", attributes: { dir: "auto" } }, ...prose(block.text)),
    ),
    ...(turn.left > 0 ? [h("p", { class: "left" }, `… ${turn.left.toLocaleString("en-US")} more characters. `, button("Show all of it", actions.whole, { class: "link whole" }))] : []),
    ...turn.calls.map((call, at) => callDetails(call, at, actions)),
  );
}

/** The placeholder of a turn that is not loaded yet. */
export function waitingArticle(place: TurnPlace, height: number): HTMLElement {
  const article = h("article", { class: "turn waiting", label: "Loading", attributes: { ...articleAttributes(place), "aria-busy": "true" } });
  article.style.height = `${height}px`;
  return article;
}

function articleAttributes({ position, count }: TurnPlace): Record<string, string> {
  return { "data-position": String(position), "aria-posinset": String(position + 1), "aria-setsize": String(count), tabindex: "-1" };
}

const marks: Readonly<Record<string, string>> = { ok: "✓", error: "✗", denied: "⊘", interrupted: "◼", pending: "…" };

/** "exit code 2", "failed", "denied by you"; "" if there is nothing to show. */
export function callStatus({ status, exitCode }: CallView): string {
  switch (status) {
    case "error":
      return exitCode === null ? "failed" : `exit code ${exitCode}`;
    case "denied":
      return "denied by you";
    case "interrupted":
      return "interrupted";
    case "pending":
      return "no result recorded";
    case "ok":
    case "":
      return "";
  }
}

function callDetails(call: CallView, at: number, actions: TurnActions): HTMLElement {
  const status = callStatus(call);
  const line = [
    h("span", { class: "mark", attributes: { "aria-hidden": "true" } }, marks[call.status] ?? "•"),
    h("code", { class: "title" }, ...shown(call.title || "Output")),
    ...(status === "" ? [] : [h("span", { class: "status" }, status)]),
  ];
  if (call.text === "") return h("div", { class: `call status-${call.status || "unknown"}` }, ...line);
  const details = h("details", { class: `call status-${call.status || "unknown"}` }, h("summary", {}, ...line), h("pre", { attributes: { tabindex: "0" } }, ...shown(call.text)));
  details.open = actions.isOpen(at);
  details.addEventListener("toggle", () => actions.opened(at, details.open));
  return details;
}
