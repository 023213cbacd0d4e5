"""Decodes the lines of a Copilot CLI session to typed events. Any bytes are accepted."""

from __future__ import annotations

import re

import msgspec

from lerim.sessions.readers.engine import JSON_NULL, decode_line, is_one_object


class CliToolRequest(msgspec.Struct, rename="camel", gc=False):
    """A tool call the model requests."""

    tool_call_id: str | None = ""
    name: str | None = ""
    arguments: msgspec.Raw = JSON_NULL
    mcp_server_name: str | None = ""


class CliContext(msgspec.Struct, rename="camel", gc=False):
    """Where the session runs."""

    cwd: str | None = ""
    branch: str | None = ""


class CliToolResult(msgspec.Struct, gc=False):
    """The result of a tool call, or the outcome of a permission request."""

    content: msgspec.Raw = JSON_NULL
    contents: msgspec.Raw = JSON_NULL
    kind: str | None = ""
    feedback: str | None = ""


class CliEventData(msgspec.Struct, rename="camel", gc=False):
    """The fields that are used, of all event types; all others are skipped unread."""

    content: msgspec.Raw = JSON_NULL
    attachments: msgspec.Raw = JSON_NULL
    source: str | None = ""
    is_autopilot_continuation: bool | None = None
    message_id: str | None = ""
    model: str | None = ""
    tool_requests: list[CliToolRequest] | None = None
    reasoning_text: str | None = ""
    output_tokens: int | None = None
    parent_tool_call_id: str | None = ""
    tool_call_id: str | None = ""
    tool_name: str | None = ""
    mcp_server_name: str | None = ""
    arguments: msgspec.Raw = JSON_NULL
    success: bool | None = None
    result: msgspec.Raw = JSON_NULL
    error: msgspec.Raw = JSON_NULL
    session_id: str | None = ""
    detached_from_spawning_parent_session_id: str | None = ""
    selected_model: str | None = ""
    new_model: str | None = ""
    context: CliContext | None = None
    cwd: str | None = ""
    branch: str | None = ""
    title: str | None = ""
    model_metrics: msgspec.Raw = JSON_NULL


class CliEvent(msgspec.Struct, rename="camel", gc=False):
    """One line of a session."""

    type: str = ""
    id: str | None = ""
    timestamp: str | None = ""
    agent_id: str | None = ""
    data: CliEventData = msgspec.field(default_factory=CliEventData)


_UNUSED_EVENT = re.compile(rb'\{"type":"(?:hook\.|system\.|assistant\.turn_|permission\.requested|session\.compaction)')


def decode_cli_event(line: bytes) -> tuple[list[CliEvent], str]:
    """Decodes the events of one line; an empty line, or one of an unused type, has none. Also returns what is wrong
    with the line."""
    return ([], "") if _UNUSED_EVENT.match(line) and is_one_object(line) else decode_line(line, CliEvent)
