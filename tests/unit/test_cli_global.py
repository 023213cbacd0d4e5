"""A person's own memories on the command line: written, found and asked without a repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from claude_lines import prompt, reply, text
from desk import desk_in
from terminal import answer, run


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_ones_own_speaks_of_no_file(outside: Path) -> None:
    for wrong in (
        ("add", "--title", "x", "--reference", "a.py"),
        ("search", "--file", "a.py"),
        ("list", "--file", "a"),
    ):
        assert "no repository" in answer("memory", *wrong, "--global", code=2)["error"]["message"]


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
