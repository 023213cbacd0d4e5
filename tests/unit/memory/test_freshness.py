"""How memories stand: what verifying keeps, what a look tells, and what neither may ever do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lerim.memory.freshness.drift import DriftChecker
from lerim.memory.freshness.drift_summary import Drift
from lerim.memory.freshness.reference_check import check_references, summarize_problems
from lerim.memory.freshness.verifying import verify_record
from lerim.memory.record import MemoryRecord, render_record
from lerim.paths import Home
from lerim.project.git import open_git
from lerim.project.project import Project, locate_project, make_personal_project

Git = Callable[..., str]
NOW = datetime(2026, 11, 1, tzinfo=UTC)
LATER = datetime(2026, 11, 21, tzinfo=UTC)
APP = "src/app.py"


class Desk:
    """A repository whose memories are verified and looked at."""

    def __init__(self, root: Path, home: Home) -> None:
        self.root, self.home = root, home
        found = locate_project(root, home)
        assert found is not None
        self.project: Project = found
        self.fresh = DriftChecker(found, home)

    def memory(self, *references: str, id_: str = "20261101-one") -> MemoryRecord:
        made = MemoryRecord(id_, "decision", id_, NOW, NOW, "manual", 0.9, (), "Body", references=references)
        return self.keep(verify_record(self.project, self.home, made, NOW))

    def keep(self, record: MemoryRecord) -> MemoryRecord:
        path = self.project.memory_dir / "decisions" / f"{record.id}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(render_record(record), encoding="utf-8")
        return record

    def edit(self, old: str, new: str, path: str = APP) -> None:
        text = (self.root / path).read_text(encoding="utf-8")
        assert old in text
        (self.root / path).write_text(text.replace(old, new), encoding="utf-8")

    def state(self, memory: str) -> str:
        self.fresh.check()
        return state_of(self.fresh, memory)


def state_of(checker: DriftChecker, memory: str) -> str:
    found = checker.summary().drift_by_memory.get(memory)
    return found.state if found else "fresh"


@pytest.fixture
def desk(repo: Path, tmp_path: Path) -> Desk:
    return Desk(repo, Home(tmp_path / "home"))


def test_verified_names_the_day_and_the_commit_or_the_day_alone(desk: Desk, tmp_path: Path, git: Git) -> None:
    assert desk.memory(APP).verified == f"2026-11-01@{git(desk.root, 'rev-parse', '--short=10', 'HEAD')}"
    git(desk.root, "pack-refs", "--all")
    assert "@" in desk.memory(APP).verified
    bare = tmp_path / "new"
    bare.mkdir()
    git(bare, "init", "-q")
    (bare / "a.py").write_text("a = 1\n")
    assert Desk(bare, desk.home).memory("a.py").verified == "2026-11-01"
    own = make_personal_project(desk.home)
    record = MemoryRecord("20261101-x", "decision", "x", NOW, NOW, "manual", 0.9, (), "x", references=("a.py",))
    assert verify_record(own, desk.home, record, NOW).verified == "2026-11-01"
    assert DriftChecker(own, desk.home).check() == set()


def test_the_worst_reference_counts_and_since_is_the_day_it_was_seen(desk: Desk) -> None:
    desk.memory(APP, f"{APP}#load", "README.md")
    desk.edit("open(path)", "open(path, 'rb')")
    assert desk.fresh.check(now=LATER) == {"20261101-one"}
    drifted = Drift("drifted", f"{APP}#load", "", "`load` changed", "2026-11-21")
    assert desk.fresh.summary().drift_by_memory["20261101-one"] == drifted
    (desk.root / "README.md").unlink()
    desk.fresh.check(now=datetime(2026, 12, 1, tzinfo=UTC))
    gone = Drift("gone", "README.md", "", "`README.md`", "2026-12-01")
    assert desk.fresh.summary().drift_by_memory == {"20261101-one": gone}


def test_a_symbol_that_is_nowhere_is_not_found_and_never_verified_and_its_likely_place_is_named(
    desk: Desk, git: Git
) -> None:
    (desk.root / "src" / "reading.py").write_text(
        "class Reader:\n    def parse_all(self):\n        return 1\n", "utf-8"
    )
    memory = desk.memory(f"{APP}#parse_all")
    assert memory.verified == ""
    assert desk.fresh.check() == {memory.id}
    found = desk.fresh.summary().drift_by_memory[memory.id]
    assert (found.state, found.detail) == ("gone", f"`parse_all` in `{APP}`")
    [problem] = check_references(desk.root, [f"{APP}#parse_all", f"{APP}#load"])
    assert problem.likely == ("src/reading.py#Reader.parse_all",)
    assert problem.message == f"parse_all was not found in {APP}; it may be src/reading.py#Reader.parse_all"
    assert summarize_problems([problem]) == f"parse_all was not found in {APP}."
    [moved] = check_references(desk.root, ["elsewhere/reading.py"])
    assert (moved.state, moved.likely) == ("not-found", ("src/reading.py",))
    assert summarize_problems([problem, moved]) == "2 references were not found."
    git(desk.root, "mv", APP, "src/start.py")
    [renamed] = check_references(desk.root, [APP])
    assert renamed.message == f"{APP} was not found; it may be src/start.py"


def test_a_number_longer_than_python_prints_is_like_any_other(desk: Desk) -> None:
    (desk.root / "prime.py").write_text(f"PRIME = 0x{'f' * 4_096}\n\n\ndef f():\n    return 1\n", "utf-8")
    memory = desk.memory("prime.py#f")
    assert memory.verified
    assert desk.state(memory.id) == "fresh"


def test_a_symbol_that_several_classes_define_is_ambiguous(desk: Desk) -> None:
    text = "class One:\n    def run(self):\n        pass\n\n\nclass Two:\n    def run(self):\n        return 2\n"
    (desk.root / "src" / "two.py").write_text(text, "utf-8")
    [problem] = check_references(desk.root, ["src/two.py#run", "src/two.py#One.run"])
    assert (problem.state, problem.likely) == ("ambiguous", ("src/two.py#One.run", "src/two.py#Two.run"))


def test_only_files_with_another_stamp_are_looked_at(desk: Desk) -> None:
    desk.memory(f"{APP}#load")
    state = (desk.root / APP).stat()
    text = (desk.root / APP).read_text(encoding="utf-8").replace("open(path)", "open(htap)")
    with (desk.root / APP).open("r+", encoding="utf-8") as file:
        file.write(text)
    os.utime(desk.root / APP, ns=(state.st_atime_ns, state.st_mtime_ns))  # the same stamp: it is not read
    assert desk.fresh.check() == set()
    os.utime(desk.root / APP, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    assert desk.fresh.check(["README.md"], subjects=()) == set()
    assert desk.fresh.check([APP], subjects=()) == {"20261101-one"}


def test_a_file_in_the_middle_of_an_edit_stands_as_it_did(desk: Desk) -> None:
    desk.memory(f"{APP}#load")
    desk.edit("def load(path):", "def load(path:")
    assert desk.fresh.check() == set()
    assert state_of(desk.fresh, "20261101-one") == "fresh"
    desk.edit("def load(path:", "def load(path, more):")
    assert desk.fresh.check() == {"20261101-one"}


def test_what_cannot_be_read_is_unknown_and_nothing_outside_is_read(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("def key():\n    return 1\n", encoding="utf-8")
    (desk.root / "out.py").symlink_to(tmp_path / "secret.py")
    os.mkfifo(desk.root / "pipe.py")
    (desk.root / "blob.bin").write_bytes(b"\0" * 100)
    desk.memory("out.py#key", "pipe.py", "blob.bin", "../up.py", "")
    desk.fresh.check()
    (tmp_path / "secret.py").write_text("def key():\n    return 2\n", encoding="utf-8")
    assert desk.state("20261101-one") == "unknown"


def test_worktrees_stand_by_themselves(desk: Desk, tmp_path: Path, git: Git) -> None:
    desk.memory(f"{APP}#load")
    git(desk.root, "worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"))
    shutil.copytree(desk.root / ".lerim", tmp_path / "tree" / ".lerim")
    tree = Desk((tmp_path / "tree").resolve(), desk.home)
    tree.edit("open(path)", "open(path, 'rb')")
    assert tree.fresh.check() == {"20261101-one"}
    assert desk.fresh.check() == set()
    assert (state_of(tree.fresh, "20261101-one"), desk.fresh.summary().drift_by_memory) == ("drifted", {})


def test_a_text_that_is_none_any_more_drifted_and_one_too_large_stands_as_it_did(desk: Desk) -> None:
    desk.memory(APP, id_="20261101-file")
    desk.memory(f"{APP}#load")
    text = (desk.root / APP).read_text(encoding="utf-8")
    both = {"20261101-file", "20261101-one"}

    def states(text: str) -> set[str]:
        (desk.root / APP).write_text(text, encoding="utf-8")
        desk.fresh.check()
        drifts = desk.fresh.summary().drift_by_memory
        assert set(drifts) <= both
        return {drifts[one].state if one in drifts else "fresh" for one in both}

    assert states(text + "\0") == {"drifted"}
    assert states(text) == {"fresh"}
    assert states(text + "# more\n" * 200_000) == {"fresh"}
    assert states("print()\n") == {"drifted", "gone"}
    assert states("# more\n" * 200_000) == {"drifted", "gone"}
    (desk.root / APP).unlink()
    (desk.root / APP).mkdir()
    desk.fresh.check()
    assert {one.state for one in desk.fresh.summary().drift_by_memory.values()} == {"drifted"}


def test_a_python_function_that_is_defined_once_more_is_another(desk: Desk) -> None:
    desk.memory(f"{APP}#load")
    desk.memory(f"{APP}#save", id_="20261101-two")
    text = (desk.root / APP).read_text(encoding="utf-8")
    more = "\n\nclass Other:\n    def save(self):\n        return 1\n\n\ndef load(path):\n    return path\n"
    (desk.root / APP).write_text(text + more, encoding="utf-8")
    assert desk.fresh.check() == {"20261101-one"}
    assert state_of(desk.fresh, "20261101-one") == "drifted"


def test_a_folder_is_followed_where_all_of_it_went(desk: Desk, git: Git) -> None:
    for name in ("a.md", "deep/b.md"):
        path = desk.root / "guides" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}\n\nHow {name} is done.\nAnd why {name} is so.\n", encoding="utf-8")
    git(desk.root, "add", ".")
    git(desk.root, "commit", "-q", "-m", "Guides")
    verified = desk.memory("guides")
    desk.keep(replace(verified, id="20261101-two", verified=""))  # written by hand
    git(desk.root, "mv", "guides", "docs")
    git(desk.root, "commit", "-q", "-m", "Moved")
    job = DriftChecker(desk.project, desk.home, open_git(desk.root, os.environ))
    job.check()
    assert job.summary().moved_references == {"20261101-one": {"guides": "docs"}}
    git(desk.root, "mv", "docs/a.md", "README-a.md")
    git(desk.root, "mv", "docs", "other")
    git(desk.root, "commit", "-q", "-m", "Apart")
    job.check()
    assert job.summary().moved_references == {}
    assert state_of(job, "20261101-one") == "gone"


def test_of_two_files_that_are_what_one_was_neither_is_taken_for_it(desk: Desk, git: Git) -> None:
    desk.memory(f"{APP}#load")
    text = (desk.root / APP).read_text(encoding="utf-8")
    git(desk.root, "rm", "-q", APP)
    (desk.root / "src").mkdir(exist_ok=True)
    for name in ("b.py", "z.py"):
        (desk.root / "src" / name).write_text(text, encoding="utf-8")
    git(desk.root, "add", ".")
    git(desk.root, "commit", "-q", "-m", "Two")
    job = DriftChecker(desk.project, desk.home, open_git(desk.root, os.environ))
    for _ in range(2):
        job.check()
        assert (state_of(job, "20261101-one"), job.summary().moved_references) == ("gone", {})


@pytest.mark.parametrize(
    ("path", "text", "old", "new"),
    [
        ("setup.toml", '[pool]\ntimeout = 30\nretries = 3\nname = "x"\n', "timeout = 30", "timeout = 60"),
        ("RULES.md", "# Rules\n\nUse it.\n\nAlways.\n", "Use it.", "Never use it."),
        ("Makefile", "run:\n\tpython -m app\n", "-m app", "-m other"),
    ],
)
def test_a_small_page_of_settings_or_rules_has_drifted_with_any_line_that_reads_otherwise(
    desk: Desk, path: str, text: str, old: str, new: str
) -> None:
    source = desk.root / path
    source.write_text(text)
    record = desk.memory(path)
    source.write_text(f"# more\n\n{text}   \nmore = 1\n")  # what was added takes nothing back
    assert desk.state(record.id) == "fresh"
    source.write_text(text.replace(old, new))
    assert desk.state(record.id) == "drifted"
    source.write_text(text)
    assert desk.state(record.id) == "fresh"


@pytest.mark.parametrize(
    ("before", "after", "state"),
    [
        (b"port = 5433\nhost = local\n", b"", "drifted"),
        (b"{}\n", b"\n \n", "drifted"),
        (b"\0\1\2", b"", "drifted"),
        (b"line of a log\n" * 90_000, b"", "drifted"),
        (b"[\n]\n", b'["a"]\n', "fresh"),
        (b"\n", b"port = 5433\n", "fresh"),
        (b"", b"", "fresh"),
    ],
)
def test_a_file_that_was_emptied_has_drifted_and_one_that_was_empty_has_not(
    desk: Desk, before: bytes, after: bytes, state: str
) -> None:
    source = desk.root / "settings.cfg"
    source.write_bytes(before)
    name = desk.memory("settings.cfg").id
    for text, wanted in ((before, "fresh"), (after, state), (before, "fresh")):
        source.write_bytes(text)
        assert desk.state(name) == wanted
