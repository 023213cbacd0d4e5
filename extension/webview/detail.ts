import type { CandidateView, EvidenceView } from "../protocol";
import { kindOf } from "../wording";
import { diffRows } from "./diff";
import { button, type Child, h } from "./dom";
import { flagText, pieces, plain, signalText, speakerText } from "./text";

export interface DetailActions {
  readonly accept: () => void;
  readonly edit: () => void;
  readonly reject: () => void;
  readonly undo: () => void;
  readonly openTurn: (session: string, turn: string) => void;
  readonly openReference: (reference: string) => void;
}

/** One candidate in full: what would be kept, why, what it changes, and what to do with it. */
export function candidateDetail(candidate: CandidateView, actions: DetailActions, can: { act: boolean; undo: boolean }): HTMLElement {
  const article = h(
    "article",
    { class: "candidate", label: plain(candidate.title), attributes: { "data-id": candidate.id } },
    h("h2", { class: "candidate-title" }, ...prose(candidate.title)),
    chips(candidate),
    ...candidate.flags.map((flag) => h("p", { class: "flag", role: "note" }, `⚠ ${plain(flagText(flag))}`)),
    h(
      "div",
      { class: "actions", role: "toolbar", label: "Actions" },
      button("Accept", actions.accept, { class: "primary accept", disabled: !can.act, title: "Accept (a)" }),
      button("Edit", actions.edit, { class: "edit", disabled: !can.act, title: "Edit (e)" }),
      button("Reject", actions.reject, { class: "reject", disabled: !can.act, title: "Reject (r)" }),
      button("Undo", actions.undo, { class: "undo", disabled: !can.undo, title: "Undo the last action (u)" }),
    ),
    h("div", { class: "candidate-body", attributes: { dir: "auto" } }, ...prose(candidate.body)),
  );
  if (candidate.action === "update") article.append(...proposedChange(candidate));
  article.append(h("h3", {}, "Why"), h("p", { class: "signal" }, plain(signalText(candidate.signal))));
  article.append(h("ul", { class: "evidence" }, ...candidate.evidence.map((item) => evidence(item, candidate, actions))));
  if (candidate.references.length > 0) {
    const links = candidate.references.map((reference) =>
      h("li", {}, button(plain(reference), () => actions.openReference(reference), { class: "link reference", title: `Open ${plain(reference)}` })),
    );
    article.append(h("h3", {}, "References"), h("ul", { class: "references" }, ...links));
  }
  article.append(h("p", { class: "source" }, sourceText(candidate)));
  return article;
}

function chips(candidate: CandidateView): HTMLElement {
  const kind = kindOf(candidate);
  return h(
    "div",
    { class: "chips" },
    h("span", { class: "chip primitive" }, plain(candidate.primitive)),
    ...(kind === candidate.primitive ? [] : [h("span", { class: "chip kind" }, plain(kind))]),
    h("span", { class: "chip confidence", title: "Confidence" }, `${Math.round(candidate.confidence * 100)} %`),
    h("span", { class: "chip action" }, candidate.action === "update" ? "changes a memory" : "new memory"),
    ...(candidate.edited ? [h("span", { class: "chip edited" }, "edited by you")] : []),
    ...candidate.tags.map((tag) => h("span", { class: "chip tag" }, `#${plain(tag)}`)),
  );
}

function evidence(item: EvidenceView, candidate: CandidateView, actions: DetailActions): HTMLElement {
  return h(
    "li",
    { class: `quote from-${["user", "assistant", "tool", "web"].includes(item.who) ? item.who : "other"}` },
    h("span", { class: "who" }, `${speakerText(item.who)}:`),
    h("blockquote", { attributes: { dir: "auto" } }, ...shown(item.quote === "" ? "(this quote is kept on the machine it was said on)" : item.quote)),
    button("Open turn", () => actions.openTurn(candidate.session, item.turn), { class: "link open-turn", title: "Open turn (o)" }),
  );
}

function proposedChange(candidate: CandidateView): Child[] {
  const rows = diffRows(candidate.diff ?? "").map((row) =>
    h(
      "div",
      { class: `diff-row ${row.kind}` },
      h("span", { class: "sign", attributes: { "aria-hidden": "true" } }, row.sign),
      ...(row.kind === "added" ? [h("span", { class: "visually-hidden" }, "added: ")] : row.kind === "removed" ? [h("span", { class: "visually-hidden" }, "removed: ")] : []),
      ...shown(row.text),
    ),
  );
  const target = candidate.target === null ? "" : ` to ${plain(candidate.target)}`;
  return [
    h("h3", {}, `Proposed change${target}`),
    rows.length === 0 ? h("p", {}, "The difference is not known.") : h("div", { class: "diff", role: "group", label: "Proposed change", attributes: { tabindex: "0" } }, ...rows),
  ];
}

function sourceText(candidate: CandidateView): string {
  const time = new Date(candidate.time);
  const when = Number.isNaN(time.getTime()) ? plain(candidate.time) : time.toLocaleString();
  return `${plain(candidate.platform)} · session ${plain(candidate.session)} · ${when}`;
}

const codeSpan = /(?<!`)`([^`\s](?:[^`]{0,118}[^`\s])?)`(?!`)/;

/** Our own words: what stands between backticks is set as code. Quotes are shown to the letter instead. */
function prose(text: string): Child[] {
  return text.split(codeSpan).flatMap((part, at) => (at % 2 === 1 ? [h("code", {}, ...shown(part))] : shown(part)));
}

function shown(text: string): Child[] {
  return pieces(text).map((piece) => (piece.hidden ? h("span", { class: "hidden-character", title: "hidden character" }, piece.text) : piece.text));
}
