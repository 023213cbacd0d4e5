"""Reconstructs the memories of a project as they were at a moment, from their files and the recorded actions.

A memory exists from the time its session said it (`created`). The effects of actions that took effect at or after
the moment are removed, the newest first: a claim from a session takes effect when it was said, any other action when
it was done. If the ledger does not know a file, or the file has changed since, its header decides: a memory that was
ended by a later memory counts as active.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from lerim import files
from lerim.errors import LerimError, Problem
from lerim.memory import (
    MemoryRecord,
    Store,
    StoredMemory,
    load_all,
    load_header,
    parse_record,
    split_header,
    status_of,
    with_current_status,
)
from lerim.paths import Home
from lerim.project import Project
from lerim.review.actions import read_current_text
from lerim.review.ledger import Action
from lerim.review.review_paths import ReviewPaths


@dataclass(frozen=True, slots=True)
class AcceptedMemory:
    """A memory as it was when it was accepted, or added `by_hand`."""

    record: MemoryRecord
    time: datetime
    by_hand: bool


def load_accepted_memories(paths: ReviewPaths, since: datetime, until: datetime) -> dict[str, AcceptedMemory]:
    """Returns the memories that were last accepted or added between two moments, by id, as they were then. Raises
    MemoryError_ if the ledger cannot be used."""
    with paths.open_ledger_if_any() as ledger:
        times = ledger.acceptances() if ledger is not None else {}
        times = {name: found for name, found in times.items() if since <= found[0] < until}
        accepted: dict[str, AcceptedMemory] = {}
        for action in ledger.list_actions("done") if ledger is not None and times else ():
            name, time = action.memory, datetime.fromisoformat(action.time)
            if action.kind not in ("accept", "settle", "add") or name not in times or times[name][0] != time:
                continue
            for change in action.changes:
                path = Path(change.path)
                if change.home == "memory" and change.after is not None and path.stem == name:
                    record = parse_record(change.after, path)
                    accepted[name] = AcceptedMemory(record, time, by_hand=action.kind == "add")
        return accepted


def load_memories_as_of(project: Project, home: Home, moment: datetime) -> tuple[list[StoredMemory], list[Problem]]:
    """Returns the memories that the project had just before `moment`, including archived ones, with the status they had
    then, and a problem for each file that cannot be read. The path of a memory is that of its current file, even if it
    was archived since.

    Changes made by hand or by git are not reverted, and quotes on this machine are the current ones; a memory that
    was archived elsewhere counts as archived; and an action that was undone counts as never done. Raises
    MemoryError_ if the ledger cannot be used.
    """
    paths = ReviewPaths(project, home)
    store = paths.store()
    stored, problems = load_all(project, home, store)
    earlier = _load_earlier_texts(paths, moment)
    memories = [one for one in stored if one.path not in earlier]
    for path, text in earlier.items():
        try:
            memories += () if text is None else (_parse_earlier(store, path, text),)
        except LerimError as error:
            problems.append(error.problem(str(path)))
    memories = _without_copies(one for one in memories if one.record.created < moment)
    later = {one.record.id for one in stored} - {one.record.id for one in memories}
    return with_current_status([_without_later_end(one, later) for one in memories]), problems


def _load_earlier_texts(paths: ReviewPaths, moment: datetime) -> dict[Path, str | None]:
    """Returns the text that each memory file had at the moment, for files that recorded actions changed since; None if
    it did not exist. Raises MemoryError_."""
    earlier: dict[Path, str | None] = {}
    with paths.open_ledger_if_any() as ledger:
        for action in ledger.list_actions("done", repairs=True) if ledger is not None else ():
            if _effective_time(action) < moment:
                continue
            for change in reversed(action.changes):
                path = Path(change.path)
                if not path.is_relative_to(paths.project.memory_dir):
                    continue  # a candidate, private quotes, or a memory of another worktree
                with suppress(LerimError):  # a file that cannot be read is reported with the present memories
                    if change.after == (earlier[path] if path in earlier else read_current_text(change)):
                        earlier[path] = change.before
    return earlier


def _effective_time(action: Action) -> datetime:
    for change in action.changes:
        if change.home == "review" and change.before is not None and change.after is None:
            parts = split_header(change.before)
            header = load_header(change.before[parts.start : parts.end], change.path) if parts else {}
            if "session" in header and header.get("signal") != "theme":  # a theme is found over several sessions
                return parse_record(change.before, Path(change.path)).created
    return datetime.fromisoformat(action.time)


def _parse_earlier(store: Store, path: Path, text: str) -> StoredMemory:
    record = store.quotes.join_quotes(parse_record(text, path))[0]
    is_archived = path.parent.parent.name == "archived"
    return StoredMemory(record, path, (0, len(text), 0), files.hash_text(text), status_of(record, is_archived))


def _without_copies(memories: Iterable[StoredMemory]) -> list[StoredMemory]:
    """Returns one memory for each id. If an archived file was changed by hand since, the text of the live file is
    the earlier one."""
    found: dict[str, StoredMemory] = {}
    for one in memories:
        if one.record.id not in found or one.status == "active":
            found[one.record.id] = one
    return list(found.values())


def _without_later_end(one: StoredMemory, later: set[str]) -> StoredMemory:
    record = one.record
    superseded_by = "" if record.superseded_by in later else record.superseded_by
    resolved_by = "" if record.resolved_by in later else record.resolved_by
    if (superseded_by, resolved_by) == (record.superseded_by, record.resolved_by):
        return one
    record = replace(record, superseded_by=superseded_by, resolved_by=resolved_by)
    return replace(one, record=record, status=status_of(record, archived=False))
