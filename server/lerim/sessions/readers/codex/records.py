"""Decodes one line of a Codex rollout into a typed record. Accepts any bytes.

There are three formats: `{timestamp, type, payload}`, the fields of the payload next to the timestamp, and bare
items with neither. `CodexRecord` covers them all: a line may itself have the fields of a payload.
"""

from __future__ import annotations

import re

import msgspec

from lerim.sessions.readers.engine import JSON_NULL, decode_line, is_one_object


class CodexUsage(msgspec.Struct, gc=False):
    """Token counts; `input_tokens` includes those read from and written to the cache."""

    input_tokens: int | None = 0
    cached_input_tokens: int | None = 0
    cache_write_input_tokens: int | None = 0
    output_tokens: int | None = 0


class CodexTokenInfo(msgspec.Struct, gc=False):
    """Tokens used since the thread began (for a fork, since the original thread began), and by the last answer."""

    total_token_usage: CodexUsage | None = None
    last_token_usage: CodexUsage | None = None


class CodexPayload(msgspec.Struct, gc=False):
    """Every field that is used, of every type of payload; all others are skipped unread."""

    type: str | None = ""
    timestamp: str | None = ""
    id: str | None = ""
    role: str | None = ""
    content: msgspec.Raw = JSON_NULL
    name: str | None = ""
    namespace: str | None = ""
    arguments: msgspec.Raw = JSON_NULL
    input: msgspec.Raw = JSON_NULL
    call_id: str | None = ""
    output: msgspec.Raw = JSON_NULL
    status: str | None = ""
    action: msgspec.Raw = JSON_NULL
    message: msgspec.Raw = JSON_NULL
    kind: str | None = ""
    images: msgspec.Raw = JSON_NULL
    local_images: msgspec.Raw = JSON_NULL
    summary: msgspec.Raw = JSON_NULL
    info: CodexTokenInfo | None = None
    turn_id: str | None = ""
    cwd: str | None = ""
    model: str | None = ""
    exit_code: int | None = None
    source: msgspec.Raw = JSON_NULL
    git: msgspec.Raw = JSON_NULL
    forked_from_id: str | None = ""
    parent_thread_id: str | None = ""
    originator: str | None = ""
    thread_source: msgspec.Raw = JSON_NULL
    item: msgspec.Raw = JSON_NULL
    changes: msgspec.Raw = JSON_NULL
    success: bool | None = None
    result: msgspec.Raw = JSON_NULL
    thread_name: str | None = ""


class CodexRecord(CodexPayload, gc=False):
    """A line of a rollout, which may itself have the fields of a payload."""

    payload: CodexPayload | None = None


_UNUSED_LINE = re.compile(
    rb'\{"timestamp":"[^"]{1,40}","type":"'
    rb'(?:world_state|compacted|inter_agent_communication_metadata|event_msg","payload":\{"type":"agent_reasoning)"'
)
_LONG_LINE = 2048
"""Only lines longer than this many bytes are checked for whether they can be skipped; for shorter ones decoding is
faster."""


def decode_codex_line(line: bytes) -> tuple[list[CodexRecord], str]:
    """Decodes the records of a line; an empty line, or one of an unused type, has none. Also returns what is wrong
    with the line."""
    if len(line) > _LONG_LINE and _UNUSED_LINE.match(line) and is_one_object(line):
        return [], ""
    return decode_line(line, CodexRecord)
