"""What was not proposed is kept with its reason, and a person can have it proposed anyway."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from killer import DONE, KILLED, in_child
from lerim.errors import NotFoundError, UsageError
from lerim.extraction.candidate import Candidate, DroppedSignal, DropReason, drop_candidate
from lerim.review import queue
from lerim.review.accepting import doubt_reason
from lerim.review.ledger.left_out import KEPT_FOR, MAX_LEFT_OUT, LeftOut
from lerim.review.review_paths import ReviewPaths

Make = Callable[..., Candidate]
NOW = datetime(2026, 8, 2, tzinfo=UTC)


def leave_out(place: ReviewPaths, *items: DroppedSignal, now: datetime = NOW) -> list[LeftOut]:
    queue.keep_left_out(place, items, now)
    return queue.list_left_out(place)[0]


def titles(place: ReviewPaths) -> list[str]:
    return [one.title for one in queue.list_left_out(place)[0]]


def waiting(place: ReviewPaths) -> list[str]:
    return [one.record.title for one in queue.list_pending(place)[0]]


def test_nothing_was_left_out_where_nothing_was_read(place: ReviewPaths) -> None:
    assert queue.list_left_out(place) == ([], 0)
    assert not (place.private / "review.sqlite3").exists()


def test_what_was_left_out_is_listed_with_its_reason_what_was_said_last_first(place: ReviewPaths, make: Make) -> None:
    leave_out(
        place,
        drop_candidate(make("Old", minutes=-5), "duplicate", "the same"),
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


def test_one_session_has_a_list_of_its_own(place: ReviewPaths, make: Make) -> None:
    leave_out(
        place,
        drop_candidate(make("Ours", session="abcdef-1"), "below-the-cut", "", score=0.2),
        drop_candidate(make("Theirs", session="123456-1"), "below-the-cut", "", score=0.4),
    )
    found, count = queue.list_left_out(place, session="abc")
    assert ([one.title for one in found], count) == (["Ours"], 1)


def test_what_another_version_kept_is_listed_though_it_cannot_be_proposed(place: ReviewPaths, make: Make) -> None:
    leave_out(place, drop_candidate(make(), "duplicate", ""), drop_candidate(make("Never squash"), "duplicate", ""))
    with sqlite3.connect(place.private / "review.sqlite3") as other:
        other.execute("UPDATE left_out SET candidate='{}', reason='of-tomorrow' WHERE title='Never squash'")
    other.close()
    found = {one.title: one for one in queue.list_left_out(place)[0]}
    assert found["Use uv, not pip"].candidate is not None
    assert (found["Never squash"].candidate, found["Never squash"].reason) == (None, "invalid")


def test_the_same_left_out_again_is_listed_once_and_what_has_no_words_not_at_all(
    place: ReviewPaths, make: Make
) -> None:
    leave_out(place, drop_candidate(make(), "no-evidence", "nowhere"))
    [found] = leave_out(
        place, drop_candidate(make(), "duplicate", "the same"), DroppedSignal("invalid", "", "s1", "t", "no form")
    )
    assert found.reason == "duplicate"


def test_no_more_is_kept_than_the_bound_and_nothing_that_is_old(place: ReviewPaths, make: Make) -> None:
    leave_out(place, drop_candidate(make("Old"), "duplicate", ""), now=NOW - KEPT_FOR - timedelta(seconds=1))
    leave_out(
        place, *(drop_candidate(make(f"Number {at}"), "below-the-cut", "", score=at) for at in range(MAX_LEFT_OUT + 5))
    )
    found, count = queue.list_left_out(place, most=MAX_LEFT_OUT + 5)
    assert count == len(found) == MAX_LEFT_OUT
    assert (found[0].title, found[-1].title) == (f"Number {MAX_LEFT_OUT + 4}", "Number 5")


def test_what_is_proposed_anyway_waits_like_any_other_and_says_who_wanted_it(place: ReviewPaths, make: Make) -> None:
    [item] = leave_out(place, drop_candidate(make(), "duplicate", "the same"))
    result = queue.propose_anyway(place, item.id[:4])
    assert result.ok and result.code == "proposed"
    [proposal] = queue.list_pending(place)[0]
    assert (proposal.record.title, proposal.maker, proposal.action) == ("Use uv, not pip", "person", "add")
    assert "proposed from this session" in proposal.reason
    assert proposal.flags == () and doubt_reason(proposal) == ""
    assert titles(place) == []
    assert queue.accept_candidate(place, proposal.id, quotes="shared").code == "accepted"


def test_proposing_twice_is_proposing_once(place: ReviewPaths, make: Make) -> None:
    [item] = leave_out(place, drop_candidate(make(), "duplicate", ""))
    queue.propose_anyway(place, item.id)
    assert queue.propose_anyway(place, item.id).code == "already"
    assert waiting(place) == ["Use uv, not pip"]


def test_undo_takes_it_back_and_it_can_be_proposed_again(place: ReviewPaths, make: Make) -> None:
    [item] = leave_out(place, drop_candidate(make(), "duplicate", ""))
    for _ in range(2):
        result = queue.propose_anyway(place, item.id)
        assert waiting(place) == ["Use uv, not pip"] and titles(place) == []
        assert queue.undo_last(place, result.action).code == "undone"
        assert waiting(place) == [] and titles(place) == ["Use uv, not pip"]


def test_what_was_rejected_before_or_is_a_memory_can_be_proposed_and_accepted(place: ReviewPaths, make: Make) -> None:
    first = queue.propose_candidate(place, make())
    assert isinstance(first, queue.CandidateProposed)
    queue.accept_candidate(place, first.proposal.id, quotes="shared")
    second = queue.propose_candidate(place, make("Never squash", "`git merge` keeps commits.", turn="t2"))
    assert isinstance(second, queue.CandidateProposed)
    queue.reject_candidate(place, second.proposal.id)
    leave_out(
        place,
        drop_candidate(make(turn="t3"), "already-known", ""),
        drop_candidate(make("Never squash", "`git merge` keeps commits.", turn="t2"), "rejected-before", ""),
    )
    for item in queue.list_left_out(place)[0]:
        result = queue.propose_anyway(place, item.id)
        assert result.path is not None
    for proposal in queue.list_pending(place)[0]:
        assert queue.accept_candidate(place, proposal.id).code == "accepted"
    assert len(place.store().load_all()[0]) == 3


@pytest.mark.parametrize("reason", ["secret-only", "injection", "no-evidence", "not-the-person", "refuted"])
def test_what_is_doubtful_is_flagged_so_that_nothing_accepts_it_unseen(
    place: ReviewPaths, make: Make, reason: DropReason
) -> None:
    [item] = leave_out(place, drop_candidate(make(evidence=()), reason, ""))
    queue.propose_anyway(place, item.id)
    [proposal] = queue.list_pending(place)[0]
    assert proposal.flags
    assert doubt_reason(proposal)
    assert queue.auto_accept_all(place, "shared") == ([], [])


def test_what_cannot_be_a_memory_says_so(place: ReviewPaths) -> None:
    [item] = leave_out(place, DroppedSignal("invalid", "cut in the", "s1", "t1", "cut in the middle"))
    with pytest.raises(NotFoundError, match="cannot be proposed"):
        queue.propose_anyway(place, item.id)
    with pytest.raises(NotFoundError, match="Nothing left out has the id"):
        queue.propose_anyway(place, "nope")
    with pytest.raises(NotFoundError):
        queue.propose_anyway(place, "")


def test_a_beginning_that_several_have_names_none(place: ReviewPaths, make: Make) -> None:
    items = leave_out(place, *(drop_candidate(make(f"Number {at}"), "duplicate", "") for at in range(40)))
    heads = [one.id[0] for one in items]
    twice = next(head for head in heads if heads.count(head) > 1)
    with pytest.raises(UsageError, match="Several"):
        queue.propose_anyway(place, twice)


def test_a_later_turn_does_not_take_back_what_a_person_had_proposed(place: ReviewPaths, make: Make) -> None:
    [item] = leave_out(place, drop_candidate(make(), "refuted", ""))
    queue.propose_anyway(place, item.id)
    assert queue.withdraw_candidates(place, make().turn, "the person then said no") == []
    assert waiting(place) == ["Use uv, not pip"]


def test_a_ledger_of_the_version_before_keeps_what_it_knows(place: ReviewPaths, make: Make) -> None:
    queue.propose_candidate(place, make())
    with sqlite3.connect(place.private / "review.sqlite3") as older:
        older.execute("DROP TABLE left_out")
        older.execute("PRAGMA user_version=3")
    older.close()
    assert waiting(place) == ["Use uv, not pip"]
    assert [one.title for one in leave_out(place, drop_candidate(make("Never squash"), "duplicate", ""))] == [
        "Never squash"
    ]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_any_instant_it_is_left_out_or_waits_and_never_both(place: ReviewPaths, make: Make) -> None:
    instants = 0
    while True:
        title = f"Name it number{instants}"
        candidate = make(title, f"`f{instants}.py`", turn=f"t{instants}")
        item = next(one for one in leave_out(place, drop_candidate(candidate, "duplicate", "")) if one.title == title)
        code = in_child(lambda found=item.id: queue.propose_anyway(place, found), instants)  # type: ignore[misc]
        assert code in (KILLED, DONE)
        assert queue.propose_anyway(place, item.id).ok
        assert waiting(place).count(title) == 1 and title not in titles(place)
        if code == DONE:
            break
        instants += 1
    assert instants > 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_two_processes_that_propose_it_at_once_make_one_candidate(place: ReviewPaths, make: Make) -> None:
    [item] = leave_out(place, drop_candidate(make(), "duplicate", ""))
    ready, go = os.pipe()
    children = []
    for _ in range(3):
        pid = os.fork()
        if pid == 0:
            try:
                os.close(go)
                os.read(ready, 1)
                os._exit(DONE if queue.propose_anyway(place, item.id).ok else 1)
            except BaseException:
                os._exit(2)
        children.append(pid)
    os.close(ready)
    os.close(go)
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children] == [DONE] * 3
    assert waiting(place) == ["Use uv, not pip"]
