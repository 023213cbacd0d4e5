"""A step that was cut short and cannot be finished is told, holds up nothing else, and loses nobody's words."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from test_kill import DONE, KILLED, in_child

from lerim.errors import LerimError, StaleError
from lerim.extraction.candidate import Candidate
from lerim.review import acts, queue
from lerim.review.review_paths import ReviewPaths

Make = Callable[..., Candidate]
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def proposed(place: ReviewPaths, candidate: Candidate) -> queue.Proposal:
    outcome = queue.propose_candidate(place, candidate)
    assert isinstance(outcome, queue.CandidateProposed)
    return outcome.proposal


def cut_short(place: ReviewPaths, make: Make) -> queue.Proposal:
    """A candidate whose accept was killed with its memory written and the candidate not yet removed."""
    first = proposed(place, make(title="Pin the port", turn="first"))
    assert queue.accept_candidate(place, first.id, quotes="shared").ok  # what an accept makes once is there
    for instant in range(200):
        title = f"Name it number{instant}"
        waiting = proposed(place, make(title=title, body=f"`f{instant}.py`", turn=f"t{instant}"))
        code = in_child(lambda found=waiting.id: queue.accept_candidate(place, found, quotes="shared"), instant)  # type: ignore[misc]
        assert code in (KILLED, DONE)
        if place.store().path_of(waiting.id) is not None and waiting.path.exists():
            return waiting
    raise AssertionError("no kill hit the instant between the two files")


def break_file(path: Path, how: str) -> None:
    if how == "not text":
        path.write_bytes(b"\xff\xfe mine")
    elif how == "a link":
        path.rename(path.with_name("kept"))
        path.symlink_to("kept")
    else:
        path.unlink()
        path.mkdir()


@pytest.mark.parametrize("how", ["not text", "a link", "a folder"])
def test_a_file_that_cannot_be_read_holds_up_its_own_candidate_only(place: ReviewPaths, make: Make, how: str) -> None:
    waiting = cut_short(place, make)
    memory = place.store().path_of(waiting.id)
    assert memory is not None
    text = memory.read_text()
    break_file(memory, how)
    other = proposed(place, make())
    assert queue.accept_candidate(place, other.id).ok
    assert queue.undo_last(place).ok
    problems = [problem for problem in queue.list_pending(place)[1] if problem.code == "unfinished"]
    assert [problem.path for problem in problems] == [str(memory)]
    for step in (queue.accept_candidate, queue.reject_candidate):
        with pytest.raises(LerimError) as caught:
            step(place, waiting.id)
        assert caught.value.where == str(memory) and caught.value.todo
    assert queue.withdraw_candidates(place, waiting.turn, "no") == []

    if how == "not text":
        assert memory.read_bytes() == b"\xff\xfe mine"
        memory.unlink()
    elif how == "a link":
        memory.unlink()
        memory.with_name("kept").rename(memory)
    else:
        memory.rmdir()
    assert queue.accept_candidate(place, waiting.id).code == "already"  # with nothing in its way, it came to its end
    assert memory.read_text() == text and not waiting.path.exists()
    assert queue.list_pending(place)[1] == []


def test_an_undo_that_cannot_be_finished_is_told_and_no_other_is_undone_in_its_place(
    place: ReviewPaths, make: Make
) -> None:
    first = proposed(place, make())
    assert queue.accept_candidate(place, first.id, quotes="shared").ok
    first = proposed(place, make(title="Pin the port", turn="first"))
    assert queue.accept_candidate(place, first.id, quotes="shared").ok  # what an accept makes once is there
    for instant in range(200):
        second = proposed(place, make(title=f"Name it number{instant}", body=f"`f{instant}.py`", turn=f"t{instant}"))
        done = queue.accept_candidate(place, second.id)
        memory = Path(done.path or "")
        in_child(lambda step=done.action: queue.undo_last(place, step), instant)  # type: ignore[misc]
        if second.path.exists() and memory.exists():
            break
        queue.undo_last(place, done.action)
    memory.write_bytes(b"\xff")
    with pytest.raises(LerimError, match="UTF-8"):
        queue.undo_last(place)
    assert place.store().path_of(first.id) is not None
    assert [problem.code for problem in queue.list_pending(place)[1]] == ["unfinished"]
    memory.write_text("my own")
    queue.list_pending(place)
    with pytest.raises(StaleError):
        queue.undo_last(place)
    assert memory.read_text() == "my own"


def put_away(place: ReviewPaths, make: Make) -> tuple[Path, Path]:
    """A memory whose archiving was killed with its file in both places: where it was, and where it was to be."""
    first = proposed(place, make(title="Pin the port", turn="first"))
    assert queue.accept_candidate(place, first.id, quotes="shared").ok  # what an accept makes once is there
    for instant in range(200):
        waiting = proposed(place, make(title=f"Name it number{instant}", body=f"`f{instant}.py`", turn=f"t{instant}"))
        path = Path(queue.accept_candidate(place, waiting.id, quotes="shared").path or "")
        to = place.store().path_for(waiting.record, archived=True)
        assert in_child(lambda found=waiting.id: acts.archive_memory(place, found), instant) in (KILLED, DONE)  # type: ignore[misc]
        if path.exists() and to.exists():
            return path, to
    raise AssertionError("no kill hit the instant between the two files")


def test_a_step_cut_short_whose_file_a_person_changed_leaves_one_file(place: ReviewPaths, make: Make) -> None:
    path, to = put_away(place, make)
    path.write_text(path.read_text() + "\nMine.\n")
    mine = path.read_text()
    assert queue.add_memory(place, "decision", "Another", "").ok
    assert path.read_text() == mine and not to.exists()


def test_an_undo_cut_short_whose_file_a_person_changed_leaves_one_file(place: ReviewPaths, make: Make) -> None:
    first = proposed(place, make(title="Pin the port", turn="first"))
    assert queue.accept_candidate(place, first.id, quotes="shared").ok  # what an accept makes once is there
    for instant in range(200):
        waiting = proposed(place, make(title=f"Name it number{instant}", body=f"`f{instant}.py`", turn=f"t{instant}"))
        path = Path(queue.accept_candidate(place, waiting.id, quotes="shared").path or "")
        done = acts.archive_memory(place, waiting.id)
        to = Path(done.path or "")
        in_child(lambda step=done.action: queue.undo_last(place, step), instant)  # type: ignore[misc]
        if path.exists() and to.exists():
            break
        queue.undo_last(place, done.action)
    to.write_text(to.read_text() + "\nMine.\n")
    mine = to.read_text()
    assert queue.add_memory(place, "decision", "Another", "").ok
    assert to.read_text() == mine and not path.exists()
