"""What a killed process left is removed at the next act, what a living one writes is not."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from killer import DONE, in_child
from lerim.errors import StaleError
from lerim.files import atomic
from lerim.paths import Home
from lerim.project import project
from lerim.review import acts, queue
from lerim.review.review_paths import ReviewPaths

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
WRITER = """
import sys
from pathlib import Path
from lerim.files import open_directory, temporary_file
with open_directory(Path(sys.argv[1])) as folder, temporary_file(folder, b"half", 0o600, flush=False):
    print("written", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def place(repo: Path, isolated: Path) -> ReviewPaths:
    found = project.locate_project(repo, Home(isolated / ".lerim"))
    assert found
    return ReviewPaths(found, Home(isolated / ".lerim"))


def ours(*folders: Path) -> list[Path]:
    return [path for folder in folders for path in folder.rglob(".lerim-*")]


@needs_fork
def test_what_a_killed_act_left_is_ignored_by_git_and_gone_after_the_next_act(place: ReviewPaths) -> None:
    repo, home = place.project.root, place.home.root
    queue.add_memory(place, "decision", "Keep it", "Because.")
    left = 0
    for instant in range(0, 200, 2):
        code = in_child(lambda at=instant: queue.add_memory(place, "decision", f"Use tool {at}", "Because."), instant)  # type: ignore[misc]
        left += len(ours(repo / ".lerim", home))
        status = subprocess.run(
            ["git", "status", "--porcelain", "-uall"], cwd=repo, capture_output=True, text=True, check=True
        )
        assert ".lerim-" not in status.stdout
        acts.edit_memory(
            place, f"{time.strftime('%Y%m%d', time.gmtime())}-keep-it", queue.CandidateEdit("Keep it", f"{instant}", ())
        )
        assert ours(repo / ".lerim", home) == []
        if code == DONE:
            break
    assert left


@pytest.mark.skipif(sys.platform == "win32", reason="there a leftover is known by its age")
def test_a_living_writers_file_stays_and_goes_once_the_writer_was_killed(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout and writer.stdout.readline() == "written\n"
        atomic.sweep_leftovers([(tmp_path, tmp_path)])
        assert len(ours(tmp_path)) == 1
        writer.kill()
    atomic.sweep_leftovers([(tmp_path, tmp_path)])
    assert ours(tmp_path) == []


def _named(before: str, after: str, name: str) -> str:
    first, second = (hashlib.sha256(text.encode()).hexdigest()[:16] for text in (before, after))
    return f".lerim-00000000-{first}-{second}-{name}"


@pytest.mark.parametrize("left", ["old", "new", ""])
def test_a_file_left_in_the_middle_of_being_replaced_goes_if_nobody_edited_it(tmp_path: Path, left: str) -> None:
    (tmp_path / "a.md").write_text("new")
    (tmp_path / _named("old", "new", "a.md")).write_text(left)
    atomic.sweep_leftovers([(tmp_path, tmp_path)])
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.md": "new"}


def test_an_edit_that_a_kill_kept_from_going_back_goes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = _named("old", "old", "a.md")
    (tmp_path / name).write_text("old, and a line")
    atomic.sweep_leftovers([(tmp_path, tmp_path)])
    assert [path.name for path in tmp_path.iterdir()] == [name]  # its process may be about to do it
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 120)
    atomic.sweep_leftovers([(tmp_path, tmp_path)])
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.md": "old, and a line"}
    (tmp_path / name).write_text("old, and another line")
    atomic.sweep_leftovers([(tmp_path, tmp_path)])
    assert len(list(tmp_path.glob("a-edited-*.md"))) == 1 and len(list(tmp_path.iterdir())) == 2


def test_a_file_that_was_saved_since_it_was_read_is_neither_replaced_nor_removed(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("saved since")
    with pytest.raises(StaleError):
        atomic.replace_file(path, "new", before="read")
    with pytest.raises(StaleError):
        atomic.remove_file(path, before="read")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.md": "saved since"}
    atomic.replace_file(path, "new", before="saved since")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.md": "new"}
    atomic.remove_file(path, before="new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of a file that is open for writing")
def test_a_file_that_somebody_is_about_to_write_into_is_neither_replaced_nor_removed(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("read\n")
    with path.open("a") as file:
        with pytest.raises(StaleError):
            atomic.replace_file(path, "new", before="read\n")
        with pytest.raises(StaleError):
            atomic.remove_file(path, before="read\n")
        file.write("a line\n")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.md": "read\na line\n"}
