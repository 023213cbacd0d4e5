"""Separates what a person typed from the context that Cursor and Lerim put around it."""

from __future__ import annotations

import re

from lerim.sessions.readers.engine import MEMORIES_TAG, text_outside_blocks, without_nul

_ASKED = "user_query"
_CONTEXT = (
    MEMORIES_TAG,
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
_WORDED = ("timestamp", "user_info", "system_reminder", "system-reminder")
"""Context blocks that only Cursor writes; they occur before and after the person's words."""
_CLOSED = re.compile(r"</([a-z][a-z_-]{2,40})>")
_OPENED = re.compile(r"<([a-z][a-z_-]{2,40})(?: [^<>\n]{0,300})?>")


def parse_cursor_prompt(text: str) -> str:
    """Returns what the person typed in a user message; '' if none of it is theirs.

    Only a message that begins with context is taken apart: in any other, the person may be quoting such blocks.
    """
    text = without_nul(text_outside_blocks(text, (MEMORIES_TAG,))).strip()
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
        return without_nul(text_outside_blocks(asked, (MEMORIES_TAG,))).strip()
    if opened[1] not in _CONTEXT:
        return text
    left = text_outside_blocks(bare, _CONTEXT).strip()
    while (opened := _OPENED.match(left)) and opened[1] in _CONTEXT:
        closing = f"</{opened[1]}>"
        end = left.rfind(closing)
        left = left[end + len(closing) :].strip() if end >= 0 else ""  # unclosed context
    return left or (_IMAGE.lower() if bare != text else "")


def _asked(text: str) -> str | None:
    """Returns the text of the `user_query` blocks, or None if there are none.

    A query inside another block does not count, because an attached file can contain one. Other blocks end at the last
    closing tag of their name, except those that only Cursor writes.
    """
    if f"<{_ASKED}>" not in text:
        return None
    parts: list[str] = []
    at = 0
    last = {found[1]: found.end() for found in _CLOSED.finditer(text)}
    while opened := _OPENED.search(text, at):
        name, at = opened[1], opened.end()
        if name == _ASKED or name in _WORDED:
            end = text.find(f"</{name}>", at)
            if name == _ASKED:
                parts.append(text[at : end if end >= 0 else len(text)].strip())
            at = end + len(name) + 3 if end >= 0 else len(text)
        elif last.get(name, -1) > at:
            at = last[name]
        elif name in _CONTEXT:
            break  # unclosed context
    return "\n\n".join(part for part in parts if part)
