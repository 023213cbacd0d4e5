"""The reader against real sessions, and against a counter that shares no code with it."""

from __future__ import annotations

from pathlib import Path

import reading_laws as laws
from claude_lines import reading, transcript
from independent_counter import NOT_TYPED, Counts, count
from lerim.sessions.readers.claude.files import find_first_cwd, scan_root
from lerim.sessions.readers.claude.store import ClaudeReading


def transcripts(sessions_folder: Path) -> list[Path]:
    store = scan_root(sessions_folder / "claude")
    found, problems = store.transcripts, store.problems
    assert problems == []
    assert len(found) == len(list((sessions_folder / "claude" / "projects").glob("*/*.jsonl"))) > 0
    return [one.path for one in found]


def test_counts_agree_with_an_independent_counter_on_every_real_session(sessions_folder):
    for path in transcripts(sessions_folder):
        _, done = reading(path)
        session = done.session
        tokens = session.tokens
        ours = Counts(
            session.prompts,
            session.tool_calls,
            session.tool_errors,
            session.denials,
            session.api_errors,
            (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write),
        )
        assert (path.name, ours) == (path.name, count(path))


def test_no_real_session_has_a_bad_line_or_lacks_turns(sessions_folder):
    for path in transcripts(sessions_folder):
        turns, done = reading(path)
        assert done.problems == []
        assert not done.restarted
        assert [turn.ordinal for turn in turns] == list(range(len(turns)))
        assert done.session.turns == len(turns) == len({turn.id for turn in turns}) > 0
        assert done.session.title
        assert done.session.cwds[0] == find_first_cwd(path)


def test_totals_of_a_session_are_the_sums_over_its_turns(sessions_folder):
    for path in transcripts(sessions_folder):
        turns, done = reading(path)
        calls = [call for turn in turns for call in turn.tool_calls]
        assert done.session.tool_calls == len(calls)
        assert done.session.prompts == sum(turn.kind == "prompt" for turn in turns)
        assert done.session.denials == sum(call.status == "denied" for call in calls)
        assert done.session.tokens.output == sum(turn.tokens.output for turn in turns)


def test_nothing_injected_shows_as_typed_by_a_person(sessions_folder):
    machine = (*NOT_TYPED, "Base directory for this skill", "<lerim-memories>", '{"task_id"', "Unknown slash command")
    for path in transcripts(sessions_folder):
        for turn in reading(path)[0]:
            if turn.role == "user":
                assert not turn.text.startswith(machine)
                assert "<system-reminder>" not in turn.text
                assert "<task-notification>" not in turn.text


def test_every_kind_of_record_sample_is_read_without_a_problem(sessions_folder):
    samples = sorted((sessions_folder / "claude" / "record-samples").rglob("*.jsonl"))
    assert samples
    for path in samples:
        assert reading(path)[1].problems == []


def test_every_denial_of_the_real_sessions_keeps_what_the_person_said(sessions_folder):
    said = {
        call.feedback
        for path in transcripts(sessions_folder)
        for turn in reading(path)[0]
        for call in turn.tool_calls
        if call.status == "denied"
    }
    assert "Entire Inc." in said
    assert "really?   Can't we provide a setting to UnmarshalJSON to be strict?" in said
    assert not any("user said" in one or "STOP" in one for one in said)


def test_a_real_session_cut_anywhere_and_taken_up_again_gives_the_same_turns(sessions_folder, tmp_path):
    for source in transcripts(sessions_folder):
        data = source.read_bytes()
        if len(data) > 700_000:
            continue
        expected, whole = reading(source)
        path = tmp_path / source.name
        turns, resume = {}, None
        for part in (1, 2, 3, 5, 7):
            path.write_bytes(data[: len(data) * part // 7])
            some, done = reading(path, resume)
            assert not done.restarted
            turns.update((turn.id, turn) for turn in some)
            resume = done.resume
        assert list(turns.values()) == expected
        assert done.session.tokens == whole.session.tokens
        assert done.session.tool_errors == whole.session.tool_errors
        assert (done.session.title, done.session.prompts) == (whole.session.title, whole.session.prompts)


def test_a_brief_reading_of_the_real_sessions_tells_all_that_the_catalog_keeps(sessions_folder):
    for path in transcripts(sessions_folder):
        whole, brief = ClaudeReading(transcript(path)), ClaudeReading(transcript(path), brief=True)
        laws.is_brief_without_loss(brief, whole)
        assert brief.resume == whole.resume
