"""Real sessions of OpenCode are read in all three forms, and agree with a counter that knows nothing of the reader."""

from __future__ import annotations

from pathlib import Path

from independent_opencode import Counts, count, exported, in_database, in_storage
from lerim.sessions.model import Database, Session, Transcript, Turn
from lerim.sessions.readers import find_working_folder
from lerim.sessions.readers.opencode import store

INJECTED = ("Called the Read tool", "Continue if you have next steps", "<path>", "The following tool was executed")


def reading(transcript: Transcript) -> tuple[Session, list[Turn]]:
    found = store.open_session(transcript)
    turns = list(found)
    assert found.problems == []
    return found.session, turns


def told(session: Session) -> Counts:
    tokens = session.tokens
    spent = (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write) if tokens else None
    return Counts(session.prompts, session.tool_calls, session.tool_errors, session.denials, spent)


def of_file(path: Path) -> Transcript:
    known = path.stat()
    return Transcript("opencode", path, path.stem, known.st_size, known.st_mtime_ns, known.st_ino)


def of_database(path: Path) -> list[Transcript]:
    transcripts, problems = store.list_database(Database("opencode", path, (0, 0, 0, 0)), ())
    assert problems == []
    return transcripts


def check(session: Session, turns: list[Turn], expected: Counts) -> None:
    assert told(session) == expected
    assert [turn.ordinal for turn in turns] == list(range(len(turns)))
    assert len({turn.id for turn in turns}) == len(turns)
    assert session.started is not None
    assert session.cwds
    for turn in turns:
        assert turn.time is not None
        assert turn.cwd
        if turn.role == "user":
            assert not turn.text.startswith(INJECTED)


def test_every_database_agrees_with_the_independent_counter(sessions_folder: Path) -> None:
    read = 0
    for path in sorted((sessions_folder / "opencode").rglob("*.db")):
        expected = {one["info"]["id"]: count(one) for one in in_database(path)}
        for transcript in of_database(path):
            session, turns = reading(transcript)
            check(session, turns, expected.pop(transcript.session_id))
            read += 1
        assert expected == {}
    assert read == 11


def test_every_export_and_old_file_agrees_with_the_counter_and_with_the_rows_of_the_database(
    sessions_folder: Path,
) -> None:
    root = sessions_folder / "opencode"
    exports = sorted((root / "export").glob("*.json"))
    assert len(exports) == 7
    found = store.scan_root(root / "built-from-real-rows", ())
    assert found.problems == []
    assert [one.path.name for one in found.databases] == ["opencode.db"]
    rows = {one.session_id: reading(one) for one in of_database(found.databases[0].path)}
    stored = {one["info"]["id"]: count(one) for one in in_storage(root / "built-from-real-rows" / "storage")}
    assert {one.session_id for one in found.transcripts} == set(stored)
    counts = [(one, stored[one.session_id]) for one in found.transcripts]
    for transcript, expected in (*counts, *((of_file(path), count(exported(path))) for path in exports)):
        session, turns = reading(transcript)
        check(session, turns, expected)
        assert find_working_folder(transcript) == session.cwds[0]
        assert turns == rows[transcript.session_id][1]
