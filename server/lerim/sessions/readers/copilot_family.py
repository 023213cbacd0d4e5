"""Sessions of GitHub Copilot, from its command line and its chat in VS Code, distinguished by where their files are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lerim.sessions.model import Readable, StoreContents, Transcript
from lerim.sessions.readers.copilot_chat import store as copilot_chat
from lerim.sessions.readers.copilot_cli import store as copilot_cli

_EDITOR_FOLDERS = ("workspaceStorage", "globalStorage")
_CHAT_FOLDERS = ("chatSessions", *copilot_chat.FOLDERLESS)


def scan_root(root: Path, folders: Sequence[str]) -> StoreContents:
    """Lists the sessions at a root: an editor's `User` folder, or the folder of the command line."""
    if root.name == "User" or any((root / name).is_dir() for name in _EDITOR_FOLDERS):
        return copilot_chat.scan_root(root, folders)
    return copilot_cli.scan_root(root, folders)


def open_session(transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> Readable:
    """Returns a reading of one session."""
    if transcript.path.parent.name in _CHAT_FOLDERS:
        return copilot_chat.open_session(transcript, resume, brief=brief)
    return copilot_cli.open_session(transcript, resume, brief=brief)
