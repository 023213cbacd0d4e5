"""A kill or a full disk while one of our databases is first made: the next act makes it, and nobody is told of damage.

The limit on the size of files stands for both, at every size: a write beyond it kills the process, or fails as it does
on a full disk.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lerim.errors import Problem
from lerim.memory.freshness import baselines
from lerim.memory.search.memory_search import MemorySearch
from lerim.memory.summaries import Summaries
from lerim.memory.uses import Uses
from lerim.models.money import spending
from lerim.paths import Home
from lerim.project import project
from lerim.review import queue
from lerim.review.ledger import ledger
from lerim.review.review_paths import ReviewPaths
from lerim.sessions.catalog.catalog import Catalog
from long import LONG

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="files have no limits there")
NOW = datetime(2026, 8, 1, tzinfo=UTC)
Make = Callable[[ReviewPaths], list[Problem]]
LIMITS = (0, 1, 24, 100, 511, 512, 1024, *range(2048, 140_000, 4096 - 512)) if LONG else (0, 512, 2048, 66_048)


def catalog(place: ReviewPaths) -> list[Problem]:
    with Catalog.open(place.home) as opened:
        return opened.problems


def uses(place: ReviewPaths) -> list[Problem]:
    found = Uses(place.private)
    found.record_use(["20260801-one"], "opened", NOW)
    return found.problems


def spent(place: ReviewPaths) -> list[Problem]:
    problems: list[Problem] = []
    with spending._open(place.home, problems):
        return problems


def review(place: ReviewPaths) -> list[Problem]:
    with place.lock(), ledger.open_ledger(place.private) as book:
        assert book.states() == {}
    return []


def standing(place: ReviewPaths) -> list[Problem]:
    with baselines.open_baselines(place.private, place.project.root):
        return []


def summaries(place: ReviewPaths) -> list[Problem]:
    Summaries(place.project.memory_dir, place.project.root, place.private).close()
    return []


def index(place: ReviewPaths) -> list[Problem]:
    with MemorySearch(place.project, place.home) as search:
        return search.problems


MAKERS: list[Make] = [catalog, uses, spent, review, standing, summaries, index]


def limited(make: Make, place: ReviewPaths, limit: int, kill: bool) -> None:
    """Makes a database in a process whose files may have so many bytes; it dies of a write beyond, or is refused."""
    import resource

    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL if kill else signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        make(place)
    except BaseException:
        os._exit(1)
    os._exit(0)


@pytest.mark.parametrize("kill", [True, False], ids=["killed", "full"])
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_a_database_whose_first_making_was_cut_short_is_made_by_the_next(
    make: Make, kill: bool, repo: Path, tmp_path: Path
) -> None:
    for limit in LIMITS:
        home = Home(tmp_path / f"{make.__name__}-{limit}" / ".lerim")
        found = project.locate_project(repo, home)
        assert found
        place = ReviewPaths(found, home)
        place.make_private_folder()
        limited(make, place, limit, kill)
        assert make(place) == [], limit
        assert make(place) == []
        assert not [path for path in home.root.rglob("*") if "damaged" in path.name]
    assert queue.list_pending(place) == ([], [], 0)
