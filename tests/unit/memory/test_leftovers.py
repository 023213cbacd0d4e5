"""What a killed process left is removed at the next act, what a living one writes is not."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from killer import every_kill
from lerim.errors import MemoryError_, StaleError
from lerim.files import atomic, sweep_leftovers
from lerim.paths import Home
from lerim.project import project
from lerim.review import acts, queue
from lerim.review.review_paths import ReviewPaths
from reviews import Git, added

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of a file open for writing")
WRITER = """
import sys
from pathlib import Path
from lerim.files import open_directory, temporary_file
with open_directory(Path(sys.argv[1])) as folder, temporary_file(folder, b"half", 0o600, flush=False):
    print("written", flush=True)
    sys.stdin.read()
"""


def ours(*folders: Path) -> list[Path]:
    return [path for folder in folders for path in folder.rglob(".lerim-*")]


@needs_fork
def test_what_a_killed_act_left_is_ignored_by_git_and_gone_after_the_next_act(
    repo: Path, isolated: Path, git: Git
) -> None:
    home = Home(isolated / ".lerim")
    found = project.locate_project(repo, home)
    assert found
    place = ReviewPaths(found, home)
    kept = added(place, "Keep it").stem
    left = 0
    for kill in every_kill(every=2):
        kill(queue.add_memory, place, "decision", f"Use tool {kill.at}", "Because.")
        left += len(ours(repo / ".lerim", home.root))
        assert ".lerim-" not in git(repo, "status", "--porcelain", "-uall")
        acts.edit_memory(place, kept, queue.CandidateEdit("Keep it", f"{kill.at}", ()))
        assert ours(repo / ".lerim", home.root) == []
    assert left


@pytest.mark.skipif(sys.platform == "win32", reason="there a leftover is known by its age")
def test_a_living_writers_file_stays_and_goes_once_the_writer_was_killed(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout and writer.stdout.readline() == "written\n"
        sweep_leftovers([(tmp_path, tmp_path)])
        assert len(ours(tmp_path)) == 1
        writer.kill()
    sweep_leftovers([(tmp_path, tmp_path)])
    assert ours(tmp_path) == []


def _named(before: str, after: str, name: str) -> str:
    first, second = (hashlib.sha256(text.encode()).hexdigest()[:16] for text in (before, after))
    return f".lerim-00000000-{first}-{second}-{name}"


@pytest.mark.parametrize("left", ["old", "new", ""])
def test_a_file_left_in_the_middle_of_being_replaced_goes_if_nobody_edited_it(tmp_path: Path, left: str) -> None:
    (tmp_path / "a.md").write_text("new")
    (tmp_path / _named("old", "new", "a.md")).write_text(left)
    sweep_leftovers([(tmp_path, tmp_path)])
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.md": "new"}


def test_an_edit_that_a_kill_kept_from_going_back_goes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = _named("old", "old", "a.md")
    (tmp_path / name).write_text("old, and a line")
    sweep_leftovers([(tmp_path, tmp_path)])
    assert [path.name for path in tmp_path.iterdir()] == [name]  # its process may be about to do it
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 120)
    sweep_leftovers([(tmp_path, tmp_path)])
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.md": "old, and a line"}
    (tmp_path / name).write_text("old, and another line")
    sweep_leftovers([(tmp_path, tmp_path)])
    assert len(list(tmp_path.glob("a-edited-*.md"))) == 1 and len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("open_still", [False, pytest.param(True, marks=linux_only)])
def test_a_file_that_somebody_saved_or_is_about_to_write_into_is_neither_replaced_nor_removed(
    tmp_path: Path, open_still: bool
) -> None:
    path = tmp_path / "a.md"
    path.write_text("read\n")
    with path.open("a") as file:
        if not open_still:
            file.write("saved since\n")
            file.close()
        with pytest.raises(StaleError):
            atomic.replace_file(path, "new", before="read\n")
        with pytest.raises(StaleError):
            atomic.remove_file(path, before="read\n")
    now = "read\n" if open_still else "read\nsaved since\n"
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.md": now}
    atomic.replace_file(path, "new", before=now)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.md": "new"}
    atomic.remove_file(path, before="new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="/proc has files whose size is only known once they are read")
def test_a_file_that_turns_out_larger_than_the_limit_is_refused_and_not_cut() -> None:
    assert atomic.read_text(Path("/proc/self/comm"), 1_000)
    with pytest.raises(MemoryError_, match="larger than"):
        atomic.read_text(Path("/proc/self/status"), 10)
