"""A process killed at any instant of writing a summary leaves nothing that looks like a person's, and one file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from killer import Kill, every_kill
from lerim.memory.record import MemoryRecord, examine_record
from lerim.memory.summaries import Summaries, SummaryChange, read_summary

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
START = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


def write(place: Path, body: str, session: str = "claude:s1", start: datetime = START) -> SummaryChange:
    record = MemoryRecord("", "summary", "Pad left", start, start, f"{session}#0a1b2c3d4e5f", 0.9, (), body)
    with closing(Summaries(place / "memory", place, place / "private")) as summaries:
        return summaries.write(record, session, "rules")[1]


def files(place: Path) -> list[Path]:
    return sorted((place / "memory").rglob("*.md"))


def places(folder: Path) -> Iterator[tuple[Kill, Path]]:
    """A kill at each touch of the disk, and a new place for it."""
    for kill in every_kill(every=1, least=2):
        place = folder / str(kill.at)
        (place / "private").mkdir(parents=True)
        yield kill, place


def test_a_first_writing_that_was_killed_is_done_again_in_the_same_place_and_leaves_nothing(tmp_path: Path) -> None:
    for kill, place in places(tmp_path):
        kill(write, place, "one")
        for path in (place / "memory").rglob("*"):
            os.utime(path, (0, 0))
        write(place, "other", "claude:s2", START.replace(hour=17))
        assert list((place / "memory").rglob("*.tmp")) == []
        assert write(place, "two") in ("written", "updated")
        path = files(place)[0]
        assert len(files(place)) == 2
        assert path.relative_to(place).as_posix() == "memory/summaries/20260301/093000/pad-left.md"
        assert examine_record(path.read_text(encoding="utf-8"), path)[0].body == "two"


def test_an_update_that_was_killed_is_not_taken_for_a_persons_edit(tmp_path: Path) -> None:
    for kill, place in places(tmp_path):
        write(place, "one")
        kill(write, place, "two")
        assert write(place, "three") == "updated"
        found = read_summary(place / "memory", place, place / "private", "claude:s1")
        assert found is not None and found[0].body == "three"
