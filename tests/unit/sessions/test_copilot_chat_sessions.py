"""The reader of Copilot's chats in VS Code against the shared ones, and against a counter that shares no code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from independent_copilot_chat import Counts, count
from lerim.sessions.model import Session, Transcript, Turn
from lerim.sessions.readers.copilot_chat.store import open_chat, probe_chat_folder, scan_chats

FOLDER = "/workspaces/p47-services"


def taken(transcript: Transcript, **how: Any) -> tuple[list[Turn], Session]:
    reading = open_chat(transcript, **how)
    turns = list(reading)
    assert reading.problems == []
    return turns, reading.session


@pytest.fixture
def chats(sessions_folder: Path) -> list[Transcript]:
    """The two shared chats of a workspace, and the one that was exported."""
    found = scan_chats(sessions_folder / "copilot" / "vscode-built-from-real-rows" / "User", [])
    assert found.problems == []
    assert found.databases == []
    exported = sessions_folder / "copilot" / "vscode-chat-export" / "p47-services-chat.json"
    return [*found.transcripts, Transcript("copilot", exported, exported.stem, 1, 1, 1)]


def test_every_shared_chat_agrees_with_an_independent_counter(chats):
    assert len(chats) == 3
    for transcript in chats:
        _, session = taken(transcript)
        tokens = session.tokens
        ours = Counts(
            session.prompts,
            session.tool_calls,
            session.tool_errors,
            session.denials,
            (tokens.input, tokens.output) if tokens else None,
        )
        assert (transcript.path.name, ours) == (transcript.path.name, count(transcript.path))


def test_the_flat_file_the_log_and_the_exported_file_tell_the_same_turns(chats):
    told = [[(turn.id, turn.text, turn.tool_calls, turn.model) for turn in taken(chat)[0]] for chat in chats]
    assert told[0] == told[1] == told[2]


def test_every_turn_of_a_shared_chat_has_a_place_a_time_and_an_id_of_its_own(chats):
    for transcript in chats:
        turns, session = taken(transcript)
        assert [turn.ordinal for turn in turns] == list(range(len(turns)))
        assert session.turns == len(turns) == len({turn.id for turn in turns}) == 13
        assert all(turn.time is not None and turn.time.tzinfo is not None for turn in turns)
        assert session.models == ("copilot/claude-opus-4.5",)
        assert session.started is not None and session.ended is not None


def test_shared_chats_belong_to_the_folder_that_was_open(chats):
    for transcript in chats[:2]:
        turns, session = taken(transcript)
        assert probe_chat_folder(transcript) == FOLDER
        assert session.cwds == (FOLDER,)
        assert {turn.cwd for turn in turns} == {FOLDER}
    assert taken(chats[2])[1].cwds == ()


def test_the_file_a_shared_chat_wrote_is_a_call_with_its_path_text_and_result(chats):
    for transcript in chats:
        turns, _ = taken(transcript)
        (call,) = [call for turn in turns for call in turn.tool_calls]
        path = f"{FOLDER}/docs/helm-values-propagation.md"
        assert (call.name, call.kind, call.status, call.paths) == ("create_file", "write", "ok", (path,))
        assert call.edits[0].path == path
        assert call.edits[0].new.startswith("# Helm Values Propagation")
        assert call.output == f"The following files were successfully edited:\n{path}\n"


def test_nothing_injected_into_a_shared_chat_shows_as_typed_by_a_person(chats):
    for transcript in chats:
        turns, _ = taken(transcript)
        for turn in turns:
            if turn.role == "user":
                assert turn.text
                assert "<attachment" not in turn.text
                assert "<environment_info" not in turn.text


def test_what_the_catalog_does_not_keep_is_left_out_of_a_brief_reading_and_counts_stay(chats):
    for transcript in chats:
        full, session = taken(transcript)
        short, again = taken(transcript, brief=True)
        assert again == session
        assert [turn.text for turn in short] == [turn.text for turn in full]
        assert not any(call.output or call.edits for turn in short for call in turn.tool_calls)
        assert not any(turn.reasoning for turn in short)
