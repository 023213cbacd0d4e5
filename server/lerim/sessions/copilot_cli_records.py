"""One line of a session of Copilot CLI to a typed event; bytes of any kind come in, and only `BadLine` comes out."""

from __future__ import annotations

import re

import msgspec

from lerim.sessions.shapes import FAULTS, NOTHING, patient


class Asked(msgspec.Struct, rename="camel", gc=False):
    """A call the model asks for."""

    tool_call_id: str | None = ""
    name: str | None = ""
    arguments: msgspec.Raw = NOTHING
    mcp_server_name: str | None = ""


class Context(msgspec.Struct, rename="camel", gc=False):
    """Where the session runs."""

    cwd: str | None = ""
    branch: str | None = ""


class Result(msgspec.Struct, gc=False):
    """What a tool brought back, or what became of a question for permission."""

    content: msgspec.Raw = NOTHING
    contents: msgspec.Raw = NOTHING
    kind: str | None = ""
    feedback: str | None = ""


class Fault(msgspec.Struct, gc=False):
    """Why a tool failed."""

    message: str | None = ""
    code: str | None = ""


class Data(msgspec.Struct, rename="camel", gc=False):
    """Every field of every type of event that is used; all others are skipped unread."""

    content: msgspec.Raw = NOTHING
    attachments: msgspec.Raw = NOTHING
    source: str | None = ""
    is_autopilot_continuation: bool | None = None
    message_id: str | None = ""
    model: str | None = ""
    tool_requests: list[Asked] | None = None
    reasoning_text: str | None = ""
    output_tokens: int | None = None
    parent_tool_call_id: str | None = ""
    tool_call_id: str | None = ""
    tool_name: str | None = ""
    mcp_server_name: str | None = ""
    arguments: msgspec.Raw = NOTHING
    success: bool | None = None
    result: msgspec.Raw = NOTHING
    error: msgspec.Raw = NOTHING
    session_id: str | None = ""
    copilot_version: str | None = ""
    detached_from_spawning_parent_session_id: str | None = ""
    selected_model: str | None = ""
    new_model: str | None = ""
    context: Context | None = None
    cwd: str | None = ""
    branch: str | None = ""
    title: str | None = ""
    model_metrics: msgspec.Raw = NOTHING


class Event(msgspec.Struct, rename="camel", gc=False):
    """A line."""

    type: str = ""
    id: str | None = ""
    timestamp: str | None = ""
    agent_id: str | None = ""
    data: Data = msgspec.field(default_factory=Data)


_quick = msgspec.json.Decoder(Event).decode
_UNREAD = re.compile(rb'\{"type":"(?:hook\.|system\.|assistant\.turn_|permission\.requested|session\.compaction)')


def decode(line: bytes) -> list[Event]:
    """The events of one line; none for an empty one. A `BadLine` carries what could be read in its second argument."""
    if _UNREAD.match(line) and line.endswith((b"}\n", b"}\r\n")) and b"}{" not in line:
        return []
    try:
        return [_quick(line)]
    except FAULTS:
        return patient(line, Event)
