"""The reader of Copilot CLI against real sessions, and against a counter that shares no code with it."""

from __future__ import annotations

from pathlib import Path

import pytest

import copilot_cli_lines as lines
import reading_laws as laws
from independent_copilot_cli import NOT_TYPED, Counts, count
from lerim.sessions.model import Transcript
from lerim.sessions.readers.copilot_cli import store


@pytest.fixture
def sessions(sessions_folder: Path) -> list[Transcript]:
    found = store.scan_cli_sessions(sessions_folder / "copilot" / "cli", ())
    assert found.problems == []
    assert len(found.transcripts) == len(list((sessions_folder / "copilot" / "cli").rglob("events.jsonl"))) > 0
    return found.transcripts


def test_every_real_session_agrees_with_an_independent_counter(sessions):
    for transcript in sessions:
        turns, done = lines.reading(transcript.path)
        session, tokens = done.session, done.session.tokens
        spent = (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write) if tokens else None
        ours = Counts(session.prompts, session.tool_calls, session.tool_errors, session.denials, spent)
        assert (transcript.session_id, ours) == (transcript.session_id, count(transcript.path))
        assert done.problems == []
        laws.adds_up(turns, session)
        assert store.probe_cli_folder(transcript) == session.cwds[0]
        assert session.title and session.models
        calls = [call for turn in turns for call in turn.tool_calls]
        assert not [call for call in calls if call.kind == "shell" and "exit code" in call.output[-60:]]
        typed = [turn.text for turn in turns if turn.role == "user"]
        assert all(typed)
        assert not [text for text in typed if text.startswith((*NOT_TYPED, "<", "Base directory for this skill"))]
