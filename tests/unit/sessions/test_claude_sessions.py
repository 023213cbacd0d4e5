"""The reader against real sessions, and against a counter that shares no code with it."""

from __future__ import annotations

from pathlib import Path

import pytest

import reading_laws as laws
from claude_lines import reading, transcript
from independent_counter import NOT_TYPED, Counts, count
from lerim.sessions.model import Turn
from lerim.sessions.readers.claude.store import ClaudeReading, probe_folder, scan_root


def opened(path: Path, resume: bytes | None = None) -> ClaudeReading:
    return ClaudeReading(transcript(path), resume)


Readings = list[tuple[Path, list[Turn], ClaudeReading]]


@pytest.fixture(scope="module")
def readings(sessions_folder: Path) -> Readings:
    store = scan_root(sessions_folder / "claude")
    assert store.problems == []
    assert len(store.transcripts) == len(list((sessions_folder / "claude" / "projects").glob("*/*.jsonl"))) > 0
    return [(one.path, *reading(one.path)) for one in store.transcripts]


def test_counts_agree_with_an_independent_counter_and_with_the_turns(readings: Readings) -> None:
    for path, turns, done in readings:
        session, tokens = done.session, done.session.tokens
        assert tokens
        assert (path.name, count(path)) == (
            path.name,
            Counts(
                session.prompts,
                session.tool_calls,
                session.tool_errors,
                session.denials,
                (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write),
            ),
        )
        assert (done.problems, done.restarted) == ([], False)
        calls = [call for turn in turns for call in turn.tool_calls]
        assert [turn.ordinal for turn in turns] == list(range(len(turns)))
        assert session.turns == len(turns) == len({turn.id for turn in turns}) > 0
        assert session.prompts == sum(turn.kind == "prompt" for turn in turns)
        assert (session.tool_calls, session.denials) == (len(calls), sum(call.status == "denied" for call in calls))
        assert tokens.output == sum(turn.tokens.output for turn in turns)
        assert session.title
        assert session.cwds[0] == probe_folder(done.transcript)


def test_nothing_injected_shows_as_typed_by_a_person(readings: Readings) -> None:
    machine = (*NOT_TYPED, "Base directory for this skill", "<lerim-memories>", '{"task_id"', "Unknown slash command")
    for _, turns, _ in readings:
        for turn in turns:
            if turn.role == "user":
                assert not turn.text.startswith(machine)
                assert "<system-reminder>" not in turn.text
                assert "<task-notification>" not in turn.text


def test_every_kind_of_record_sample_is_read_without_a_problem(sessions_folder: Path) -> None:
    samples = sorted((sessions_folder / "claude" / "record-samples").rglob("*.jsonl"))
    assert samples
    for path in samples:
        assert reading(path)[1].problems == []


def test_every_denial_of_the_real_sessions_keeps_what_the_person_said(readings: Readings) -> None:
    calls = (call for _, turns, _ in readings for turn in turns for call in turn.tool_calls)
    said = {call.feedback for call in calls if call.status == "denied"}
    assert "Entire Inc." in said
    assert "really?   Can't we provide a setting to UnmarshalJSON to be strict?" in said
    assert not any("user said" in one or "STOP" in one for one in said)


def test_a_real_session_in_parts_or_in_brief_gives_the_same(readings: Readings, tmp_path: Path) -> None:
    for source, turns, done in readings:
        brief = ClaudeReading(transcript(source), brief=True)
        assert [laws.kept(turn) for turn in brief] == [laws.kept(turn) for turn in turns]
        assert (brief.session, brief.problems, brief.resume) == (done.session, done.problems, done.resume)
        data = source.read_bytes()
        if len(data) <= 700_000:
            laws.grows_to_the_same(opened, tmp_path, data, [len(data) // 7, len(data) // 3, len(data) * 2 // 3])
