"""The readers of transcripts against real sessions, and against counters that share no code with them."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

import independent_codex
import independent_copilot_chat
import independent_copilot_cli
import independent_counter
import independent_gemini
import reading_laws as laws
from claude_lines import reading, transcript
from lerim.sessions.model import Platform, Readable, ToolCall, Transcript, Turn
from lerim.sessions.readers import PLATFORM_READERS, find_working_folder
from lerim.sessions.readers.claude.turns import ClaudeReading
from lerim.sessions.readers.gemini_family import scan_root

PROJECT = "/Users/savekirk/dev/ai/entire/session-bridge"
NOT_TYPED = {
    "claude": (*independent_counter.NOT_TYPED, "Base directory for this skill", "<lerim-memories>", '{"task_id"'),
    "codex": (*independent_codex.NOT_TYPED, "<", "## "),
    "gemini": (*independent_gemini.INJECTED, "--- Content from referenced files"),
    "copilot-cli": (*independent_copilot_cli.NOT_TYPED, "<", "Base directory for this skill"),
    "copilot-chat": ("<",),
}
NOWHERE = (
    *("<system-reminder>", "<task-notification>", "<USER_SETTINGS_CHANGE>", "<ADDITIONAL_METADATA>"),
    *("<attachment", "<environment_info"),
)

Readings = dict[str, list[tuple[Transcript, list[Turn], Readable]]]


@pytest.fixture(scope="module")
def stores(sessions_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The shared sessions of each agent in every form, where the programs would have put them."""
    gemini = tmp_path_factory.mktemp("store") / ".gemini"
    shutil.copytree(sessions_folder / "gemini" / "tmp", gemini / "tmp")
    shutil.copytree(sessions_folder / "gemini" / "jsonl-scrubbed", gemini / "tmp" / "scrubbed" / "chats")
    for path in (sessions_folder / "other" / "antigravity").glob("*.jsonl"):
        logs = gemini / "antigravity" / "brain" / path.stem / ".system_generated" / "logs"
        logs.mkdir(parents=True)
        shutil.copy(path, logs / "transcript.jsonl")
    copilot = sessions_folder / "copilot"
    editor = tmp_path_factory.mktemp("editor") / "User"
    shutil.copytree(copilot / "vscode-built-from-real-rows" / "User", editor)
    shutil.copytree(copilot / "vscode-chat-export", editor / "globalStorage" / "emptyWindowChatSessions")
    own = {name: sessions_folder / name for name in ("claude", "codex")}
    return {**own, "gemini": gemini, "copilot-cli": copilot / "cli", "copilot-chat": editor}


@pytest.fixture(scope="module")
def readings(sessions_folder: Path, stores: dict[str, Path]) -> Readings:
    read: Readings = {}
    for name, root in stores.items():
        reader = PLATFORM_READERS[cast("Platform", name.partition("-")[0])]
        found = reader.scan_root(root, ())
        assert (found.problems, found.databases) == ([], [])
        read[name] = [(one, *laws.taken(reader.open_session, one)) for one in found.transcripts]
    assert len(read["claude"]) == len(list((sessions_folder / "claude" / "projects").glob("*/*.jsonl"))) > 0
    assert len(read["codex"]) == len(list((sessions_folder / "codex" / "sessions").rglob("*.jsonl"))) > 0
    assert len(read["copilot-cli"]) == len(list((sessions_folder / "copilot" / "cli").rglob("events.jsonl"))) > 0
    assert (len(read["gemini"]), len(read["copilot-chat"])) == (4 + 3 + 4, 3)
    return read


def recount(name: str, path: Path) -> dict[str, object]:
    """What a counter finds that shares no code with the readers."""
    counters: dict[str, Callable[[Path], Any]] = {
        "claude": independent_counter.count,
        "codex": independent_codex.count,
        "gemini": independent_gemini.count_steps if "brain" in path.parts else independent_gemini.count,
        "copilot-cli": independent_copilot_cli.count,
        "copilot-chat": independent_copilot_chat.count,
    }
    found = counters[name](path)._asdict()
    if found["tokens"] is not None:  # without the counts that the agent does not have
        found["tokens"] = (*found["tokens"], 0, 0)[:4]
    return found


@pytest.mark.parametrize("agent", NOT_TYPED)
def test_counts_agree_with_an_independent_counter_and_with_the_turns(readings: Readings, agent: str) -> None:
    for one, turns, done in readings[agent]:
        session, tokens, counted = done.session, done.session.tokens, recount(agent, one.path)
        spent = (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write) if tokens else None
        ours = {name: spent if name == "tokens" else getattr(session, name) for name in counted}
        assert (one.path.name, ours) == (one.path.name, counted)
        assert (done.problems, done.restarted) == ([], False)
        laws.adds_up(turns, session)
        assert session.denials == sum(call.status == "denied" for turn in turns for call in turn.tool_calls)
        if agent != "copilot-cli":  # which tells tokens when a session ends, of all its agents
            assert (tokens.output if tokens else 0) == sum(turn.tokens.output for turn in turns)
        assert bool(session.title) == bool(session.prompts)
        assert all(turn.time is not None and turn.time.tzinfo is not None for turn in turns)
        assert find_working_folder(one) == next(iter(session.cwds), "")


@pytest.mark.parametrize("agent", NOT_TYPED)
def test_nothing_injected_shows_as_typed_by_a_person(readings: Readings, agent: str) -> None:
    typed = [turn.text for _, turns, _ in readings[agent] for turn in turns if turn.role == "user"]
    assert typed and all(typed)
    assert not [text for text in typed if text.startswith(NOT_TYPED[agent]) or any(mark in text for mark in NOWHERE)]


def calls_of(readings: Readings, agent: str) -> list[ToolCall]:
    return [call for _, turns, _ in readings[agent] for turn in turns for call in turn.tool_calls]


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


def test_every_command_and_patch_of_codex_says_what_was_done(readings: Readings) -> None:
    for call in calls_of(readings, "codex"):
        if call.kind == "shell":
            assert call.name == "write_stdin" or call.command
            assert not call.command.startswith(("[", "bash -lc"))
            assert "Chunk ID" not in call.output[:100]
        elif call.kind in ("edit", "write"):
            assert call.paths
            assert {edit.path for edit in call.edits} <= set(call.paths)


@pytest.mark.parametrize(("folders", "told"), [(["/home/ana", PROJECT], PROJECT), ([], "")])
def test_a_session_of_gemini_cli_is_of_the_folder_whose_hash_names_its_store(
    stores: dict[str, Path], folders: list[str], told: str
) -> None:
    mine = [one for one in scan_root(stores["gemini"], folders).transcripts if len(one.path.parts[-3]) == 64]
    assert [one.cwd for one in mine] == [told] * 4
    assert mine[0].path.parts[-3] == hashlib.sha256(PROJECT.encode()).hexdigest()
    assert [find_working_folder(one) for one in mine] == [PROJECT] * 4


def test_a_chat_of_copilot_tells_the_same_from_its_file_its_log_and_an_export(readings: Readings) -> None:
    told = [[(turn.id, turn.text, turn.tool_calls, turn.model) for turn in one[1]] for one in readings["copilot-chat"]]
    assert told[0] == told[1] == told[2]
    folder = "/workspaces/p47-services"
    assert [done.session.cwds for _, _, done in readings["copilot-chat"]] == [(folder,), (folder,), ()]
    assert {done.session.models for _, _, done in readings["copilot-chat"]} == {("copilot/claude-opus-4.5",)}
    call = calls_of(readings, "copilot-chat")[0]
    path = f"{folder}/docs/helm-values-propagation.md"
    assert (call.name, call.kind, call.status, call.paths) == ("create_file", "write", "ok", (path,))
    assert (call.edits[0].path, call.edits[0].new[:25]) == (path, "# Helm Values Propagation")
    assert call.output == f"The following files were successfully edited:\n{path}\n"
