"""Sessions in a form that no reader knows, as an agent's next version may write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalog_dump import listed
from desk import Desk, desk_in
from lerim.sessions.catalog.catalog import Catalog
from stories import FIRST
from story_stores import AGENTS

NAME = "11111111-2222-4333-8444-555555555555"


@pytest.mark.parametrize("agent", ["claude", "codex", "copilot-cli", "gemini"])
def test_a_session_of_an_unknown_form_is_reported_and_costs_no_other(
    desk: Desk, repo: Path, isolated: Path, agent: str
) -> None:
    AGENTS[agent](isolated, repo, "known", FIRST)
    known = set(files_of(isolated))
    AGENTS[agent](isolated, repo, "unknown", FIRST)
    for path in files_of(isolated):
        if path not in known:
            path.write_text(path.read_text(encoding="utf-8").replace('"type"', '"sort"'), encoding="utf-8")
    report = desk.sync()
    [problem] = report.problems
    assert "Nothing of this session" in problem.message and "the form of none of its records" in problem.message
    with Catalog.open(desk.home) as catalog:
        assert [row.turns > 0 for row in listed(catalog, desk.place.project.key)] == [True]


def test_a_session_of_records_that_are_known_and_make_no_turn_is_not_reported(
    desk: Desk, repo: Path, isolated: Path
) -> None:
    desk_in(isolated, repo).session(NAME, {"type": "mode", "mode": "plan"}, {"type": "a-later-one"})
    assert desk.sync().problems == []


def files_of(home: Path) -> list[Path]:
    return [path for path in sorted(home.rglob("*.json*")) if ".lerim" not in path.parts]
