"""A disk that is full: what was to be done is told, nothing is lost, and it goes on once there is space.

The disk is a small tmpfs where one may be mounted (root on Linux); else its test is skipped. A limit on the size of
files, which every POSIX system has, is the second seam: every write of more than some bytes fails.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import pytest

import terminal
from desk import Desk, correction
from lerim.paths import Home
from lerim.review import queue

MEGABYTE = 1024 * 1024


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own of eight megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={8 * MEGABYTE}", "none", str(folder)]
    if not sys.platform.startswith("linux") or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a small disk cannot be mounted here (root on Linux may)")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path, leave: int = 0) -> Path:
    """Fills the disk but for so many bytes."""
    filler = disk / "filler"
    with filler.open("wb") as file:
        left = shutil.disk_usage(disk).free - leave
        file.write(b"\0" * max(0, left))
    return filler


def run(desk: Desk, *arguments: str, limit: int = -1) -> tuple[int, dict[str, object]]:
    """A command, while no file may grow beyond `limit` bytes (-1: it may); its exit code and its JSON."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with mock.patch.dict(os.environ, LERIM_HOME=str(desk.home.root)):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit if limit >= 0 else soft, hard))
        try:
            done = terminal.run(*arguments, "--repo", str(desk.repo), "--json")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "unexpected" not in done.stdout, done.output
    return done.exit_code, json.loads(done.stdout)


def told(answer: dict[str, object]) -> str:
    """What a command said went wrong."""
    return json.dumps([answer.get("error"), answer.get("problems"), answer.get("results")])


def whole(desk: Desk, titles: int) -> None:
    """Everything is there once: a sync finds no more, and what waits can be accepted."""
    assert desk.sync().state == "done"
    for proposal in queue.list_pending(desk.place)[0]:
        assert queue.accept_candidate(desk.place, proposal.id, quotes="shared").ok
    assert len(desk.memories()) == len(set(desk.memories())) == titles
    assert desk.waiting() == []
    assert desk.sync().candidates == []
    assert not list((desk.repo / ".lerim").rglob("*.tmp"))


def rules(desk: Desk, count: int) -> None:
    for number in range(count):
        file = f"src/part{number}.py"
        (desk.repo / file).write_text("def load(): ...\n", encoding="utf-8")
        desk.session(f"s{number}", *correction(desk, f"library{number}", file, f"module{number}"))


@pytest.fixture
def on_disk(disk: Path, repo: Path, isolated: Path) -> Callable[[str], Desk]:
    """A desk whose repository, or whose home, or both, are on the small disk."""

    def make(what: str) -> Desk:
        root = repo
        if what in ("repository", "both"):
            root = Path(shutil.copytree(repo, disk / "repo"))
        home = disk / "home" / ".lerim" if what in ("home", "both") else isolated / ".lerim"
        return Desk(root, Home(home), isolated / ".claude" / "projects")

    return make


@pytest.mark.parametrize(("what", "left"), [("repository", 0), ("home", 0), ("both", 0), ("both", 65536)])
def test_a_sync_on_a_full_disk_says_so_and_the_next_one_carries_on(
    disk: Path, on_disk: Callable[[str], Desk], what: str, left: int
) -> None:
    desk = on_disk(what)
    rules(desk, 3)
    filler = fill(disk, left)
    code, answer = run(desk, "sync")
    assert code in (0, 1, 3, 4)
    if code or left == 0:
        assert "space" in told(answer) or "full" in told(answer), answer
    filler.unlink()
    whole(desk, 3)


@pytest.mark.parametrize("what", ["repository", "home"])
def test_an_accept_on_a_full_disk_changes_nothing_and_works_once_there_is_space(
    disk: Path, on_disk: Callable[[str], Desk], what: str
) -> None:
    desk = on_disk(what)
    rules(desk, 2)
    desk.sync()
    before = desk.waiting()
    (first, _) = queue.list_pending(desk.place)[0]
    filler = fill(disk)
    code, answer = run(desk, "review", "accept", first.id, "--quotes", "shared")
    assert code == 1
    assert "space" in told(answer) or "full" in told(answer), answer
    filler.unlink()
    assert desk.waiting() == before
    assert desk.memories() == []
    whole(desk, 2)


@pytest.mark.parametrize("limit", [4096, 200_000])
def test_files_that_cannot_grow_fail_a_sync_in_words_and_the_next_one_carries_on(desk: Desk, limit: int) -> None:
    rules(desk, 3)
    code, answer = run(desk, "sync", limit=limit)
    if code:
        assert len(told(answer)) > 40
    whole(desk, 3)


@pytest.mark.parametrize("limit", [0, 4096])
def test_files_that_cannot_grow_fail_an_accept_in_words_and_change_nothing(desk: Desk, limit: int) -> None:
    rules(desk, 2)
    desk.sync()
    before = desk.waiting()
    (first, _) = queue.list_pending(desk.place)[0]
    code, answer = run(desk, "review", "accept", first.id, "--quotes", "shared", limit=limit)
    assert code == 1, answer
    assert "Free some space" in told(answer)
    assert desk.memories() == []
    assert desk.waiting() == before
    whole(desk, 2)
