"""What becomes of a proposed change when the memory it would change is over, and of the files we rewrite for it."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from lerim.errors import MemoryError_, StaleError
from lerim.review import queue
from lerim.review.review_paths import ReviewPaths
from reviews import Make, accepted, proposed

NEWER = "Installs go through `uv pip sync --frozen requirements.lock`."


def update(place: ReviewPaths, make: Make) -> tuple[queue.Proposal, Path]:
    """A candidate that changes a memory, and that memory's file."""
    path = accepted(place, make())
    found = proposed(place, make(body=NEWER, turn="t2", minutes=5))
    found = queue.suggest_answer(place, found.id, "changes", path.stem, "It adds an option.")
    assert (found.action, found.target) == ("update", path.stem)
    return found, path


def archive(path: Path) -> Path:
    place = path.parent.parent / "archived" / path.parent.name / path.name
    place.parent.mkdir(parents=True)
    return path.rename(place)


def supersede(path: Path) -> Path:
    path.write_text(path.read_text().replace("evidence:", "superseded_by: 20260802-newer\nevidence:"))
    return path


def remove(path: Path) -> Path:
    path.unlink()
    return path


@pytest.mark.parametrize("end", [archive, supersede, remove])
def test_a_change_of_a_memory_that_is_over_becomes_a_new_one_and_is_looked_at_first(
    place: ReviewPaths, make: Make, end: Callable[[Path], Path]
) -> None:
    change, path = update(place, make)
    over = end(path)
    before = over.read_bytes() if over.exists() else b""
    shown = queue.load_pending(place, change.id)
    assert (shown.action, shown.target, shown.diff) == ("add", "", "")
    with pytest.raises(StaleError) as caught:  # the person may have looked at the change
        queue.accept_candidate(place, change.id)
    assert caught.value.todo and NEWER not in str(caught.value)
    assert [one.action for one in queue.list_pending(place)[0]] == ["add"]
    done = queue.accept_candidate(place, change.id)
    assert done.ok and done.path and Path(done.path).parent == place.project.memory_dir / "decisions"
    assert (over.read_bytes() if over.exists() else b"") == before
    assert place.store().load_by_id(change.id).record.body == NEWER


@pytest.mark.parametrize("at_once", [True, False])
def test_an_edit_is_kept_when_its_accept_is_refused_and_can_be_taken_back(
    place: ReviewPaths, make: Make, at_once: bool
) -> None:
    change, path = update(place, make)
    edit = queue.CandidateEdit("My title", "My words.", ())
    if not at_once:
        queue.edit_candidate(place, change.id, edit)
    path.write_text(path.read_text() + "My own line.\n")
    with pytest.raises(StaleError):
        queue.accept_candidate(place, change.id, edit if at_once else None)
    assert queue.load_pending(place, change.id).record.title == "My title"
    if not at_once:
        assert queue.undo_last(place).ok
        assert queue.load_pending(place, change.id).record.title == change.record.title


def test_a_ledger_from_before_the_first_release_is_told_and_left_alone(place: ReviewPaths, make: Make) -> None:
    proposed(place, make())
    with sqlite3.connect(place.private / "review.sqlite3") as book:
        book.execute("PRAGMA user_version=4")
    with pytest.raises(MemoryError_, match="never released") as caught:
        queue.list_pending(place)
    assert "Move it away" in caught.value.todo
