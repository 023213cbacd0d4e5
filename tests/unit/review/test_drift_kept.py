"""What a memory refers to was verified once: no merge, no new place and no joining of memories says so again."""

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lerim.memory.freshness.drift import DriftChecker
from lerim.memory.record import MemoryRecord
from lerim.memory.store import StoredMemory
from lerim.paths import Home
from lerim.project.git import open_git
from lerim.review import acts, queue
from lerim.review.review_paths import ReviewPaths
from proposals import review_paths
from reviews import Git, Make, remembered, suggested

Clone = Callable[[], ReviewPaths]
LOAD, SAVE, FETCH, OTHER = "src/app.py#load", "src/app.py#Store", "src/app.py#fetch", "src/other.py#load"
CHANGED = ("return open(path).read()", "yield from open(path)")


def drift(place: ReviewPaths) -> dict[str, tuple[str, str, str]]:
    """How each memory stands after a look with git, and once more after a second one: that changes nothing."""
    fresh = DriftChecker(place.project, place.home, open_git(place.project.root, os.environ))
    seen: list[dict[str, tuple[str, str, str]]] = []
    for _ in range(2):
        fresh.check()
        seen.append(
            {name: (one.state, one.reference, one.moved_to) for name, one in fresh.summary().drift_by_memory.items()}
        )
    assert seen[0] == seen[1]
    return seen[0]


def edit(place: ReviewPaths, old: str, new: str, path: str = "src/app.py") -> None:
    file = place.project.root / path
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def commit(place: ReviewPaths, git: Git) -> None:
    git(place.project.root, "add", ".")
    git(place.project.root, "commit", "-q", "-m", "All")


def accepted(place: ReviewPaths, action: str, targets: tuple[StoredMemory, ...], record: MemoryRecord) -> str:
    """The memory that came of a suggestion."""
    done = queue.accept_candidate(place, suggested(place, action, targets, record).id)
    assert done.ok and done.path
    return Path(done.path).stem


@pytest.mark.parametrize("edited", ["before, and seen", "before", "after"])
def test_learnings_put_together_stand_as_the_worst_of_them(place: ReviewPaths, make: Make, edited: str) -> None:
    titles = ("Ports clash on CI", "Windows paths break globs", "Locks outlive their process")
    sources = tuple(
        remembered(place, make(one, "Seen.", one[:4], primitive="learning", kind="insight", references=(LOAD,)))
        for one in titles
    )
    worst = {one.record.id: ("drifted", LOAD, "") for one in sources}
    if edited != "after":
        edit(place, *CHANGED)
    if edited == "before, and seen":
        assert drift(place) == worst
    insight = replace(sources[0].record, id="", title="Tests meet the machine", body="Three ways.", verified="")
    together = accepted(place, "consolidate", sources, insight)
    assert place.store().load_by_id(together).record.verified == sources[0].record.verified
    if edited == "before, and seen":
        known = DriftChecker(place.project, place.home).summary().drift_by_memory
        assert known[together].state == "drifted", "before any look"
    if edited == "after":
        assert drift(place) == {}
        edit(place, *CHANGED)
    assert drift(place) == {together: ("drifted", LOAD, "")}
    assert queue.undo_last(place).ok
    assert drift(place) == worst


@pytest.mark.parametrize("verified_again", [False, True])
def test_a_merged_memory_stands_where_the_other_had_drifted(
    place: ReviewPaths, make: Make, git: Git, verified_again: bool
) -> None:
    kept = remembered(place, make(title="Cache keys hold the tenant", body="See there.", references=(SAVE,)))
    other = remembered(place, make("Pin the port to 5433", "In `compose.yml`.", turn="t2", references=(LOAD,)))
    edit(place, *CHANGED)
    git(place.project.root, "commit", "-q", "-a", "-m", "Lines")
    if verified_again:
        acts.verify_memory(place, kept.record.id)
        kept = place.store().load_by_id(kept.record.id)
    assert drift(place) == {other.record.id: ("drifted", LOAD, "")}
    accepted(place, "merge", (kept, other), replace(kept.record, references=(SAVE, LOAD)))
    assert drift(place) == {kept.record.id: ("drifted", LOAD, "")}
    assert queue.undo_last(place).ok
    assert drift(place) == {other.record.id: ("drifted", LOAD, "")}


@pytest.mark.parametrize("committed", [True, False])
def test_of_a_place_both_refer_to_the_worse_is_kept_and_still_true_ends_it(
    place: ReviewPaths, make: Make, git: Git, committed: bool
) -> None:
    other = remembered(place, make(title="Pin the port to 5433", body="In `compose.yml`.", references=(LOAD,)))
    edit(place, *CHANGED)
    if committed:
        git(place.project.root, "commit", "-q", "-a", "-m", "Lines")
    kept = remembered(place, make("Cache keys hold the tenant", "See there.", turn="t2", references=(LOAD,)))
    assert drift(place) == {other.record.id: ("drifted", LOAD, "")}
    accepted(place, "merge", (kept, other), kept.record)
    assert drift(place) == {kept.record.id: ("drifted", LOAD, "")}
    assert place.store().load_by_id(kept.record.id).record.verified.startswith(other.record.verified)
    assert queue.undo_last(place).ok
    assert drift(place) == {other.record.id: ("drifted", LOAD, "")}
    assert queue.accept_candidate(place, queue.list_pending(place)[0][0].id).ok
    acts.verify_memory(place, kept.record.id)
    assert drift(place) == {}


def filled(place: ReviewPaths, git: Git) -> None:
    """`src/app.py` is a file of many functions."""
    more = "".join(f"\n\ndef one{at}(a):\n    return a + {at} * {at * 7}\n" for at in range(30))
    edit(place, "pass\n", f"pass\n{more}")
    git(place.project.root, "commit", "-q", "-a", "-m", "More")


def moved(place: ReviewPaths, git: Git, *changes: tuple[str, str]) -> None:
    """`src/app.py` is `src/other.py`, with these changes."""
    git(place.project.root, "mv", "src/app.py", "src/other.py")
    for old, new in changes:
        edit(place, old, new, "src/other.py")
    git(place.project.root, "commit", "-q", "-a", "-m", "Moved")


@pytest.fixture
def clone(place: ReviewPaths, git: Git, tmp_path: Path) -> Clone:
    """Commits all there is, and gives another person's clone of it."""

    def made() -> ReviewPaths:
        commit(place, git)
        git(tmp_path, "clone", "-q", str(place.project.root), "clone")
        return review_paths((tmp_path / "clone").resolve(), Home(tmp_path / "another"))

    return made


def test_a_memory_referred_to_where_its_changed_place_is_stays_drifted_also_in_a_clone(
    place: ReviewPaths, make: Make, git: Git, clone: Clone
) -> None:
    filled(place, git)
    one = remembered(place, make(references=(LOAD,)))
    moved(place, git, CHANGED)
    assert drift(place) == {one.record.id: ("drifted", LOAD, OTHER)}
    accepted(place, "refer", (one,), replace(one.record, references=(OTHER,)))
    assert drift(place) == drift(clone()) == {one.record.id: ("drifted", OTHER, "")}
    assert queue.undo_last(place).ok
    assert drift(place) == {one.record.id: ("drifted", LOAD, OTHER)}


@pytest.mark.parametrize("call", ["load(path)", "json.load(path)"])
def test_a_renamed_function_is_fresh_under_its_new_name_and_drifts_there(
    place: ReviewPaths, make: Make, call: str
) -> None:
    edit(place, "open(path).read()", f"open(path).read() or {call}")
    one = remembered(place, make(references=(LOAD,)))
    edit(place, "def load", "def fetch")
    assert drift(place) == {one.record.id: ("fresh", LOAD, FETCH)}
    accepted(place, "refer", (one,), replace(one.record, references=(FETCH,)))
    assert drift(place) == {}
    edit(place, "open(path).read()", "open(path, 'rb').read()")
    assert drift(place) == {one.record.id: ("drifted", FETCH, "")}


@pytest.fixture
def renamed(place: ReviewPaths, make: Make, git: Git) -> str:
    """`load` of a long file is `fetch` by now, and a memory says so; nothing of that is committed."""
    filled(place, git)
    one = remembered(place, make(references=(LOAD,)))
    edit(place, "def load", "def fetch")
    accepted(place, "refer", (one,), replace(one.record, references=(FETCH,)))
    assert drift(place) == {}
    return one.record.id


@pytest.mark.parametrize("commits", [0, 3])
def test_a_renamed_function_is_fresh_in_a_clone_and_elsewhere_until_it_changes(
    place: ReviewPaths, git: Git, renamed: str, clone: Clone, commits: int
) -> None:
    again = ReviewPaths(place.project, Home(place.home.root.parent / "again"))  # the rename is not committed yet
    for number in range(commits):
        commit(place, git)
        edit(place, "class Store:\n", f"class Store:\n    part{number} = {number}\n")
    for theirs in (again, clone()):
        assert drift(theirs) == {}
        edit(theirs, *CHANGED)
        assert drift(theirs) == {renamed: ("drifted", FETCH, "")}


def test_a_function_that_was_new_after_the_memory_is_no_rename(
    place: ReviewPaths, make: Make, git: Git, clone: Clone
) -> None:
    filled(place, git)
    remembered(place, make(references=(FETCH,)))
    edit(place, "class Store:", "def fetch(url):\n    return get(url, 3).items\n\n\nclass Store:")
    commit(place, git)
    edit(place, "get(url, 3)", "get(url, 4)")
    assert drift(place) == drift(clone()) == {}, "the file stands for what was not there"


def test_a_memory_written_by_hand_is_compared_with_what_it_was_written_about(place: ReviewPaths) -> None:
    made = queue.add_memory(place, "decision", "Load reads all", "At once.", references=(LOAD,))
    question = queue.add_memory(place, "question", "Should load read all?", "Or lines?", references=(LOAD,))
    decided = acts.promote_question(place, Path(question.path or "").stem, "Load reads lines")
    paths = (Path(made.path or ""), Path(decided.path or ""))
    for path in paths:
        assert place.store().load(path)[0].record.verified.startswith(f"{datetime.now(UTC):%Y-%m-%d}@")
    edit(place, *CHANGED)
    assert drift(place) == {path.stem: ("drifted", LOAD, "") for path in paths}


@pytest.mark.parametrize("change", [(), (CHANGED,)])
def test_still_true_of_a_place_that_moved_is_said_of_where_it_is(
    place: ReviewPaths, make: Make, git: Git, clone: Clone, change: tuple[tuple[str, str], ...]
) -> None:
    filled(place, git)
    one = remembered(place, make(references=(LOAD,)))
    moved(place, git, *change)
    assert drift(place) == {one.record.id: ("drifted" if change else "fresh", LOAD, OTHER)}
    assert OTHER in acts.verify_memory(place, one.record.id).message
    assert place.store().load_by_id(one.record.id).record.references == (OTHER,)
    assert drift(place) == drift(clone()) == {}
    edit(place, "open(path)", "open(path, 'rb')", "src/other.py")
    assert drift(place) == {one.record.id: ("drifted", OTHER, "")}
    assert queue.undo_last(place).ok
    assert drift(place) == {one.record.id: ("drifted", LOAD, OTHER)}


def test_still_true_of_a_renamed_function_is_said_of_its_new_name(place: ReviewPaths, make: Make) -> None:
    one = remembered(place, make(references=(LOAD,)))
    edit(place, "def load", "def fetch")
    assert drift(place) == {one.record.id: ("fresh", LOAD, FETCH)}
    for _ in range(2):
        assert acts.verify_memory(place, one.record.id).ok
        assert drift(place) == {}
    edit(place, "open(path)", "open(path, 'rb')")
    assert drift(place) == {one.record.id: ("drifted", FETCH, "")}


def test_each_act_that_says_a_memory_is_true_can_be_taken_back_where_nothing_is_committed(
    place: ReviewPaths, tmp_path: Path, git: Git
) -> None:
    (tmp_path / "new").mkdir()
    git(tmp_path / "new", "init", "-q")
    new = review_paths(tmp_path / "new", place.home)
    source = new.project.root / "a.py"
    source.write_text("def load():\n    return 1 + 2 + 3\n")
    made = Path(queue.add_memory(new, "decision", "A rule of load", "", references=("a.py#load",)).path or "")
    before = made.read_bytes()
    stale = {made.stem: ("drifted", "a.py#load", "")}
    for number in (4, 5):
        source.write_text(f"def load():\n    return 1 + 2 + {number}\n")
        assert drift(new) == stale
        assert acts.verify_memory(new, made.stem).action
        assert drift(new) == {}
    for _ in range(2):
        assert queue.undo_last(new).ok and drift(new) == stale
    assert made.read_bytes() == before
