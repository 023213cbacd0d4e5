"""A process killed at any instant of a review, or two at once, lose nothing and do nothing twice."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from killer import DONE, KILLED, in_child
from lerim.extraction.candidate import Candidate
from lerim.review import queue
from lerim.review.review_paths import ReviewPaths

Make = Callable[..., Candidate]
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def propose(place: ReviewPaths, candidate: Candidate) -> queue.Proposal:
    outcome = queue.propose_candidate(place, candidate)
    assert isinstance(outcome, queue.CandidateProposed)
    return outcome.proposal


def memories(place: ReviewPaths) -> list[Path]:
    return sorted(place.project.memory_dir.rglob("*.md"))


@pytest.mark.parametrize("quotes", ["shared", "local"])
def test_a_killed_accept_is_finished_by_the_next(place: ReviewPaths, make: Make, quotes: queue.QuoteChoice) -> None:
    instants = int(quotes == "local")  # each choice is killed at every other touch of the disk
    while True:
        title = f"Name it number{instants}"
        proposal = propose(place, make(title=title, body=f"`f{instants}.py`", turn=f"t{instants}"))
        before = len(memories(place))
        code = in_child(lambda found=proposal.id: queue.accept_candidate(place, found, quotes=quotes), instants)  # type: ignore[misc]
        assert code in (KILLED, DONE)
        assert proposal.path.exists() or len(memories(place)) == before + 1
        assert queue.accept_candidate(place, proposal.id, quotes=quotes).ok
        assert len(memories(place)) == before + 1 and not proposal.path.exists()
        stored = place.store().load_by_id(proposal.id).record
        assert (stored.title, stored.evidence[0].quote) == (title, f"no: {title}")
        if code == DONE:
            break
        instants += 2
    assert instants > 5


def test_a_killed_undo_is_finished_by_the_next_step(place: ReviewPaths, make: Make) -> None:
    proposal = propose(place, make())
    instants = 0
    while True:
        assert queue.accept_candidate(place, proposal.id, quotes="shared").ok
        code = in_child(lambda: queue.undo_last(place), instants)
        queue.undo_last(place)
        assert proposal.path.exists() and memories(place) == []
        assert [one.id for one in queue.list_pending(place)[0]] == [proposal.id]
        if code == DONE:
            break
        instants += 1
    assert instants > 3


def test_a_killed_proposal_is_proposed_by_the_next_sync(place: ReviewPaths, make: Make) -> None:
    instants = 0
    while True:
        candidate = make(title=f"Name it number{instants}", body=f"`f{instants}.py`", turn=f"t{instants}")
        code = in_child(lambda one=candidate: queue.propose_candidate(place, one), instants)  # type: ignore[misc]
        queue.propose_candidate(place, candidate)
        assert [one.record.title for one in queue.list_pending(place)[0]].count(candidate.title) == 1
        if code == DONE:
            break
        instants += 1
    assert len(queue.list_pending(place)[0]) == instants + 1


def test_two_processes_accepting_at_once_make_one_memory(place: ReviewPaths, make: Make) -> None:
    proposal = propose(place, make())
    children = []
    ready, go = os.pipe()
    for _ in range(4):
        pid = os.fork()
        if pid == 0:
            try:
                os.close(go)
                os.read(ready, 1)
                os._exit(DONE if queue.accept_candidate(place, proposal.id, quotes="shared").ok else 1)
            except BaseException:
                os._exit(2)
        children.append(pid)
    os.close(ready)
    os.close(go)
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children] == [DONE] * 4
    assert [path.stem for path in memories(place)] == [proposal.id]
    assert queue.undo_last(place).ok and queue.undo_last(place).code == "nothing"


def test_two_processes_proposing_at_once_make_one_candidate(place: ReviewPaths, make: Make) -> None:
    children = []
    for _ in range(4):
        pid = os.fork()
        if pid == 0:
            try:
                queue.propose_candidate(place, make())
                os._exit(DONE)
            except BaseException:
                os._exit(2)
        children.append(pid)
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children] == [DONE] * 4
    assert len(queue.list_pending(place)[0]) == 1


def test_a_killed_accept_that_ends_others_is_finished_or_not_begun(place: ReviewPaths, make: Make) -> None:
    instants = 0
    while True:
        name = f"tool{instants}"
        old = propose(place, make(title=f"Use {name}, not uv", body=f"Run `{name} sync`.", turn=f"o{instants}"))
        assert queue.accept_candidate(place, old.id, quotes="shared").ok
        asked = make(
            *(f"Should installs of {name} use uv?", "Not said.", f"q{instants}"),
            primitive="question",
            signal="reply",
        )
        question = propose(place, asked)
        assert queue.accept_candidate(place, question.id).ok
        new = propose(
            place,
            make(f"Installs of {name} use uv, not {name}", f"Run `uv {name}`.", f"n{instants}", 9, replaces=(name,)),
        )
        choice = queue.NeighbourChoice("replaces", old.id)
        code = in_child(lambda found=new.id, one=choice: queue.accept_candidate(place, found, choice=one), instants)  # type: ignore[misc]
        assert queue.accept_candidate(place, new.id, choice=choice).ok and not new.path.exists()
        store = place.store()
        assert store.load_by_id(new.id).record.supersedes == (old.id,)
        assert store.load_by_id(old.id).record.superseded_by == new.id
        assert [len(store.paths_of(one)) for one in (old.id, question.id, new.id)] == [1, 1, 1]
        if code == DONE:
            break
        before = {path: path.read_text() for path in memories(place)}
        last = queue.find_undoable(place)
        assert last is not None
        in_child(lambda which=last.id: queue.undo_last(place, which), instants)  # type: ignore[misc]
        assert queue.undo_last(place, last.id).ok
        assert store.load_by_id(old.id).status == store.load_by_id(question.id).status == "active"
        assert store.path_of(new.id) is None and new.path.exists()
        assert queue.accept_candidate(place, new.id, choice=choice).ok
        assert {path: path.read_text() for path in memories(place)} == before
        instants += 7
    assert instants > 8
