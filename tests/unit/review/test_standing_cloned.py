"""A function renamed in its file, and its memory referred to it: a clone compares the function, not the whole file."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from test_standing_kept import CHANGED, LOAD, Make, accepted, edit, filled, memory, standing

from lerim.memory.store import StoredMemory
from lerim.paths import Home
from lerim.project.project import locate_project
from lerim.review.review_paths import ReviewPaths

Git = Callable[..., str]
Clone = Callable[[], ReviewPaths]
FETCH = "src/app.py#fetch"


@pytest.fixture
def clone(place: ReviewPaths, git: Git, tmp_path: Path) -> Clone:
    """Commits all there is, and gives another person's clone of it."""

    def made() -> ReviewPaths:
        git(place.project.root, "add", ".")
        git(place.project.root, "commit", "-q", "-m", "All")
        git(tmp_path, "clone", "-q", str(place.project.root), "clone")
        home = Home(tmp_path / "another")
        project = locate_project((tmp_path / "clone").resolve(), home)
        assert project is not None
        return ReviewPaths(project, home)

    return made


@pytest.fixture
def renamed(place: ReviewPaths, make: Make, git: Git) -> StoredMemory:
    """`load` of a long file is `fetch` by now, and its memory says so; nothing of that is committed."""
    filled(place, git)
    one = memory(place, make(references=(LOAD,)))
    edit(place, "def load", "def fetch")
    assert standing(place) == {one.record.id: ("fresh", LOAD, FETCH)}
    accepted(place, "refer", (one,), replace(one.record, references=(FETCH,)))
    assert standing(place) == {}
    return one


def test_it_is_fresh_in_a_clone_until_the_function_changes(renamed: StoredMemory, clone: Clone) -> None:
    theirs = clone()
    assert standing(theirs) == {}
    edit(theirs, *CHANGED)
    assert standing(theirs) == {renamed.record.id: ("drifted", FETCH, "")}


def test_it_has_drifted_in_a_clone_when_the_function_changed_since(
    place: ReviewPaths, git: Git, renamed: StoredMemory, clone: Clone
) -> None:
    git(place.project.root, "add", ".")
    git(place.project.root, "commit", "-q", "-m", "Renamed")
    for number in range(5):
        edit(place, "class Store:\n", f"class Store:\n    part{number} = {number}\n")
        git(place.project.root, "commit", "-q", "-a", "-m", f"Something else {number}")
    edit(place, *CHANGED)
    assert standing(place) == {renamed.record.id: ("drifted", FETCH, "")}
    assert standing(clone()) == {renamed.record.id: ("drifted", FETCH, "")}


def test_it_is_found_where_the_rename_is_not_committed_yet(place: ReviewPaths, git: Git, renamed: StoredMemory) -> None:
    again = ReviewPaths(place.project, Home(place.home.root.parent / "another"))
    assert standing(again) == {}
    edit(place, *CHANGED)
    assert standing(again) == {renamed.record.id: ("drifted", FETCH, "")}


def test_a_function_that_was_new_after_the_memory_is_no_rename(
    place: ReviewPaths, make: Make, git: Git, clone: Clone
) -> None:
    filled(place, git)
    one = memory(place, make(references=(FETCH,)))
    edit(place, "class Store:", "def fetch(url):\n    return get(url, 3).items\n\n\nclass Store:")
    git(place.project.root, "commit", "-q", "-a", "-m", "New")
    edit(place, "get(url, 3)", "get(url, 4)")
    assert standing(place) == {}, "the file stands for what was not there"
    assert standing(clone()) == {}
    assert one.record.verified
