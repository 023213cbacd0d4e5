"""A step that was cut short and cannot be finished is told, holds up nothing else, and loses nobody's words."""

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from killer import Kill
from lerim.errors import LerimError, StaleError
from lerim.review import acts, queue
from lerim.review.review_paths import ReviewPaths
from reviews import Make, accepted, proposed

NUMBERS = count()
Act = Callable[[Kill, queue.Proposal], tuple[Path, Path, str | None]]
"""An act on a candidate that is killed: the file that goes with it, the one that comes, and the action that is undone
where the kill missed."""
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def cut_short(place: ReviewPaths, make: Make, act: Act) -> tuple[queue.Proposal, Path, Path]:
    """A candidate whose act was killed at the instant at which both files are there; both."""
    early, late, at = -1, 1_000, 16
    while late - early > 1:
        number = next(NUMBERS)
        one = proposed(place, make(f"Name it number{number}", f"`f{number}.py`", f"t{number}"))
        goes, comes, action = act(Kill(at), one)
        if goes.exists() and comes.exists():
            return one, goes, comes
        early, late = (early, at) if comes.exists() else (at, late)
        at = 2 * at if late == 1_000 else (early + late) // 2
        if action:
            queue.undo_last(place, action)
    raise AssertionError("no kill hit the instant between the two files")


def replace_by_bytes(path: Path) -> Callable[[], object]:
    path.write_bytes(b"\xff\xfe mine")
    return path.unlink


def replace_by_link(path: Path) -> Callable[[], object]:
    kept = path.rename(path.with_name("kept"))
    path.symlink_to("kept")
    return lambda: kept.replace(path)


def replace_by_folder(path: Path) -> Callable[[], object]:
    path.unlink()
    path.mkdir()
    return path.rmdir


def test_a_file_that_cannot_be_read_holds_up_its_own_candidate_only(place: ReviewPaths, make: Make) -> None:
    def accept(kill: Kill, one: queue.Proposal) -> tuple[Path, Path, None]:
        kill(queue.accept_candidate, place, one.id, quotes="shared")
        return one.path, place.store().path_for(one.record), None

    accepted(place, make("Pin the port", turn="first"))  # what an accept makes once is there
    for broken in (replace_by_bytes, replace_by_link, replace_by_folder):
        one, _, memory = cut_short(place, make, accept)
        text = memory.read_text()
        mend = broken(memory)
        other = f"Other of {broken.__name__}"
        accepted(place, make(other, turn=other))
        assert queue.undo_last(place).ok
        assert [(told.code, told.path) for told in queue.list_pending(place)[1]] == [("unfinished", str(memory))]
        for step in (queue.accept_candidate, queue.reject_candidate):
            with pytest.raises(LerimError) as caught:
                step(place, one.id)
            assert caught.value.where == str(memory) and caught.value.todo
        assert queue.withdraw_candidates(place, one.turn, "no") == []
        assert broken is not replace_by_bytes or memory.read_bytes() == b"\xff\xfe mine"
        mend()
        assert queue.accept_candidate(place, one.id).code == "already"  # with nothing in its way, it came to its end
        assert memory.read_text() == text and not one.path.exists()
        assert queue.list_pending(place)[1] == []


def test_an_undo_that_cannot_be_finished_is_told_and_no_other_is_undone_in_its_place(
    place: ReviewPaths, make: Make
) -> None:
    def undo(kill: Kill, one: queue.Proposal) -> tuple[Path, Path, str | None]:
        done = queue.accept_candidate(place, one.id)
        kill(queue.undo_last, place, done.action)
        return Path(done.path or ""), one.path, done.action

    first = accepted(place, make())
    _, memory, _ = cut_short(place, make, undo)
    memory.write_bytes(b"\xff")
    with pytest.raises(LerimError, match="UTF-8"):
        queue.undo_last(place)
    assert first.exists()
    assert [problem.code for problem in queue.list_pending(place)[1]] == ["unfinished"]
    memory.write_text("my own")
    queue.list_pending(place)
    with pytest.raises(StaleError):
        queue.undo_last(place)
    assert memory.read_text() == "my own"


@pytest.mark.parametrize("undo", [False, True])
def test_an_archiving_or_its_undo_cut_short_whose_file_a_person_changed_leaves_that_file(
    place: ReviewPaths, make: Make, undo: bool
) -> None:
    def archive(kill: Kill, one: queue.Proposal) -> tuple[Path, Path, str | None]:
        path = Path(queue.accept_candidate(place, one.id, quotes="shared").path or "")
        to = place.store().path_for(one.record, archived=True)
        if not undo:
            kill(acts.archive_memory, place, one.id)
            return path, to, None
        action = acts.archive_memory(place, one.id).action
        kill(queue.undo_last, place, action)
        return to, path, action

    accepted(place, make("Pin the port", turn="first"))
    _, changed, other = cut_short(place, make, archive)
    changed.write_text(mine := changed.read_text() + "\nMine.\n")
    assert queue.add_memory(place, "decision", "Another", "").ok
    assert changed.read_text() == mine and not other.exists()
