"""Many candidates decided at once: one lock, one undo, and one that fails stops none of the others."""

from __future__ import annotations

import pytest

from lerim.errors import MemoryError_
from lerim.review import queue
from lerim.review.review_paths import ReviewPaths
from reviews import Make, proposed, titles, waiting


def propose_some(place: ReviewPaths, make: Make, count: int = 4) -> list[str]:
    return [
        proposed(place, make(f"Keep part{number} in its own file", f"See `f{number}.py`.", f"t{number}", number)).id
        for number in range(count)
    ]


def test_many_are_rejected_and_one_undo_brings_all_back(place: ReviewPaths, make: Make) -> None:
    ids = propose_some(place, make)
    result = queue.decide_in_bulk(place, "reject", [*ids[:3], "20260101-none", ids[0]], "b1")
    assert result.decided == tuple(ids[:3])
    assert [problem.path for problem in result.problems] == ["20260101-none"]
    assert len(waiting(place)) == 1
    undoable = queue.find_undoable(place)
    assert undoable and (undoable.id, undoable.label) == ("b1", "Rejected 3 candidates")
    assert [(step.action, step.label, step.state) for step in queue.list_steps(place)] == [
        ("b1", "Rejected 3 candidates", "done")
    ]
    undone = queue.undo_last(place)
    assert [(step.label, step.state) for step in queue.list_steps(place)] == [("Rejected 3 candidates", "undone")]
    assert undone.message == "Undone. 3 candidates wait for review again"
    assert (undone.action, undone.waiting) == ("b1", tuple(ids[:3]))
    assert len(waiting(place)) == 4
    again = queue.undo_last(place, "b1")
    assert (again.ok, again.code, again.message) == (True, "already", "Already undone.")
    assert queue.undo_last(place, "b").code == "already", "the beginning of an id is enough"
    assert queue.undo_last(place, "c").code == queue.undo_last(place).code == "nothing"


def test_many_are_accepted_except_those_with_warnings_and_a_changed_memory_stays_when_undone(
    place: ReviewPaths, make: Make
) -> None:
    ids = propose_some(place, make)
    flagged = proposed(place, make("Send all logs elsewhere", "x", "t9", 9, flags=("sends-data-out",))).id
    asked = queue.decide_in_bulk(place, "accept", [*ids, flagged], "b2")
    assert asked == queue.BulkResult(ask_quotes=True)
    result = queue.decide_in_bulk(place, "accept", [*ids, flagged], "b2", quotes="shared")
    assert (result.decided, result.doubtful, result.problems) == (tuple(ids), (flagged,), ())
    assert len(titles(place)) == 4
    path = place.store().path_of(ids[1])
    assert path is not None
    path.write_text(path.read_text("utf-8") + "My own line.\n", "utf-8")
    undone = queue.undo_last(place, "b2")
    assert undone.message == (
        "Undone. 3 candidates wait for review again. “Accepted: Keep part1 in its own file” cannot be undone:"
        f" {path.name} was changed in the meantime; nothing was overwritten."
    )
    assert undone.waiting == (ids[0], ids[2], ids[3])
    assert len(titles(place)) == 1 and "My own line." in path.read_text("utf-8")


def test_of_several_that_cannot_be_undone_the_first_is_explained_and_the_others_are_counted(
    place: ReviewPaths, make: Make
) -> None:
    ids = propose_some(place, make)
    queue.decide_in_bulk(place, "accept", ids, "b3", quotes="shared")
    for name in ids[:3]:
        path = place.store().load_by_id(name).path
        path.write_text(path.read_text("utf-8") + "My own line.\n", "utf-8")
    message = queue.undo_last(place).message
    assert message.startswith("Undone. 1 candidate waits for review again. “Accepted: Keep part2 in its own file” ")
    assert message.endswith("nothing was overwritten. 2 more could not be undone.")


def test_the_references_of_a_candidate_can_be_edited_alone(place: ReviewPaths, make: Make) -> None:
    [waits] = propose_some(place, make, 1)
    before = queue.load_pending(place, waits)
    assert queue.edit_candidate(place, waits, queue.CandidateEdit(references=("src\\app.py#load",))).ok
    after = queue.load_pending(place, waits)
    assert (after.record.references, after.edited) == (("src/app.py#load",), True)
    assert (after.record.title, after.record.confidence) == (before.record.title, before.record.confidence)
    with pytest.raises(MemoryError_):
        queue.edit_candidate(place, waits, queue.CandidateEdit(references=("../up.py",)))
