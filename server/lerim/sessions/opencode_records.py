"""What OpenCode writes of a session, a message and a part: the same objects in its database, its old files and its
exports. Every field that is used, all others skipped unread."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from lerim.sessions.shapes import NOTHING


class Times(msgspec.Struct, gc=False):
    """Milliseconds since 1970."""

    created: float | None = 0
    updated: float | None = 0
    completed: float | None = 0


class Revert(msgspec.Struct, gc=False):
    """From where on the person took the session back."""

    message_id: str | None = msgspec.field(default="", name="messageID")
    part_id: str | None = msgspec.field(default="", name="partID")


class Info(msgspec.Struct):
    """A session."""

    id: str | None = ""
    parent_id: str | None = msgspec.field(default="", name="parentID")
    project_id: str | None = msgspec.field(default="", name="projectID")
    directory: str | None = ""
    title: str | None = ""
    version: str | None = ""
    time: Times | None = None
    revert: Revert | None = None


class Project(msgspec.Struct, gc=False):
    """What a session belongs to."""

    worktree: str | None = ""


class Cache(msgspec.Struct, gc=False):
    """Tokens of a step that came from a cache or went into it."""

    read: float | None = 0
    write: float | None = 0


class Spent(msgspec.Struct, gc=False):
    """Tokens of one step; `reasoning` is not part of `output`."""

    input: float | None = 0
    output: float | None = 0
    reasoning: float | None = 0
    cache: Cache | None = None


class Place(msgspec.Struct, gc=False):
    """Where a step ran."""

    cwd: str | None = ""


class Fault(msgspec.Struct, gc=False):
    """Why a step ended early."""

    name: str | None = ""


class Message(msgspec.Struct):
    """One message without its parts. `summary` is a boolean of answers, an object of prompts."""

    id: str | None = ""
    role: str | None = ""
    time: Times | None = None
    parent_id: str | None = msgspec.field(default="", name="parentID")
    model_id: str | None = msgspec.field(default="", name="modelID")
    path: Place | None = None
    cost: float | None = None
    tokens: Spent | None = None
    finish: str | None = ""
    error: Fault | None = None
    summary: msgspec.Raw = NOTHING


class State(msgspec.Struct, gc=False):
    """A tool call as far as it got."""

    status: str | None = ""
    input: msgspec.Raw = NOTHING
    output: str | None = ""
    error: str | None = ""
    metadata: msgspec.Raw = NOTHING


class Part(msgspec.Struct):
    """One part of a message, of any type."""

    id: str | None = ""
    type: str | None = ""
    text: str | None = ""
    synthetic: bool | None = False
    ignored: bool | None = False
    tool: str | None = ""
    call_id: str | None = msgspec.field(default="", name="callID")
    state: State | None = None
    mime: str | None = ""
    filename: str | None = ""


class Exchanged(msgspec.Struct):
    """A message with its parts, in an export."""

    info: msgspec.Raw = NOTHING
    parts: msgspec.Raw = NOTHING


class Export(msgspec.Struct):
    """What `opencode export` prints."""

    info: msgspec.Raw = NOTHING
    messages: msgspec.Raw = NOTHING


def moment(milliseconds: float | None) -> datetime | None:
    """Milliseconds since 1970 as a time; None where there is none."""
    if not milliseconds or milliseconds <= 0:
        return None
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def whole(number: float | None) -> int:
    """A count of tokens; 0 where it is none that can be."""
    return int(number) if number and 0 < number < 1 << 53 else 0
