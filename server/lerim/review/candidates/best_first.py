"""The order in which candidates are reviewed: those with the highest confidence first, as in the editor's panel
(`arrangement.ts`), and of those with the same, the one that was said first.

A page of a long list reads whole only the candidates on it. Of the others the header is read, and remembered until the
file changes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from lerim import files
from lerim.errors import LerimError
from lerim.memory import MAX_FILE_BYTES, load_header, split_header
from lerim.review.review_paths import ReviewPaths

_MAX_REMEMBERED = 10_000
_LAST = (0.0, datetime.max.replace(tzinfo=UTC))
"""The rank of what cannot be read."""


def sort_best_first(paths: ReviewPaths, candidate_ids: Sequence[str]) -> list[str]:
    """Returns the ids of candidates in the order in which they are reviewed."""
    ranks = {name: _rank(paths.candidate_path(name), paths.state_anchor) for name in candidate_ids}
    return sorted(candidate_ids, key=lambda name: (*ranks[name], name))


def _rank(path: Path, anchor: Path) -> tuple[float, datetime]:
    try:
        stat = os.lstat(path)
    except OSError:
        return _LAST
    return _read_rank(path, anchor, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=_MAX_REMEMBERED)
def _read_rank(path: Path, anchor: Path, _mtime: int, _size: int) -> tuple[float, datetime]:
    try:
        text = files.read_text(path, MAX_FILE_BYTES, anchor)
        parts = split_header(text)
        fields = load_header(text[parts.start : parts.end], str(path)) if parts else {}
    except LerimError:
        return _LAST
    confidence, time = fields.get("confidence"), fields.get("time", fields.get("created"))
    is_moment = isinstance(time, datetime) and time.tzinfo is not None
    return (
        -float(confidence) if isinstance(confidence, int | float) else _LAST[0],
        time if is_moment and isinstance(time, datetime) else _LAST[1],
    )
