"""The readers of transcripts against real sessions, and against counters that share no code with them."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

import independent_codex
import independent_counter
import independent_gemini
import reading_laws as laws
from claude_lines import reading, transcript
from lerim.sessions.model import Platform, Readable, Transcript, Turn
from lerim.sessions.readers import PLATFORM_READERS
from lerim.sessions.readers.claude.store import ClaudeReading
from lerim.sessions.readers.gemini_family import probe_folder, scan_root

PROJECT = "/Users/savekirk/dev/ai/entire/session-bridge"
AGENTS: tuple[Platform, ...] = ("claude", "codex", "gemini")
NOT_TYPED: dict[Platform, tuple[str, ...]] = {
    "claude": (*independent_counter.NOT_TYPED, "Base directory for this skill", "<lerim-memories>", '{"task_id"'),
    "codex": (*independent_codex.NOT_TYPED, "<", "## "),
    "gemini": (*independent_gemini.INJECTED, "--- Content from referenced files"),
}
NOWHERE = ("<system-reminder>", "<task-notification>", "<USER_SETTINGS_CHANGE>", "<ADDITIONAL_METADATA>")

Readings = dict[Platform, list[tuple[Transcript, list[Turn], Readable]]]


@pytest.fixture(scope="module")
def store(sessions_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shared sessions of Gemini CLI and Antigravity in every form, where the programs would have put them."""
    root = tmp_path_factory.mktemp("store") / ".gemini"
    shutil.copytree(sessions_folder / "gemini" / "tmp", root / "tmp")
    shutil.copytree(sessions_folder / "gemini" / "jsonl-scrubbed", root / "tmp" / "scrubbed" / "chats")
    for path in (sessions_folder / "other" / "antigravity").glob("*.jsonl"):
        logs = root / "antigravity" / "brain" / path.stem / ".system_generated" / "logs"
        logs.mkdir(parents=True)
        shutil.copy(path, logs / "transcript.jsonl")
    return root


@pytest.fixture(scope="module")
def readings(sessions_folder: Path, store: Path) -> Readings:
    read: Readings = {}
    for platform in AGENTS:
        root = store if platform == "gemini" else sessions_folder / platform
        found = PLATFORM_READERS[platform].scan_root(root, ())
        assert (found.problems, found.databases) == ([], [])
        read[platform] = [(one, *laws.taken(PLATFORM_READERS[platform].open_session, one)) for one in found.transcripts]
    assert len(read["claude"]) == len(list((sessions_folder / "claude" / "projects").glob("*/*.jsonl"))) > 0
    assert len(read["codex"]) == len(list((sessions_folder / "codex" / "sessions").rglob("*.jsonl"))) > 0
    assert len(read["gemini"]) == 4 + 3 + 4
    return read


def recount(one: Transcript) -> dict[str, object]:
    """What a counter finds that shares no code with the readers."""
    if one.platform == "claude":
        return independent_counter.count(one.path)._asdict()
    if one.platform == "codex":
        return independent_codex.count(one.path)._asdict()
    counter = independent_gemini.count_steps if "brain" in one.path.parts else independent_gemini.count
    found = counter(one.path)._asdict()
    return {**found, "tokens": (*found["tokens"], 0)}


@pytest.mark.parametrize("platform", AGENTS)
def test_counts_agree_with_an_independent_counter_and_with_the_turns(readings: Readings, platform: Platform) -> None:
    for one, turns, done in readings[platform]:
        session, tokens, counted = done.session, done.session.tokens, recount(one)
        spent = (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write) if tokens else None
        ours = {name: spent if name == "tokens" else getattr(session, name) for name in counted}
        assert (one.path.name, ours) == (one.path.name, counted)
        assert (done.problems, done.restarted) == ([], False)
        laws.adds_up(turns, session)
        assert session.denials == sum(call.status == "denied" for turn in turns for call in turn.tool_calls)
        assert (tokens.output if tokens else 0) == sum(turn.tokens.output for turn in turns)
        assert bool(session.title) == bool(session.prompts)
        assert all(turn.time is not None and turn.time.tzinfo is not None for turn in turns)
        assert PLATFORM_READERS[platform].probe_folder(one) == next(iter(session.cwds), "")


@pytest.mark.parametrize("platform", AGENTS)
def test_nothing_injected_shows_as_typed_by_a_person(readings: Readings, platform: Platform) -> None:
    typed = [turn.text for _, turns, _ in readings[platform] for turn in turns if turn.role == "user"]
    assert typed and all(typed)
    assert not [text for text in typed if text.startswith(NOT_TYPED[platform]) or any(mark in text for mark in NOWHERE)]


def calls_of(readings: Readings, platform: Platform):
    return [call for _, turns, _ in readings[platform] for turn in turns for call in turn.tool_calls]


def test_every_kind_of_record_sample_of_claude_code_is_read_without_a_problem(sessions_folder: Path) -> None:
    samples = sorted((sessions_folder / "claude" / "record-samples").rglob("*.jsonl"))
    assert samples
    for path in samples:
        assert reading(path)[1].problems == []


def test_every_denial_of_claude_code_keeps_what_the_person_said(readings: Readings) -> None:
    said = {call.feedback for call in calls_of(readings, "claude") if call.status == "denied"}
    assert {"Entire Inc.", "really?   Can't we provide a setting to UnmarshalJSON to be strict?"} <= said
    assert not any("user said" in one or "STOP" in one for one in said)


def test_a_session_of_claude_code_in_parts_gives_the_same(readings: Readings, tmp_path: Path) -> None:
    for one, _, done in readings["claude"]:
        brief = ClaudeReading(one, brief=True)
        list(brief)
        assert brief.resume == done.resume
        data = one.path.read_bytes()
        if len(data) <= 700_000:
            cuts = [len(data) // 7, len(data) // 3, len(data) * 2 // 3]
            laws.grows_to_the_same(
                lambda path, resume=None: ClaudeReading(transcript(path), resume), tmp_path, data, cuts
            )


def test_every_command_of_codex_is_a_string_with_its_exit_code_and_every_patch_says_what_it_changed(
    readings: Readings,
) -> None:
    calls = calls_of(readings, "codex")
    commands = [call for call in calls if call.kind == "shell"]
    assert len(commands) > 600
    for call in commands:
        assert call.name == "write_stdin" or call.command
        assert not call.command.startswith(("[", "bash -lc"))
        assert "Chunk ID" not in call.output[:100]
    assert len([one for one in commands if one.exit_code is None and one.name != "write_stdin"]) < 10
    patches = [call for call in calls if call.kind in ("edit", "write")]
    assert len(patches) > 50
    for call in patches:
        assert call.paths
        assert {edit.path for edit in call.edits} <= set(call.paths)
        assert all(edit.old != edit.new for edit in call.edits)


def test_calls_of_gemini_cli_and_antigravity_say_how_they_ended(readings: Readings) -> None:
    calls = calls_of(readings, "gemini")
    assert {call.exit_code for call in calls if call.kind == "shell" and call.status == "ok"} == {0}
    assert [call.exit_code for call in calls if call.kind == "shell" and call.status == "error"] == [1, 1]
    edits = [edit for call in calls if call.kind == "edit" for edit in call.edits]
    assert edits and all(edit.path and edit.old and edit.new for edit in edits)
    assert sorted(call.status for call in calls if call.status not in ("ok", "error")) == ["denied", "interrupted"]


@pytest.mark.parametrize(("folders", "told"), [(["/home/ana", PROJECT], PROJECT), ([], "")])
def test_a_session_of_gemini_cli_is_of_the_folder_whose_hash_names_its_store(
    store: Path, folders: list[str], told: str
) -> None:
    mine = [one for one in scan_root(store, folders).transcripts if len(one.path.parts[-3]) == 64]
    assert [one.cwd for one in mine] == [told] * 4
    assert mine[0].path.parts[-3] == hashlib.sha256(PROJECT.encode()).hexdigest()
    assert [probe_folder(one) for one in mine] == [PROJECT] * 4
