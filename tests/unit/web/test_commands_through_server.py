"""Every command that the HTTP API has an operation for: the running server answers it as the command itself would."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from between import Between, stand_between
from desk import Desk, desk_in
from isolation import isolate
from lerim.project import project
from lerim.views import RunningServer
from model_desk import SERVER
from reviews import added
from served_home import SECRET, served_home
from terminal import answer, run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="waits for the server as a child")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, small_repository: Path) -> Iterator[tuple[Desk, RunningServer]]:
    """A home and its server for all tests here: each leaves what the others look for."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        isolate(patch, home)
        patch.setenv("PYTHONPATH", str(SERVER))
        repo = shutil.copytree(small_repository, tmp_path_factory.mktemp("served") / "repo")
        desk = desk_in(home, Path(repo).resolve())
        with served_home(desk) as running:
            yield desk, running


@pytest.fixture
def desk(served: tuple[Desk, RunningServer], monkeypatch: pytest.MonkeyPatch) -> Desk:
    """The desk whose home the server has, which is the home of each test here."""
    desk = served[0]
    isolate(monkeypatch, desk.home.root.parent)
    monkeypatch.setenv("PYTHONPATH", str(SERVER))
    return desk


@pytest.fixture
def between(desk: Desk, served: tuple[Desk, RunningServer]) -> Iterator[Between]:
    """What notes the requests of commands to the server."""
    with stand_between(desk.home, served[1]) as one:
        yield one


def compare(between: Between, monkeypatch: pytest.MonkeyPatch, *arguments: str, reset: tuple[str, ...] = ()) -> str:
    """Calls a command with the server, and without it after `reset`: both print the same and end with the same code.
    Returns the request that the server got, the last if there are several."""
    between.requests.clear()
    through = run(*arguments)
    assert between.requests, f"{arguments} did not ask the server"
    request = between.requests[-1]
    if reset:
        assert run(*reset).exit_code == 0
    with monkeypatch.context() as patch:
        patch.setenv("LERIM_OTHER", "1")  # a server with another environment is not used
        between.requests.clear()
        alone = run(*arguments)
        assert not between.requests
    assert (through.exit_code, without_ids(through.stdout), without_ids(through.stderr)) == (
        alone.exit_code,
        without_ids(alone.stdout),
        without_ids(alone.stderr),
    ), arguments
    return request


def without_ids(text: str) -> str:
    """The output without what differs each time: the ids of actions, durations, and times of the last minutes."""
    text = re.sub(r"\b[0-9a-f]{12}\b", "ACTION", text)
    text = re.sub(r'"seconds": [0-9.]+', '"seconds": N', text)
    return re.sub(r"T[0-9:.]{8,15}(Z|\+00:00)", "TIME", text)


def test_what_a_command_shows_is_the_same_from_the_server(
    desk: Desk, between: Between, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = ("--repo", str(desk.repo))
    place = desk.place
    memory = answer("memory", "list", *here)["memories"][0]["id"]
    candidate = answer("review", "list", *here)["candidates"][0]["id"]
    session = answer("sessions", "list", *here)["sessions"][0]["id"]
    day = answer("memory", "show", memory, *here)["created"][:10]
    theme = next(one["id"] for one in answer("memory", "list", *here)["memories"] if one["title"] == "A theme")
    commands = [
        ("status", *here),
        ("project", "list"),
        ("project", "list", *here),
        ("config", "show", *here),
        ("stats",),
        ("stats", "--by", "agent", *here),
        ("stats", "--by", "signal", "--since", "30d"),
        ("queue", "list", *here),
        ("queue", "retry", "99", *here),
        ("sessions", "list", *here),
        ("sessions", "list", "--all", "--agent", "claude", "--limit", "1"),
        ("sessions", "search", "pathlib", *here),
        ("sessions", "search", "pathlib", "--by", "session", "--file", "app.py", *here),
        ("sessions", "search", "nothing-like-this", *here),
        ("sessions", "show", session[:8]),
        ("sessions", "show", session, "--turn", "1"),
        ("sessions", "show", "unknown"),
        ("sessions", "show", "s"),
        ("sessions", "show", ""),
        ("review", "list", *here),
        ("review", "list", "--global"),
        ("review", "show", candidate, *here),
        ("review", "show", "20200101-unknown", *here),
        ("review", "show", "", *here),
        ("review", "left-out", *here),
        ("review", "undo", "--list", *here),
        ("memory", "list", *here),
        ("memory", "list", "--global"),
        ("memory", "list", "--kind", "question", "--status", "any", "--since", "10d", *here),
        ("memory", "list", "--as-of", day, *here),
        ("memory", "list", "--as-of", "2020-01-01", *here),
        ("memory", "search", "uv", *here),
        ("memory", "search", "kind:nothing", *here),
        ("memory", "search", "short sentences", "--limit", "1", *here),
        ("memory", "show", memory, *here),
        ("memory", "show", theme, *here),
        ("memory", "show", "20200101-unknown", *here),
        ("memory", "show", "", *here),
        ("ask", "Do we use uv or pip?", "--model", "none", *here),
        ("ask", "Of penguins?", "--model", "none", *here),
        ("ask", "How to answer in sentences?", "--model", "none", "--global"),
    ]
    for command in commands:
        compare(between, monkeypatch, *command)
        compare(between, monkeypatch, *command, "--json")
    assert SECRET not in run("memory", "show", theme, *here).output + run("memory", "list", *here, "--json").output
    assert place.store().load_all()[1] == []


def test_what_a_command_does_is_done_once_and_told_the_same(
    desk: Desk, between: Between, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = ("--repo", str(desk.repo))
    undo = ("review", "undo", *here)
    ids = {one["title"]: one["id"] for one in answer("memory", "list", *here)["memories"]}
    uv, question, theme = ids["Use uv, not pip"], ids["What do we cache?"], ids["A theme"]
    candidate, other = [one["id"] for one in answer("review", "list", *here)["candidates"]][:2]
    typed = [
        ("memory", "add", "--title", "Use ruff", "--body", "It is quick.", "--reference", "src/none.py"),
        ("memory", "edit", uv, "--title", "Use uv", "--tag", "tools", "--reference", "src/none.py"),
        ("memory", "archive", uv, "--reason", "old"),
        ("memory", "promote", question, "--title", "We cache nothing"),
        ("memory", "globalize", uv),
        ("memory", "kind", uv, "--kind", "pitfall"),
        ("memory", "delete", theme),
        ("memory", "feedback", uv, "useful"),
        ("memory", "verify", uv),
        ("review", "edit", candidate, "--title", "A better title"),
        ("review", "accept", candidate, "--quotes", "shared"),
        ("review", "accept", candidate, "--keep", "--quotes", "local"),
        ("review", "reject", candidate),
    ]
    for command in typed:
        requests = compare(between, monkeypatch, *command, *here, reset=undo)
        assert requests.startswith("POST /api/v1/projects/")
        assert run(*undo).exit_code == 0
        compare(between, monkeypatch, *command, "--json", *here, reset=undo)
        assert run(*undo).exit_code == 0
    for command in [
        ("memory", "delete", uv),
        ("memory", "restore", uv),
        ("memory", "archive", "20200101-unknown"),
        ("memory", "archive", ""),
        ("memory", "edit", "", "--title", "Nothing"),
        ("memory", "archive", "20200101-unknown", "20200102-unknown"),
        ("memory", "merge", uv),
        ("review", "accept", "20200101-unknown"),
        ("review", "undo", "unknown"),
        ("review", "propose", "unknown"),
        ("queue", "skip"),
    ]:
        compare(between, monkeypatch, *command, *here)
        compare(between, monkeypatch, *command, "--json", *here)
    assert run("review", "reject", other, *here).exit_code == 0
    assert "is already rejected" not in run("review", "undo", *here).output


def test_a_memory_that_was_edited_in_place_is_found_by_its_new_words_at_once(desk: Desk, between: Between) -> None:
    here = ("--repo", str(desk.repo))
    assert answer("memory", "search", "wheelbarrow", *here)["by_some_words"] == []
    path = added(desk.place, "Where tools are", "In the shed.")
    assert [one["title"] for one in answer("memory", "search", "shed", *here)["memories"]] == ["Where tools are"]
    path.write_text(path.read_text(encoding="utf-8").replace("shed", "wheelbarrow"), encoding="utf-8")
    assert [one["title"] for one in answer("memory", "search", "wheelbarrow", *here)["memories"]] == ["Where tools are"]
    assert between.requests[-1].endswith("/memories/search")


def test_a_server_of_another_version_is_not_used(desk: Desk, between: Between) -> None:
    between.version = "0.0.1"
    assert answer("memory", "list", "--repo", str(desk.repo))["memories"]
    assert between.requests == []


def test_a_server_in_another_time_zone_is_not_used(
    desk: Desk, between: Between, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        assert answer("stats", "--repo", str(desk.repo))["total"]["sessions"] == 2
    time.tzset()
    assert between.requests == []


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "no_proxy", "REQUESTS_CA_BUNDLE"])
def test_a_server_that_reaches_models_in_another_way_is_not_used(
    desk: Desk, between: Between, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "proxy.example")
    assert answer("memory", "list", "--repo", str(desk.repo))["memories"]
    assert between.requests == []


def test_a_server_that_finds_another_program_of_an_agent_is_not_used(
    desk: Desk, between: Between, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bin_folder = tmp_path / "unusual" / "bin"
    bin_folder.mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
    assert answer("memory", "list", "--repo", str(desk.repo))["memories"]
    assert between.requests != [], "another PATH alone changes nothing"
    between.requests.clear()
    (bin_folder / "claude").write_text("#!/bin/sh\n", encoding="utf-8")
    (bin_folder / "claude").chmod(0o755)
    assert answer("memory", "list", "--repo", str(desk.repo))["memories"]
    assert between.requests == []


def test_a_memory_gets_the_permissions_that_the_terminal_gives_new_files(desk: Desk, between: Between) -> None:
    before = os.umask(0o077)
    try:
        private = answer("memory", "add", "--title", "Only for me", "--repo", str(desk.repo))
    finally:
        os.umask(before)
    assert Path(private["path"]).stat().st_mode & 0o777 == 0o600
    assert between.requests == []


def test_the_server_is_not_asked_about_a_project_that_it_does_not_know(desk: Desk, between: Between) -> None:
    answer("project", "remove", "--repo", str(desk.repo))
    assert answer("memory", "list", "--repo", str(desk.repo))["memories"]
    assert answer("sessions", "list", "--repo", str(desk.repo))["sessions"]
    assert answer("stats", "--repo", str(desk.repo))["total"]["sessions"] == 2
    assert not any("memories" in one for one in between.requests)
    project.add_project(desk.place.project, desk.home)


@pytest.mark.parametrize("breaks", ["before", "after", "failed"])
def test_what_breaks_while_it_is_read_is_read_by_the_command(desk: Desk, between: Between, breaks: str) -> None:
    expected = answer("memory", "list", "--repo", str(desk.repo))
    between.breaks = breaks
    broken = run("memory", "list", "--repo", str(desk.repo), "--json")
    assert (broken.exit_code, broken.stderr) == (0, "")
    assert answer("memory", "list", "--repo", str(desk.repo)) == expected
    asked = run("ask", "Do we use uv or pip?", "--model", "none", "--repo", str(desk.repo))
    assert (asked.exit_code, "Use uv" in asked.stdout) == (0, True)


@pytest.mark.parametrize("breaks", ["before", "after", "failed"])
def test_what_breaks_while_it_is_done_is_not_done_twice(desk: Desk, between: Between, breaks: str) -> None:
    between.breaks = breaks
    title = f"Only once, broken {breaks}"
    error = answer("memory", "add", "--title", title, "--repo", str(desk.repo), code=1)["error"]
    assert "did not say whether it was done" in error["message"]
    assert "lerim review undo --list" in error["todo"]
    between.breaks = ""
    titles = [one["title"] for one in answer("memory", "list", "--repo", str(desk.repo))["memories"]]
    assert titles.count(title) == (breaks != "before")


def test_files_of_agents_are_brought_up_to_date_and_the_terminal_says_so(desk: Desk, between: Between) -> None:
    here = ("--repo", str(desk.repo))
    assert run("export", "--yes", "--keep", *here).exit_code == 0
    added_one = run("memory", "add", "--title", "Retry uploads twice", *here)
    assert "note: AGENTS.md was brought up to date" in added_one.stderr
    assert between.requests[-1].startswith("POST ")
    assert "Retry uploads twice" in (desk.repo / "AGENTS.md").read_text(encoding="utf-8")
