"""GitHub Copilot's sessions: of its command line, and of its chat in VS Code, told apart by where they lie."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from lerim.sessions import copilot_chat
from lerim.sessions.indexing import Readable
from lerim.sessions.model import Found, Transcript

if TYPE_CHECKING:
    from lerim.sessions.readers import Reader

_EDITOR = ("workspaceStorage", "globalStorage")
_CHATS = ("chatSessions", *copilot_chat.FOLDERLESS)


def find(root: Path, folders: Sequence[str]) -> Found:
    """The sessions at a root: an editor's `User` folder, or the folder of the command line."""
    if root.name == "User" or any((root / name).is_dir() for name in _EDITOR):
        return copilot_chat.find(root, folders)
    return _cli().find(root, folders)


def probe(transcript: Transcript) -> str:
    """The working folder a session begins in; '' where that is not known."""
    return copilot_chat.probe(transcript) if _is_chat(transcript) else _cli().probe(transcript)


def read(transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> Readable:
    """A reading of one session."""
    reader = copilot_chat if _is_chat(transcript) else _cli()
    return reader.read(transcript, resume, brief=brief)


def _is_chat(transcript: Transcript) -> bool:
    return transcript.path.parent.name in _CHATS


def _cli() -> Reader:
    return cast("Reader", importlib.import_module("lerim.sessions.copilot_cli"))
