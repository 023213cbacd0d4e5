"""The reader of Gemini CLI and Antigravity against the shared sessions, and against a counter that shares no code."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from independent_gemini import INJECTED, Counts, count, count_steps
from lerim.sessions.model import Session, Transcript, Turn
from lerim.sessions.readers.gemini_family import open_session, probe_folder, scan_root
from reading_laws import is_brief_without_loss

PROJECT = "/Users/savekirk/dev/ai/entire/session-bridge"


def taken(transcript: Transcript) -> tuple[list[Turn], Session]:
    is_brief_without_loss(open_session(transcript, brief=True), open_session(transcript))
    reading = open_session(transcript)
    turns = list(reading)
    assert reading.problems == []
    return turns, reading.session


@pytest.fixture
def store(sessions_folder: Path, tmp_path: Path) -> Path:
    """The shared sessions of every form, where the programs would have put them."""
    root = tmp_path / ".gemini"
    shutil.copytree(sessions_folder / "gemini" / "tmp", root / "tmp")
    shutil.copytree(sessions_folder / "gemini" / "jsonl-scrubbed", root / "tmp" / "scrubbed" / "chats")
    for path in (sessions_folder / "other" / "antigravity").glob("*.jsonl"):
        logs = root / "antigravity" / "brain" / path.stem / ".system_generated" / "logs"
        logs.mkdir(parents=True)
        shutil.copy(path, logs / "transcript.jsonl")
    return root


def test_every_shared_session_agrees_with_an_independent_counter(store):
    found = scan_root(store, [])
    assert (found.problems, found.databases) == ([], [])
    assert len(found.transcripts) == 4 + 3 + 4
    machine = (*INJECTED, "--- Content from referenced files", "<USER_SETTINGS_CHANGE>", "<ADDITIONAL_METADATA>")
    calls = []
    for transcript in found.transcripts:
        turns, session = taken(transcript)
        tokens = session.tokens
        assert tokens is not None
        spent = (tokens.input, tokens.output, tokens.cache_read)
        ours = Counts(session.prompts, session.tool_calls, session.tool_errors, session.denials, spent)
        counted = count_steps if "brain" in transcript.path.parts else count
        assert (transcript.path.name, ours) == (transcript.path.name, counted(transcript.path))
        assert [turn.ordinal for turn in turns] == list(range(len(turns)))
        assert session.turns == len(turns) == len({turn.id for turn in turns}) > 0
        assert session.prompts == sum(turn.kind == "prompt" for turn in turns)
        assert all(turn.time is not None and turn.time.tzinfo is not None for turn in turns)
        typed = [turn.text for turn in turns if turn.role == "user"]
        assert all(typed)
        assert [text for text in typed if any(mark in text for mark in machine)] == []
        calls += [call for turn in turns for call in turn.tool_calls]
    assert {call.exit_code for call in calls if call.kind == "shell" and call.status == "ok"} == {0}
    assert [call.exit_code for call in calls if call.kind == "shell" and call.status == "error"] == [1, 1]
    edits = [edit for call in calls if call.kind == "edit" for edit in call.edits]
    assert edits and all(edit.path and edit.old and edit.new for edit in edits)
    assert sorted(call.status for call in calls if call.status not in ("ok", "error")) == ["denied", "interrupted"]


def test_a_shared_session_is_of_the_folder_whose_hash_names_its_store(store):
    mine = [one for one in scan_root(store, ["/home/ana", PROJECT]).transcripts if len(one.path.parts[-3]) == 64]
    assert [one.cwd for one in mine] == [PROJECT] * 4
    assert mine[0].path.parts[-3] == hashlib.sha256(PROJECT.encode()).hexdigest()


def test_a_shared_session_tells_its_folder_itself_where_nobody_knows_the_hash(store):
    mine = [one for one in scan_root(store, []).transcripts if len(one.path.parts[-3]) == 64]
    assert [one.cwd for one in mine] == [""] * 4
    for transcript in mine:
        _, session = taken(transcript)
        assert (probe_folder(transcript), session.cwds) == (PROJECT, (PROJECT,))
