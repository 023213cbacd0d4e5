"""The review folder at a glance: how many candidates wait, and whether anything there changed. No candidate is read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from lerim import files
from lerim.errors import BoundaryError, BusyError
from lerim.review.review_paths import ReviewPaths


def count_pending(place: ReviewPaths) -> int:
    """How many candidates wait: files in the review folder that the ledger knows as pending.

    Waits for an action of another process that has changed the files and not yet the ledger.
    Raises MemoryError_ where the ledger cannot be used.
    """
    from lerim.review.ledger import open_ledger  # a window without candidates never needs it

    if files.is_absent(place.private / "review.sqlite3"):
        return 0
    with open_ledger(place.private) as book:
        acting = book.unfinished()
    if acting:
        with suppress(BusyError), place.lock():
            pass
    names = {entry.name.removesuffix(".md") for entry in _candidates(place)}
    if not names:
        return 0
    with open_ledger(place.private) as book:
        return sum(state == "pending" and name in names for name, state in book.states().items())


def pending_stamp(place: ReviewPaths) -> int:
    """Differs once a candidate was added, changed or removed; 0 where none waits."""
    found: list[tuple[object, ...]] = []
    for entry in _candidates(place):
        try:
            state = entry.stat(follow_symlinks=False)
        except OSError:
            continue  # decided meanwhile
        found.append((entry.name, state.st_mtime_ns, state.st_size, state.st_ino))
    return hash(frozenset(found)) if found else 0


def _candidates(place: ReviewPaths) -> Iterator[os.DirEntry[str]]:
    """Nothing where the folder is missing, closed or a link: the list of candidates says which."""
    try:
        files.resolve_inside(place.state_anchor, place.review)
        with os.scandir(place.review) as entries:
            for entry in entries:
                if entry.name.endswith(".md") and entry.name[0] != "." and entry.is_file(follow_symlinks=False):
                    yield entry
    except (BoundaryError, OSError):
        return
