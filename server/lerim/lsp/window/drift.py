"""How the memories of a repository stand, looked at beside the person's work: files by stat, in the executor.

A hover and a lens read what is held here and look at nothing. Only what is not fresh is held.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from lerim.errors import LerimError
from lerim.lsp.window.announcing import announce_memories
from lerim.lsp.window.drift_state import RepoDrift

if TYPE_CHECKING:
    from lerim.lsp.window.repos import Repo
    from lerim.lsp.window.state import Sidecar
    from lerim.memory import DriftSummary

log = logging.getLogger("lerim.lsp")

MOST_STAMPS = 2_000
SLICE = 4
"""Memories looked at in one go; files are one by one, so that one that was saved waits for no other."""
REST_SECONDS = 0.01
"""Between two goes, for what the person waits for."""
SETTLED_SECONDS = 0.2
"""How long no memory must have changed before those that did are looked at: a checkout changes many, and what they say
comes first."""
HELD_SECONDS = 2.0
"""How long after a look the database is kept open, for the next."""


def has_file_changed(repo: Repo, path: str) -> bool:
    """Whether a file is not as it was when it was looked at (in the executor)."""
    from lerim.memory import stamp_of

    return repo.standings.stamps.get(path) != stamp_of(repo.project.root / path)


def check_drift(
    sidecar: Sidecar, repo: Repo, files: Iterable[str] = (), *, memories: Iterable[Path] = (), whole: bool = False
) -> None:
    """What may stand otherwise now is looked at, and the editor told if it does: `files` by their paths in the
    repository, the memories in these files, all that is known (`whole`: HEAD moved), and in any case what another
    process found. Nothing in Restricted Mode: nothing may be kept there."""
    if not sidecar.options.trusted:
        return
    known = repo.standings
    for path in files:
        known.files.pop(path, None)
        known.files[path] = None
    known.memories.update(dict.fromkeys(memories))
    known.whole = known.whole or whole
    if known.memories or known.whole:
        postpone_drift_check(repo)
    known.others = known.others or not known.waiting
    known.asked.set()
    if not known.looking:
        known.looking = True
        sidecar.spawn("Comparing memories with the code", _looking(sidecar, repo))


def postpone_drift_check(repo: Repo) -> None:
    """Memories are changing: nothing but a file that was saved is looked at before they have settled."""
    repo.standings.settled = asyncio.get_running_loop().time() + SETTLED_SECONDS


async def _looking(sidecar: Sidecar, repo: Repo) -> None:
    known = repo.standings
    try:
        while await _more(known):
            if await sidecar.run(_look, sidecar, repo):
                announce_memories(sidecar, repo)
    except LerimError as error:
        log.warning("Memories could not be compared with the code: %s", error)
    finally:
        known.looking = False
        held, known.held = known.held, None
        if held is not None:
            sidecar.executor.submit(held.close)


async def _more(known: RepoDrift) -> bool:
    """Waits until something is to be looked at: a file that is asked for at once, else after a rest. False once nothing
    was asked for in a while."""
    while True:
        now = known.files or known.others
        if now and known.asked.is_set():
            known.asked.clear()
            return True
        known.asked.clear()
        settled = known.settled - asyncio.get_running_loop().time()
        seconds = REST_SECONDS if now else max(REST_SECONDS, settled) if known.waiting else HELD_SECONDS
        try:
            async with asyncio.timeout(seconds):
                await known.asked.wait()
        except TimeoutError:
            return known.waiting


def _look(sidecar: Sidecar, repo: Repo) -> bool:
    """True if any memory stands otherwise than was held (in the executor)."""
    from lerim.memory import DriftChecker, DriftSubject, baselines, stamp_of

    known, private = repo.standings, sidecar.home.project(repo.project.key)
    file, memories, whole = take_next_check(known)
    stamps = {path: stamp_of(repo.project.root / path) for path in file}
    changed = [path for path, stamp in stamps.items() if known.stamps.get(path) != stamp]
    if len(known.stamps) > MOST_STAMPS:
        known.stamps.clear()
    known.stamps.update(stamps)
    entries = [entry for path in changed for entry in repo.references.for_file(path)]
    entries += filter(None, map(repo.references.entry_for, memories))
    subjects = [DriftSubject(entry.id, entry.references, entry.verified) for entry in entries if entry.references]
    if not subjects and not baselines.has_baselines(private):
        return False
    if known.held is None and baselines.has_baselines(private):
        known.held = baselines.hold_baselines_open(private)
    fresh = DriftChecker(repo.project, sidecar.home)
    before = known.by_id

    def take(found: DriftSummary) -> None:
        standings = found.drift_by_memory.items()
        known.by_id = {memory: one for memory, one in standings if one.state != "unknown" or one.moved_to}
        repo.references.set_moves(found.moved_references)

    if subjects or changed or whole:
        fresh.check(None if whole else changed, subjects=subjects, now=sidecar.clock(), tell=take)
    elif baselines.baselines_stamp(private) != known.kept:
        take(fresh.summary())
    known.kept = baselines.baselines_stamp(private)
    return before != known.by_id


def take_next_check(known: RepoDrift) -> tuple[list[str], list[Path], bool]:
    """What is looked at in one go, no longer waiting: the file asked for last, else some memories, else all."""
    known.others = False
    if known.files:
        return [known.files.popitem()[0]], [], False
    memories = list(known.memories)[:SLICE]
    for path in memories:
        del known.memories[path]
    whole = known.whole and not memories
    known.whole = known.whole and not whole
    return [], memories, whole
