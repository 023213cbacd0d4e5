"""What becomes of a proposed change when the memory it would change is over, and of the files we rewrite for it."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from lerim.errors import StaleError
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


def test_a_ledger_of_the_first_version_is_taken_over(place: ReviewPaths, make: Make) -> None:
    found = proposed(place, make())
    with sqlite3.connect(place.private / "review.sqlite3") as book:
        book.execute("ALTER TABLE claims ADD COLUMN hard BLOB NOT NULL DEFAULT x''")
        for column in ("text", "written", "said", "told"):
            book.execute(f"ALTER TABLE claims DROP COLUMN {column}")
        book.execute("DROP TABLE ours")
        book.execute("DROP TABLE left_out")
        book.execute("PRAGMA user_version=1")
    assert [one.id for one in queue.list_pending(place)[0]] == [found.id]
    assert queue.accept_candidate(place, found.id, quotes="shared").ok
    assert queue.list_left_out(place) == ([], 0)
