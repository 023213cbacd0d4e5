"""One line of a Codex rollout to a typed record; bytes of any kind come in, and only `BadLine` comes out.

Three forms are known: `{timestamp, type, payload}`, the fields of the payload beside the timestamp, and bare items
without either. A `Record` holds them all: what a payload has, the line may have itself.
"""

from __future__ import annotations

import re

import msgspec

from lerim.sessions.shapes import FAULTS, NOTHING, patient, read


class Usage(msgspec.Struct, gc=False):
    """Tokens; `input_tokens` has those read from and written to the cache in it."""

    input_tokens: int | None = 0
    cached_input_tokens: int | None = 0
    cache_write_input_tokens: int | None = 0
    output_tokens: int | None = 0


class Info(msgspec.Struct, gc=False):
    """What was used since the thread began, or since that of which it is a fork did; and by the last answer."""

    total_token_usage: Usage | None = None
    last_token_usage: Usage | None = None


class Git(msgspec.Struct, gc=False):
    """Where the repository stood at the start."""

    branch: str | None = ""


class Payload(msgspec.Struct, gc=False):
    """Every field of every kind of payload that is used; all others are skipped unread."""

    type: str | None = ""
    timestamp: str | None = ""
    id: str | None = ""
    role: str | None = ""
    content: msgspec.Raw = NOTHING
    name: str | None = ""
    namespace: str | None = ""
    arguments: msgspec.Raw = NOTHING
    input: msgspec.Raw = NOTHING
    call_id: str | None = ""
    output: msgspec.Raw = NOTHING
    status: str | None = ""
    action: msgspec.Raw = NOTHING
    message: msgspec.Raw = NOTHING
    kind: str | None = ""
    images: msgspec.Raw = NOTHING
    local_images: msgspec.Raw = NOTHING
    summary: msgspec.Raw = NOTHING
    info: Info | None = None
    turn_id: str | None = ""
    cwd: str | None = ""
    model: str | None = ""
    exit_code: int | None = None
    source: msgspec.Raw = NOTHING
    git: Git | None = None
    cli_version: str | None = ""
    forked_from_id: str | None = ""
    parent_thread_id: str | None = ""
    originator: str | None = ""
    thread_source: msgspec.Raw = NOTHING
    item: msgspec.Raw = NOTHING
    changes: msgspec.Raw = NOTHING
    success: bool | None = None
    result: msgspec.Raw = NOTHING
    error: msgspec.Raw = NOTHING
    thread_name: str | None = ""


class Record(Payload, gc=False):
    """A line."""

    payload: Payload | None = None


class Line(msgspec.Struct, gc=False):
    """A line with a payload, as all but the oldest are."""

    type: str | None = ""
    timestamp: str | None = ""
    payload: Payload | None = None


_quick = msgspec.json.Decoder(Line).decode

_UNREAD = re.compile(
    rb'\{"timestamp":"[^"]{1,40}","type":"'
    rb'(?:world_state|compacted|inter_agent_communication_metadata|event_msg","payload":\{"type":"agent_reasoning)"'
)
_WORTH = 2048
"""Bytes from which on leaving a line unread is faster than looking whether it may be."""


def decode(line: bytes) -> list[Line | Record]:
    """The records of one line; none for an empty one. A `BadLine` carries what could be read in its second argument."""
    if len(line) > _WORTH and _UNREAD.match(line) and _alone(line):
        return []
    try:
        record = _quick(line)
    except FAULTS:
        return [*patient(line, Record)]
    return [read(line, Record) if record.payload is None else record]


def payload_of(line: Line | Record) -> Payload:
    """What a line tells: its payload, or in the oldest ones the line itself."""
    return line.payload or (line if isinstance(line, Record) else Payload())


def _alone(line: bytes) -> bool:
    """Whether this is a whole line with one object on it."""
    return line.endswith((b"}\n", b"}\r\n")) and b"}{" not in line
