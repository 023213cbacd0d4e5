"""The stores of OpenCode: its database, its old files, what is damaged in them, and what changes."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lerim.errors import TranscriptError
from lerim.sessions.discovery import discover_stores
from lerim.sessions.readers import find_working_folder
from lerim.sessions.readers.opencode import store as opencode
from opencode_store import Store, of_rows, taken, text, tool


def test_older_and_newer_tables_are_read_by_the_columns_they_have(tmp_path: Path) -> None:
    store = Store()
    store.say("user", text("g\ud83do\0"))
    path = store.rows(tmp_path / "opencode.db")
    with closing(sqlite3.connect(path)) as db, db:
        for column in ("parent_id", "revert"):
            db.execute(f"ALTER TABLE session DROP COLUMN {column}")
        db.execute("ALTER TABLE session ADD COLUMN color text DEFAULT 'red'")
        db.execute("ALTER TABLE message ADD COLUMN seq integer")
    (row,) = of_rows(path)
    _, turns = taken(row)
    assert [turn.text for turn in turns] == ["g\ufffdo\ufffd"]


def test_rows_that_are_no_json_cost_themselves(tmp_path: Path) -> None:
    store = Store()
    for number in range(3):
        store.say("user", text(f"words {number}"))
    path = store.rows(tmp_path / "opencode.db")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE message SET data = '{\"role\": ' WHERE id = 'msg_0000'")
        db.execute("UPDATE part SET data = CAST(data AS BLOB) WHERE message_id = 'msg_0001'")
        db.execute("UPDATE part SET data = x'ff00' WHERE message_id = 'msg_0002'")
    [row] = of_rows(path)
    reading = opencode.open_session(row)
    assert [turn.text for turn in reading] == ["words 1"]
    assert [(one.code, str(path) in one.path) for one in reading.problems] == [("bad-record", True)] * 2


def test_half_written_files_are_left_out_until_they_are_whole(tmp_path: Path) -> None:
    store = Store()
    store.say("user", text("go"))
    store.say("assistant", text("first"), text("second"))
    store.files(tmp_path / "storage")
    part = tmp_path / "storage" / "part" / "msg_0001" / "prt_0001_001.json"
    whole = part.read_bytes()
    part.write_bytes(whole[:20])
    (before,) = opencode.scan_root(tmp_path, ()).transcripts
    assert [turn.text for turn in taken(before)[1]] == ["go", "first"]
    part.write_bytes(whole)
    (after,) = opencode.scan_root(tmp_path, ()).transcripts
    assert after.stamp != before.stamp
    assert [turn.text for turn in taken(after)[1]] == ["go", "first\n\nsecond"]


def test_a_session_without_a_folder_is_where_its_project_is(tmp_path: Path) -> None:
    store = Store(directory="")
    store.say("user", text("go"))
    store.files(tmp_path / "storage")
    project = tmp_path / "storage" / "project" / "p1.json"
    project.parent.mkdir()
    project.write_text(json.dumps({"id": "p1", "worktree": "/w/tree"}), encoding="utf-8")
    (transcript,) = opencode.scan_root(tmp_path, ()).transcripts
    assert find_working_folder(transcript) == "/w/tree"
    assert taken(transcript)[0].cwds == ("/w/tree",)


def test_databases_of_every_channel_are_found_once_and_nothing_else(tmp_path: Path) -> None:
    for name in ("opencode.db", "opencode-dev.db", "opencode.db-wal", "other.db", "auth.json"):
        (tmp_path / name).touch()
    found = opencode.scan_root(tmp_path, ())
    assert [one.path.name for one in found.databases] == ["opencode-dev.db", "opencode.db"]
    assert opencode.scan_root(tmp_path / "other.db", ()).databases[0].path.name == "other.db"
    assert opencode.scan_root(tmp_path / "none", ()).databases == []
    (tmp_path / "opencode").mkdir()
    path = Store().rows(tmp_path / "opencode" / "opencode.db")
    assert [one.path for one in discover_stores({"opencode": [path.parent, path]}).databases] == [path]


def test_what_cannot_be_read_is_an_error_that_names_it(tmp_path: Path) -> None:
    other = tmp_path / "opencode-other.db"
    with closing(sqlite3.connect(other)) as db, db:
        db.execute("CREATE TABLE other (id)")
    with pytest.raises(TranscriptError, match=r"opencode-other\.db"):
        of_rows(other)
    path = Store().rows(tmp_path / "opencode.db")
    (row,) = of_rows(path)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM session")
    with pytest.raises(TranscriptError, match="ses_1"):
        list(opencode.open_session(row))


def test_whatever_is_written_of_a_session_changes_its_stamp_alone(tmp_path: Path) -> None:
    store = Store()
    store.say("user", text("go"))
    store.say("assistant", text("ok"))
    path = store.rows(tmp_path / "opencode.db")
    Store("ses_2").rows(path)

    def changed(statement: str) -> list[str]:
        before = {one.session_id: one.stamp for one in of_rows(path)}
        with closing(sqlite3.connect(path)) as db, db:
            db.execute(statement)
        return [one.session_id for one in of_rows(path) if one.stamp != before[one.session_id]]

    for statement in (
        "UPDATE session SET time_updated = time_updated + 1 WHERE id = 'ses_1'",
        "UPDATE message SET data = '{}', time_updated = time_updated + 1 WHERE id = 'msg_0001'",
        "UPDATE part SET data = '{}', time_updated = time_updated + 9999 WHERE message_id = 'msg_0001'",
        "INSERT INTO part VALUES ('prt_9', 'msg_0001', 'ses_1', 1, 1, '{}')",
        "INSERT INTO message VALUES ('msg_9', 'ses_1', 1, 1, '{}')",
        "DELETE FROM message WHERE id = 'msg_0000'",
        "UPDATE session SET revert = '{\"messageID\": \"msg_0001\"}' WHERE id = 'ses_1'",
    ):
        assert changed(statement) == ["ses_1"], statement
    assert changed("INSERT INTO account VALUES ('a', 'b')") == []


def test_what_comes_before_the_last_answered_prompt_is_not_read_again(tmp_path: Path) -> None:
    store = Store()
    store.say("user", text("one"))
    store.say("assistant", text("first"))
    path = store.rows(tmp_path / "opencode.db")
    (row,) = of_rows(path)
    reading = opencode.open_session(row)
    assert len(list(reading)) == 2
    store.say("user", text("two"))
    store.say("assistant", tool("bash", {"command": "ls"}, status="running"), finish=None, time={"created": 1 << 41})
    store.rows(path)
    (row,) = of_rows(path)
    running = opencode.open_session(row, reading.resume)
    assert [turn.ordinal for turn in running] == [0, 1, 2, 3]
    again = list(opencode.open_session(row, running.resume))
    assert [turn.ordinal for turn in again] == [2, 3]
    assert again[1].tool_calls[0].status == "pending"
    store.say("user", text("three"))  # it waits behind the answer, which goes on
    store.rows(path)
    waiting = opencode.open_session(of_rows(path)[0], running.resume)
    assert [turn.ordinal for turn in waiting] == [2, 3, 4]
    assert not waiting.restarted
