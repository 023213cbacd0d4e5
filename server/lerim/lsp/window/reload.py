"""Rereads memory files that changed, and detects checkouts and other changes the editor does not report.

Files are read in the event loop in small slices if that is fast: a thread and a loop that answers hovers would wait
for each other at every file.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Iterable
from pathlib import Path

from lerim.lsp.window import candidate_counts, drift, uses
from lerim.lsp.window.notifications import announce_memories
from lerim.lsp.window.repos import Repo, rescan_repo
from lerim.lsp.window.state import Sidecar
from lerim.memory import MemoryFileChanges

SLICE_SECONDS = 0.0005
"""How long files are read before other tasks may run."""
MAX_LOOP_FILES = 500
"""Most files that are read in the loop; more are read in a thread."""


async def check_for_changes(sidecar: Sidecar) -> None:
    """Looks for changes the editor does not report: checkouts and pulls, by the stat of each HEAD, and decisions made
    elsewhere, by the stat of each candidate."""
    await check_for_checkouts(sidecar)
    for repo in sidecar.repos.known:
        drift.check_drift(sidecar, repo)
        await uses.refresh_memory_marks(sidecar, repo)
    await candidate_counts.announce_changed_candidates(sidecar, sidecar.repos.known)


async def check_for_checkouts(sidecar: Sidecar) -> None:
    """Rereads memories and their drift after a checkout or pull, detected by the stat of each HEAD."""
    for repo in sidecar.repos.known:
        head = repo.head
        if await sidecar.run_in_thread(rescan_repo, repo):
            announce_memories(sidecar, repo)
        if repo.head != head:
            drift.check_drift(sidecar, repo, whole=True)


async def reread_files(sidecar: Sidecar, repo: Repo, files: Iterable[Path]) -> list[Path]:
    """Rereads changed memory files, all files of a checkout at once.

    Returns the files this call read, which may include those of another call, or be none.
    """
    repo.changed_files.update(files)
    async with repo.reread_lock:
        paths, repo.changed_files = list(repo.changed_files), set()
        if paths:
            drift.postpone_drift_check(repo)
            if not await _reread_on_loop(repo, paths):
                await sidecar.run_in_thread(_reread_in_thread, repo, paths)
        return paths


async def _reread_on_loop(repo: Repo, paths: Collection[Path]) -> bool:
    """Reads the files in slices in the event loop. Returns False, without reading any, if that would be too slow."""
    if not repo.is_fast_to_read or len(paths) > MAX_LOOP_FILES or not repo.lock.acquire(blocking=False):
        return False
    try:
        changes = repo.references.find_changes(paths)
        if changes is None:
            return False
        slice_start = time.perf_counter()
        for _ in changes.read_files():
            if time.perf_counter() - slice_start > SLICE_SECONDS:
                await asyncio.sleep(0)
                slice_start = time.perf_counter()
        _apply_changes(repo, paths, changes)
    finally:
        repo.lock.release()
    return True


def _reread_in_thread(repo: Repo, paths: Collection[Path]) -> None:
    with repo.lock:
        _apply_changes(repo, paths, repo.references.find_changes(paths))


def _apply_changes(repo: Repo, paths: Collection[Path], changes: MemoryFileChanges | None) -> None:
    repo.generation += 1
    for path in paths:
        repo.cache.pop(path, None)
    if changes is None:
        repo.references.scan()
    else:
        repo.references.apply_changes(changes)
    if repo.index is not None:
        repo.unindexed_paths.update(paths)
