"""Counts the waiting candidates and detects changes in the review folder without reading a candidate."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from lerim import files
from lerim.errors import BoundaryError, BusyError
from lerim.review.review_paths import ReviewPaths


def count_pending(paths: ReviewPaths) -> int:
    """Returns how many candidates wait, that is, how many files in the review folder the ledger lists as pending.

    If another process is performing an action, waits for it, because it may have changed the files but not yet the
    ledger. Raises MemoryError_ if the ledger cannot be used.
    """
    with paths.open_ledger_if_any() as ledger:
        acting = ledger is not None and ledger.unfinished_actions()
    if acting:
        with suppress(BusyError), paths.lock():
            pass
    names = {entry.name.removesuffix(".md") for entry in _candidates(paths)}
    with paths.open_ledger_if_any() as ledger:
        states = ledger.states() if names and ledger is not None else {}
    return sum(states.get(name) == "pending" for name in names)


def pending_stamp(paths: ReviewPaths) -> int:
    """Returns a number that changes when a candidate is added, changed or removed; 0 if none waits."""
    found: list[tuple[object, ...]] = []
    for entry in _candidates(paths):
        try:
            state = entry.stat(follow_symlinks=False)
        except OSError:
            continue  # decided meanwhile
        found.append((entry.name, state.st_mtime_ns, state.st_size, state.st_ino))
    return hash(frozenset(found)) if found else 0


def _candidates(paths: ReviewPaths) -> Iterator[os.DirEntry[str]]:
    try:
        files.resolve_inside(paths.state_anchor, paths.review)
        with os.scandir(paths.review) as entries:
            for entry in entries:
                if entry.name.endswith(".md") and entry.name[0] != "." and entry.is_file(follow_symlinks=False):
                    yield entry
    except (BoundaryError, OSError):
        return
