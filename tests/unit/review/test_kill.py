"""A process killed at any instant of a review, or two at once, lose nothing and do nothing twice."""

import os
from pathlib import Path

import pytest

from killer import DONE, Kill, at_once, every_kill
from lerim.review import queue
from lerim.review.review_paths import ReviewPaths
from reviews import Make, accepted, proposed, waiting

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def memories(place: ReviewPaths) -> dict[Path, str]:
    return {path: path.read_text() for path in place.project.memory_dir.rglob("*.md")}


@pytest.mark.parametrize("quotes", ["shared", "local"])
def test_a_killed_accept_is_finished_by_the_next(place: ReviewPaths, make: Make, quotes: queue.QuoteChoice) -> None:
    for kill in every_kill(begin=int(quotes == "local")):
        proposal = proposed(place, make(f"Name it number{kill.at}", f"`f{kill.at}.py`", f"t{kill.at}"))
        before = len(memories(place))
        kill(queue.accept_candidate, place, proposal.id, quotes=quotes)
        assert proposal.path.exists() or len(memories(place)) == before + 1
        assert queue.accept_candidate(place, proposal.id, quotes=quotes).ok
        assert len(memories(place)) == before + 1 and not proposal.path.exists()
        stored = place.store().load_by_id(proposal.id).record
        assert (stored.title, stored.evidence[0].quote) == (proposal.record.title, f"no: {proposal.record.title}")


def test_a_killed_undo_is_finished_by_the_next_step(place: ReviewPaths, make: Make) -> None:
    proposal = proposed(place, make())
    for kill in every_kill():
        assert queue.accept_candidate(place, proposal.id, quotes="shared").ok
        kill(queue.undo_last, place)
        queue.undo_last(place)
        assert proposal.path.exists() and memories(place) == {}
        assert waiting(place) == [proposal.record.title]


def test_a_killed_proposal_is_proposed_by_the_next_sync(place: ReviewPaths, make: Make) -> None:
    for kill in every_kill():
        candidate = make(f"Name it number{kill.at}", f"`f{kill.at}.py`", f"t{kill.at}")
        kill(queue.propose_candidate, place, candidate)
        queue.propose_candidate(place, candidate)
        assert waiting(place).count(candidate.title) == 1


def test_processes_that_propose_or_accept_at_once_make_one_candidate_and_one_memory(
    place: ReviewPaths, make: Make
) -> None:
    assert at_once(lambda _: queue.propose_candidate(place, make())) == [DONE] * 4
    [proposal] = queue.list_pending(place)[0]

    def accept(_: int) -> None:
        assert queue.accept_candidate(place, proposal.id, quotes="shared").ok

    assert at_once(accept) == [DONE] * 4
    assert [path.stem for path in memories(place)] == [proposal.id]
    assert queue.undo_last(place).ok and queue.undo_last(place).code == "nothing"


def test_a_killed_accept_that_ends_another_is_finished_or_not_begun(place: ReviewPaths, make: Make) -> None:
    store = place.store()
    for kill in every_kill(every=9, least=9):
        name = f"tool{kill.at}"
        old = accepted(place, make(f"Use {name}, not uv", f"Run `{name} sync`.", f"o{kill.at}")).stem
        claim = make(f"Install {name} with uv, not {name}", f"Run `uv {name}`.", f"n{kill.at}", 9, replaces=(name,))
        new = proposed(place, claim)
        choice = queue.NeighbourChoice("replaces", old)
        kill(queue.accept_candidate, place, new.id, choice=choice)
        assert queue.accept_candidate(place, new.id, choice=choice).ok and not new.path.exists()
        assert store.load_by_id(new.id).record.supersedes == (old,)
        assert store.load_by_id(old).record.superseded_by == new.id
        assert [len(store.paths_of(one)) for one in (old, new.id)] == [1, 1]
        before = memories(place)
        last = queue.find_undoable(place)
        assert last is not None
        if kill.code != DONE:
            Kill(kill.at)(queue.undo_last, place, last.id)
        assert queue.undo_last(place, last.id).ok
        assert store.load_by_id(old).status == "active" and store.path_of(new.id) is None and new.path.exists()
        assert queue.accept_candidate(place, new.id, choice=choice).ok and memories(place) == before
