"""GitHub Copilot's sessions: of its command line, and of its chat in VS Code, told apart by where they lie."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lerim.sessions import copilot_chat, copilot_cli
from lerim.sessions.model import Found, Readable, Transcript

_EDITOR = ("workspaceStorage", "globalStorage")
_CHATS = ("chatSessions", *copilot_chat.FOLDERLESS)


def find(root: Path, folders: Sequence[str]) -> Found:
    """The sessions at a root: an editor's `User` folder, or the folder of the command line."""
    if root.name == "User" or any((root / name).is_dir() for name in _EDITOR):
        return copilot_chat.find(root, folders)
    return copilot_cli.find(root, folders)


def probe(transcript: Transcript) -> str:
    """The working folder a session begins in; '' where that is not known."""
    return copilot_chat.probe(transcript) if _is_chat(transcript) else copilot_cli.probe(transcript)


def read(transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> Readable:
    """A reading of one session."""
    if _is_chat(transcript):
        return copilot_chat.read(transcript, resume, brief=brief)
    return copilot_cli.read(transcript, resume, brief=brief)


def _is_chat(transcript: Transcript) -> bool:
    return transcript.path.parent.name in _CHATS
