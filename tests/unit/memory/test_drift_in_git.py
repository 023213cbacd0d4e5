"""A labelled history of renames and deletions: each is found as what it is, and nothing else is.

The same history is looked at with git, as jobs do, and without it, as the sidecar does.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lerim.memory.freshness.drift import DriftChecker, DriftSubject
from lerim.memory.freshness.drift_summary import Drift
from lerim.memory.freshness.verifying import verify_record
from lerim.memory.record import MemoryRecord, parse_record, render_record
from lerim.memory.reference import Reference
from lerim.paths import Home
from lerim.project.git import open_git
from lerim.project.project import Project, locate_project

Git = Callable[..., str]
NOW = datetime(2026, 11, 1, tzinfo=UTC)
LATER = datetime(2026, 11, 21, tzinfo=UTC)


def function(name: str, number: int) -> str:
    return f"def {name}(value, other={number}):\n    total = value + {number}\n    return total * other\n"


def module(*names: str, seed: int = 0) -> str:
    return "import os\n\n\n" + "\n\n".join(function(name, seed + at) for at, name in enumerate(names)) + "\n"


SCRIPT = """
export function fetchAll(url) {
  const found = get(url, 3);
  return found.items;
}

export class Cache {
  keep(key, value) {
    this.items[key] = value;
    return this.size;
  }
}
"""
START = {
    "src/renamed_function.py": module("load", "save", seed=10),
    "src/renamed_class.py": "class Store:\n    def save(self, path):\n        self.path = path\n        return path\n",
    "src/recursive.py": "def walk(node):\n    return [node, *map(walk, node.children)]\n",
    "src/holds_its_name.py": "import json\n\n\ndef load(path):\n    return json.load(open(path))\n",
    "src/moved_file.py": module("one", "two", "three", seed=20),
    "src/moved_and_touched.py": module("alpha", "beta", "gamma", "delta", seed=30),
    "src/moved_and_changed.py": module("first", "second", "third", "fourth", seed=40),
    "old/a.py": module("in_a", "in_a_too", seed=50),
    "old/b.py": module("in_b", "in_b_too", seed=60),
    "src/deleted.py": module("dead", "deader", seed=70),
    "src/deleted_function.py": module("stays", "goes", seed=80),
    "src/changed.py": module("changes", "keeps", seed=90),
    "src/rewritten.md": "".join(f"Line {at} of the old text.\n" for at in range(40)),
    "src/grown.md": "".join(f"Line {at} of a text.\n" for at in range(40)),
    "src/untouched.py": module("calm", seed=100),
    "src/reformatted.py": module("pretty", seed=110),
    "src/copied.py": module("same", seed=120),
    "src/twin.py": function("first", 1) + "\n\n" + function("second", 1),
    "src/trivial.py": "class A:\n    def save(self):\n        pass\n\n    def load(self):\n        return 1\n",
    "web/app.ts": SCRIPT,
    "web/gone.ts": SCRIPT.replace("items", "entries").replace("fetchAll", "fetchOne"),
    "src/swapped.py": module("left", "right", seed=140),
}


@dataclass(frozen=True)
class Case:
    """A reference, and how it must stand at the end."""

    reference: str
    state: str
    moved_to: str = ""


CASES = [
    Case("src/renamed_function.py#load", "fresh", "src/renamed_function.py#read"),
    Case("src/renamed_function.py#save", "fresh"),
    Case("src/renamed_class.py#Store", "fresh", "src/renamed_class.py#Shop"),
    Case("src/renamed_class.py#Store.save", "fresh", "src/renamed_class.py#Shop.save"),
    Case("src/recursive.py#walk", "fresh", "src/recursive.py#visit"),
    Case("src/holds_its_name.py#load", "fresh", "src/holds_its_name.py#read"),
    Case("src/moved_file.py", "fresh", "lib/moved_file.py"),
    Case("src/moved_file.py#two", "fresh", "lib/moved_file.py#two"),
    Case("src/moved_and_touched.py#beta", "fresh", "lib/touched.py#beta"),
    Case("src/moved_and_changed.py#second", "drifted", "lib/changed.py#second"),
    Case("src/moved_and_changed.py#first", "fresh", "lib/changed.py#primary"),
    Case("old/a.py#in_a", "fresh", "new/a.py#in_a"),
    Case("old/b.py", "fresh", "new/b.py"),
    Case("src/deleted.py", "gone"),
    Case("src/deleted.py#dead", "gone"),
    Case("src/deleted_function.py#goes", "gone"),
    Case("src/deleted_function.py#stays", "fresh"),
    Case("src/changed.py#changes", "drifted"),
    Case("src/changed.py#keeps", "fresh"),
    Case("src/changed.py", "fresh"),
    Case("src/rewritten.md", "drifted"),
    Case("src/grown.md", "fresh"),
    Case("src/untouched.py#calm", "fresh"),
    Case("src/reformatted.py#pretty", "fresh"),
    Case("src/copied.py#same", "fresh"),
    Case("src/twin.py#first", "gone"),
    Case("src/trivial.py#A.save", "gone"),
    Case("web/app.ts#fetchAll", "fresh", "web/app.ts#fetchEvery"),
    Case("web/app.ts#Cache.keep", "drifted"),
    Case("web/gone.ts#fetchOne", "gone"),
    Case("src/swapped.py#left", "fresh"),
    Case("src", "fresh"),
]


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def edit(root: Path, name: str, *changes: tuple[str, str]) -> None:
    text = (root / name).read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text, (name, old)
        text = text.replace(old, new)
    write(root, name, text)


def live_on(root: Path, git: Git) -> None:
    """Three commits of changes, each labelled above."""
    edit(root, "src/renamed_function.py", ("def load(", "def read("))
    edit(root, "src/renamed_class.py", ("class Store", "class Shop"))
    edit(root, "src/recursive.py", ("walk", "visit"))
    edit(root, "src/holds_its_name.py", ("def load(", "def read("))
    git(root, "mv", "src/moved_and_touched.py", "src/on_its_way.py")
    (root / "lib").mkdir()
    git(root, "mv", "src/moved_file.py", "lib/moved_file.py")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "Names")

    git(root, "mv", "src/on_its_way.py", "lib/touched.py")
    edit(root, "lib/touched.py", ("def delta(", "def epsilon("))
    git(root, "mv", "src/moved_and_changed.py", "lib/changed.py")
    edit(root, "lib/changed.py", ("def first(", "def primary("), ("value + 41", "value - 41"))
    git(root, "mv", "old", "new")
    git(root, "rm", "-q", "src/deleted.py", "web/gone.ts")
    write(root, "src/unlike.py", module("unlike", "unlikely", "unheard", seed=200))
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "Moves")

    edit(root, "src/deleted_function.py", (function("goes", 81), ""))
    edit(root, "src/changed.py", ("total = value + 90", "total = value * 90"))
    write(root, "src/rewritten.md", "".join(f"Row {at}, which is new.\n" for at in range(40)))
    write(root, "src/grown.md", START["src/grown.md"] + "".join(f"More {at}.\n" for at in range(200)))
    edit(
        root,
        "src/reformatted.py",
        ("    total = value + 110\n", "    # the sum\n    total = (\n        value\n        + 110\n    )\n"),
    )
    write(root, "src/copy_of_copied.py", START["src/copied.py"])
    edit(root, "src/twin.py", (function("first", 1), ""))
    edit(root, "src/trivial.py", ("    def save(self):\n        pass\n", "    def other(self):\n        pass\n"))
    edit(root, "web/app.ts", ("fetchAll", "fetchEvery"), ("this.items[key] = value;", "this.items.set(key, value);"))
    one, two = function("left", 140), function("right", 141)
    write(root, "src/swapped.py", f"import os\n\n\n{two}\n\n{one}\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "Changes")


def remember(project: Project, home: Home, number: int, case: Case) -> str:
    made = MemoryRecord(
        f"20261101-case-{number}",
        *("decision", f"Case {number}", NOW, NOW, "manual", 0.9, (), case.reference),
        references=(case.reference,),
    )
    verified = verify_record(project, home, made, NOW)
    assert verified.verified.startswith("2026-11-01@")
    write(project.root, f".lerim/memory/decisions/{made.id}.md", render_record(verified))
    return made.id


@pytest.fixture
def place(tmp_path: Path, git: Git) -> tuple[Project, Home]:
    root = tmp_path / "repo"
    for name, text in START.items():
        write(root, name, text)
    write(root, ".gitignore", ".lerim/\n")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "Start")
    home = Home(tmp_path / "home")
    project = locate_project(root.resolve(), home)
    assert project is not None
    return project, home


Look = Callable[[Project, Home], DriftChecker]


def with_git(project: Project, home: Home) -> DriftChecker:
    import os

    found = open_git(project.root, os.environ)
    assert found is not None
    return DriftChecker(project, home, found)


def stands(drift: Drift | None) -> tuple[str, str]:
    return (drift.state, drift.moved_to) if drift else ("fresh", "")


@pytest.mark.parametrize("look", [with_git, DriftChecker], ids=["with git", "without git"])
def test_every_rename_and_deletion_is_found_and_no_other(place: tuple[Project, Home], git: Git, look: Look) -> None:
    project, home = place
    ids = {remember(project, home, number, case): case for number, case in enumerate(CASES)}
    assert look(project, home).check(now=NOW) == set()
    live_on(project.root, git)
    changed = look(project, home).check(now=LATER)
    found = look(project, home).summary().drift_by_memory
    wanted = {case.reference: (case.state, case.moved_to) for case in CASES}
    assert {case.reference: stands(found.get(memory)) for memory, case in ids.items()} == wanted
    assert (
        changed
        == set(found)
        == {memory for memory, case in ids.items() if (case.state, case.moved_to) != ("fresh", "")}
    )
    assert {one.since for one in found.values()} == {"2026-11-21"}
    assert look(project, home).check() == set()
    assert look(project, home).summary().drift_by_memory == found


def test_a_symbol_that_was_moved_to_another_file_is_followed_there_and_back(
    place: tuple[Project, Home], git: Git
) -> None:
    project, home = place
    memory = remember(project, home, 1, Case("src/deleted_function.py#goes", "fresh"))
    [file] = project.memory_dir.glob("*/*.md")
    verified = parse_record(file.read_text("utf-8"), file).verified
    with_git(project, home).check(now=NOW)
    edit(project.root, "src/deleted_function.py", (function("goes", 81), ""))
    write(project.root, "lib/arrived.py", module("goes", seed=81))

    def look(checker: DriftChecker) -> tuple[str, str]:
        checker.check(now=LATER)
        return stands(checker.summary().drift_by_memory.get(memory))

    assert look(DriftChecker(project, home)) == ("gone", "")
    memories = [DriftSubject(memory, (Reference("src/deleted_function.py", "goes"),), verified)]
    with_git(project, home).check(now=LATER, subjects=memories, whole=True)
    assert look(DriftChecker(project, home)) == ("fresh", "lib/arrived.py#goes")
    edit(project.root, "src/deleted_function.py", ("import os", "import sys"))
    assert look(DriftChecker(project, home)) == ("fresh", "lib/arrived.py#goes"), "without git it is known now"
    edit(project.root, "lib/arrived.py", ("value + 81", "value - 81"))
    assert look(DriftChecker(project, home)) == ("drifted", "lib/arrived.py#goes")
    edit(project.root, "lib/arrived.py", ("def goes(", "def went("))
    assert look(DriftChecker(project, home)) == ("gone", "")
    write(project.root, "src/deleted_function.py", START["src/deleted_function.py"])
    assert look(DriftChecker(project, home)) == ("fresh", "")


def test_a_symbol_that_is_in_several_other_files_was_moved_to_none_of_them(
    place: tuple[Project, Home], git: Git
) -> None:
    project, home = place
    memory = remember(project, home, 1, Case("src/deleted_function.py#goes", "gone"))
    with_git(project, home).check(now=NOW)
    edit(project.root, "src/deleted_function.py", (function("goes", 81), ""))
    for name in ("lib/one.py", "lib/two.py"):
        write(project.root, name, module("goes", seed=81))
    with_git(project, home).check(now=LATER)
    assert stands(with_git(project, home).summary().drift_by_memory.get(memory)) == ("gone", "")


def test_a_symbol_that_says_next_to_nothing_was_not_moved_to_another_file_that_has_the_same(
    place: tuple[Project, Home], git: Git
) -> None:
    project, home = place
    for folder in ("src", "lib"):
        write(project.root, f"{folder}/plugin.py", "def setup(app):\n    pass\n\n\ndef name():\n    return 'plugin'\n")
    git(project.root, "add", "-A")
    git(project.root, "commit", "-q", "-m", "Add plugins")
    memory = remember(project, home, 1, Case("src/plugin.py#setup", "gone"))
    with_git(project, home).check(now=NOW)
    edit(project.root, "src/plugin.py", ("def setup(app):\n    pass\n\n\n", ""))
    with_git(project, home).check(now=LATER)
    assert stands(with_git(project, home).summary().drift_by_memory.get(memory)) == ("gone", "")


@pytest.mark.parametrize("folder", ["c#", os.fsdecode(b"caf\xe9")])
def test_what_was_moved_to_where_no_reference_can_name_it_is_gone(
    place: tuple[Project, Home], git: Git, folder: str
) -> None:
    project, home = place
    symbol = remember(project, home, 1, Case("src/deleted_function.py#goes", "gone"))
    file = remember(project, home, 2, Case("src/moved_file.py", "gone"))
    with_git(project, home).check(now=NOW)
    edit(project.root, "src/deleted_function.py", (function("goes", 81), ""))
    try:
        write(project.root, f"{folder}/arrived.py", module("goes", seed=81))
    except OSError:
        pytest.skip("this system has no such names")
    git(project.root, "mv", "src/moved_file.py", f"{folder}/moved_file.py")
    for checker in (with_git(project, home), DriftChecker(project, home)):
        checker.check(now=LATER)
        found = checker.summary().drift_by_memory
        assert [stands(found.get(one)) for one in (symbol, file)] == [("gone", "")] * 2
