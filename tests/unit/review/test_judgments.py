"""A decision about a ranked candidate is kept with the act, whole or not at all, and goes with its undo."""

from __future__ import annotations

import os
import sqlite3
from functools import partial
from typing import Any

import pytest

from killer import every_kill
from lerim.extraction.candidate import Candidate, drop_candidate
from lerim.extraction.ranking.features import FEATURE_NAMES
from lerim.review import queue
from lerim.review.ledger.judgments import count_judgments, find_ledgers, forget_judgments
from lerim.review.ledger.signal_outcomes import outcomes_by_signal
from lerim.review.review_paths import ReviewPaths
from reviews import Make, proposed, waiting
from rights import bound, close

FEATURES = tuple(float(name in ("source prompt", "cue generalizes")) for name in FEATURE_NAMES)
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.fixture
def ranked(make: Make) -> Make:
    """A candidate that was ranked, of a turn of its own."""

    def candidate(number: int = 0, **more: Any) -> Candidate:
        title = f"Always name part{number} after its issue"
        values = {"signal": "prompt", "score": 0.3, "features": FEATURES, **more}
        return make(title, f"See `f{number}.py`.", f"t{number}", number, **values)

    return candidate


def decided(place: ReviewPaths) -> list[tuple[str, str]]:
    """The decisions kept: what, and about which candidate."""
    with sqlite3.connect(place.private / "review.sqlite3") as book:
        found = book.execute("SELECT what, candidate FROM judgments ORDER BY number").fetchall()
    book.close()
    return found


def test_each_act_is_kept_and_goes_with_its_undo(place: ReviewPaths, ranked: Make) -> None:
    first, second, third = (proposed(place, ranked(number)).id for number in range(3))
    queue.keep_left_out(place, [drop_candidate(ranked(3), "below-the-cut", "", 0.1)])
    queue.accept_candidate(place, first, quotes="shared")
    queue.edit_candidate(place, second, queue.CandidateEdit(title="Name parts after issues"))
    queue.accept_candidate(place, second)
    queue.reject_candidate(place, third)
    queue.propose_anyway(place, queue.list_left_out(place)[0][0].id)
    assert [what for what, _ in decided(place)] == ["accepted", "edited", "edited", "rejected", "wanted"]
    assert count_judgments(place.home) == 4
    for _ in range(5):
        assert queue.undo_last(place).ok
    assert decided(place) == []


def test_a_damaged_ledger_costs_only_itself_and_what_was_forgotten_stands_nowhere_in_a_sound_one(
    place: ReviewPaths, ranked: Make
) -> None:
    queue.reject_candidate(place, proposed(place, ranked()).id)
    other = place.home.project("f" * 16)
    other.mkdir()
    (other / "review.sqlite3").write_bytes(b"no database " * 400)
    assert count_judgments(place.home) == 1
    figures, problems = outcomes_by_signal(find_ledgers(place.home))
    assert [one.rejected for one in figures] == [1]
    assert [one.path for one in problems] == [str(other / "review.sqlite3")]
    assert b"cue generalizes" in (place.private / "review.sqlite3").read_bytes()
    for forgotten in (1, 0):
        done = forget_judgments(place.home)
        assert (done.forgotten, [one.path for one in done.problems]) == (forgotten, [str(other / "review.sqlite3")])
        assert b"cue generalizes" not in (place.private / "review.sqlite3").read_bytes()
    assert queue.undo_last(place).ok


def test_a_home_that_may_only_be_read_still_ranks_and_says_that_it_cannot_forget(
    place: ReviewPaths, ranked: Make
) -> None:
    queue.reject_candidate(place, proposed(place, ranked()).id)
    weights = queue.load_adjustment(place.home).weights
    close(place.home.root)
    try:
        with bound():
            assert queue.load_adjustment(place.home).weights == weights
            done = forget_judgments(place.home)
            assert (done.forgotten, len(done.problems)) == (0, 1)
            assert "cannot be forgotten" in done.problems[0].message
    finally:
        close(place.home.root, mode=0o755)
    assert queue.load_adjustment(place.home).weights == weights


@forks
@pytest.mark.parametrize("act", ["reject", "accept", "wanted"])
def test_killed_at_any_instant_an_act_and_its_decision_are_both_there_or_neither(
    place: ReviewPaths, ranked: Make, act: str
) -> None:
    for number, kill in enumerate(every_kill()):
        if act == "wanted":
            queue.keep_left_out(place, [drop_candidate(ranked(number), "below-the-cut", "", 0.1)])
            work = partial(queue.propose_anyway, place, queue.list_left_out(place)[0][0].id)
        elif act == "reject":
            work = partial(queue.reject_candidate, place, proposed(place, ranked(number)).id)
        else:
            work = partial(queue.accept_candidate, place, proposed(place, ranked(number)).id, quotes="shared")
        kill(work)
        work()
        assert len(decided(place)) == count_judgments(place.home) == number + 1


@forks
def test_killed_at_any_instant_of_an_undo_the_decision_goes_with_it(place: ReviewPaths, ranked: Make) -> None:
    candidate = proposed(place, ranked()).id
    for kill in every_kill():
        assert queue.reject_candidate(place, candidate).ok
        kill(queue.undo_last, place)
        queue.undo_last(place)
        assert waiting(place) and decided(place) == []


@forks
def test_killed_while_forgetting_the_next_forgets_the_rest(place: ReviewPaths, ranked: Make) -> None:
    for kill in every_kill(every=1, least=1):
        queue.reject_candidate(place, proposed(place, ranked(kill.at)).id)
        kill(forget_judgments, place.home)
        assert count_judgments(place.home) in (0, 1)
        forget_judgments(place.home)
        assert count_judgments(place.home) == 0
