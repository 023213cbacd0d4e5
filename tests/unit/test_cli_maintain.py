"""`lerim maintain` on the command line."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

import terminal
from lerim.paths import Home
from lerim.project.lock import hold_project_lock
from lerim.project.project import add_project, locate_project, make_personal_project
from lerim.review import queue
from lerim.review.review_paths import ReviewPaths

run = partial(terminal.run, "maintain")
told = partial(terminal.answer, "maintain")

BODY = "Uploads to the archive bucket are retried by `upload.py` with a pause between them."


@pytest.fixture
def place(place: ReviewPaths) -> ReviewPaths:
    """A repository with two memories that say the same, and one more."""
    for number in (3, 5):
        queue.add_memory(place, "decision", f"Retry uploads {number} times", BODY)
    queue.add_memory(place, "decision", "Use uv", "For everything.")
    return place


def test_it_prints_one_object_with_everything_promised(place: ReviewPaths) -> None:
    report = told("--repo", str(place.project.root))
    promised = "project proposals done counts problems state dry_run seconds run message"
    assert set(promised.split()) <= set(report)
    assert report["counts"] == {"merged": 1, "unchanged": 1}
    [proposal] = report["proposals"]
    assert (proposal["action"], proposal["maker"]) == ("merge", "maintain")
    assert [one["action"] for one in report["done"]] == ["proposed-merge"]


def test_a_dry_run_shows_what_would_be_proposed_with_the_reasons(place: ReviewPaths) -> None:
    result = run("--repo", str(place.project.root), "--dry-run")
    assert result.exit_code == 0
    assert "Would be proposed" in result.stdout
    assert "Retry uploads 3 times" in result.stdout
    assert "2 memories say" in result.stdout
    ids = {one.record.id for one in place.store().load_all()[0] if "uploads" in one.record.id}
    assert len(ids) == 2 and all(f"({one})" in result.stdout for one in ids) and ");" in result.stdout
    assert queue.list_pending(place)[0] == []


def test_all_projects_are_maintained_one_after_another_and_a_busy_one_does_not_keep_the_others(
    place: ReviewPaths, tmp_path: Path, git: Any
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    second = locate_project(other, place.home)
    assert second is not None
    for project in (place.project, second):
        add_project(project, place.home)
    with hold_project_lock(place.home, second.key):
        answer = told("--all-projects", code=4)
    states = {Path(one["project"]).name: one["state"] for one in answer["reports"]}
    assert states == {"repo": "done", "other": "busy", ".lerim": "done"}
    assert told("--all-projects")["problems"] == []


def test_the_persons_own_memories_are_maintained_by_themselves(isolated: Path, repo: Path) -> None:
    home = Home(isolated / ".lerim")
    own = ReviewPaths(make_personal_project(home), home)
    for number in (3, 5):
        queue.add_memory(own, "decision", f"Retry uploads {number} times", BODY)
    result = run("--global")
    assert result.exit_code == 0
    assert "`lerim review list --global`" in " ".join(result.stdout.split())
    assert [one.action for one in queue.list_pending(own)[0]] == ["merge"]
