"""Kills at random instants of sync and accept: nothing is lost, nothing is there twice."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from desk import Desk, correction
from killer import Killer
from lerim.review import queue
from long import at_most, times

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
KILLS = 3
"""For each seed; `LERIM_LONG` multiplies them."""


def rules(desk: Desk, number: int) -> None:
    """One more session in which the person corrects the agent: of a file and of names of its own."""
    file = f"src/part{number}.py"
    (desk.repo / file).write_text("def load(): ...\n", encoding="utf-8")
    desk.session(f"s{number}", *correction(desk, f"library{number}", file, f"module{number}"))


def leftovers(desk: Desk) -> list[Path]:
    """Files of ours that are neither memory, candidate nor index; a run's folder goes as a whole when it is old."""
    known = {".md", ".json", ".log", ".sqlite3", ".sqlite3-wal", ".sqlite3-shm", ".lock", ".gitignore", ""}
    files = [path for path in (desk.repo / ".lerim").rglob("*") if path.is_file() and "workspace" not in path.parts]
    return [path for path in files if path.suffix not in known]


@pytest.mark.parametrize("seed", range(at_most(2, 1)))
def test_kills_of_sync_and_accept_lose_and_double_nothing(desk: Desk, seed: int) -> None:
    killer = Killer(seed)
    number = 0
    while killer.killed < times(KILLS):
        rules(desk, number)
        number += 1
        for _ in range(2):
            killer.run("sync", desk.sync)
        waiting, problems, _ = queue.list_pending(desk.place)
        assert not problems
        for proposal in killer.chance.sample(waiting, min(2, len(waiting))):
            killer.run("accept", lambda one=proposal.id: queue.accept_candidate(desk.place, one, quotes="shared"))  # type: ignore[misc]
    rules(desk, number)
    report = desk.sync()

    assert report.problems == []
    for proposal in queue.list_pending(desk.place)[0]:
        assert queue.accept_candidate(desk.place, proposal.id, quotes="shared").ok
    titles = desk.memories()
    assert len(titles) == len(set(titles)) == number + 1
    assert desk.waiting() == []
    assert leftovers(desk) == []
    assert desk.sync().candidates == []
