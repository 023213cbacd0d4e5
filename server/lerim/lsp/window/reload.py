"""Memory files that changed are read again: by the loop itself where that is quick, a little at a time, since a thread
and a loop that answers hovers would wait for each other at every file."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Iterable
from pathlib import Path

from lerim.lsp.window import drift
from lerim.lsp.window.repos import Repo
from lerim.lsp.window.state import Sidecar
from lerim.memory import MemoryFileChanges

SLICE_SECONDS = 0.0005
"""Time in which files are read before others have their turn."""
MANY = 500
"""Files of which no more are even listed by the loop."""


async def reread_files(sidecar: Sidecar, repo: Repo, files: Iterable[Path]) -> list[Path]:
    """Reads changed memory files again, all of a checkout at once; those that this call took over, which may be
    another's, too, or none."""
    repo.changed.update(files)
    async with repo.turn:
        paths, repo.changed = list(repo.changed), set()
        if paths:
            drift.postpone_drift_check(repo)
            if not await _here(repo, paths):
                await sidecar.run(_there, repo, paths)
        return paths


async def _here(repo: Repo, paths: Collection[Path]) -> bool:
    """Reads the files between two answers; False, and nothing done, where that is not for the loop."""
    if not repo.quick or len(paths) > MANY or not repo.lock.acquire(blocking=False):
        return False
    try:
        changes = repo.references.find_changes(paths)
        if changes is None:
            return False
        began = time.perf_counter()
        for _ in changes.read_files():
            if time.perf_counter() - began > SLICE_SECONDS:
                await asyncio.sleep(0)
                began = time.perf_counter()
        _take(repo, paths, changes)
    finally:
        repo.lock.release()
    return True


def _there(repo: Repo, paths: Collection[Path]) -> None:
    """Reads the files in one go (in the executor)."""
    with repo.lock:
        _take(repo, paths, repo.references.find_changes(paths))


def _take(repo: Repo, paths: Collection[Path], changes: MemoryFileChanges | None) -> None:
    repo.generation += 1
    for path in paths:
        repo.cache.pop(path, None)
    if changes is None:
        repo.references.scan()
    else:
        repo.references.apply_changes(changes)
    if repo.index is not None:
        repo.unindexed.update(paths)
