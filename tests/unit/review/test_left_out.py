"""What was not proposed is kept with its reason, and a person can have it proposed anyway."""

from __future__ import annotations

import os
import sqlite3
from datetime import UTC, datetime, timedelta

import pytest

from killer import every_kill
from lerim.errors import UsageError
from lerim.extraction.candidate import DroppedSignal, DropReason, drop_candidate
from lerim.review import queue
from lerim.review.accepting import doubt_reason
from lerim.review.ledger.left_out import KEPT_FOR, MAX_LEFT_OUT, LeftOut
from lerim.review.review_paths import ReviewPaths
from reviews import Make, waiting

NOW = datetime(2026, 8, 2, tzinfo=UTC)


def leave_out(place: ReviewPaths, *items: DroppedSignal, now: datetime = NOW) -> list[LeftOut]:
    queue.keep_left_out(place, items, now)
    return queue.list_left_out(place)[0]


def titles(place: ReviewPaths) -> list[str]:
    return [one.title for one in queue.list_left_out(place)[0]]


def test_what_was_left_out_is_listed_with_its_reason_what_was_said_last_first(place: ReviewPaths, make: Make) -> None:
    assert queue.list_left_out(place) == ([], 0) and not (place.private / "review.sqlite3").exists()
    leave_out(
        place,
        drop_candidate(make("Old", session="abcdef-1", minutes=-5), "duplicate", "the same"),
        drop_candidate(make("Low"), "below-the-cut", "", score=0.2),
        drop_candidate(make("High"), "below-the-cut", "", score=0.4),
    )
    found, count = queue.list_left_out(place)
    assert [(one.title, one.reason, one.score) for one in found] == [
        ("High", "below-the-cut", 0.4),
        ("Low", "below-the-cut", 0.2),
        ("Old", "duplicate", None),
    ]
    assert count == 3
    assert [one.title for one in queue.list_left_out(place, most=2)[0]] == ["High", "Low"]
    found, count = queue.list_left_out(place, session="abc")
    assert ([one.title for one in found], count) == (["Old"], 1)


def test_the_same_left_out_again_is_listed_once_and_what_another_version_kept_though_it_cannot_be_proposed(
    place: ReviewPaths, make: Make
) -> None:
    leave_out(place, drop_candidate(make(), "no-evidence", "nowhere"))
    wordless = DroppedSignal("invalid", "", "s1", "t", "no form")
    [found] = leave_out(place, drop_candidate(make(), "duplicate", "the same"), wordless)
    assert found.reason == "duplicate"
    leave_out(place, drop_candidate(make("Never squash"), "duplicate", ""))
    with sqlite3.connect(place.private / "review.sqlite3") as other:
        other.execute("UPDATE left_out SET candidate='{}', reason='of-tomorrow' WHERE title='Never squash'")
    other.close()
    known = {one.title: (one.candidate is not None, one.reason) for one in queue.list_left_out(place)[0]}
    assert known == {"Use uv, not pip": (True, "duplicate"), "Never squash": (False, "invalid")}


def test_no_more_is_kept_than_the_bound_and_nothing_that_is_old(place: ReviewPaths, make: Make) -> None:
    leave_out(place, drop_candidate(make("Old"), "duplicate", ""), now=NOW - KEPT_FOR - timedelta(seconds=1))
    leave_out(
        place, *(drop_candidate(make(f"Number {at}"), "below-the-cut", "", score=at) for at in range(MAX_LEFT_OUT + 5))
    )
    found, count = queue.list_left_out(place, most=MAX_LEFT_OUT + 5)
    assert count == len(found) == MAX_LEFT_OUT
    assert (found[0].title, found[-1].title) == (f"Number {MAX_LEFT_OUT + 4}", "Number 5")
    with pytest.raises(UsageError, match="Several"):
        queue.propose_anyway(place, found[0].id[0])


def test_what_is_proposed_anyway_waits_like_any_other_says_who_wanted_it_and_can_be_taken_back(
    place: ReviewPaths, make: Make
) -> None:
    [item] = leave_out(place, drop_candidate(make(), "duplicate", "the same"))
    for _ in range(2):
        result = queue.propose_anyway(place, item.id[:4])
        assert result.ok and result.code == "proposed"
        assert result.waiting == tuple(proposal.id for proposal in queue.list_pending(place)[0])
        assert queue.propose_anyway(place, item.id).code == "already"
        assert waiting(place) == ["Use uv, not pip"] and titles(place) == []
        assert queue.undo_last(place, result.action).code == "undone"
        assert waiting(place) == [] and titles(place) == ["Use uv, not pip"]
    queue.propose_anyway(place, item.id)
    assert queue.withdraw_candidates(place, make().turn, "the person then said no") == [], "a person wanted it"
    [proposal] = queue.list_pending(place)[0]
    assert (proposal.record.title, proposal.maker, proposal.action) == ("Use uv, not pip", "person", "add")
    assert "proposed from this session" in proposal.reason
    assert proposal.flags == () and doubt_reason(proposal) == ""
    assert queue.accept_candidate(place, proposal.id, quotes="shared").code == "accepted"


def test_what_is_doubtful_is_flagged_so_that_nothing_accepts_it_unseen(place: ReviewPaths, make: Make) -> None:
    reasons: list[DropReason] = ["secret-only", "injection", "no-evidence", "not-the-person", "refuted"]
    for item in leave_out(place, *(drop_candidate(make(one, turn=one, evidence=()), one, "") for one in reasons)):
        queue.propose_anyway(place, item.id)
    proposals = queue.list_pending(place)[0]
    assert len(proposals) == len(reasons) and all(one.flags and doubt_reason(one) for one in proposals)
    assert queue.auto_accept_all(place, "shared") == ([], [])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_any_instant_it_is_left_out_or_waits_and_never_both(place: ReviewPaths, make: Make) -> None:
    for kill in every_kill():
        title = f"Name it number{kill.at}"
        candidate = make(title, f"`f{kill.at}.py`", turn=f"t{kill.at}")
        item = next(one for one in leave_out(place, drop_candidate(candidate, "duplicate", "")) if one.title == title)
        kill(queue.propose_anyway, place, item.id)
        assert queue.propose_anyway(place, item.id).ok
        assert waiting(place).count(title) == 1 and title not in titles(place)
