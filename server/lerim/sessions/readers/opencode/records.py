"""The records OpenCode writes for a session, a message and a part: the same objects in its database, its old files and
its exports. Only the fields that are used are declared; all others are skipped unread."""

from __future__ import annotations

import msgspec

from lerim.sessions.readers.engine import JSON_NULL


class OpenCodeTimes(msgspec.Struct, gc=False):
    """Times in milliseconds since 1970."""

    created: float | None = 0
    updated: float | None = 0
    completed: float | None = 0


class Revert(msgspec.Struct, gc=False):
    """The point from which on the person reverted the session."""

    message_id: str | None = msgspec.field(default="", name="messageID")
    part_id: str | None = msgspec.field(default="", name="partID")


class OpenCodeInfo(msgspec.Struct):
    """The record of a session."""

    id: str | None = ""
    parent_id: str | None = msgspec.field(default="", name="parentID")
    project_id: str | None = msgspec.field(default="", name="projectID")
    directory: str | None = ""
    title: str | None = ""
    time: OpenCodeTimes | None = None
    revert: Revert | None = None


class CacheTokens(msgspec.Struct, gc=False):
    """Tokens of a step that were read from a cache or written to it."""

    read: float | None = 0
    write: float | None = 0


class StepTokens(msgspec.Struct, gc=False):
    """Tokens of one step; `reasoning` is not part of `output`."""

    input: float | None = 0
    output: float | None = 0
    reasoning: float | None = 0
    cache: CacheTokens | None = None


class StepFolder(msgspec.Struct, gc=False):
    """The folder a step ran in."""

    cwd: str | None = ""


class OpenCodeMessage(msgspec.Struct):
    """One message without its parts. `summary` is a boolean in answers and an object in prompts."""

    id: str | None = ""
    role: str | None = ""
    time: OpenCodeTimes | None = None
    parent_id: str | None = msgspec.field(default="", name="parentID")
    model_id: str | None = msgspec.field(default="", name="modelID")
    path: StepFolder | None = None
    cost: float | None = None
    tokens: StepTokens | None = None
    finish: str | None = ""
    summary: msgspec.Raw = JSON_NULL


class ToolState(msgspec.Struct, gc=False):
    """The state of a tool call."""

    status: str | None = ""
    input: msgspec.Raw = JSON_NULL
    output: str | None = ""
    error: str | None = ""
    metadata: msgspec.Raw = JSON_NULL


class OpenCodePart(msgspec.Struct):
    """One part of a message, of any type."""

    id: str | None = ""
    type: str | None = ""
    text: str | None = ""
    synthetic: bool | None = False
    ignored: bool | None = False
    tool: str | None = ""
    call_id: str | None = msgspec.field(default="", name="callID")
    state: ToolState | None = None
    mime: str | None = ""
    filename: str | None = ""


class ExportedMessage(msgspec.Struct):
    """A message with its parts in an export."""

    info: msgspec.Raw = JSON_NULL
    parts: msgspec.Raw = JSON_NULL


class OpenCodeExport(msgspec.Struct):
    """The output of `opencode export`."""

    info: msgspec.Raw = JSON_NULL
    messages: msgspec.Raw = JSON_NULL
