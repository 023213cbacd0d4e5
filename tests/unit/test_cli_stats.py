"""`lerim stats`: what was said and spent, by day, agent, model or repository."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

import terminal
from claude_lines import prompt, reply, text
from desk import Desk

run = partial(terminal.run, "stats")
answer = partial(terminal.answer, "stats")

USED = {"input_tokens": 1000, "output_tokens": 200, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}


def spent(identity: str, model: str, time: str) -> Any:
    record = reply(identity, text("Done."), timestamp=time)
    return record | {"message": record["message"] | {"model": model, "usage": USED}}


@pytest.fixture
def said(desk: Desk) -> Desk:
    """Two sessions: one of two days and two models here, one of a model nobody prices elsewhere."""
    desk.session(
        "s1",
        prompt("One", timestamp="2026-03-01T12:00:00Z"),
        spent("a", "claude-haiku-4-5-20251001", "2026-03-01T12:10:00Z"),
        prompt("Two", timestamp="2026-03-02T12:00:00Z"),
        spent("b", "claude-sonnet-4-5", "2026-03-02T12:20:00Z"),
    )
    other = desk.repo.parent / "nowhere"
    desk.session(
        "s2",
        prompt("Three", timestamp="2026-03-02T13:00:00Z"),
        spent("c", "house-made", "2026-03-02T13:01:00Z"),
        cwd=other,
    )
    desk.sync()
    return desk


def test_days_add_up_and_a_pause_is_no_time_spent(said: Desk) -> None:
    shown = answer()
    assert [one["key"] for one in shown["groups"]] == ["2026-03-01", "2026-03-02"]
    first, second = shown["groups"]
    assert (first["sessions"], first["prompts"], first["seconds"], first["cost"]) == (1, 1, 600.0, 0.002)
    assert (second["sessions"], second["prompts"], second["seconds"]) == (2, 2, 1260.0)
    assert (second["cost"], second["unpriced"]) == (0.006, 1)
    assert (shown["total"]["sessions"], shown["total"]["input"], shown["total"]["output"]) == (2, 3000, 600)
    table = run().stdout
    assert "2026-03-01" in table
    assert "The cost does not include 1 session of unknown price" in table


def test_a_session_in_which_nothing_was_said_does_not_count(desk: Desk) -> None:
    opened = {"type": "file-history-snapshot", "messageId": "m1", "timestamp": "2026-03-01T12:00:00Z", "snapshot": {}}
    desk.session("s1", prompt("One", timestamp="2026-03-01T12:00:00Z"))
    desk.session("s2", opened)
    desk.sync()
    assert answer()["total"]["sessions"] == 1
    assert [one["key"] for one in answer()["groups"]] == ["2026-03-01"]


def test_figures_are_grouped_by_model_or_repository_and_bounded_in_time(said: Desk) -> None:
    models = {one["key"]: one for one in answer("--by", "model")["groups"]}
    assert (models["house-made"]["cost"], models["house-made"]["input"]) == (None, 1000)
    assert (models["claude-sonnet-4-5"]["cost"], models["claude-haiku-4-5-20251001"]["prompts"]) == (0.006, 1)
    repos = {one["key"]: one["prompts"] for one in answer("--by", "repo")["groups"]}
    assert repos == {str(said.repo): 2, None: 1}
    assert answer("--repo", str(said.repo))["total"]["prompts"] == 2
    assert answer("--since", "2026-03-02T00:00Z")["total"]["prompts"] == 2
    only = answer("--since", "2026-03-02T00:00Z", "--until", "2026-03-02T12:30Z")["total"]
    assert (only["prompts"], only["sessions"], only["cost"]) == (1, 1, 0.006)
    assert run("--since", "yesterday").exit_code == 2


def test_without_a_catalog_there_is_nothing_and_none_is_made(desk: Desk, tmp_path: Path) -> None:
    assert answer()["groups"] == []
    assert "Run `lerim sync` to read them" in run().stdout
    assert not desk.home.root.exists()
    assert run("--repo", str(tmp_path)).exit_code == 1


def test_figures_stand_below_each_other(said: Desk) -> None:
    head, *rows = [line for line in run("--by", "agent").stdout.splitlines() if line.strip() and "─" not in line][:3]
    end = head.index("prompts") + len("prompts")
    assert [row[end - 1] for row in rows] == ["3", "3"]
    assert all("3.0k" in row and " 600 " in row for row in rows)
    assert answer("--by", "agent")["total"]["input"] == 3000
