"""The reader of Copilot's chats in VS Code against the shared ones, and against a counter that shares no code."""

from __future__ import annotations

from pathlib import Path

import pytest

from independent_copilot_chat import Counts, count
from lerim.sessions.model import Session, Transcript, Turn
from lerim.sessions.readers.copilot_chat.store import open_chat, probe_chat_folder, scan_chats
from reading_laws import is_brief_without_loss

FOLDER = "/workspaces/p47-services"


def taken(transcript: Transcript) -> tuple[list[Turn], Session]:
    is_brief_without_loss(open_chat(transcript, brief=True), open_chat(transcript))
    reading = open_chat(transcript)
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


def test_every_shared_chat_agrees_with_an_independent_counter_and_tells_the_same_turns(chats):
    assert len(chats) == 3
    read = [taken(transcript) for transcript in chats]
    for transcript, (turns, session) in zip(chats, read, strict=True):
        tokens = (session.tokens.input, session.tokens.output) if session.tokens else None
        ours = Counts(session.prompts, session.tool_calls, session.tool_errors, session.denials, tokens)
        assert (transcript.path.name, ours) == (transcript.path.name, count(transcript.path))
        assert [turn.ordinal for turn in turns] == list(range(len(turns)))
        assert session.turns == len(turns) == len({turn.id for turn in turns}) == 13
        assert all(turn.time is not None and turn.time.tzinfo is not None for turn in turns)
        assert session.models == ("copilot/claude-opus-4.5",)
        assert session.started is not None and session.ended is not None
        typed = [turn.text for turn in turns if turn.role == "user"]
        assert all(typed)
        assert not any(mark in text for text in typed for mark in ("<attachment", "<environment_info"))
    told = [[(turn.id, turn.text, turn.tool_calls, turn.model) for turn in turns] for turns, _ in read]
    assert told[0] == told[1] == told[2]
    assert [session.cwds for _, session in read] == [(FOLDER,), (FOLDER,), ()]
    assert [probe_chat_folder(transcript) for transcript in chats[:2]] == [FOLDER, FOLDER]
    [call] = [call for turn in read[0][0] for call in turn.tool_calls]
    path = f"{FOLDER}/docs/helm-values-propagation.md"
    assert (call.name, call.kind, call.status, call.paths) == ("create_file", "write", "ok", (path,))
    assert (call.edits[0].path, call.edits[0].new[:25]) == (path, "# Helm Values Propagation")
    assert call.output == f"The following files were successfully edited:\n{path}\n"
