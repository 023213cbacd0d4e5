"""What a person typed, told from what Cursor and Lerim itself put around it."""

from __future__ import annotations

import re

from lerim.sessions.typed import OWN, cut
from lerim.sessions.values import plain

_ASKED = "user_query"
_CONTEXT = (
    OWN,
    "system_reminder",
    "system-reminder",
    "user_info",
    "git_status",
    "project_context",
    "project_layout",
    "external_links",
    "attached_files",
    "additional_data",
    "open_and_recently_viewed_files",
    "open_files",
    "recently_viewed_files",
    "rules",
    "always_applied_workspace_rules",
    "user_rules",
    "cursor_commands",
    "cursor_rules",
    "hooks_context",
    "plugin_info",
    "recommended_plugins",
    "dynamic_tools",
    "available_subagent_models",
    "available_subagent_types",
    "mcp_meta_tools",
    "mcp_meta_tool_servers",
    "terminal_state",
    "user-context",
    "task-notification",
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


_IMAGE = "[Image]"
_OPENED = re.compile(r"<([a-z][a-z_-]{2,40})(?: [^<>\n]{0,300})?>")


def typed(text: str) -> str:
    """What the person typed of a user message; '' where nothing of it is theirs.

    Only a message that begins with context is taken apart: elsewhere, a person may be quoting it.
    """
    text = plain(cut(text, (OWN,))).strip()
    bare = text
    while bare.startswith(_IMAGE):
        bare = bare[len(_IMAGE) :].lstrip()
    if not bare.startswith("<"):
        return text if bare else _IMAGE.lower() if text else ""
    opened = _OPENED.match(bare)
    if opened is None:
        return text
    asked = _asked(bare)
    if asked is not None:
        return plain(cut(asked, (OWN,))).strip()
    if opened[1] not in _CONTEXT:
        return text
    left = cut(bare, _CONTEXT).strip()
    while (opened := _OPENED.match(left)) and opened[1] in _CONTEXT:
        closing = f"</{opened[1]}>"
        end = left.find(closing)
        left = left[end + len(closing) :].strip() if end >= 0 else ""  # context that never ends
    return left or (_IMAGE.lower() if bare != text else "")


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
