"""Real commands on stores of many memories: they open no more files than needed, and stop when they are told to."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lerim.paths import Home
from lerim.project.project import locate_project
from long import at_most
from many_memories import memories, write
from terminal import answer, run
from warm_python import warm_python

HANG = 300
"""Seconds after which a process is taken to hang."""
_opened: list[str] = []
"""The files opened in this process, while somebody counts."""
_counts = False


def _note(event: str, about: tuple[object, ...]) -> None:
    if _counts and event == "open":
        _opened.append(str(about[0]))


@pytest.fixture(scope="module", autouse=True)
def noted() -> None:
    sys.addaudithook(_note)  # it stays for the life of the process


def opened_by(repo: Path, *arguments: str) -> int:
    """How many memory files a command opens."""
    global _counts
    _opened.clear()
    _counts = True
    try:
        done = run(*arguments, "--repo", str(repo))
    finally:
        _counts = False
    assert done.exit_code == 0, done.output
    return sum(name.endswith(".md") for name in _opened)


def bytes_of(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_status_and_list_open_no_memory_that_the_index_has_as_it_is_now(repo: Path, isolated: Path) -> None:
    folder = write(repo, memories(40, "a number"))
    assert opened_by(repo, "memory", "list") == 40
    assert opened_by(repo, "status") == 40
    opened_by(repo, "memory", "search", "upload")  # makes the index
    assert opened_by(repo, "memory", "list") == 0
    assert opened_by(repo, "memory", "list", "--json") == 0
    assert opened_by(repo, "status") == 0
    changed = folder / f"{memories(1, 'a number')[0].id}.md"
    changed.write_text(changed.read_text("utf-8").replace("Retry the", "Repeat the"), encoding="utf-8")
    (folder / "20260101-by-hand.md").write_text("no header", encoding="utf-8")
    assert opened_by(repo, "status") == 2
    before = bytes_of(isolated), bytes_of(repo)
    told = answer("memory", "list", "--repo", str(repo))
    assert len(told["memories"]) == 40
    assert [one["title"] for one in told["memories"] if one["id"] == changed.stem] == [
        "Repeat the upload 0 times before giving up"
    ]
    assert [one["code"] for one in told["problems"]][:1] == ["memory-unreadable"]
    assert (bytes_of(isolated), bytes_of(repo)) == before


def test_a_list_by_the_index_is_the_list_by_the_files(repo: Path) -> None:
    write(repo, memories(30, "one word"))

    def listed() -> Any:
        return answer("memory", "list", "--archived", "--repo", str(repo))

    by_files = listed()
    opened_by(repo, "memory", "search", "deployment")
    assert opened_by(repo, "memory", "list") == 0
    assert listed() == by_files


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to one process there")
def test_ctrl_c_ends_maintaining_many_near_equal_memories_and_nothing_is_half_written(
    repo: Path, isolated: Path
) -> None:
    write(repo, memories(at_most(3_000, 1_000), "a number"))
    before = bytes_of(repo)
    project = locate_project(repo, Home(isolated / ".lerim"))
    assert project is not None
    command = [sys.executable, "-m", "lerim", "maintain", "--json", "--repo", str(repo)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    locks = Home(isolated / ".lerim").project(project.key)
    deadline = time.monotonic() + HANG
    while not any(locks.glob("*")) and process.poll() is None and time.monotonic() < deadline:
        os.sched_yield()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=HANG)
    assert process.returncode == 3, err
    assert not out or json.loads(out)["state"] == "cancelled"  # nothing is printed where it had to be killed
    assert {name: text for name, text in bytes_of(repo).items() if name in before} == before
    report = answer("maintain", "--dry-run", "--repo", str(repo))
    assert report["state"] == "done" and report["counts"]["merged"] > 0


def test_a_job_that_is_cancelled_while_it_plans_says_so(repo: Path) -> None:
    write(repo, memories(at_most(3_000, 1_000), "a number"))
    before = bytes_of(repo)
    command = [warm_python(), "-m", "lerim", "worker", "maintain", "--repo", str(repo), "--explicit"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin and process.stdout
        lines: list[dict[str, object]] = []
        for raw in process.stdout:
            lines.append(json.loads(raw))
            if lines[-1].get("stage") == "planning":
                process.stdin.write(b'{"event": "cancel"}\n')
                process.stdin.flush()
        process.wait(timeout=HANG)
    assert lines[-1]["event"] == "maintained"
    report = lines[-1]["report"]
    assert isinstance(report, dict)
    assert (report["state"], report["proposals"]) == ("cancelled", [])
    assert {name: text for name, text in bytes_of(repo).items() if name in before} == before


def test_what_was_not_compared_is_told_in_the_report(repo: Path) -> None:
    write(repo, memories(120, "a number"))
    report = answer("maintain", "--repo", str(repo))
    [problem] = [one for one in report["problems"] if one["code"] == "too-many-alike"]
    assert "compared only with the most similar ones" in problem["message"]
    assert report["counts"]["merged"] >= 3
