// Which candidates the list shows, and in which order: filtered, best first, in groups, without those that wait for long.
import type { CandidateView } from "../../../protocol";
import { momentText } from "../../../text/sessionwording";
import { kindOf } from "../../../text/wording";
import { spellOutHidden } from "../../shared/web/text";

export const groupings = ["none", "file", "session", "kind"] as const;
export type Grouping = (typeof groupings)[number];

export interface ListOptions {
  readonly filter: string;
  readonly grouping: Grouping;
  /** Whether candidates that have waited for more than 30 days are shown. */
  readonly showOlder: boolean;
}

export type ListRow = { readonly type: "heading"; readonly key: string; readonly text: string; readonly count: number } | { readonly type: "candidate"; readonly id: string };

export interface Arrangement {
  readonly rows: readonly ListRow[];
  /** The ids of the candidates in `rows`. */
  readonly order: readonly string[];
  /** The ids of all candidates that have waited for more than 30 days. */
  readonly older: readonly string[];
}

const olderMs = 30 * 24 * 60 * 60 * 1000;

/** Arranges the candidates with these ids. Those with the highest confidence come first, and so do their groups. Themes come last, since nobody said them. */
export function arrange(ids: readonly string[], candidates: ReadonlyMap<string, CandidateView>, { filter, grouping, showOlder }: ListOptions, now: number): Arrangement {
  const all = ids.flatMap((id) => candidates.get(id) ?? []);
  const older = new Set(all.filter(({ waitingSince }) => now - Date.parse(waitingSince) > olderMs));
  const words = filter.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const shown = all.filter((candidate) => (showOlder || !older.has(candidate)) && matches(candidate, words)).sort((first, second) => Number(isTheme(first)) - Number(isTheme(second)) || second.confidence - first.confidence);
  const groups = new Map<string, CandidateView[]>();
  for (const candidate of shown) {
    const key = groupKey(candidate, grouping);
    groups.set(key, [...(groups.get(key) ?? []), candidate]);
  }
  const rows = [...groups].flatMap(([key, members]): ListRow[] => [
    ...(grouping === "none" ? [] : [{ type: "heading", key, text: groupText(members[0], key, grouping), count: members.length } as const]),
    ...members.map(({ id }) => ({ type: "candidate", id }) as const),
  ]);
  return { rows, order: rows.flatMap((row) => (row.type === "candidate" ? [row.id] : [])), older: [...older].map(({ id }) => id) };
}

function isTheme({ primitive }: CandidateView): boolean {
  return primitive === "theme";
}

function matches(candidate: CandidateView, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const { title, body, tags, references, agent } = candidate;
  const text = [title, body, kindOf(candidate), agent, ...tags, ...references].join("\n").toLowerCase();
  return words.every((word) => text.includes(word));
}

function groupKey(candidate: CandidateView, grouping: Grouping): string {
  switch (grouping) {
    case "none":
      return "";
    case "file":
      return candidate.references[0]?.split("#")[0] ?? "";
    case "session":
      return candidate.session;
    case "kind":
      return kindOf(candidate);
  }
}

function groupText(candidate: CandidateView | undefined, key: string, grouping: Grouping): string {
  if (key !== "") return grouping === "session" ? `${spellOutHidden(candidate?.agent ?? "")} · session of ${momentText(candidate?.time ?? "")}` : spellOutHidden(key);
  return grouping === "file" ? "No file" : "No session";
}
