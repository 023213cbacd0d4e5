"""Reads the headers of candidates: sorts candidates in the order of the review, and finds those about a file.

The order is that of the editor's panel (`arrangement.ts`), `Proposal.review_rank`. A header is remembered until its
file changes, so that a long list is not read again as a whole.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from lerim import files
from lerim.errors import BoundaryError, LerimError
from lerim.memory import MAX_FILE_BYTES, parse_reference
from lerim.review.candidates.candidate_files import parse_candidate_alone
from lerim.review.review_paths import ReviewPaths

_MAX_REMEMBERED = 10_000


class _Head(NamedTuple):
    """A candidate's rank in the review, and the files it refers to. The defaults are for a file that cannot be read,
    which comes last."""

    rank: tuple[bool, float, datetime, str] = (True, 0.0, datetime.max.replace(tzinfo=UTC), "")
    files: frozenset[str] = frozenset()


def sort_best_first(paths: ReviewPaths, candidate_ids: Sequence[str]) -> list[str]:
    """Returns the ids of candidates in the order in which they are reviewed."""
    return sorted(candidate_ids, key=lambda name: (_load_head(paths, name).rank, name))


def select_with_file(paths: ReviewPaths, candidate_ids: Sequence[str], file: str) -> list[str]:
    """Returns the candidates that have a reference to this file or to something in it."""
    return [name for name in candidate_ids if file in _load_head(paths, name).files]


def _load_head(paths: ReviewPaths, candidate_id: str) -> _Head:
    try:
        path = paths.candidate_path(candidate_id)
        stat = os.lstat(path)
    except (OSError, BoundaryError):
        return _Head()  # decided meanwhile, or replaced by a link
    return _read_head(path, paths.state_anchor, stat.st_mtime_ns, stat.st_size, stat.st_ino)


@lru_cache(maxsize=_MAX_REMEMBERED)
def _read_head(path: Path, anchor: Path, _mtime: int, _size: int, _inode: int) -> _Head:
    try:
        proposal = parse_candidate_alone(files.read_text(path, MAX_FILE_BYTES, anchor), path)
    except LerimError:
        return _Head()
    named = [parse_reference(text) for text in proposal.record.references]
    return _Head(proposal.review_rank, frozenset(one.path for one in named if one is not None))
