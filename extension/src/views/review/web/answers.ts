// The possible answers about a candidate and a similar memory, and their texts; drawing is in neighbours.ts.
import type { CandidateView, NeighbourChoice, NeighbourAnswer, NeighbourView } from "../../../protocol";
import { kindOf, shorten } from "../../../text/wording";
import { spellOutHidden } from "../../shared/web/text";

export type Choice = Required<NeighbourChoice>;

/** Adds the candidate as a new memory beside all similar ones. */
export const keepBoth: Choice = { answer: "keep", memory: "", hash: "" };

/** The memories similar to a candidate: first the one with a suggested answer, then by similarity. */
export function rankedNeighbours({ neighbours, suggested }: CandidateView): readonly NeighbourView[] {
  const first = neighbours.filter(({ id }) => id === suggested?.memory);
  return [...first, ...neighbours.filter((one) => !first.includes(one))];
}

/** The similarity from which a memory probably says something about the same as a candidate; the sidecar accepts none of these without review. */
const nearSimilarity = 0.3;

/** Whether a memory stands above the candidate's quotes: it is near, or an answer about it is suggested. */
export function isNear({ suggested }: CandidateView, memory: NeighbourView): boolean {
  return memory.similarity >= nearSimilarity || memory.id === suggested?.memory;
}

/** The answers possible for a memory, besides keeping both. */
export function answersFor(candidate: CandidateView, memory: NeighbourView): readonly NeighbourAnswer[] {
  const isAnswered = memory.primitive === "question" && candidate.primitive !== "question";
  return isAnswered ? ["answers", "same", "replaces", "changes"] : ["same", "replaces", "changes"];
}

const answerWords: Readonly<Record<NeighbourAnswer, string>> = { same: "add the quote to", replaces: "replace", changes: "change", answers: "answer", keep: "keep both" };

/** "replace “Use pip”"; "" if nothing is suggested. */
export function suggestedAnswerText(candidate: CandidateView): string {
  const { suggested } = candidate;
  if (suggested === null) return "";
  const title = memoryTitle(candidate, suggested.memory);
  return suggested.answer === "keep" || title === "" ? answerWords[suggested.answer] : `${answerWords[suggested.answer]} “${title}”`;
}

/** Who suggests what, as a sentence without the reason. */
export function suggestionText(candidate: CandidateView): string {
  const who = candidate.suggested?.by === "model" ? "a model" : "the session's wording";
  return `Suggested by ${who}: ${suggestedAnswerText(candidate)}.`;
}

/** What accepting did, for the message after it; "" if the candidate is not related to another memory. */
export function acceptedText(candidate: CandidateView, choice: Choice | null): string {
  const effectiveChoice = choice ?? candidate.suggested;
  if (effectiveChoice === null) return "";
  const name = memoryTitle(candidate, effectiveChoice.memory);
  const memory = name === "" ? "a memory" : `“${name}”`; // one that is not among those shown
  const title = `“${spellOutHidden(candidate.title)}”`;
  switch (effectiveChoice.answer) {
    case "same":
      return `Added the quote to ${memory}`;
    case "replaces":
      return `Replaced ${memory} with ${title}`;
    case "changes":
      return `Changed ${memory}`;
    case "answers":
      return `Answered ${memory} with ${title}`;
    case "keep":
      return `Kept both: ${title} is a new memory`;
  }
}

/** "decision · 72 % similar". */
export function neighbourMeta(memory: NeighbourView): string {
  return `${spellOutHidden(kindOf(memory))} · ${Math.round(memory.similarity * 100)} % similar`;
}

const maxLines = 3;
const maxStartLength = 300;

/** The first lines of a memory's text. */
export function firstLines(body: string): string {
  const lines = body.split("\n").filter((line) => line.trim() !== "");
  const start = lines.slice(0, maxLines).join("\n");
  if (start.length > maxStartLength) return shorten(start, maxStartLength);
  return lines.length > maxLines ? `${start} …` : start;
}

function memoryTitle({ neighbours, targets }: CandidateView, memory: string): string {
  return spellOutHidden([...neighbours, ...targets].find(({ id }) => id === memory)?.title ?? "");
}
