"""Agents' files written by several at once, and where nothing can be written."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from killer import at_once
from lerim.errors import LerimError, StaleError
from lerim.export import plan_project_export, write_export
from lerim.review import ReviewPaths
from reviews import START, remember
from rights import bound

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def texts(repo: Path) -> dict[str, str]:
    inside = (path for path in repo.rglob("*") if path.is_file() and not {".git", ".lerim"} & set(path.parts))
    return {path.relative_to(repo).as_posix(): path.read_text(encoding="utf-8") for path in inside}


def write(place: ReviewPaths) -> None:
    planned = plan_project_export(place.project, place.home, os.environ)
    with contextlib.suppress(StaleError):  # another process was first
        write_export(place.project, place.home, planned, START)


def test_four_processes_at_once_leave_what_one_would(place: ReviewPaths, repo: Path) -> None:
    remember(place, "Use uv, not pip")
    remember(place, "Loading is lazy", "", "src/app.py#load")
    (repo / "CLAUDE.md").write_text("# App\n")
    before = texts(repo)
    assert at_once(lambda _: write(place)) == [0, 0, 0, 0]
    write(place)
    after = texts(repo)
    assert set(after) == {*before, ".claude/rules/lerim-src.md"}
    assert after["CLAUDE.md"].count("lerim:begin") == 1 and after["CLAUDE.md"].startswith("# App\n\n<!--")


def test_where_nothing_can_be_written_nothing_changes_and_the_person_is_told(place: ReviewPaths, repo: Path) -> None:
    remember(place, "Use uv, not pip")
    remember(place, "Loading is lazy", "", "src/app.py#load")
    (repo / ".claude" / "rules").mkdir(parents=True)
    before = texts(repo)
    planned = plan_project_export(place.project, place.home, os.environ)
    assert len(planned.plan.edits) == 2
    (repo / ".claude" / "rules").chmod(0o500)
    try:
        with bound(), pytest.raises(LerimError, match="cannot be written"):
            write_export(place.project, place.home, planned, START)
        assert texts(repo) == before
    finally:
        (repo / ".claude" / "rules").chmod(0o700)
