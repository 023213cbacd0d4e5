"""A person's own memories on the command line: written, found and asked without a repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from claude_lines import prompt, reply, text
from desk import desk_in
from lerim.memory.uses import Uses
from lerim.paths import Home
from terminal import answer, run


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_a_memory_of_ones_own_is_added_found_and_taken_back(outside: Path) -> None:
    added = answer("memory", "add", "--global", "--title", "Answer in French", "--kind", "learning", "--tag", "x")
    assert Path(added["path"]).is_relative_to(os.environ["LERIM_HOME"]) and added["scope"] == "global"
    for found in (("search", "french"), ("search", "french", "--scan"), ("search",), ("list",)):
        [view] = answer("memory", *found, "--global")["memories"]
        assert (view["id"], view["scope"]) == (added["id"], "global")
    assert answer("memory", "search", "--global", "--tag", "y")["memories"] == []
    said = run("memory", "add", "--global", "--title", "Be short")
    assert "--global" in said.stdout.splitlines()[-1]
    assert run("review", "undo", "--global").exit_code == 0
    assert len(answer("memory", "list", "--global")["memories"]) == 1


def test_ones_own_speaks_of_no_file(outside: Path) -> None:
    for wrong in (
        ("add", "--title", "x", "--reference", "a.py"),
        ("search", "--file", "a.py"),
        ("list", "--file", "a"),
    ):
        assert "no repository" in answer("memory", *wrong, "--global", code=2)["error"]["message"]


def test_only_ones_own_is_found_when_it_is_asked_for(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo)
    answer("memory", "add", "--title", "Use uv here")
    answer("memory", "add", "--global", "--title", "Use uv everywhere")
    titles = lambda *more: [one["title"] for one in answer("memory", "search", "uv", *more)["memories"]]  # noqa: E731
    assert sorted(titles()) == ["Use uv everywhere", "Use uv here"]
    assert titles("--global") == ["Use uv everywhere"]
    asked = answer("ask", "where do we use uv", "--global", "--model", "none")
    assert [one["citation"]["title"] for one in asked["passages"]] == ["Use uv everywhere"]


def test_a_question_is_answered_from_ones_own_and_from_sessions_outside_any_repository(
    outside: Path, isolated: Path
) -> None:
    added = answer("memory", "add", "--global", "--title", "Answer in French", "--body", "Short sentences.")
    desk = desk_in(isolated, outside)
    desk.session("s1", prompt("How do I sharpen a plane iron?"), reply("a", text("On a waterstone, 25 degrees.")))
    assert run("sync", "--global").exit_code == 0
    found = answer("ask", "which stone sharpens the plane iron", "--global", "--model", "none")
    assert found["passages"] and found["passages"][0]["citation"]["session"] == "s1"
    said = run("ask", "do I answer in French", "--global", "--model", "none").stdout
    shown = next(row.strip() for row in said.splitlines() if added["id"] in row)
    assert shown == f"lerim memory show {added['id']} --global"
    assert run(*shown.split()[1:]).exit_code == 0
    turn = next(
        row.strip() for row in run("ask", "plane iron", "--global").stdout.splitlines() if "lerim sessions" in row
    )
    assert run(*turn.split()[1:]).exit_code == 0


def test_asking_about_ones_own_counts_no_use_twice(outside: Path) -> None:
    added = answer("memory", "add", "--global", "--title", "Answer in French")
    home = Home(Path(os.environ["LERIM_HOME"]))
    before = Uses(home.project("global")).of_memories([added["id"]])
    answer("ask", "do I answer in French", "--global", "--model", "none")
    assert Uses(home.project("global")).of_memories([added["id"]]) == before
