"""A clone has the memories and nothing else: what its store says is over is not proposed again from older turns."""

import shutil
from collections.abc import Callable

import pytest

from lerim.review import acts, queue
from lerim.review.review_paths import ReviewPaths
from reviews import Make, accepted, proposed


@pytest.fixture
def clone(place: ReviewPaths) -> Callable[[], ReviewPaths]:
    """Leaves of this installation's work what git would carry to a teammate."""

    def made() -> ReviewPaths:
        shutil.rmtree(place.home.root)
        shutil.rmtree(place.review, ignore_errors=True)
        assert not place.private.exists()
        return place

    return made


@pytest.mark.parametrize("minutes", [-90, -1, 0])
def test_what_lies_archived_is_not_proposed_again_from_an_earlier_turn(
    place: ReviewPaths, make: Make, clone: Callable[[], ReviewPaths], minutes: int
) -> None:
    candidate = make(time=make().time.replace(microsecond=700_000))
    name = accepted(place, candidate).stem
    acts.archive_memory(place, name)
    clone()
    for earlier in (make(turn="t2", minutes=minutes), candidate):
        again = queue.propose_candidate(place, earlier)
        assert isinstance(again, queue.AlreadyKnown) and again.id == name
        assert "inactive" in again.reason
    proposed(place, make(turn="t3", minutes=5))  # a later turn says it anew


def test_what_was_superseded_long_ago_is_not_proposed_from_a_turn_before_that(
    place: ReviewPaths, make: Make, clone: Callable[[], ReviewPaths]
) -> None:
    old = accepted(place, make("Store the cache in Redis", "Workers share it.", minutes=0)).stem
    new = accepted(
        place,
        make("Store the cache in SQLite", "One file, no server.", turn="t2", minutes=60, replaces=("Redis",)),
    ).stem
    assert place.store().load_by_id(old).record.superseded_by == new
    clone()
    again = queue.propose_candidate(place, make("Store the cache in Redis", "Workers share it.", turn="t3", minutes=-5))
    assert isinstance(again, queue.AlreadyKnown) and again.id == old
