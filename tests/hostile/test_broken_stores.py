"""A machine on which the store of every agent is damaged in its own way: the rest is read, and each problem told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from desk import Desk
from lerim.paths import Home
from stories import FIRST
from story_stores import AGENTS

pytestmark = [pytest.mark.timeout(120), pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes and links")]


@pytest.fixture
def machine(repo: Path, isolated: Path) -> Desk:
    """A person who used every agent in this repository."""
    for agent, write in AGENTS.items():
        write(isolated, repo, f"good-{agent}", FIRST)
    return Desk(repo, Home(isolated / ".lerim"), isolated / ".claude" / "projects")


def whole(desk: Desk) -> None:
    """A sync that took in every session that is in order, in this sync or an earlier one."""
    report = desk.sync()
    assert report.sessions.found == len(AGENTS)
    assert report.sessions.failed == 0
    assert report.state == "done"


PIPES = (
    ".claude/projects/-x/s.jsonl",
    ".codex/sessions/2026/03/02/rollout-2026-03-02T00-00-00-11111111-1111-4111-8111-111111111111.jsonl",
    ".codex/session_index.jsonl",
    ".config/Cursor/User/workspaceStorage/a/state.vscdb",
    ".config/Cursor/User/workspaceStorage/a/workspace.json",
    ".cursor/projects/p/.workspace-trusted",
    ".cursor/projects/p/agent-transcripts/s.jsonl",
    ".cursor/chats/c/s/store.db",
    ".cursor/chats/c/s/meta.json",
    ".local/share/opencode/opencode-x.db",
    ".local/share/opencode/storage/session/p/s.json",
    ".gemini/projects.json",
    ".gemini/tmp/a/.project_root",
    ".gemini/tmp/a/chats/session-2026-05-01T00-00-s.json",
    ".gemini/tmp/a/chats/session-2026-05-01T00-00-s.jsonl",
    ".copilot/session-state/s/events.jsonl",
    ".copilot/session-state/s.jsonl",
    ".config/Code/User/workspaceStorage/a/workspace.json",
    ".config/Code/User/workspaceStorage/a/chatSessions/s.json",
    ".config/Code/User/workspaceStorage/a/chatSessions/s.jsonl",
)
"""A pipe without a writer: who opens it waits for ever."""


def test_nobody_waits_for_a_pipe_that_lies_where_a_store_has_a_file(machine: Desk, isolated: Path) -> None:
    for name in PIPES:
        (isolated / name).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(isolated / name)
    whole(machine)
