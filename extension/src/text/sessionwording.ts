// Texts of the lists of sessions, agents and jobs. Plain text only, since titles come from transcripts.
import type { AgentView, HitView, JobView, OtherFolder, Passage, SessionView } from "../protocol";
import { counted, plainText, withoutBold } from "./wording";

const notRecorded = "not recorded";

/** What a folder's sessions have in common with this repository. */
export function otherFolderText({ sessions, reason }: Pick<OtherFolder, "sessions" | "reason">): string {
  return `${counted(sessions, "session")}, the same ${reason === "commit" ? "first commit" : reason}`;
}

/** "Today", "Yesterday", else the date in words; `now` in milliseconds. */
export function dayLabel(day: string, now: number): string {
  if (day === "") return "At an unknown time";
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  const then = new Date(year, month - 1, date);
  const today = new Date(now);
  today.setHours(0, 0, 0, 0);
  const days = Math.round((today.getTime() - then.getTime()) / 86_400_000);
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  const isOtherYear = then.getFullYear() !== today.getFullYear();
  return then.toLocaleDateString("en-GB", { weekday: "short", day: "numeric", month: "short", ...(isOtherYear ? { year: "numeric" } : {}) });
}

/** "45 s", "12 min", "2 h 5 min", "3 d 4 h". */
export function durationText(seconds: number): string {
  const rounded = Math.round(seconds);
  if (rounded < 60) return `${rounded} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return hours % 24 === 0 ? `${Math.floor(hours / 24)} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Seconds from the first to the last turn; undefined if unknown. */
export function sessionSeconds({ started, ended }: Pick<SessionView, "started" | "ended">): number | undefined {
  const seconds = (Date.parse(ended) - Date.parse(started)) / 1000;
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}

/** "12 min · 5 files". */
export function sessionDescription(session: SessionView): string {
  const seconds = sessionSeconds(session);
  return [
    ...(seconds === undefined ? [] : [durationText(seconds)]),
    ...(session.files === 0 ? [] : [counted(session.files, "file")]),
    ...(session.parentMissing ? ["subagent, parent missing"] : []),
    ...(session.gone ? ["deleted by its agent"] : []),
  ].join(" · ");
}

/** A time in the person's time zone; "" if there is none. */
export function momentText(time: string): string {
  const when = new Date(time);
  return Number.isNaN(when.getTime()) ? "" : when.toLocaleString("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
}

/** Who said a message of a session, and when: "You, 3 Mar 2026, 11:05"; `detail` is the agent. */
export function saidText({ role, detail, time }: Pick<Passage, "role" | "detail" | "time">): string {
  return [role === "user" ? "You" : detail || "The agent", ...[momentText(time)].filter((when) => when !== "")].join(", ");
}

/** The day of a time as in `momentText`, "3 Mar 2026"; "" if there is none. */
export function dateText(time: string): string {
  const when = new Date(time);
  return Number.isNaN(when.getTime()) ? "" : when.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });
}

/** The time of day if it is on the same day as `since`, else as in `momentText`. */
export function clockText(time: string, since: string): string {
  const when = new Date(time);
  if (when.toDateString() !== new Date(since).toDateString()) return momentText(time);
  return Number.isNaN(when.getTime()) ? "" : when.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
}

export function tokensText({ tokens }: Pick<SessionView, "tokens">): string {
  if (tokens === null) return notRecorded;
  const cached = tokens.cacheRead + tokens.cacheWrite;
  return `${numberText(tokens.input)} in, ${numberText(tokens.output)} out${cached > 0 ? `, ${numberText(cached)} cached` : ""}`;
}

function numberText(value: number): string {
  return value.toLocaleString("en-US");
}

/** "4 prompts, 2 tool calls, 1 error"; zero counts are left out, except for prompts. */
export function workText(session: SessionView): string {
  return [
    counted(session.prompts, "prompt"),
    ...(session.toolCalls > 0 ? [counted(session.toolCalls, "tool call")] : []),
    ...(session.toolErrors > 0 ? [counted(session.toolErrors, "error")] : []),
    ...(session.denials > 0 ? [`${session.denials} denied`] : []),
  ].join(", ");
}

/** The facts about a session, one per line. */
export function sessionTooltip(session: SessionView): string {
  const seconds = sessionSeconds(session);
  return [
    plainText(session.title),
    "",
    `Agent: ${session.agent}`,
    `When: ${momentText(session.started) || "at an unknown time"}${seconds === undefined ? "" : `, ${durationText(seconds)}`}`,
    `Model: ${session.models.join(", ") || notRecorded}`,
    `Branch: ${session.branches.join(", ") || notRecorded}`,
    `Folder: ${session.folder || notRecorded}`,
    `Work: ${workText(session)}`,
    `Files touched: ${session.files}`,
    `Tokens: ${tokensText(session)}`,
    ...(session.cost === null ? [] : [`Cost: $${session.cost.toFixed(2)}`]),
    ...(session.parentMissing ? ["", `A subagent's session. The session that started it (${session.parent}) is not on this machine.`] : []),
    ...(session.gone ? ["", "The agent deleted this session. Lerim keeps what it has read."] : []),
    ...(session.error === "" ? [] : ["", `It could not be read last time: ${session.error}`]),
  ].join("\n");
}

/** "Codex · 3 Mar 2026, 10:20 · you". */
export function hitDetail(hit: HitView): string {
  return [hit.agent, momentText(hit.time), hit.role === "user" ? "you" : "the agent"].filter((part) => part !== "").join(" · ");
}

/** Whether a match begins with the title of its session, which is often its first prompt. */
export function repeatsTitle({ snippet, title }: Pick<HitView, "snippet" | "title">): boolean {
  const [said, named] = [snippet, title].map((text) => text.replaceAll(/^…|…$/g, "").replaceAll(/[`\s]+/g, " ").trim().toLowerCase());
  return said !== undefined && named !== undefined && (said.startsWith(named) || named.startsWith(said));
}

/** "12 sessions", with the numbers waiting and not read. */
export function agentDescription(agent: AgentView): string {
  switch (agent.state) {
    case "removed":
      return "not read";
    case "not-found":
      return agent.found > 0 ? `${counted(agent.found, "session")} kept, session store not found` : "not found";
    case "connected": {
      const unread = agent.skipped.filter(({ reason }) => !readReasons.has(reason)).reduce((sum, { count }) => sum + count, 0);
      return [
        counted(agent.found, "session"),
        ...(agent.waiting > 0 ? [`${agent.waiting} to read`] : []),
        ...(unread > 0 ? [`${unread} not read`] : []),
      ].join(" · ");
    }
  }
}

/** Reasons that do not mean a session was not read. */
const readReasons: ReadonlySet<string> = new Set(["no-folder", "in-part"]);

const reasonTexts: Readonly<Record<string, string>> = {
  skipped: "only the agent itself can read it",
  compressed: "compressed",
  unreadable: "could not be opened",
  failed: "could not be parsed",
  "in-part": "partly damaged, the rest was read",
  "no-folder": "working folder unknown",
};

export function reasonText(reason: string): string {
  return reasonTexts[reason] ?? reason;
}

export function jobDescription(job: JobView): string {
  const triesText = counted(job.tries, "try", "tries");
  return job.state === "dead" ? `given up after ${triesText}` : `failed after ${triesText}, will be retried`;
}

const jobKindTexts: Readonly<Record<string, string>> = { extract: "Reading without a model", model: "Reading with a model" };

export function jobTooltip(job: JobView): string {
  return [plainText(job.title), "", jobKindTexts[job.kind] ?? job.kind, jobDescription(job), ...(job.error === "" ? [] : ["", job.error])].join("\n");
}

const queueStates: readonly (readonly [string, string])[] = [
  ["pending", "waiting"],
  ["running", "running"],
  ["done", "done"],
  ["failed", "failed"],
  ["dead", "given up"],
  ["skipped", "skipped"],
];

/** "3 waiting, 1 failed, 40 done"; "" for an empty queue. */
export function queueText(queue: Readonly<Record<string, number>>): string {
  return queueStates
    .filter(([state]) => (queue[state] ?? 0) > 0)
    .map(([state, label]) => `${queue[state] ?? 0} ${label}`)
    .join(", ");
}

/** A passage, which may begin in the middle of a message, without markdown's marks of headings, code blocks and bold. */
export function passageText(text: string): string {
  const lines = text.split("\n").filter((line) => !/^\s*(?:```|~~~)/.test(line));
  return lines.map((line) => withoutBold(line.replace(/^(… )?#{1,6}\s+/, "$1"))).join("\n");
}
