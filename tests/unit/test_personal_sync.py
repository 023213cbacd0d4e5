"""Sessions outside any repository: what they teach is the person's own, and found from inside projects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from claude_lines import Fields, prompt, reply, text
from desk import Desk
from lerim.memory.search.memory_search import search_memories
from lerim.review import queue
from lerim.review.review_paths import ReviewPaths
from terminal import run

Git = Callable[..., str]


@pytest.fixture
def outside(isolated: Path) -> Path:
    folder = isolated / "notes"
    folder.mkdir()
    return folder


def rule(tool: str = "uv", over: str = "pip") -> list[Fields]:
    return [
        prompt("set up a scratch script"),
        reply(f"a-{tool}", text(f"I will install it with {over}.")),
        prompt(f"No, always use {tool} instead of {over} for Python packages."),
        reply(f"b-{tool}", text(f"Understood, {tool} it is.")),
        prompt("perfect, go on"),
        reply(f"c-{tool}", text("Done.")),
    ]


def titles(place: ReviewPaths) -> list[str]:
    return [proposal.record.title for proposal in queue.list_pending(place)[0]]


def test_a_folder_that_is_gone_belongs_to_nobody(desk: Desk, outside: Path) -> None:
    desk.session("s1", *rule(), cwd=outside)
    outside.rmdir()
    desk.sync()
    assert titles(desk.place.personal()) == []


def test_a_repository_whose_git_folder_is_away_keeps_its_sessions(desk: Desk, git: Git, tmp_path: Path) -> None:
    desk.session("s1", *rule())
    desk.sync()
    git(tmp_path, "init", "--quiet", "other")
    other = Desk(tmp_path / "other", desk.home, desk.projects)
    (desk.repo / ".git").rename(tmp_path / "away")
    other.sync()
    (tmp_path / "away").rename(desk.repo / ".git")
    assert len(desk.waiting()) == 1
    assert titles(desk.place.personal()) == []


def test_a_folder_that_becomes_a_repository_takes_its_sessions_along(desk: Desk, outside: Path, git: Git) -> None:
    desk.session("s1", *rule(), cwd=outside)
    desk.sync()
    git(outside, "init", "--quiet")
    own = Desk(outside, desk.home, desk.projects)
    own.sync()
    assert len(own.waiting()) == 1


def test_sync_global_reads_them_without_a_repository(
    desk: Desk, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.session("s1", *rule(), cwd=outside)
    monkeypatch.chdir(outside)
    assert run("sync", "--global", "--json").exit_code == 0
    assert len(titles(desk.place.personal())) == 1
    assert run("sync", "--global", "--alias", "/old/place").exit_code == 2


def test_a_session_outside_any_repository_teaches_the_person_once_and_is_found_from_inside_a_project(
    desk: Desk, outside: Path
) -> None:
    desk.session("s1", *rule(), cwd=outside)
    report = desk.sync()
    personal = desk.place.personal()
    [waiting] = queue.list_pending(personal)[0]
    assert "uv" in waiting.record.title
    assert [view.title for view in report.candidates] == [waiting.record.title]
    assert desk.waiting() == []
    assert not (desk.repo / ".lerim").exists()
    assert desk.sync().candidates == []
    assert len(titles(personal)) == 1
    assert queue.accept_candidate(personal, waiting.id, quotes="shared").ok
    assert [path.parent.parent for path in desk.home.memory.rglob("*.md")] == [desk.home.memory]
    [hit] = search_memories(desk.place.project, desk.home, "uv packages")
    assert hit.scope == "global"
