"""A referenced file that has nothing in it any more is not what it was, whatever it held."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from lerim.memory.freshness.drift import DriftChecker
from lerim.memory.freshness.verifying import verify_record
from lerim.memory.record import MemoryRecord, render_record
from lerim.paths import Home
from lerim.project.project import locate_project

NOW = datetime(2026, 11, 1, tzinfo=UTC)
NAME = "20261101-one"


@pytest.mark.parametrize(
    ("before", "after", "state"),
    [
        ("port = 5433\nhost = local\n", "", "drifted"),
        ("port = 5433\n", "\n \n", "drifted"),
        ("{}\n", "", "drifted"),
        ("---\n...\n", "\n", "drifted"),
        ("[\n]\n", '["a"]\n', "fresh"),
        ("", "port = 5433\n", "fresh"),
        ("\n", "", "fresh"),
        ("", "", "fresh"),
    ],
)
def test_a_file_that_was_emptied_has_drifted_and_one_that_was_empty_has_not(
    repo: Path, tmp_path: Path, before: str, after: str, state: str
) -> None:
    project, home = locate_project(repo, Home(tmp_path / "home")), Home(tmp_path / "home")
    assert project is not None
    file = repo / "settings.cfg"
    file.write_text(before, encoding="utf-8")
    made = MemoryRecord(NAME, "decision", "x", NOW, NOW, "manual", 0.9, (), "Body", references=("settings.cfg",))
    record = verify_record(project, home, made, NOW)
    path = project.memory_dir / "decisions" / f"{NAME}.md"
    path.parent.mkdir(parents=True)
    path.write_text(render_record(record), encoding="utf-8")
    fresh = DriftChecker(project, home)
    fresh.check()
    assert fresh.worst_drift(NAME).state == "fresh"
    file.write_text(f"{before}more\n{before}", encoding="utf-8")
    fresh.check()
    file.write_text(after, encoding="utf-8")
    fresh.check()
    assert fresh.worst_drift(NAME).state == state


@pytest.mark.parametrize("before", [b"\0\1\2", b"line of a log\n" * 90_000])
def test_what_is_known_by_being_there_alone_has_drifted_once_it_is_empty(
    repo: Path, tmp_path: Path, before: bytes
) -> None:
    home = Home(tmp_path / "home")
    project = locate_project(repo, home)
    assert project is not None
    file = repo / "big.log"
    file.write_bytes(before)
    made = MemoryRecord(NAME, "decision", "x", NOW, NOW, "manual", 0.9, (), "Body", references=("big.log",))
    path = project.memory_dir / "decisions" / f"{NAME}.md"
    path.parent.mkdir(parents=True)
    path.write_text(render_record(verify_record(project, home, made, NOW)), encoding="utf-8")
    fresh = DriftChecker(project, home)
    for text, state in ((before, "fresh"), (b"", "drifted"), (before, "fresh")):
        file.write_bytes(text)
        fresh.check()
        assert fresh.worst_drift(NAME).state == state
