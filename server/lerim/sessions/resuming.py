"""The command with which an agent continues one of its sessions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath

from lerim.sessions.model import Platform
from lerim.sessions.search import SessionListItem

_COMMANDS: Mapping[Platform, str] = {
    "claude": "claude --resume",
    "codex": "codex resume",
    "gemini": "gemini --resume",
    "opencode": "opencode --session",
    "copilot": "copilot --resume",
}
"""What comes before the session's id. Cursor and Antigravity have no command that opens a session of the editor."""
_FOLDERS: Mapping[Platform, str] = {"copilot": "session-state", "gemini": "chats"}
"""Where the command lines of Copilot and Gemini keep their sessions; they cannot open those of VS Code and Antigravity,
which are elsewhere."""
_PLAIN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,100}\Z")
"""What needs no quotes in any shell. Ids come from transcripts: others are not put into a command."""


def make_resume_command(session: SessionListItem) -> str:
    """Returns the command that continues a session in a terminal; "" if there is none, or if the agent deleted it."""
    command = _COMMANDS.get(session.platform, "")
    folder = _FOLDERS.get(session.platform)
    is_own = folder is None or folder in PurePath(session.place).parts
    if not command or not is_own or session.vanished or session.parent or not _PLAIN_ID.match(session.session_id):
        return ""
    return f"{command} {session.session_id}"
