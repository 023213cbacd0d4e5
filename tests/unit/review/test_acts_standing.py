"""How a memory stands after what a person does to it by hand."""

import subprocess
from pathlib import Path

from by_hand import files_of
from lerim.memory.freshness.drift import DriftChecker
from lerim.project.project import locate_project
from lerim.review import acts, queue
from lerim.review.candidates import CandidateEdit
from lerim.review.review_paths import ReviewPaths


def drifted(place: ReviewPaths) -> list[str]:
    freshness = DriftChecker(place.project, place.home)
    freshness.check()
    return [name for name, one in freshness.drift_by_memory().items() if one.state == "drifted"]


def test_each_act_that_says_a_memory_is_true_can_be_taken_back_where_nothing_is_committed(
    place: ReviewPaths, tmp_path: Path
) -> None:
    subprocess.run(["git", "init", "-q", tmp_path / "new"], check=True)
    project = locate_project(tmp_path / "new", place.home)
    assert project is not None
    new = ReviewPaths(project, place.home)
    source = project.root / "a.py"
    source.write_text("def load():\n    return 1 + 2 + 3\n")
    made = Path(queue.add_memory(new, "decision", "A rule of load", "", references=("a.py#load",)).path or "")
    before = files_of(new)
    for number in (4, 5):
        source.write_text(f"def load():\n    return 1 + 2 + {number}\n")
        assert drifted(new) == [made.stem]
        assert acts.verify_memory(new, made.stem).action
        assert drifted(new) == []
    assert queue.undo_last(new).ok and drifted(new) == [made.stem]
    assert queue.undo_last(new).ok and drifted(new) == [made.stem]
    assert files_of(new) == before
    source.write_text("def load():\n    return 1 + 2 + 3\n")
    assert drifted(new) == []


def test_a_drifted_memory_in_other_words_is_as_verified_as_one_that_is_still_true(place: ReviewPaths) -> None:
    source = place.project.root / "src" / "app.py"
    source.parent.mkdir(exist_ok=True)
    source.write_text("def load():\n    return 1 + 2 + 3\n")
    name = Path(
        queue.add_memory(place, "decision", "A rule of load", "", references=("src/app.py#load",)).path or ""
    ).stem
    source.write_text("def load():\n    return 1 + 2 + 4\n")
    assert drifted(place) == [name]
    shown = place.store().load_by_id(name).record
    acts.edit_memory(place, name, CandidateEdit(shown.title, shown.body, ("tagged",)))
    assert drifted(place) == [name]  # its words are those of then
    acts.edit_memory(place, name, CandidateEdit(shown.title, "It adds up to 7 now.", ("tagged",)))
    assert drifted(place) == []
    assert queue.undo_last(place).ok and drifted(place) == [name]
