"""Related learnings put together, as a list of all of them."""

from __future__ import annotations

import pytest

from desk import Desk
from lerim.review import queue
from test_maintain import AUTO, run, said, settings

POOL = (
    ("The pool needs a timeout of 30 seconds", "A connection of the pool without a timeout hangs."),
    ("A connection of the pool is retried twice", "`RETRIES` is 2. Then the pool gives the connection up."),
    ("Close each connection of the pool", "Never call `pool.drop()` with a connection open."),
)


@pytest.fixture
def desk(desk: Desk) -> Desk:
    """A repository with three related learnings, and automatic review."""
    settings(desk, AUTO)
    (desk.repo / "src" / "db.py").write_text("RETRIES = 2\n", encoding="utf-8")
    for day, (title, body) in enumerate(POOL):
        said(desk, title, body, days=9 - day, primitive="learning", references=("src/db.py",))
    return desk


def test_related_learnings_are_proposed_as_a_list_that_takes_their_place_once_a_person_accepts_it(desk: Desk) -> None:
    report = run(desk)
    [one] = report.proposals
    assert [done.action for done in report.done] == ["proposed-consolidate"]
    assert (one.action, one.title, one.flags) == ("consolidate", "What was learned about `src/db.py`", ["plain"])
    assert all(title in one.body and body in one.body for title, body in POOL)
    assert one.reason == "3 learnings are about `src/db.py` and share words."
    assert queue.accept_candidate(desk.place, one.id, quotes="shared").ok
    [left] = [memory.record for memory in desk.place.store().load_all()[0] if memory.status == "active"]
    assert (left.kind, len(left.supersedes), left.references) == ("insight", 3, ("src/db.py",))
    assert len(left.evidence) == 3
    assert run(desk).proposals == []


def test_what_waits_or_was_rejected_is_not_proposed_again(desk: Desk) -> None:
    [one] = run(desk).proposals
    assert run(desk).counts["waiting"] == 1
    queue.reject_candidate(desk.place, one.id)
    assert run(desk).counts["rejected"] == 1
