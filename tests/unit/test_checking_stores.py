"""What an idle editor sees of the stores: they are as a sync left them, and what did not change asks for no sync."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from claude_lines import prompt
from cursor_store import CID, Editor
from cursor_store import prompt as said
from cursor_store import reply as answered
from desk import Desk
from lerim.jobs import check_stores
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.platforms import remove_platform
from lerim.sessions.readers.cursor.store import scan_root
from opencode_store import Store, text
from rights import bound


def wants_a_sync(desk: Desk) -> bool:
    return check_stores(desk.home, os.environ, [desk.place.project.key], None)[1]


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
    remove_platform(desk.home, "claude")
    old(desk.session("s1", prompt("More")))
    assert not wants_a_sync(desk)


def editor_of(home: Path, folder: Path) -> Editor:
    editor = Editor(home / ".config" / "Cursor" / "User")
    where = {"id": "w", "uri": {"fsPath": str(folder), "scheme": "file"}}
    editor.chat([said("Hello", "u1"), answered("Hi", "a1")], workspaceIdentifier=where)
    return editor


def grown(editor: Editor, native: str) -> None:
    order = [{"bubbleId": entry, "type": kind} for entry, kind in (("u1", 1), ("a1", 2), (native, 1))]
    editor.put(f"bubbleId:{CID}:{native}", said("More", native))
    known = {"_v": 13, "composerId": CID, "createdAt": 1771682203557, "lastUpdatedAt": 1771742099999}
    with editor.open() as db:
        (value,) = db.execute("SELECT value FROM cursorDiskKV WHERE key = ?", (f"composerData:{CID}",)).fetchone()
    editor.put(f"composerData:{CID}", json.loads(value) | known | {"fullConversationHeadersOnly": order})


def test_a_database_that_is_written_all_the_time_asks_for_a_sync_only_when_something_was_said(
    desk: Desk, isolated: Path
) -> None:
    editor = editor_of(isolated, desk.repo)
    assert wants_a_sync(desk)
    desk.sync()
    for number in range(3):
        editor.put("window.state", {"scrolled": number}, table="ItemTable")
        assert not wants_a_sync(desk)
        with Catalog.open(desk.home) as catalog:
            assert set(catalog.load_store_stamps().values()) == {
                entry.stamp for entry in scan_root(editor.root, ()).databases
            }
    grown(editor, "u2")
    assert wants_a_sync(desk)
    assert desk.sync().sessions.changed == 1
    assert not wants_a_sync(desk)


def test_what_is_said_of_other_projects_in_a_database_waits_and_is_not_taken_for_read(
    desk: Desk, isolated: Path
) -> None:
    editor = editor_of(isolated, isolated)
    desk.sync()
    grown(editor, "u2")
    assert not wants_a_sync(desk)
    assert not wants_a_sync(desk)
    desk.sync()
    with Catalog.open(desk.home) as catalog:
        assert [turn.text for turn in catalog.search_turns("More")] == ["More"]


def test_a_file_that_stays_closed_and_a_torn_database_ask_for_no_sync_whatever_else_changes(
    desk: Desk, isolated: Path
) -> None:
    closed = desk.session("closed", prompt("Hello"))
    old(closed)
    closed.chmod(0)
    editor = editor_of(isolated, desk.repo)
    (isolated / ".local" / "share" / "opencode").mkdir(parents=True)
    (isolated / ".local" / "share" / "opencode" / "opencode.db").write_bytes(b"This is no database. " * 500)
    with bound():
        desk.sync()
        editor.put("window.state", {"scrolled": 1}, table="ItemTable")
        assert not wants_a_sync(desk)
        closed.chmod(0o644)
        assert wants_a_sync(desk)
