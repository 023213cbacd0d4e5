"""The same story in every agent's own store, through a whole sync, gives the same candidates."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from desk import Desk
from lerim.extraction.ranking.passages import split_passages
from lerim.paths import Home
from lerim.review import queue
from lerim.sessions.discovery import discover_stores, open_databases
from lerim.sessions.platforms import find_platform_roots
from lerim.sessions.readers.platform_readers import PLATFORM_READERS
from stories import BEFORE, FIRST, SECOND
from story_stores import AGENTS

CANDIDATES = {
    "Always use uv to install packages, never pip": "user",
    "Use pathlib instead of os.path in src/app.py": "user",
    "`uv run pytest -q` needs `pythonpath` in `pyproject.toml`": "tool",
    "Use structlog instead of print in src/log.py": "user",
    "`npm test` fails in session after session: connect ECONNREFUSED … (database of the shop)": "tool",
}
"""What the story teaches in so many words, and who says so first."""
PLANNED = ("Store the rates in SQLite, because the site is often down.", False)
PASSAGES = {
    ("No, use pathlib instead of os.path in src/app.py.", True),
    ("No, use structlog instead of print in src/log.py.", True),
    ("DuckDB", True),
    ("The package is not found.", False),
    PLANNED,
}
"""Some of what is ranked, and whether it is a person's."""
UNTOLD = {"copilot-chat": {PLANNED}}
"""What an agent's store has no record of."""


@pytest.mark.parametrize("agent", AGENTS)
def test_the_same_story_gives_the_same_passages_and_candidates_whichever_agent_wrote_it(
    desk: Desk, repo: Path, isolated: Path, agent: str
) -> None:
    (repo / "pyproject.toml").write_text(BEFORE, encoding="utf-8")
    AGENTS[agent](isolated, repo, "first", FIRST)
    stores = discover_stores(find_platform_roots(os.environ, Home(isolated / ".lerim")), [str(repo)])
    open_databases(stores, {})
    [story] = stores.transcripts
    turns = list(PLATFORM_READERS[story.platform].open_session(story))
    said = {(one.text, one.is_persons) for turn in turns for one in split_passages(turn)}
    assert PASSAGES - said == UNTOLD.get(agent, set())
    desk.sync()
    AGENTS[agent](isolated, repo, "second", SECOND)
    report = desk.sync()
    assert report.problems == []
    proposals = queue.list_pending(desk.place)[0]
    assert len({one.record.title for one in proposals}) == len(proposals)
    found = {one.record.title: one.record.evidence[0].who for one in proposals}
    assert found.items() >= CANDIDATES.items()
    assert {one.record.source.partition(":")[0] for one in proposals} == {agent.partition("-")[0]}
