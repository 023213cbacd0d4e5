"""Prepares texts of sessions for lists: short, and without secrets and invisible characters. Also makes the command
that continues a session in its agent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from lerim.redaction import clean_text
from lerim.sessions.model import Platform
from lerim.sessions.readers import make_session_title
from lerim.sessions.search import SessionListItem
from lerim.words import STOP_WORDS, shorten_line

MAX_TITLE = 200
MAX_SNIPPET_SOURCE = 200_000
"""How many characters of a turn are searched for its snippet. All text before the match is redacted, because a
secret may begin anywhere in it."""
_BEFORE, _AFTER, _MARGIN = 60, 140, 2_000
_MAX_WHOLE_WORD = 4
"""The most letters of a word that must match whole. The last letter of a longer word may differ, so that `indexes`
finds `indexed`."""
_WORD = re.compile(r"\w+")
_SPACES = re.compile(r"\s+")


def session_title(session: SessionListItem) -> str:
    """Returns the title of a session, or else a title made from its opening text, or else one made from its id."""
    title = clean_line(session.title or make_session_title(session.opening))
    return title or f"Session {clean_line(session.session_id)[:8]}"


def clean_line(text: str, limit: int = MAX_TITLE) -> str:
    """Returns text from a session as one short line for display. The text is redacted as a whole before it is cut."""
    return shorten_line(_SPACES.sub(" ", clean_text(text)).strip(), limit)


def make_snippet(text: str, words: str) -> str:
    """Returns the text around the first match of any of the words, as one line of whole words without secrets; '' if
    none of them occurs. Stop words such as `the` are searched for only if there are no other words. Without words,
    returns the beginning of the text."""
    all_words = _WORD.findall(words.lower())
    search_words = [word for word in all_words if word not in STOP_WORDS] or all_words
    position = _find_first(text[:MAX_SNIPPET_SOURCE], search_words)
    if position is None:
        return ""
    shown = _SPACES.sub(" ", clean_text(text[: position + _MARGIN])).strip()
    match = _find_first(shown, search_words) or 0
    start = max(0, match - _BEFORE)
    end = start + _BEFORE + _AFTER
    if start:
        start = shown.find(" ", start - 1, match) + 1 or start
    if end < len(shown) and (last_space := shown.rfind(" ", match, end + 1)) > 0:
        end = last_space
    return f"{'…' if start else ''}{shown[start:end].strip()}{'…' if end < len(shown) else ''}"


def make_turn_snippet(text: str, tools: str, words: str) -> str:
    """Returns the snippet of a turn: from its text, or else from its tool calls, or else the beginning of its text
    or of its tool calls."""
    return make_snippet(text, words) or make_snippet(tools, words) or make_snippet(text or tools, "")


def _find_first(text: str, search_words: Sequence[str]) -> int | None:
    """Returns the position of the first word that begins like one of `search_words`, or else of the first place that
    contains one; 0 without `search_words`, None if nothing matches. Only beginnings are compared, because the search
    reduces words to their stems."""
    if not search_words:
        return 0
    pattern = "|".join(re.escape(word[:-1] if len(word) > _MAX_WHOLE_WORD else word) for word in search_words)
    match = re.search(rf"(?<![^\W_])(?:{pattern})", text, re.IGNORECASE) or re.search(pattern, text, re.IGNORECASE)
    return match.start() if match else None


_COMMANDS: Mapping[Platform, str] = {
    "claude": "claude --resume",
    "codex": "codex resume",
    "gemini": "gemini --resume",
    "opencode": "opencode --session",
    "copilot": "copilot --resume",
}
"""The command with which each agent continues a session, without the session's id. Cursor and Antigravity have no
command that opens a session of the editor."""
_FOLDERS: Mapping[Platform, str] = {"copilot": "session-state", "gemini": "chats"}
"""The folders in which the command lines of Copilot and Gemini keep their sessions. They cannot open the sessions of
VS Code and Antigravity, which are elsewhere."""
_PLAIN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,100}\Z")
"""Matches an id that needs no quotes in any shell. Ids come from transcripts; one that does not match is never put
into a command."""


def make_resume_command(session: SessionListItem) -> str:
    """Returns the command that continues a session in a terminal. Returns "" if the agent has no such command or
    deleted the session, if the session belongs to a subagent, or if its id would have to be quoted."""
    command = _COMMANDS.get(session.platform, "")
    folder = _FOLDERS.get(session.platform)
    is_own = folder is None or folder in PurePath(session.place).parts
    if not command or not is_own or session.vanished or session.parent or not _PLAIN_ID.match(session.session_id):
        return ""
    return f"{command} {session.session_id}"
