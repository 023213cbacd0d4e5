"""The reader of rollouts against real ones, and against a counter that shares no code with it."""

from __future__ import annotations

from pathlib import Path

import pytest

import codex_lines as lines
import reading_laws as laws
from independent_codex import NOT_TYPED, Counts, count
from lerim.sessions.model import Transcript
from lerim.sessions.readers.codex import store


@pytest.fixture(scope="session")
def rollouts(sessions_folder: Path) -> list[Transcript]:
    found = store.scan_root(sessions_folder / "codex", ())
    assert found.problems == []
    assert len(found.transcripts) == len(list((sessions_folder / "codex" / "sessions").rglob("*.jsonl"))) > 0
    return found.transcripts


def test_counts_agree_with_an_independent_counter_on_every_real_rollout(rollouts):
    for transcript in rollouts:
        _, done = lines.reading(transcript.path)
        session, tokens = done.session, done.session.tokens
        spent = (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write) if tokens else None
        ours = Counts(session.prompts, session.tool_calls, session.tool_errors, spent)
        assert (transcript.path.name, ours) == (transcript.path.name, count(transcript.path))


def test_totals_of_a_rollout_are_the_sums_over_its_turns(rollouts):
    for transcript in rollouts:
        turns, done = lines.reading(transcript.path)
        session = done.session
        assert done.problems == []
        laws.adds_up(turns, session)
        assert (session.tokens.output if session.tokens else 0) == sum(turn.tokens.output for turn in turns)
        assert store.probe_folder(transcript) == session.cwds[0]
        assert bool(session.title) == bool(turns)


def test_nothing_injected_shows_as_typed_by_a_person(rollouts):
    for transcript in rollouts:
        turns, _ = lines.reading(transcript.path)
        for turn in turns:
            if turn.role == "user":
                assert turn.text
                assert not turn.text.startswith((*NOT_TYPED, "<", "## "))


def test_every_command_is_a_string_and_knows_its_exit_code(rollouts):
    seen = unknown = 0
    for transcript in rollouts:
        turns, _ = lines.reading(transcript.path)
        for call in (call for turn in turns for call in turn.tool_calls if call.kind == "shell"):
            assert call.name == "write_stdin" or call.command
            assert not call.command.startswith(("[", "bash -lc"))
            assert "Chunk ID" not in call.output[:100]
            seen += 1
            unknown += call.exit_code is None and call.name != "write_stdin"
    assert seen > 600
    assert unknown < 10  # left running


def test_every_patch_says_what_it_changed(rollouts):
    patched = [
        call
        for transcript in rollouts
        for turn in lines.reading(transcript.path)[0]
        for call in turn.tool_calls
        if call.kind in ("edit", "write")
    ]
    assert len(patched) > 50
    for call in patched:
        assert call.paths
        assert {edit.path for edit in call.edits} <= set(call.paths)
        assert all(edit.old != edit.new for edit in call.edits)
