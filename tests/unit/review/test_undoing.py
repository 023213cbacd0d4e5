"""Plain undo is never stuck: a step whose file a person changed is told once, then it goes on to the one before."""

from pathlib import Path

import pytest

from lerim.errors import StaleError
from lerim.review import queue
from lerim.review.review_paths import ReviewPaths


def added(place: ReviewPaths, title: str) -> tuple[str, Path]:
    """A memory a person wrote: its step, and its file."""
    done = queue.add_memory(place, "decision", title, "Because.")
    assert done.action and done.path
    return done.action, Path(done.path)


def test_the_next_undo_goes_on_to_the_step_before(place: ReviewPaths) -> None:
    first, one = added(place, "Use uv")
    second, two = added(place, "Pin the port")
    before = two.read_text()
    two.write_text(mine := before + "My own line.\n")
    assert (label := queue.find_undoable(place)) and label.id == second
    with pytest.raises(StaleError) as caught:
        queue.undo_last(place)
    assert (
        "Undo again to take back the action before it." in caught.value.todo
        and "Added: Pin the port" in caught.value.message
    )
    assert "+My own line." in caught.value.diff
    assert "My own line" not in str(caught.value)  # what is logged of an error is its message
    assert (label := queue.find_undoable(place)) and label.id == first
    undone = queue.undo_last(place)
    assert (undone.action, undone.message) == (first, "Undone. It is removed again: Use uv") and not one.exists()
    assert queue.undo_last(place).code == "nothing" and queue.find_undoable(place) is None
    assert two.read_text() == mine
    two.write_text(before)
    assert queue.undo_last(place, second).ok and not two.exists(), "its file is as the step left it again"


def test_a_step_that_is_named_is_told_as_often_as_it_is_asked_for_and_passed_by_plain_undo(place: ReviewPaths) -> None:
    first, _ = added(place, "Use uv")
    second, path = added(place, "Pin the port")
    path.unlink()
    for _ in range(2):
        with pytest.raises(StaleError, match="removed"):
            queue.undo_last(place, second)
    (_, path), (_, link) = added(place, "Log to stderr"), added(place, "Keep the log")
    path.write_bytes(b"\xff mine")
    link.unlink()
    link.symlink_to(path)
    for why in ("link", "not UTF-8"):
        with pytest.raises(StaleError, match=why):
            queue.undo_last(place)
    assert queue.undo_last(place).action == first and path.read_bytes() == b"\xff mine"
