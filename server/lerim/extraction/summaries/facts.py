"""Computes the parts of a summary that need no model: the figures of a session, the files it changed, its tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from lerim.extraction.summaries.actions import SummaryExchange
from lerim.extraction.summaries.excerpts import one_line
from lerim.extraction.summaries.summary import Statement, list_names
from lerim.sessions import Platform, SummaryTurn

MAX_FILES = 15
MAX_TAGS = 6
LANGUAGES = {
    "py": "python",
    "ts": "typescript",
    "tsx": "typescript",
    "js": "javascript",
    "jsx": "javascript",
    "go": "go",
    "rs": "rust",
    "java": "java",
    "kt": "kotlin",
    "rb": "ruby",
    "php": "php",
    "cs": "csharp",
    "swift": "swift",
    "c": "c",
    "cpp": "cpp",
    "sql": "sql",
    "sh": "shell",
    "md": "docs",
    "css": "css",
    "scss": "css",
    "html": "html",
    "tf": "terraform",
}


@dataclass(frozen=True, slots=True)
class SummaryFacts:
    """What is known about a session besides its turns. `title` is the agent's title for it, `agent` the agent's display
    name, `decided` the decisions that give something up, each with the id of its turn."""

    platform: Platform
    agent: str
    title: str
    decided: tuple[tuple[str, str], ...] = ()


def is_request(prompt: SummaryTurn | None) -> bool:
    """Returns whether a person typed this for the agent; a command counts only if more words follow its name."""
    if prompt is None:
        return False
    return prompt.kind == "prompt" or (prompt.kind == "command" and len(prompt.text.split()) > 1)


def describe_session(exchanges: Sequence[SummaryExchange], turns: Sequence[SummaryTurn], facts: SummaryFacts) -> str:
    """Returns one sentence with the figures of a session. It does not say how long the session took: the session may
    continue after its summary, and its transcript and the lists show the duration from its first and last turn."""
    prompts = sum(is_request(one.prompt) for one in exchanges)
    changed, ran = len(collect_changed_files(exchanges)), [run for one in exchanges for run in one.runs]
    failed = sum(run.outcome == "failed" for run in ran)
    commits = sum(action.kind == "committed" for one in exchanges for action in one.actions)
    parts = [
        f"{count_noun(changed, 'file')} changed" if changed else "no file changed",
        f"{count_noun(len(ran), 'project command')} run" + (f" ({failed} failed)" if failed else "") if ran else "",
        count_noun(commits, "commit") if commits else "",
    ]
    branches = list(dict.fromkeys(turn.branch for turn in turns if turn.branch and turn.branch != "HEAD"))
    where = f" on {list_names([f'`{_clean_name(branch)}`' for branch in branches], 2, 'branch')}" if branches else ""
    told = ", ".join(part for part in parts if part)
    article = "An" if facts.agent[:1] in "AEIOU" else "A"
    return f"{article} {facts.agent} session of {count_noun(prompts, 'prompt')}{where}: {told}."


def _clean_name(text: str) -> str:
    return one_line(text, 60).replace("`", "'")


def count_noun(number: int, noun: str) -> str:
    """Formats a count with its noun: `1 file`, `2 files`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def collect_changed_files(exchanges: Sequence[SummaryExchange]) -> dict[str, list[str]]:
    """Returns the changed files, each with the turns that changed it, the most frequently changed first."""
    changed: dict[str, list[str]] = {}
    for one in exchanges:
        for path, turns in one.changed_files.items():
            changed.setdefault(path, []).extend(turns)
    return dict(sorted(changed.items(), key=lambda item: -len(item[1])))


def make_file_statements(exchanges: Sequence[SummaryExchange]) -> tuple[Statement, ...]:
    """Returns statements on which files were changed and how often."""
    changed = collect_changed_files(exchanges)
    out = [
        Statement(f"`{path}`: {count_noun(len(turns), 'change')}", (turns[0], *turns[-1:]))
        for path, turns in list(changed.items())[:MAX_FILES]
    ]
    rest = list(changed.items())[MAX_FILES:]
    if rest:
        out.append(Statement(f"{count_noun(len(rest), 'more file')}", tuple(turns[-1] for _, turns in rest)))
    return tuple(out)


def make_summary_tags(exchanges: Sequence[SummaryExchange]) -> tuple[str, ...]:
    """Returns the languages of the changed files and the programs that were run, the most frequent first."""
    counts: Counter[str] = Counter()
    for path, turns in collect_changed_files(exchanges).items():
        if language := LANGUAGES.get(PurePosixPath(path).suffix.removeprefix(".").lower()):
            counts[language] += len(turns)
    for one in exchanges:
        counts.update(run.name.split()[0].rpartition("/")[2] for run in one.runs)
    return tuple(name for name, _ in counts.most_common(MAX_TAGS) if name.isascii() and name.isalnum())
