"""A step that was cut short and cannot be finished is told, holds up nothing else, and loses nobody's words."""

import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from killer import DONE, Kill
from lerim.errors import LerimError, StaleError
from lerim.review import acts, queue
from lerim.review.review_paths import ReviewPaths
from reviews import Make, accepted, proposed

NUMBERS = count()
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def numbered(place: ReviewPaths, make: Make, begin: int = 0) -> Iterator[tuple[Kill, queue.Proposal]]:
    """A kill at each touch of the disk from this one on, and a new candidate for it: at every second touch, for what
    is looked for mostly lasts two, then at those between."""
    if not begin:
        accepted(place, make("Pin the port", turn="first"))  # what an accept makes once is there
    for first in (begin, begin + 1):
        for at in range(first, 200, 2):
            number = next(NUMBERS)
            kill = Kill(at)
            yield kill, proposed(place, make(f"Name it number{number}", f"`f{number}.py`", f"t{number}"))
            if kill.code == DONE:
                break
    raise AssertionError("no kill hit the instant between the two files")


def cut_short(place: ReviewPaths, make: Make, begin: int) -> tuple[queue.Proposal, Path, int]:
    """A candidate whose accept was killed with its memory written and the candidate not yet removed; both, and the
    instant."""
    for kill, one in numbered(place, make, begin):
        kill(queue.accept_candidate, place, one.id, quotes="shared")
        memory = place.store().path_of(one.id)
        if memory and one.path.exists():
            return one, memory, kill.at
    raise AssertionError


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
    at = 0
    for broken in (replace_by_bytes, replace_by_link, replace_by_folder):
        one, memory, at = cut_short(place, make, max(0, at - 2))
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
    first = accepted(place, make())
    for kill, one in numbered(place, make):
        done = queue.accept_candidate(place, one.id)
        memory = Path(done.path or "")
        kill(queue.undo_last, place, done.action)
        if one.path.exists() and memory.exists():
            break
        queue.undo_last(place, done.action)
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
    for kill, one in numbered(place, make):
        path = Path(queue.accept_candidate(place, one.id, quotes="shared").path or "")
        to = place.store().path_for(one.record, archived=True)
        action = acts.archive_memory(place, one.id).action if undo else None
        kill(queue.undo_last, place, action) if undo else kill(acts.archive_memory, place, one.id)
        if path.exists() and to.exists():
            break
        if undo:
            queue.undo_last(place, action)
    changed, other = (to, path) if undo else (path, to)
    changed.write_text(mine := changed.read_text() + "\nMine.\n")
    assert queue.add_memory(place, "decision", "Another", "").ok
    assert changed.read_text() == mine and not other.exists()
