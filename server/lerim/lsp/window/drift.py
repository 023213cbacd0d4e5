"""Checks in the background whether a repository's memories still match the code, by the stat of files.

Hovers and lenses read the results kept here and check nothing themselves. Only memories that are not fresh are kept.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from lerim.errors import LerimError
from lerim.lsp.window.notifications import announce_memories
from lerim.lsp.window.repo_state import RepoDrift

if TYPE_CHECKING:
    from lerim.lsp.window.repos import Repo
    from lerim.lsp.window.state import Sidecar
    from lerim.memory import DriftSummary

log = logging.getLogger("lerim.lsp")

MAX_STAMPS = 2_000
MEMORIES_PER_CHECK = 4
"""Memories per check. Files are checked one by one, so that a saved file waits for no other."""
PAUSE_SECONDS = 0.01
"""Pause between two checks, which leaves time to answer the editor."""
SETTLED_SECONDS = 0.2
"""How long memories must stay unchanged before they are checked: a checkout changes many, and they are read first."""
KEEP_OPEN_SECONDS = 2.0
"""How long the database stays open after a check, for the next one."""


def has_file_changed(repo: Repo, path: str) -> bool:
    """Returns whether a file changed since its last check (blocking)."""
    from lerim.memory import stamp_of

    return repo.drift.file_stamps.get(path) != stamp_of(repo.project.root / path)


def check_drift(
    sidecar: Sidecar, repo: Repo, files: Iterable[str] = (), *, memories: Iterable[Path] = (), whole: bool = False
) -> None:
    """Queues a drift check, after which the editor is notified if any result changed.

    `files` are checked by their paths in the repository, `memories` by their memory files, and everything if `whole`
    (HEAD moved). Results that another process wrote to the database are always read. Does nothing in Restricted Mode,
    where nothing may be stored.
    """
    if not sidecar.options.trusted:
        return
    state = repo.drift
    for path in files:
        state.queued_files.pop(path, None)
        state.queued_files[path] = None
    state.queued_memories.update(dict.fromkeys(memories))
    state.is_full_check_queued = state.is_full_check_queued or whole
    if state.queued_memories or state.is_full_check_queued:
        postpone_drift_check(repo)
    state.is_database_check_queued = state.is_database_check_queued or not state.has_work
    state.work_queued.set()
    if not state.is_checking:
        state.is_checking = True
        sidecar.spawn("Comparing memories with the code", _run_checks(sidecar, repo))


def postpone_drift_check(repo: Repo) -> None:
    """Postpones all checks, except those of saved files, until memories have stopped changing."""
    repo.drift.settled_at = asyncio.get_running_loop().time() + SETTLED_SECONDS


async def _run_checks(sidecar: Sidecar, repo: Repo) -> None:
    state = repo.drift
    try:
        while await _wait_for_work(state):
            if await sidecar.run_in_thread(_check_next, sidecar, repo):
                announce_memories(sidecar, repo)
    except LerimError as error:
        log.warning("Memories could not be compared with the code: %s", error)
    finally:
        state.is_checking = False
        connection, state.connection = state.connection, None
        if connection is not None:
            sidecar.executor.submit(connection.close)


async def _wait_for_work(state: RepoDrift) -> bool:
    """Waits for the next queued check: a file is checked at once, anything else after a pause. Returns False when
    nothing was queued for `KEEP_OPEN_SECONDS`."""
    while True:
        is_ready = state.queued_files or state.is_database_check_queued
        if is_ready and state.work_queued.is_set():
            state.work_queued.clear()
            return True
        state.work_queued.clear()
        wait_to_settle = state.settled_at - asyncio.get_running_loop().time()
        seconds = (
            PAUSE_SECONDS if is_ready else max(PAUSE_SECONDS, wait_to_settle) if state.has_work else KEEP_OPEN_SECONDS
        )
        try:
            async with asyncio.timeout(seconds):
                await state.work_queued.wait()
        except TimeoutError:
            return state.has_work


def _check_next(sidecar: Sidecar, repo: Repo) -> bool:
    """Runs the next queued check (blocking). Returns True if the result of any memory changed."""
    from lerim.memory import DriftChecker, DriftSubject, baselines, stamp_of

    state, private = repo.drift, sidecar.home.project(repo.project.key)
    file, memories, whole = take_next_check(state)
    stamps = {path: stamp_of(repo.project.root / path) for path in file}
    changed = [path for path, stamp in stamps.items() if state.file_stamps.get(path) != stamp]
    if len(state.file_stamps) > MAX_STAMPS:
        state.file_stamps.clear()
    state.file_stamps.update(stamps)
    entries = [entry for path in changed for entry in repo.references.for_file(path)]
    entries += filter(None, map(repo.references.entry_for, memories))
    subjects = [DriftSubject(entry.id, entry.references, entry.verified) for entry in entries if entry.references]
    if not subjects and not baselines.has_baselines(private):
        return False
    if state.connection is None and baselines.has_baselines(private):
        state.connection = baselines.hold_baselines_open(private)
    checker = DriftChecker(repo.project, sidecar.home)
    before = state.all_by_id

    def apply_summary(found: DriftSummary) -> None:
        state.all_by_id = {
            memory: known
            for memory, some in found.all_by_memory.items()
            if (known := tuple(one for one in some if one.state != "unknown" or one.moved_to))
        }
        state.by_id = {memory: known[0] for memory, known in state.all_by_id.items()}
        repo.references.set_moves(found.moved_references)

    if subjects or changed or whole:
        checker.check(None if whole else changed, subjects=subjects, now=sidecar.clock(), on_summary=apply_summary)
    elif baselines.baselines_stamp(private) != state.database_stamp:
        apply_summary(checker.summary())
    state.database_stamp = baselines.baselines_stamp(private)
    return before != state.all_by_id


def take_next_check(state: RepoDrift) -> tuple[list[str], list[Path], bool]:
    """Takes the next check off the queue: (files, memory files, whether everything is checked).

    The file queued last comes first, then some memories, then everything.
    """
    state.is_database_check_queued = False
    if state.queued_files:
        return [state.queued_files.popitem()[0]], [], False
    memories = list(state.queued_memories)[:MEMORIES_PER_CHECK]
    for path in memories:
        del state.queued_memories[path]
    whole = state.is_full_check_queued and not memories
    state.is_full_check_queued = state.is_full_check_queued and not whole
    return [], memories, whole
