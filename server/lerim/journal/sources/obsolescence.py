"""Finds what a day's commits made out of date: files, symbols and issues that a memory names and that are now gone
or closed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lerim.journal.entry import DraftSentence
from lerim.journal.sources.from_git import clean_line, clean_path, code, commit_source, find_closed_issues, find_issues
from lerim.journal.sources.memories import MAX_TITLE_CHARS, memory_source, title_of
from lerim.memory import StoredMemory, parse_reference
from lerim.project import Commit, Git

MAX_OBSOLETE = 30
"""Maximum number of such sentences in an entry."""
TOPIC = "Named by memories"


def describe_obsolete(
    commits: Sequence[Commit], memories: Sequence[StoredMemory], git: Git | None
) -> Iterator[DraftSentence]:
    """Yields a sentence for each file, symbol or issue that one of these memories names and that one of these
    commits, later than the memory, deleted, renamed or closed. `git` reads the committed files; without it, symbols
    are left out."""
    found = list(_find_obsolete(commits, memories, git))
    yield from found[:MAX_OBSOLETE]


def _find_obsolete(
    commits: Sequence[Commit], memories: Sequence[StoredMemory], git: Git | None
) -> Iterator[DraftSentence]:
    states_of_all = _last_states(commits)
    for item in memories:
        made = item.record.created.replace(microsecond=0)  # git's times are whole seconds
        later = [commit for commit in commits if commit.time >= made]
        last_state = states_of_all if len(later) == len(commits) else _last_states(later)
        for reference in item.record.references:
            place = parse_reference(reference)
            if place is None or place.path not in last_state:
                continue
            path, symbol = place.path, place.symbol
            commit, how = last_state[path]
            if how:
                yield _make_sentence(f"{clean_path(path)} was {how}", item, commit)
            elif symbol and git is not None and _is_symbol_removed(git, later, path, symbol):
                name = clean_line(symbol, MAX_TITLE_CHARS)
                yield _make_sentence(f"{code(name)} is no longer in {clean_path(path)}", item, commit)
        named = find_issues(f"{item.record.title}\n{item.record.body}")
        for commit in later if named else ():
            for issue in find_closed_issues(f"{commit.subject}\n{commit.body}"):
                if issue in named:
                    yield _make_sentence(f"{issue} was closed", item, commit)


def _last_states(commits: Sequence[Commit]) -> dict[str, tuple[Commit, str]]:
    """Returns, for each path, the last of these commits that touched it, and how the commit removed it ("" if it did
    not)."""
    states: dict[str, tuple[Commit, str]] = {}
    for commit in commits:
        for file in commit.files:
            if file.status == "R":
                states[file.old] = (commit, f"renamed to {clean_path(file.path)}")
            states[file.path] = (commit, "deleted" if file.status == "D" else "")
    return states


def _is_symbol_removed(git: Git, commits: Sequence[Commit], path: str, symbol: str) -> bool:
    """Returns whether the name of a symbol was in a file before these commits and is not after them."""
    touching = [commit for commit in commits if any(file.path == path for file in commit.files)]
    before = touching[0].parents[0] if touching[0].parents else ""
    texts = git.read_texts([(before, path), (touching[-1].hash, path)])
    name = re.compile(rf"(?<!\w){re.escape(symbol.rpartition('.')[2])}(?!\w)")
    was, now = texts.get((before, path)), texts.get((touching[-1].hash, path))
    return was is not None and now is not None and bool(name.search(was)) and not name.search(now)


def _make_sentence(what: str, item: StoredMemory, commit: Commit) -> DraftSentence:
    text = f"{what}; the {item.record.primitive} “{title_of(item.record)}” names it."
    return DraftSentence("obsolete", text, (commit_source(commit), memory_source(item)), "git", TOPIC)
