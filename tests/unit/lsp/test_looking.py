"""The look around of an idle editor sees the stores as a sync left them: what did not change asks for no sync."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from claude_lines import prompt
from desk import Desk
from lerim.lsp.syncing import _look
from lerim.paths import Home
from lerim.sessions.platforms import remove
from opencode_store import Store, text


@pytest.fixture
def desk(repo: Path, isolated: Path) -> Desk:
    return Desk(repo, Home(isolated / ".lerim"), isolated / ".claude" / "projects")


def wants_a_sync(desk: Desk) -> bool:
    sidecar: Any = SimpleNamespace(environ=os.environ, home=desk.home, looked=None)
    return _look(sidecar, [desk.place.project.key])[1]


def old(path: Path) -> None:
    """As written long ago: what was written just now is looked at again in any case."""
    os.utime(path, (1_700_000_000, 1_700_000_000))


def test_databases_and_sessions_named_by_a_digest_ask_for_no_second_sync(desk: Desk, isolated: Path) -> None:
    old(desk.session("s1", prompt("Hello")))
    digest = hashlib.sha256(str(desk.repo).encode()).hexdigest()
    chats = isolated / ".gemini" / "tmp" / digest / "chats"
    chats.mkdir(parents=True)
    head = {"sessionId": "g1", "projectHash": digest, "startTime": "2026-03-01T10:00:00.000Z"}
    said = [{"id": "m1", "timestamp": "2026-03-01T10:00:00.000Z", "type": "user", "content": "Hello"}]
    chat = chats / "session-2026-03-01T10-00-g1.json"
    chat.write_text(json.dumps({**head, "lastUpdated": head["startTime"], "messages": said}), encoding="utf-8")
    old(chat)
    data = isolated / ".local" / "share" / "opencode"
    data.mkdir(parents=True)
    store = Store("ses_1", directory=str(desk.repo))
    store.say("user", text("Hello"))
    store.rows(data / "opencode.db")
    assert wants_a_sync(desk)
    assert desk.sync().sessions.found == 3
    desk.sync()
    assert not wants_a_sync(desk)
    old(desk.session("s1", prompt("More")))
    assert wants_a_sync(desk)


def test_an_agent_that_was_removed_asks_for_none(desk: Desk) -> None:
    old(desk.session("s1", prompt("Hello")))
    desk.sync()
    remove(desk.home, "claude")
    old(desk.session("s1", prompt("More")))
    assert not wants_a_sync(desk)
