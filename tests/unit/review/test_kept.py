"""What a person keeps is not unused: disuse begins when a memory became one here."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from lerim.memory.record import MemoryRecord, render_record
from lerim.memory.uses import Uses
from lerim.review import CandidateEdit, acts, queue
from lerim.review.review_paths import ReviewPaths
from reviews import maintained

NOW = datetime.now(UTC).replace(microsecond=0)
LONG_AGO = NOW - timedelta(days=400)


def decayed(place: ReviewPaths, now: datetime = NOW) -> int:
    return maintained(place, now, dry_run=True).counts.get("decayed", 0)


def written(place: ReviewPaths, days: int = 400, *, file_days: int = 400, verified: str = "") -> str:
    """A learning that came with git, its words so many days old and its file here for so many."""
    at = NOW - timedelta(days=days)
    record = MemoryRecord(
        *(f"{at:%Y%m%d}-clear-the-cache", "learning", "Clear the cache first", at, at, "manual", 0.6, (), "It is old."),
        kind="pitfall",
        verified=verified,
    )
    path = place.store().path_for(record)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_record(record), encoding="utf-8")
    here = (NOW - timedelta(days=file_days)).timestamp()
    os.utime(path, (here, here))
    return record.id


def fade(place: ReviewPaths, memory: str) -> None:
    """Nobody looked at it for as long as its words are old, and its file is as old."""
    Uses(place.private).path.unlink(missing_ok=True)
    path = place.store().path_of(memory)
    assert path is not None
    os.utime(path, (LONG_AGO.timestamp(), LONG_AGO.timestamp()))
    assert decayed(place) == 1


ACTS: dict[str, Callable[[ReviewPaths, str], object]] = {
    "edited": lambda place, memory: acts.edit_memory(
        place, memory, CandidateEdit("Clear the cache first", "It is old.", ("cache",))
    ),
    "verified": acts.verify_memory,
    "of another kind": lambda place, memory: acts.change_kind(place, memory, "learning", "friction"),
    "found useful": lambda place, memory: acts.give_feedback(place, memory, "useful"),
    "brought back by undo": lambda place, memory: queue.undo_last(place, acts.archive_memory(place, memory).action),
    "restored": lambda place, memory: (acts.archive_memory(place, memory), acts.restore_memory(place, memory)),
}


@pytest.mark.parametrize("act", ACTS)
def test_what_a_person_put_right_or_brought_back_is_used(place: ReviewPaths, act: str) -> None:
    memory = written(place)
    fade(place, memory)
    ACTS[act](place, memory)
    path = place.store().path_of(memory)
    assert path is not None
    os.utime(path, (LONG_AGO.timestamp(), LONG_AGO.timestamp()))
    assert decayed(place) == 0


@pytest.mark.parametrize(
    ("verified", "unused"), [(f"{NOW - timedelta(days=3):%Y-%m-%d}@0123456789ab", 0), ("yesterday", 1), ("", 1)]
)
def test_a_memory_counts_as_unused_since_a_teammate_verified_it_whenever_git_wrote_its_file(
    place: ReviewPaths, verified: str, unused: int
) -> None:
    memory = written(place, file_days=0, verified=verified)
    assert decayed(place) == unused
    Uses(place.private).record_use([memory], "opened", LONG_AGO)
    assert decayed(place) == unused
