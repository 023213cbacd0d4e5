"""What a person typed, told from what Cursor and Lerim itself put around it."""

from __future__ import annotations

from lerim.sessions.claude_human import OWN, cut
from lerim.sessions.claude_tools import plain

_ASKED = "user_query"
_CONTEXT = (
    OWN,
    "system_reminder",
    "system-reminder",
    "user_info",
    "git_status",
    "project_layout",
    "external_links",
    "attached_files",
    "additional_data",
    "open_and_recently_viewed_files",
    "rules",
    "always_applied_workspace_rules",
    "user_rules",
    "cursor_commands",
    "agent_skills",
    "agent_transcripts",
    "manually_attached_skills",
    "mcp_file_system",
    "image_files",
    "current_file",
    "linter_errors",
    "task_notification",
    "system_notification",
    "timestamp",
)


def typed(text: str) -> str:
    """What the person typed of a user message; '' where nothing of it is theirs.

    Only a message that begins with context is taken apart: elsewhere, a person may be quoting it.
    """
    text = plain(cut(text, (OWN,))).strip()
    if not text.startswith("<"):
        return text
    if text.startswith((*(f"<{tag}>" for tag in _CONTEXT), f"<{_ASKED}>")):
        asked = _asked(text)
        if asked is not None:
            return plain(cut(asked, (OWN,))).strip()
        text = cut(text, _CONTEXT).strip()
        if text.startswith(tuple(f"<{tag}>" for tag in _CONTEXT)):
            return ""  # context that never ends
    return text


def _asked(text: str) -> str | None:
    """The person's words where they are marked; None where they are not."""
    opening, closing = f"<{_ASKED}>", f"</{_ASKED}>"
    parts: list[str] = []
    at = text.find(opening)
    while at >= 0:
        at += len(opening)
        end = text.find(closing, at)
        parts.append(text[at : end if end >= 0 else len(text)].strip())
        at = text.find(opening, end) if end >= 0 else -1
    return "\n\n".join(part for part in parts if part) if parts else None
