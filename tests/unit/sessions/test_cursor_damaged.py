"""A damaged page of a database of Cursor costs what stands on it, and is told by the sync and by the list of agents."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from cursor_store import Editor, dated_back, prompt, reply
from desk import Desk
from lerim.jobs.agent_states import AgentView, examine_agents
from lerim.sessions import platforms

PAGE = 4096
LONG = "Z" * 5 * PAGE


def damaged(database: Path) -> int:
    """Overwrites every page that a long value fills; how many."""
    data = database.read_bytes()
    pages = [data[at : at + PAGE] for at in range(0, len(data), PAGE)]
    kept = [b"\xaa" * PAGE if page.endswith(b"Z" * (PAGE - 8)) else page for page in pages]
    database.write_bytes(b"".join(kept))
    dated_back(database)
    return sum(page != was for page, was in zip(kept, pages, strict=True))


def cursor(desk: Desk) -> AgentView:
    [agent] = [one for one in examine_agents(desk.home, os.environ, desk.place.project) if one.platform == "cursor"]
    return agent


@pytest.mark.parametrize(("name", "text", "read"), [(LONG, "Hi", True), ("A chat", LONG, True), (LONG, LONG, False)])
def test_a_damaged_page_is_told_once_and_the_rest_of_the_chat_is_read(
    desk: Desk, tmp_path: Path, name: str, text: str, read: bool
) -> None:
    editor = Editor(tmp_path / "User")
    folder: dict[str, Any] = {"workspaceIdentifier": {"id": "w", "uri": {"fsPath": str(desk.repo), "scheme": "file"}}}
    answers = [reply("There", workspaceUris=[desk.repo.as_uri()]), reply("Again", "a2")] if read else []
    editor.chat([prompt(text), *answers], name=name, **folder)
    assert damaged(editor.all)
    platforms.connect_platform(desk.home, "cursor", editor.root)
    report = desk.sync()
    assert [one.code for one in report.problems] == ["bad-row" if read else "transcript"]
    assert "its page in the database is damaged" in report.problems[0].message
    assert report.sessions.found == int(read)
    agent = cursor(desk)
    assert [(one.reason, one.count) for one in agent.skipped] == [("in-part" if read else "failed", 1)]
    assert "its page in the database is damaged" in agent.skipped[0].message
    assert (agent.found, agent.parsed) == (1, 1) if read else (0, 0)
    assert desk.sync().problems == []
    assert len(cursor(desk).skipped) == 1
