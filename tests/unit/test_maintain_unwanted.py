"""What a person called wrong or outdated: the next maintaining proposes to archive it, unless they kept it since."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from desk import Desk
from lerim.errors import NotFoundError, StaleError
from lerim.jobs.maintain import MaintainReport
from lerim.memory.lifecycle import Feedback
from lerim.memory.record import Primitive
from lerim.memory.uses import Uses
from lerim.review import CandidateEdit, acts, queue
from reviews import accepted, made_candidate, maintained

NOW = datetime(2026, 8, 1, 12, tzinfo=UTC)
TURN = "0a1b2c3d4e5f"


def said(desk: Desk, title: str = "Retry uploads 3 times", primitive: Primitive = "decision") -> str:
    """The id of a memory that a session gave and the person accepted."""
    kind = "pitfall" if primitive == "learning" else None
    body = "It is `upload.py` that does."
    candidate = made_candidate(title, body, TURN, primitive=primitive, kind=kind, tags=(), references=(), time=NOW)
    return accepted(desk.place, candidate, now=NOW).stem


def run(desk: Desk, settings: str | None = None) -> MaintainReport:
    return maintained(desk.place, NOW, settings)


def waiting(desk: Desk) -> list[str]:
    return [one.action for one in queue.list_pending(desk.place)[0]]


@pytest.mark.parametrize(
    ("word", "primitive"),
    [("wrong", "decision"), ("outdated", "learning"), ("wrong", "question"), ("outdated", "theme")],
)
def test_what_a_person_called_wrong_or_outdated_is_proposed_to_be_archived_for_that_reason(
    desk: Desk, word: Feedback, primitive: Primitive
) -> None:
    name = said(desk, primitive=primitive)
    assert run(desk).proposals == []
    acts.give_feedback(desk.place, name, word)
    report = run(desk)
    [proposal] = report.proposals
    assert (proposal.action, report.counts) == ("archive", {"archived": 1})
    assert f"called {word}" in proposal.reason and f"{datetime.now(UTC):%Y-}" in proposal.reason
    assert desk.place.store().load_by_id(name).status == "active", "nothing is done unasked"
    assert queue.accept_candidate(desk.place, proposal.id).ok
    assert desk.place.store().load_by_id(name).status == "archived"


def test_a_word_that_is_undone_takes_its_proposal_along(desk: Desk) -> None:
    name = said(desk)
    acts.give_feedback(desk.place, name, "wrong")
    [view] = run(desk).proposals
    assert queue.undo_last(desk.place).ok
    assert waiting(desk) == []
    with pytest.raises(NotFoundError, match="withdrawn before: the rating was withdrawn"):
        queue.accept_candidate(desk.place, view.id)
    assert desk.place.store().load_by_id(name).status == "active"
    acts.give_feedback(desk.place, name, "wrong")
    assert [one.action for one in run(desk).proposals] == ["archive"], "said again it is proposed again"


@pytest.mark.parametrize("since", ["verified", "unsaid"])
def test_what_nobody_calls_wrong_any_more_is_not_archived_for_it(desk: Desk, since: str) -> None:
    name = said(desk)
    acts.give_feedback(desk.place, name, "wrong")
    [view] = run(desk).proposals
    if since == "verified":
        acts.verify_memory(desk.place, name)
    else:
        Uses(desk.place.private).delete_last_feedback(name)  # as by a process killed before it took the proposal back
    with pytest.raises(StaleError, match="It is no longer rated wrong or outdated"):
        queue.accept_candidate(desk.place, view.id)
    assert waiting(desk) == [] and desk.place.store().load_by_id(name).status == "active"


def test_an_automatic_review_archives_it_where_no_word_of_it_is_a_persons(desk: Desk) -> None:
    lerims, mine = said(desk), said(desk, "Sign the release with `minisign`")
    acts.edit_memory(
        desk.place, mine, CandidateEdit("Sign the release with `signify`", "It is `upload.py` that does.", ())
    )
    for name in (lerims, mine):
        acts.give_feedback(desk.place, name, "wrong")
    run(desk, '[review]\nmode = "auto"\n')
    store = desk.place.store()
    assert (store.load_by_id(lerims).status, store.load_by_id(mine).status) == ("archived", "active")
    assert waiting(desk) == ["archive"]
    assert queue.undo_last(desk.place).ok and store.load_by_id(lerims).status == "active"
    run(desk)
    assert store.load_by_id(lerims).status == "active", "what a person took back is not done again"
