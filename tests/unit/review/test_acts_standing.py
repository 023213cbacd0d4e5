"""How a memory stands after what a person does to it by hand."""

import subprocess
from pathlib import Path

from by_hand import files_of
from lerim.memory.freshness import Freshness
from lerim.project import locate
from lerim.review import acts, queue
from lerim.review.candidates import Edit
from lerim.review.place import Place


def drifted(place: Place) -> list[str]:
    freshness = Freshness(place.project, place.home)
    freshness.check()
    return [name for name, one in freshness.standings().items() if one.state == "drifted"]


def test_each_act_that_says_a_memory_is_true_can_be_taken_back_where_nothing_is_committed(
    place: Place, tmp_path: Path
) -> None:
    subprocess.run(["git", "init", "-q", tmp_path / "new"], check=True)
    project = locate(tmp_path / "new", place.home)
    assert project is not None
    new = Place(project, place.home)
    source = project.root / "a.py"
    source.write_text("def load():\n    return 1 + 2 + 3\n")
    made = Path(queue.add(new, "decision", "A rule of load", "", references=("a.py#load",)).path or "")
    before = files_of(new)
    for number in (4, 5):
        source.write_text(f"def load():\n    return 1 + 2 + {number}\n")
        assert drifted(new) == [made.stem]
        assert acts.verify(new, made.stem).action
        assert drifted(new) == []
    assert queue.undo(new).ok and drifted(new) == [made.stem]
    assert queue.undo(new).ok and drifted(new) == [made.stem]
    assert files_of(new) == before
    source.write_text("def load():\n    return 1 + 2 + 3\n")
    assert drifted(new) == []


def test_a_drifted_memory_in_other_words_is_as_verified_as_one_that_is_still_true(place: Place) -> None:
    source = place.project.root / "src" / "app.py"
    source.parent.mkdir(exist_ok=True)
    source.write_text("def load():\n    return 1 + 2 + 3\n")
    name = Path(queue.add(place, "decision", "A rule of load", "", references=("src/app.py#load",)).path or "").stem
    source.write_text("def load():\n    return 1 + 2 + 4\n")
    assert drifted(place) == [name]
    shown = place.store().read(name).record
    acts.edit(place, name, Edit(shown.title, shown.body, ("tagged",)))
    assert drifted(place) == [name]  # its words are those of then
    acts.edit(place, name, Edit(shown.title, "It adds up to 7 now.", ("tagged",)))
    assert drifted(place) == []
    assert queue.undo(place).ok and drifted(place) == [name]
