"""The same story in every agent's own store, through a whole sync, gives the same candidates."""

from __future__ import annotations

from pathlib import Path

import pytest

from desk import Desk
from lerim.paths import Home
from lerim.review import queue
from stories import BEFORE, FIRST, SECOND
from story_stores import AGENTS

PLANNED = "Keep the rates in SQLite"
CANDIDATES = {
    "Use uv to install packages, not pip": "user",
    "Use pathlib, not os.path, in src/app.py": "user",
    "`uv run pytest -q` needs `pythonpath` in `pyproject.toml`": "tool",
    "Use DuckDB for the cache": "user",
    PLANNED: "assistant",
    "Use structlog, not print, in src/log.py": "user",
    "Extract the quota check: “One helper in checks.py” or “Keep both”?": "user",
    "`npm test` fails in session after session: connect ECONNREFUSED 127.0.0.1:5432 (database of the…": "tool",
}
"""What the story teaches, and who says so first."""
UNTOLD = {"copilot-chat": {PLANNED}}
"""What an agent's store has no record of."""


@pytest.mark.parametrize("agent", AGENTS)
def test_the_same_story_gives_the_same_candidates_whichever_agent_wrote_it(
    repo: Path, isolated: Path, agent: str
) -> None:
    desk = Desk(repo, Home(isolated / ".lerim"), isolated / ".claude" / "projects")
    (repo / "pyproject.toml").write_text(BEFORE, encoding="utf-8")
    AGENTS[agent](isolated, repo, "first", FIRST)
    desk.sync()
    AGENTS[agent](isolated, repo, "second", SECOND)
    report = desk.sync()
    assert report.problems == []
    proposals = queue.pending(desk.place)[0]
    assert len({one.record.title for one in proposals}) == len(proposals)
    found = {one.record.title: one.record.evidence[0].who for one in proposals}
    assert found == {title: who for title, who in CANDIDATES.items() if title not in UNTOLD.get(agent, ())}
    assert {one.record.source.partition(":")[0] for one in proposals} == {agent.partition("-")[0]}
