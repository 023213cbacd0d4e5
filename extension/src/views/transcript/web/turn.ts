import type { ShownCall, SessionTurn } from "../../../protocol";
import { clockText, momentText } from "../../../text/sessionwording";
import { button, h } from "../../shared/web/dom";
import { literalText } from "../../shared/web/prose";
import { spellOutHidden } from "../../shared/web/text";
import { codeBlock, markdownBlocks, type MarkdownActions } from "./markdown";

export interface TurnActions extends MarkdownActions {
  readonly showWhole: () => void;
  readonly copyWhole: () => void;
  /** Which of its calls are unfolded. */
  readonly isCallOpen: (call: number) => boolean;
  readonly onCallToggle: (call: number, open: boolean) => void;
  /** Shows what a call changed. */
  readonly openDiff: (call: number) => void;
  /** What a call printed; undefined if it was not loaded yet. */
  readonly output: (call: number) => CallOutput | undefined;
  /** Loads what a call printed, for `fillOutput`. */
  readonly loadOutput: (call: number) => void;
}

/** What a call printed, with `cut` characters left out in the middle; `failed` says why it is not known, "" if it is. */
export interface CallOutput {
  readonly text: string;
  readonly cut: number;
  readonly failed: string;
}

export interface TurnContext {
  readonly position: number;
  readonly count: number;
  readonly agent: string;
  /** Where the session ran; paths in it are shown without it. */
  readonly folder: string;
  /** When its session began: turns of the same day only show the time. */
  readonly sessionStart: string;
}

const speakerNames: Readonly<Record<string, string>> = { prompt: "You", shell: "You ran", command: "You" };

/** One turn in full: speaker, time, text, and folded tool calls. Every text becomes text nodes. */
export function turnArticle(turn: SessionTurn, context: TurnContext, actions: TurnActions): HTMLElement {
  const speaker = turn.role === "user" ? (speakerNames[turn.kind] ?? "You") : context.agent;
  const headId = `turn-head-${context.position}`;
  return h(
    "article",
    { class: `turn from-${turn.role}`, attributes: { ...articleAttributes(context), "aria-labelledby": headId } },
    h(
      "div",
      { class: "turn-head" },
      h("h2", { id: headId }, h("span", { class: "who" }, speaker), h("span", { class: "when", title: momentText(turn.time) }, clockText(turn.time, context.sessionStart) || "at an unknown time")),
      ...(turn.text === "" ? [] : [button("Copy", () => (turn.left > 0 ? actions.copyWhole() : actions.copy(turn.text)), { class: "link copy", label: "Copy this message" })]),
    ),
    ...messageBlocks(turn, actions),
    ...(turn.left > 0 ? [h("p", { class: "left" }, `… ${turn.left.toLocaleString("en-US")} more characters. `, button("Show all", actions.showWhole, { class: "link whole" }))] : []),
    ...turn.calls.map((call, at) => callDetails(call, at, context.folder, actions)),
  );
}

/** The text of a turn. */
function messageBlocks(turn: SessionTurn, actions: TurnActions): HTMLElement[] {
  if (turn.kind === "shell") return [codeBlock(turn.text, "bash", actions)];
  return [h("div", { class: "words markdown", attributes: { dir: "auto" } }, ...markdownBlocks(turn.text, actions, turn.role === "user"))];
}

/** The placeholder of a turn that is not loaded yet. */
export function placeholderArticle(context: TurnContext, height: number): HTMLElement {
  const article = h("article", { class: "turn waiting", label: "Loading", attributes: { ...articleAttributes(context), "aria-busy": "true" } });
  article.style.height = `${height}px`;
  return article;
}

function articleAttributes({ position, count }: TurnContext): Record<string, string> {
  return { "data-position": String(position), "aria-posinset": String(position + 1), "aria-setsize": String(count), tabindex: "-1" };
}

const statusMarks: Readonly<Record<string, string>> = { ok: "✓", error: "✗", denied: "⊘", interrupted: "◼", pending: "…" };

/** "exit code 2", "failed", "denied by you"; "" if there is nothing to show. */
export function callStatus({ status, exitCode }: ShownCall): string {
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

/** The title of a call, with paths relative to the session's folder. */
export function shortTitle(title: string, folder: string): string {
  const beginning = folder.replace(/[\\/]+$/, "");
  return beginning === "" ? title : title.replaceAll(` ${beginning}/`, " ").replaceAll(` ${beginning}\\`, " ").replace(` ${beginning} · `, " · "); // a search of the whole folder
}

function callDetails(call: ShownCall, at: number, folder: string, actions: TurnActions): HTMLElement {
  const status = callStatus(call);
  const summary = [
    h("span", { class: "mark", attributes: { "aria-hidden": "true" } }, statusMarks[call.status] ?? "•"),
    h("code", { class: "title", title: spellOutHidden(call.title) }, ...literalText(shortTitle(call.title, folder) || "Output")),
    ...(status === "" ? [] : [h("span", { class: "status" }, status)]),
  ];
  const diffButton = call.edits ? [button("Open Diff", () => actions.openDiff(at), { class: "link open-diff", label: `Open Diff: ${spellOutHidden(call.title)}`, title: "Show what was changed" })] : [];
  const hasResult = call.status !== "" && call.status !== "pending" && !call.edits; // of an edit, its difference says more
  if (call.text === "" && !hasResult) return h("div", { class: `call status-${call.status || "unknown"}` }, ...summary, ...diffButton);
  const text = call.text === "" ? [] : [h("pre", { attributes: { tabindex: "0" } }, ...literalText(call.text))];
  const output = h("div", { class: "output", attributes: { "data-call": String(at) } });
  const details = h("details", { class: `call status-${call.status || "unknown"}` }, h("summary", {}, ...summary), ...diffButton, ...text, ...(hasResult ? [output] : []));
  const showOutput = (): void => {
    if (!hasResult || output.hasChildNodes()) return;
    const known = actions.output(at);
    if (known === undefined) actions.loadOutput(at);
    fillOutput(output, known);
  };
  details.open = actions.isCallOpen(at);
  if (details.open) showOutput();
  details.addEventListener("toggle", () => {
    if (details.open) showOutput();
    else if (actions.output(at) === undefined) output.replaceChildren(); // what could not be read is read again
    actions.onCallToggle(at, details.open);
  });
  return details;
}

/** Shows a call's output in its place, or that it is being read while it is undefined. The beginning of an error, which is shown above until then, is removed. */
export function fillOutput(place: HTMLElement, output: CallOutput | undefined): void {
  if (output === undefined || output.failed !== "" || output.text === "") {
    place.replaceChildren(h("p", { class: "output-note" }, output === undefined ? "Reading the output…" : output.failed === "" ? "No output was recorded." : spellOutHidden(output.failed)));
    return;
  }
  const shown = place.previousElementSibling;
  if (shown instanceof HTMLPreElement) {
    const begins = shown.textContent.indexOf(output.text.slice(0, 40));
    if (begins > 0) shown.replaceChildren(...literalText(shown.textContent.slice(0, begins).trimEnd()));
    else if (begins === 0) shown.remove();
  }
  const note = output.cut > 0 ? [h("p", { class: "output-note" }, `${output.cut.toLocaleString("en-US")} characters in its middle were left out.`)] : [];
  place.replaceChildren(h("p", { class: "output-note" }, "Output:"), h("pre", { attributes: { tabindex: "0" } }, ...literalText(output.text)), ...note);
}
