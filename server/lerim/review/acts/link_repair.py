"""Repairs links that only one of two memories has, as one action that can be undone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from lerim.errors import LerimError, Problem
from lerim.memory import links, memory_search
from lerim.review import actions
from lerim.review.acts.held_memory import HeldMemory
from lerim.review.ledger import ClaimState, FileChange
from lerim.review.review_paths import ReviewPaths


@dataclass(frozen=True, slots=True)
class RepairResult:
    """The result of repairing links: the number of memories whose links did not agree, the id of the repair as
    `action`, for undoing it, and, as `problems`, the files that could not be changed."""

    count: int = 0
    action: str | None = None
    problems: tuple[Problem, ...] = ()


def repair_links(paths: ReviewPaths, now: datetime | None = None) -> RepairResult:
    """Makes the links of all memories agree, as one action (`memory/links.py`). A file that cannot be changed becomes a
    problem.

    If the index says that all links agree, only files that changed since its last update are read. `now` is the time
    of the action; the default is the current time. Raises MemoryError_ if the ledger cannot be used, BusyError.
    """
    known = memory_search.load_links(paths.project, paths.home)
    if known is not None and not links.find_memories_to_repair(known):
        return RepairResult()
    store = paths.store()
    if known is None and not links.plan_link_repairs(memory_search.load_all(paths.project, paths.home, store)[0]):
        return RepairResult()
    with actions.locked_ledger(paths) as ledger:
        changes: list[FileChange] = []
        problems: list[Problem] = []
        for one in links.plan_link_repairs(memory_search.load_all(paths.project, paths.home, store)[0]):
            try:
                memory = HeldMemory(
                    paths, ledger, store, one.stored.path, store.read_text(one.stored.path), one.stored.record
                )
                to = store.path_for(memory.record, archived=True) if one.should_archive else memory.path
                changes += memory.move_changes(to, memory.updated_text(dict(one.changes)))
            except LerimError as error:
                problems.append(error.problem(code="memory-links"))
        count = len({change.path for change in changes if change.before is not None})
        if not changes:
            return RepairResult(0, None, tuple(problems))
        label = f"Links between memories corrected: {count}"
        states: tuple[ClaimState, ClaimState] = ("accepted", "accepted")
        action = actions.perform_action(paths, ledger, "repair", label, "", states, changes, now=now)
        return RepairResult(count, action.id, tuple(problems))
