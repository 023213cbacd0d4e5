"""Real sessions of OpenCode are read in all three forms, and hold what was once counted without the reader."""

from __future__ import annotations

from pathlib import Path

import reading_laws as laws
from lerim.sessions.model import Database, Session, Tokens, Transcript, Turn
from lerim.sessions.readers import find_working_folder
from lerim.sessions.readers.opencode import store

INJECTED = ("Called the Read tool", "Continue if you have next steps", "<path>", "The following tool was executed")


def reading(transcript: Transcript) -> tuple[Session, list[Turn]]:
    turns, found = laws.taken(store.open_session, transcript)
    assert found.problems == []
    assert [turn.ordinal for turn in turns] == list(range(len({turn.id for turn in turns})))
    assert found.session.started is not None
    assert find_working_folder(transcript) == found.session.cwds[0]
    for turn in turns:
        assert turn.time is not None
        assert turn.cwd
        assert turn.role != "user" or not turn.text.startswith(INJECTED)
    return found.session, turns


def of_database(path: Path) -> list[Transcript]:
    transcripts, problems = store.list_database(Database("opencode", path, (0, 0, 0, 0)), ())
    assert problems == []
    return transcripts


def test_sessions_of_every_database_hold_what_was_counted_without_the_reader(sessions_folder: Path) -> None:
    found = [one for path in (sessions_folder / "opencode").rglob("*.db") for one in of_database(path)]
    sessions = [reading(one)[0] for one in found]
    assert len(sessions) == 11
    assert [sum(getattr(one, name) for one in sessions) for name in laws.COUNTS] == [17, 352, 16, 0]
    assert laws.sum_tokens(sessions) == Tokens(1_172_484, 163_924, 15_374_248, 9)


def test_every_export_and_old_file_agrees_with_the_rows_of_the_database(sessions_folder: Path) -> None:
    root = sessions_folder / "opencode"
    exports = sorted((root / "export").glob("*.json"))
    assert len(exports) == 7
    found = store.scan_root(root / "built-from-real-rows", ())
    assert found.problems == []
    assert [one.path.name for one in found.databases] == ["opencode.db"]
    rows = {one.session_id: reading(one) for one in of_database(found.databases[0].path)}
    assert {one.session_id for one in found.transcripts} < set(rows)
    for transcript in (*found.transcripts, *(laws.transcript_of("opencode", path) for path in exports)):
        session, turns = reading(transcript)
        expected, told = rows[transcript.session_id]
        assert turns == told
        assert [getattr(session, name) for name in (*laws.COUNTS, "tokens")] == [
            getattr(expected, name) for name in (*laws.COUNTS, "tokens")
        ]
