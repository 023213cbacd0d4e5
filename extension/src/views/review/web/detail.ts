import type { CandidateView, Evidence, ReferenceProblem } from "../../../protocol";
import { confidenceHelp, kindHelp, kindOf, withoutBold } from "../../../text/wording";
import { proposedText } from "../../../text/memorywording";
import { momentText } from "../../../text/sessionwording";
import { suggestedAnswerText } from "./answers";
import { proposedChanges } from "./changes";
import { button, h } from "../../shared/web/dom";
import { type NeighbourActions, similarMemories, suggestionNote } from "./neighbours";
import { prose, literalText } from "../../shared/web/prose";
import { isEditable } from "./state";
import { flagText, spellOutHidden, signalText, speakerText } from "../../shared/web/text";

export interface DetailActions extends Pick<NeighbourActions, "answer" | "choose"> {
  readonly accept: () => void;
  readonly edit: () => void;
  readonly reject: () => void;
  readonly undo: () => void;
  readonly openTurn: (session: string, turn: string) => void;
  readonly openReference: (reference: string) => void;
  readonly openTarget: (id: string) => void;
  readonly useReference: (reference: string, place: string) => void;
}

/** One candidate in full: its text, reason, changes and buttons. `chosen` is the neighbour that keys act on. */
export function candidateDetail(candidate: CandidateView, chosen: string, actions: DetailActions, problems: readonly ReferenceProblem[], allowed: { act: boolean; undoText: string }): HTMLElement {
  const flags = candidate.flags.map((flag, at) => h("p", { class: "flag", role: "note", id: `flag-${at}` }, `⚠ ${spellOutHidden(flagText(flag))}`));
  const suggestedText = suggestedAnswerText(candidate);
  const descriptionIds = [...flags.map(({ id }) => id), ...(suggestedText === "" ? [] : ["suggestion"])];
  const describedBy = descriptionIds.length === 0 ? {} : { attributes: { "aria-describedby": descriptionIds.join(" ") } };
  const article = h(
    "article",
    { class: "candidate", label: spellOutHidden(candidate.title), attributes: { "data-id": candidate.id } },
    h("h2", { class: "candidate-title" }, ...prose(withoutBold(candidate.title))),
    propertyChips(candidate),
    ...flags,
    ...suggestionNote(candidate),
    h(
      "div",
      { class: "actions", role: "group", label: "Actions" },
      button("Accept", actions.accept, { class: "primary accept", disabled: !allowed.act, title: suggestedText === "" ? "Accept (a)" : `Accept: ${suggestedText} (a)`, ...describedBy }),
      button("Edit", actions.edit, { class: "edit", disabled: !allowed.act || !isEditable(candidate), title: "Edit (e)" }),
      button("Reject", actions.reject, { class: "reject", disabled: !allowed.act, title: "Reject (r)" }),
      button("Undo", actions.undo, { class: "undo", disabled: allowed.undoText === "", title: allowed.undoText === "" ? "There is nothing to undo" : `Undo “${allowed.undoText}” (u)` }),
    ),
    ...(candidate.text === "" ? [] : [h("div", { class: "candidate-body", attributes: { dir: "auto" } }, ...prose(withoutBold(candidate.text)))]),
  );
  article.append(...proposedChanges(candidate, actions.openTarget));
  const similar = similarMemories(candidate, chosen, allowed.act, { answer: actions.answer, choose: actions.choose, open: actions.openTarget });
  article.append(...similar.near);
  article.append(h("h3", { id: "why" }, "Why"));
  if (candidate.reason !== "" && candidate.suggested === null) article.append(h("p", { class: "reason" }, ...prose(candidate.reason)));
  if (candidate.signal !== "") article.append(h("p", { class: "signal" }, spellOutHidden(signalText(candidate.signal))));
  article.append(...evidenceList(candidate, actions));
  if (candidate.references.length > 0) {
    const links = candidate.references.map((reference) => referenceItem(reference, problems.find((problem) => problem.reference === reference), actions, allowed.act));
    article.append(h("h3", { id: "references" }, "References"), h("ul", { class: "references", attributes: { "aria-labelledby": "references" } }, ...links));
  }
  article.append(...similar.others, h("p", { class: "source" }, sourceText(candidate)));
  return article;
}

function propertyChips(candidate: CandidateView): HTMLElement {
  const kind = kindOf(candidate);
  return h(
    "div",
    { class: "chips", role: "group", label: "Properties" },
    h("span", { class: "chip kind", title: kindHelp(kind) }, spellOutHidden(kind)),
    h("span", { class: "chip confidence", title: confidenceHelp }, `confidence ${Math.round(candidate.confidence * 100)} %`),
    ...(candidate.action === "add" ? [] : [h("span", { class: "chip action" }, proposedText(candidate.action))]),
    ...(candidate.scope === "global" ? [h("span", { class: "chip scope", title: "A personal memory is not tied to a repository: it can be found from all of your repositories" }, "personal")] : []),
    ...(candidate.edited ? [h("span", { class: "chip edited" }, "edited by you")] : []),
    ...candidate.tags.map((tag) => h("span", { class: "chip tag" }, `#${spellOutHidden(tag)}`)),
  );
}

/** A reference; if it is not found or ambiguous, with the places it may mean. */
function referenceItem(reference: string, problem: ReferenceProblem | undefined, actions: DetailActions, enabled: boolean): HTMLElement {
  const link = button(spellOutHidden(reference), () => actions.openReference(reference), { class: "link reference", title: `Open ${spellOutHidden(reference)}` });
  if (problem === undefined) return h("li", {}, link);
  const text = problem.state === "ambiguous" ? "found more than once" : "not found";
  const places = problem.likely.map((place) =>
    button(`Use ${spellOutHidden(place)}`, () => actions.useReference(reference, place), { class: "use-reference", disabled: !enabled, title: `Refer to ${spellOutHidden(place)} instead` }),
  );
  return h("li", { class: "reference-problem" }, link, h("span", { class: "reference-state", role: "note" }, ` ⚠ ${text}. You can accept this now and correct it later. `), ...places);
}

/** The quotes of a candidate, below a heading with the id "why"; none if it has no quote. */
export function evidenceList(candidate: CandidateView, actions: Pick<DetailActions, "openTurn">): HTMLElement[] {
  if (candidate.evidence.length === 0) return [];
  return [h("ul", { class: "evidence", attributes: { "aria-labelledby": "why" } }, ...candidate.evidence.map((item) => evidenceItem(item, candidate, actions)))];
}

/** Who said a quote; of the agent's words that a person replied to, that they did. */
export function evidenceHeading({ who }: Pick<Evidence, "who">, { evidence, body }: Pick<CandidateView, "evidence" | "body">): string {
  const isRepliedTo = who === "assistant" && evidence[0]?.who === "user" && body.includes("In reply to: “");
  return isRepliedTo ? "In reply to the agent:" : `${speakerText(who)}:`;
}

function evidenceItem(item: Evidence, candidate: CandidateView, actions: Pick<DetailActions, "openTurn">): HTMLElement {
  return h(
    "li",
    { class: `quote from-${["user", "assistant", "tool", "web"].includes(item.who) ? item.who : "other"}` },
    h("span", { class: "who" }, evidenceHeading(item, candidate)),
    h("blockquote", { attributes: { dir: "auto" } }, ...literalText(item.quote === "" ? "(this quote is stored only on the machine where the session took place)" : item.quote)),
    ...(candidate.session === "" ? [] : [button("Open transcript", () => actions.openTurn(candidate.session, item.turn), { class: "link open-turn", title: "Open transcript (o)" })]),
  );
}

function sourceText(candidate: CandidateView): string {
  const when = momentText(candidate.time) || spellOutHidden(candidate.time);
  if (candidate.session === "") return `Proposed by ${makerText(candidate.maker)} · ${when}`;
  return `${spellOutHidden(candidate.agent)} · ${when}`;
}

function makerText(maker: CandidateView["maker"]): string {
  if (maker === "agent") return "a coding agent";
  if (maker === "file") return "a file";
  return maker === "maintain" ? "Lerim: Find Memories to Merge or Archive" : "Lerim";
}
