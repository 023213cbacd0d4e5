"""The reader of rollouts against real ones, and against a counter that shares no code with it."""

from __future__ import annotations

from pathlib import Path

import pytest

import codex_lines as lines
import reading_laws as laws
from independent_codex import NOT_TYPED, Counts, count
from lerim.sessions.model import Readable, Transcript, Turn
from lerim.sessions.readers.codex import store

Readings = list[tuple[Transcript, list[Turn], Readable]]


@pytest.fixture(scope="module")
def readings(sessions_folder: Path) -> Readings:
    found = store.scan_root(sessions_folder / "codex", ())
    assert found.problems == []
    assert len(found.transcripts) == len(list((sessions_folder / "codex" / "sessions").rglob("*.jsonl"))) > 0
    return [(one, *lines.reading(one.path)) for one in found.transcripts]


def test_counts_agree_with_an_independent_counter_and_with_the_turns(readings: Readings) -> None:
    for transcript, turns, done in readings:
        session, tokens = done.session, done.session.tokens
        spent = (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write) if tokens else None
        ours = Counts(session.prompts, session.tool_calls, session.tool_errors, spent)
        assert (transcript.path.name, ours) == (transcript.path.name, count(transcript.path))
        assert done.problems == []
        laws.adds_up(turns, session)
        assert (tokens.output if tokens else 0) == sum(turn.tokens.output for turn in turns)
        assert store.probe_folder(transcript) == session.cwds[0]
        assert bool(session.title) == bool(turns)


def test_nothing_injected_shows_as_typed_by_a_person(readings: Readings) -> None:
    for turn in (turn for _, turns, _ in readings for turn in turns if turn.role == "user"):
        assert turn.text
        assert not turn.text.startswith((*NOT_TYPED, "<", "## "))


def test_every_command_is_a_string_with_its_exit_code_and_every_patch_says_what_it_changed(readings: Readings) -> None:
    calls = [call for _, turns, _ in readings for turn in turns for call in turn.tool_calls]
    commands = [call for call in calls if call.kind == "shell"]
    assert len(commands) > 600
    for call in commands:
        assert call.name == "write_stdin" or call.command
        assert not call.command.startswith(("[", "bash -lc"))
        assert "Chunk ID" not in call.output[:100]
    left_running = [one for one in commands if one.exit_code is None and one.name != "write_stdin"]
    assert len(left_running) < 10
    patches = [call for call in calls if call.kind in ("edit", "write")]
    assert len(patches) > 50
    for call in patches:
        assert call.paths
        assert {edit.path for edit in call.edits} <= set(call.paths)
        assert all(edit.old != edit.new for edit in call.edits)
