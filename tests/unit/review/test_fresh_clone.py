"""A clone has the memories and nothing else: what its store says is over is not proposed again from older turns."""

import shutil
from collections.abc import Callable

import pytest

from lerim.review import acts, queue
from lerim.review.review_paths import ReviewPaths
from reviews import Make, accepted, added, proposed


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


def test_a_question_that_was_answered_is_not_asked_again_from_an_earlier_turn(
    place: ReviewPaths, make: Make, clone: Callable[[], ReviewPaths]
) -> None:
    asked = make("Where do we store the build cache?", "Open.", primitive="question", signal="reply")
    name = accepted(place, asked).stem
    acts.promote_question(place, name, "Store the build cache in `~/.cache/build`", "There is room.")
    clone()
    earlier = make(asked.title, asked.body, turn="t2", minutes=-5, primitive="question", signal="reply")
    again = queue.propose_candidate(place, earlier)
    assert isinstance(again, queue.AlreadyKnown) and again.id == name


def test_what_a_person_wrote_and_archived_stays_so_and_what_is_over_is_neither_changed_nor_ended(
    place: ReviewPaths, make: Make, clone: Callable[[], ReviewPaths]
) -> None:
    written = added(place, make().title, make().body).stem
    acts.archive_memory(place, written)
    assert isinstance(queue.propose_candidate(place, make()), queue.AlreadyKnown)
    name = accepted(place, make("Retry uploads 3 times", "It is `upload.py` that does.")).stem
    acts.archive_memory(place, name)
    clone()
    found = proposed(place, make("Retry uploads 5 times", "Three were too few.", turn="t2", minutes=5))
    assert (found.action, found.targets) == ("add", ())
