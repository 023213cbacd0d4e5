"""Separates what a person typed from the context that Cursor and Lerim put around it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from lerim.sessions.readers.engine import MEMORIES_TAG, text_outside_blocks, without_nul

_QUERY_TAG = "user_query"
_CONTEXT_TAGS = (
    "system_reminder system-reminder user_info git_status project_context project_layout external_links "
    "attached_files additional_data open_and_recently_viewed_files open_files recently_viewed_files rules "
    "always_applied_workspace_rules user_rules cursor_commands cursor_rules hooks_context plugin_info "
    "recommended_plugins dynamic_tools available_subagent_models available_subagent_types mcp_meta_tools "
    "mcp_meta_tool_servers terminal_state user-context task-notification agent_skills agent_transcripts "
    "manually_attached_skills mcp_file_system image_files current_file linter_errors task_notification "
    "system_notification timestamp"
)
_CONTEXT = (MEMORIES_TAG, *_CONTEXT_TAGS.split())

PLAN_ORDER = "Implement the plan as specified, it is attached for your reference."
"""The beginning of the text that Cursor writes when a person has a plan carried out; it follows the person's words
if there are any."""
_NOT_TYPED = (
    "The above subagent result is already visible to the user.",
    "Briefly inform the user about the task result",
)
"""The beginnings of queries that Cursor sends by itself."""
_ERROR_TO_FIX = "For the code present, we get this error:"
_FIX_ORDERS = (
    "How can I resolve this? If you propose a fix, please make it concise.",
    "Fix it, verify, and then give a concise explanation.",
)
"""What the button that has an error fixed writes below the error."""
_IMAGE = "[Image]"
_CURSOR_TAGS = ("timestamp", "user_info", "system_reminder", "system-reminder")
"""Context blocks that only Cursor writes; they occur before and after the person's words."""
_CLOSING_TAG = re.compile(r"</([a-z][a-z_-]{2,40})>")
_OPENING_TAG = re.compile(r"<([a-z][a-z_-]{2,40})(?: [^<>\n]{0,300})?>")


def parse_cursor_prompt(text: str) -> str:
    """Returns what the person typed in a user message; '' if none of it is theirs.

    Only a message that begins with context is taken apart: in any other, the person may be quoting such blocks.
    """
    text = without_nul(text_outside_blocks(text, (MEMORIES_TAG,))).strip()
    without_images = text
    while without_images.startswith(_IMAGE):
        without_images = without_images[len(_IMAGE) :].lstrip()
    if not without_images.startswith("<"):
        return text if without_images else _IMAGE.lower() if text else ""
    opening = _OPENING_TAG.match(without_images)
    if opening is None:
        return text
    query = _query_text(without_images)
    if query is not None:
        return without_nul(text_outside_blocks(query, (MEMORIES_TAG,))).strip()
    if opening[1] not in _CONTEXT:
        return text
    rest = text_outside_blocks(without_images, _CONTEXT).strip()
    while (opening := _OPENING_TAG.match(rest)) and opening[1] in _CONTEXT:
        closing = f"</{opening[1]}>"
        end = rest.rfind(closing)
        rest = rest[end + len(closing) :].strip() if end >= 0 else ""  # unclosed context
    return rest or (_IMAGE.lower() if without_images != text else "")


def cut_fix_order(text: str) -> str:
    """Returns a prompt without what Cursor writes below an error that the person has it fix."""
    if text.startswith(_ERROR_TO_FIX):
        for order in _FIX_ORDERS:
            text = text.removesuffix(order)
    return text.rstrip()


_TIME = re.compile(
    r"<timestamp>(?:\w{1,12},? )?(\w{3})\w{0,6} (\d{1,2}, \d{4}, \d{1,2}:\d\d [AP]M)"
    r"(?: \((UTC)(?:([+-])(\d{1,2})(?::(\d\d))?)?\))?</timestamp>"
)


def parse_prompt_time(text: str) -> datetime | None:
    """Returns when a message was sent, from the context before the person's words; None if the context gives no
    time. A time without a zone is that of this machine."""
    found = _TIME.search(text.partition(f"<{_QUERY_TAG}>")[0])
    if found is None:
        return None
    month, rest, has_zone, sign, hours, minutes = found.groups()
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    try:
        local = datetime.strptime(f"{month} {rest}", "%b %d, %Y, %I:%M %p")
        zone = timezone(-offset if sign == "-" else offset) if has_zone else None
        return local.replace(tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _query_text(text: str) -> str | None:
    """Returns the text of the `user_query` blocks, or None if there are none.

    A query inside another block does not count, because an attached file can contain one. Other blocks end at the last
    closing tag of their name, except those that only Cursor writes.
    """
    if f"<{_QUERY_TAG}>" not in text:
        return None
    parts: list[str] = []
    position = 0
    last_closing = {found[1]: found.end() for found in _CLOSING_TAG.finditer(text)}
    while opening := _OPENING_TAG.search(text, position):
        name, position = opening[1], opening.end()
        if name == _QUERY_TAG or name in _CURSOR_TAGS:
            end = text.find(f"</{name}>", position)
            if name == _QUERY_TAG:
                query = text[position : end if end >= 0 else len(text)].strip()
                parts.append("" if query.startswith(_NOT_TYPED) else query)
            position = end + len(name) + 3 if end >= 0 else len(text)
        elif last_closing.get(name, -1) > position:
            position = last_closing[name]
        elif name in _CONTEXT:
            break  # unclosed context
    return "\n\n".join(part for part in parts if part)
