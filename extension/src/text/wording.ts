// Texts of the status bar, notifications and lists.
import type { CandidateView, MemoryKind, MemoryView, ReferenceProblem, Stage, SyncProgressParams, SyncReport, TitleView } from "../protocol";
import { spellOutHidden } from "./hidden";

export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** Whether this stage is a sync's last. */
export function hasEnded(stage: Stage): boolean {
  return stage === "done" || stage === "failed" || stage === "cancelled";
}

const partNames: Readonly<Partial<Record<Stage, string>>> = { looking: "Looking for sessions", reading: "Reading", learning: "Finding candidates" };

/** "Reading (3 of 12 sessions, 2 candidates)". Each part of a sync counts from 0, so that the part is named; a message names it more precisely than the stage. */
export function progressText({ stage, message, sessionsDone, sessionsTotal, candidates }: SyncProgressParams): string {
  const part = message === "" ? (partNames[stage] ?? "Syncing") : `${message.charAt(0).toUpperCase()}${message.slice(1)}`;
  const counts = [...(sessionsTotal > 0 ? [`${sessionsDone} of ${counted(sessionsTotal, "session")}`] : []), ...(candidates > 0 ? [counted(candidates, "candidate")] : [])];
  return counts.length === 0 ? part : `${part} (${counts.join(", ")})`;
}

/** A finished sync: what was read and found, then in a sentence each what else happened. */
export function syncReportText(report: SyncReport): string {
  if (report.state === "busy") return report.message || "Another process is syncing this repository.";
  if (report.state === "failed") return `Sync failed. ${report.message}`.trim();
  const { sessions } = report;
  const read = sessions.new + sessions.changed;
  const dropped = Object.values(report.dropped).reduce((sum, count) => sum + count, 0);
  const isNothingNew = read === 0 && report.candidates.length === 0;
  const noneFound = sessions.found === 0 && report.state !== "cancelled";
  const parts = noneFound && report.candidates.length === 0 ? [] : isNothingNew ? ["Nothing new was said in your sessions"] : [`${counted(read, "session")} read, ${counted(report.candidates.length, "new candidate")} to review`];
  const were = (count: number): string => (count === 1 ? "was" : "were");
  const others = [
    ...(report.accepted.length > 0 ? [`${report.accepted.length} ${were(report.accepted.length)} accepted without review`] : []),
    ...(report.withdrawn.length > 0 ? [`${counted(report.withdrawn.length, "earlier candidate")} ${were(report.withdrawn.length)} withdrawn`] : []),
    ...(dropped > 0 && report.candidates.length === 0 ? [`The review lists ${counted(dropped, "finding")} under “Left out”, with the reason`] : []),
    ...(report.problems.length > 0 ? [`${counted(report.problems.length, "problem")} ${were(report.problems.length)} written to the log`] : []),
  ];
  const counts = [...(parts.length === 0 ? [] : [parts.join(", ")]), ...others].map((sentence) => `${sentence}.`).join(" ");
  if (noneFound) return `No sessions were found for this repository. ${counts}`.trim();
  if (report.state === "cancelled") return `Sync cancelled: ${counts}`;
  return report.settling > 0 ? `${counts} ${settlingText(report.settling)}` : counts;
}

/** What Lerim waits for in sessions that are still being written. */
export function settlingText(sessions: number): string {
  const whose = sessions === 1 ? "The last exchange of 1 session is not over yet. Lerim reads it" : `The last exchanges of ${sessions} sessions are not over yet. Lerim reads them`;
  return `${whose} by itself when nothing has been written for 90 seconds.`;
}

export function pendingText(pending: number): string {
  return pending === 0 ? "No candidates to review" : `${counted(pending, "candidate")} to review`;
}

/** What is wrong with a candidate's references, and that the review shows the places they may mean. */
export function referenceProblemsText(problems: readonly ReferenceProblem[]): string {
  const [first] = problems;
  const where = problems.some(({ likely }) => likely.length > 0) ? ` The review shows where ${problems.length === 1 ? "it" : "they"} may be.` : "";
  const ambiguous = problems.some(({ state }) => state === "ambiguous") ? " or are ambiguous" : "";
  if (first === undefined || problems.length > 1) return `${problems.length} references were not found${ambiguous}.${where}`;
  return `${spellOutHidden(first.reference)} was ${first.state === "ambiguous" ? "found more than once" : "not found"}.${where}`;
}

/** What the figure of a candidate means, as a tooltip. */
export const confidenceHelp = "How likely this is to be worth keeping, judged by who said it, how often, and what came of it. Accepting it yourself raises the confidence to at least 90 %.";

/** Where the memory of an accepted candidate shows. `reference` is the first place it is about, "" for none; the result is "" if no memory was made of the candidate. */
export function acceptedText({ action }: Pick<CandidateView, "action">, reference: string): string {
  if (action !== "add" && action !== "supersede" && action !== "resolve") return "";
  return reference === "" ? "It refers to no file, so no hover shows it; you can find it by searching and in the Memories view. For a hover, accept a candidate that names a file." : hoverPlaceText(reference);
}

/** Where to hover in order to see the memories about a place. */
export function hoverPlaceText(reference: string, what = "it"): string {
  const [, symbol] = reference.split("#");
  return `Hover over ${symbol === undefined ? "line 1" : spellOutHidden(symbol)} ${symbol === undefined ? "of" : "in"} ${fileName(reference)} to see ${what}.`;
}

/** "save in app.py" or "app.py": what a reference is about. */
export function placeText(reference: string): string {
  const [, symbol] = reference.split("#");
  return symbol === undefined ? fileName(reference) : `${spellOutHidden(symbol)} in ${fileName(reference)}`;
}

/** The name of the file that a reference is about. */
export function fileName(reference: string): string {
  const [path = ""] = reference.split("#");
  return spellOutHidden(path.slice(path.lastIndexOf("/") + 1));
}

/** A text of at most so many characters, cut after a word unless that would leave out much. */
export function shorten(text: string, most = 60): string {
  if (text.length <= most) return text;
  const start = beginning(text, most - 1);
  const words = /\s/.test(text.charAt(start.length)) ? start : start.replace(/\s+\S*$/, "");
  return `${(words.length > most / 2 ? words : start).trimEnd()}…`;
}

/** The first characters of a text, at most so many; one that has several code units, such as an emoji, is there as a whole or not at all. */
export function beginning(text: string, most: number): string {
  return text.slice(0, new Intl.Segmenter().segment(text).containing(most)?.index ?? most);
}

const kindHelps: Readonly<Record<string, string>> = {
  decision: "What was chosen. It holds until another decision replaces it.",
  learning: "Something to know next time.",
  insight: "How something works.",
  procedure: "How something is done, step by step.",
  friction: "What went wrong more than once.",
  pitfall: "What to avoid.",
  preference: "How you want things to be done.",
  question: "What is not decided yet.",
  theme: "An area that several sessions worked on.",
};

/** The kinds that a person can choose from. */
export const memoryKinds: readonly MemoryKind[] = ["decision", "insight", "procedure", "pitfall", "friction", "preference", "question"];

/** What a kind or primitive means, as a tooltip; "" for an unknown one. */
export function kindHelp(kind: string): string {
  return kindHelps[kind] ?? "";
}

/** A text without markdown's marks of code and bold and with hidden characters spelled out, for a place that shows text as it is. */
export function plainText(text: string): string {
  return spellOutHidden(withoutBold(text.replaceAll(/`{3,}/g, "")).replaceAll(/`([^`\n]+)`/g, "$1"));
}

/** The plain text for a row of VS Code's lists, which would render `$(name)` as an icon. */
export function rowText(text: string): string {
  return withoutIcons(plainText(text));
}

/** Escapes `$(name)`. */
export function withoutIcons(text: string): string {
  return text.replaceAll("$(", "\\$(");
}

/** A text without markdown's marks of bold; in code, `**` is no mark. */
export function withoutBold(text: string): string {
  return text.replaceAll(/(`[^`\n]+`)|\*\*(?=\S)((?:`[^`\n]+`|[^*`\n])+)(?<=\S)\*\*/g, (_found, code?: string, bold?: string) => code ?? bold ?? "");
}

/** The kind of a learning, else the primitive. */
export function kindOf(memory: { primitive: string; kind: string | null }): string {
  return memory.kind ?? memory.primitive;
}

/** What is unusual about the code that a memory refers to, in a word or two; "" if nothing is. */
export function driftMark(drift: string): string {
  return drift === "gone" ? "not found" : drift === "drifted" ? drift : "";
}

export function memoryDetail(memory: MemoryView): string {
  const where = memory.scope === "global" ? " · personal" : "";
  const status = memory.status === "" || memory.status === "active" ? "" : ` · ${memory.status}`;
  const drift = memory.drift === "" ? "" : ` · ${driftMark(memory.drift)}`;
  const text = shorten(plainText(withoutTitle(firstLine(memory.body), memory.title)), 120);
  return `${kindOf(memory)} · confidence ${Math.round(memory.confidence * 100)} %${where}${status}${drift}${text === "" ? "" : ` · ${text}`}`;
}

/** The detail of a memory in the list of all memories, for which no body is read. */
export function titleDetail(memory: TitleView): string {
  const where = memory.scope === "global" ? " · personal" : "";
  return [`${kindOf(memory)} · confidence ${Math.round(memory.confidence * 100)} %${where}`, ...memory.references].join(" · ");
}

/** What a text says beyond the title that it begins with. */
function withoutTitle(text: string, title: string): string {
  const [plain, start] = [text, title].map((one) => one.replaceAll("`", "").replaceAll(/\s+/g, " ").replace(/[.…]+$/, "").trim());
  if (plain === undefined || start === undefined || !plain.toLowerCase().startsWith(start.toLowerCase())) return text;
  const rest = plain.slice(start.length);
  return /^[\p{L}\p{N}_]/u.test(rest) ? text : rest.replace(/^[\s,.:;–—]+/, "");
}

function firstLine(text: string): string {
  return text.split("\n").find((candidate) => candidate.trim() !== "")?.trim() ?? "";
}

const icons: Readonly<Record<string, string>> = {
  decision: "$(law)",
  pitfall: "$(warning)",
  friction: "$(flame)",
  procedure: "$(list-ordered)",
  preference: "$(heart)",
  insight: "$(lightbulb)",
  learning: "$(lightbulb)",
  question: "$(question)",
  theme: "$(tag)",
  summary: "$(note)",
};

export function iconOf(memory: { primitive: string; kind: string | null }): string {
  return icons[kindOf(memory)] ?? "$(note)";
}

const letter = String.raw`(?![\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}])[\p{L}\p{M}\p{N}_]`;
const lettersBefore = new RegExp(`(?:${letter})+$`, "u");
const lettersAfter = new RegExp(`^(?:${letter})+`, "u");

/** The selected words with the rest of the first and the last one, given the text before and after them. A script without spaces has no such rest. */
export function wholeWords(before: string, words: string, after: string): string {
  const start = lettersAfter.test(words) ? (lettersBefore.exec(before)?.[0] ?? "") : "";
  const end = lettersBefore.test(words) ? (lettersAfter.exec(after)?.[0] ?? "") : "";
  return `${start}${words}${end}`;
}
