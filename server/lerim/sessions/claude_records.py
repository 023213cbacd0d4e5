"""One line of a Claude Code transcript to typed records; bytes of any kind come in, and only `BadLine` comes out.

The quick way decodes straight into `Record`. What it refuses (two objects on one line, invalid UTF-8, lone
surrogates, control characters, a field of an unexpected type) goes the patient way, which takes the line apart object
by object and leaves out the fields it cannot use.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterator
from typing import Any, TypeVar, cast, get_type_hints

import msgspec

NOTHING = msgspec.Raw(b"null")


class BadLine(Exception):  # noqa: N818 - a finding about a line, turned into a Problem by the reader
    """A line, or the rest of one, that holds no JSON object."""


class Usage(msgspec.Struct, gc=False):
    """Tokens as the API reported them so far; repeated on every record of a message."""

    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cache_read_input_tokens: int | None = 0
    cache_creation_input_tokens: int | None = 0


class Block(msgspec.Struct, gc=False):
    """One content block of any kind."""

    type: str = ""
    text: str | None = ""
    thinking: str | None = ""
    id: str | None = ""
    name: str | None = ""
    input: msgspec.Raw = NOTHING
    tool_use_id: str | None = ""
    content: msgspec.Raw = NOTHING
    is_error: bool | None = False


class Message(msgspec.Struct, gc=False):
    """What was said; `content` is text or blocks."""

    id: str | None = ""
    model: str | None = ""
    content: str | list[Block] | None = ""
    usage: Usage | None = None


class Origin(msgspec.Struct, gc=False):
    """Who caused a prompt: `human`, or a machine."""

    kind: str | None = ""


class Attachment(msgspec.Struct, gc=False):
    """Context attached by the agent; only `queued_command` can hold a person's words."""

    type: str = ""
    prompt: str | list[Block] | None = ""
    command_mode: str | None = msgspec.field(default="", name="commandMode")
    origin: Origin | None = None
    is_meta: bool | None = msgspec.field(default=False, name="isMeta")


class Record(msgspec.Struct, rename="camel", gc=False):
    """Every field of every record type that is used; all others are skipped unread."""

    type: str = ""
    subtype: str | None = ""
    uuid: str | None = ""
    session_id: str | None = ""
    timestamp: str | None = ""
    cwd: str | None = ""
    git_branch: str | None = ""
    version: str | None = ""
    agent_id: str | None = ""
    request_id: str | None = ""
    is_sidechain: bool | None = False
    is_meta: bool | None = False
    is_compact_summary: bool | None = False
    is_visible_in_transcript_only: bool | None = False
    is_api_error_message: bool | None = False
    message: Message | None = None
    tool_use_result: msgspec.Raw = NOTHING
    attachment: Attachment | None = None
    origin: Origin | None = None
    prompt_source: str | None = ""
    plan_content: str | None = ""
    tool_denial_kind: str | None = ""
    user_feedback: str | None = ""
    operation: str | None = ""
    content: msgspec.Raw = NOTHING
    summary: str | None = ""
    leaf_uuid: str | None = ""
    custom_title: str | None = ""
    ai_title: str | None = ""


Shape = TypeVar("Shape", bound=msgspec.Struct)

_quick = msgspec.json.Decoder(Record).decode
_ATTACHED = b',"type":"progress",'
_NEAR = 2048
_PATIENT = 8 * 1024 * 1024
FAULTS = (msgspec.MsgspecError, UnicodeError, RecursionError, ValueError)


def decode(line: bytes) -> list[Record]:
    """The records of one line; none for an empty one. A `BadLine` carries what could be read in its second argument."""
    if line.find(_ATTACHED, 0, _NEAR) >= 0 and _is_progress(line):
        return []
    try:
        return [_quick(line)]
    except FAULTS:
        return patient(line, Record)


def _is_progress(line: bytes) -> bool:
    """Whether the outermost object says it is a progress record: nothing but its brace is open before the type."""
    before = line[: line.index(_ATTACHED)]
    return before.count(b"{") == 1 and b"[" not in before and line.endswith((b"}\n", b"}\r\n")) and b"}{" not in line


def patient(line: bytes, shape: type[Shape]) -> list[Shape]:
    """The objects of a line that the quick way refused, each as `shape`. Raises BadLine as `decode` does."""
    if len(line) > _PATIENT:
        raise BadLine("broken, and too long to be taken apart", [])
    text = line.decode("utf-8", "replace").strip("\ufeff\0 \t\r\n")
    records: list[Shape] = []
    position = 0
    while position < len(text):
        try:
            value, position = _objects.raw_decode(text, position)
            if not isinstance(value, dict):
                raise BadLine("no JSON object", records)
            records.append(_record(value, shape))
        except (ValueError, RecursionError) as error:
            what = "nested too deeply" if isinstance(error, RecursionError) else str(error).split(":")[0]
            raise BadLine(what, records) from error
        while position < len(text) and text[position] in "\0 \t\r\n":
            position += 1
    return records


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


_objects = json.JSONDecoder(strict=False, parse_constant=lambda _: None, parse_float=_finite)


def _record(value: dict[str, Any], shape: type[Shape]) -> Shape:
    clean = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()
    return read(clean, shape)


def read(data: bytes | msgspec.Raw, shape: type[Shape]) -> Shape:
    """JSON as `shape`; fields of a wrong type get their default, and so does everything when `data` cannot be read."""
    try:
        return cast(Shape, _decoder(shape).decode(data))
    except FAULTS:
        return _fit(loose(data), shape)


@functools.cache
def _decoder(shape: type[msgspec.Struct]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(shape)


@functools.cache
def _hints(shape: type[msgspec.Struct]) -> dict[str, Any]:
    return get_type_hints(shape)


def _fit(value: object, shape: type[Shape]) -> Shape:
    if not isinstance(value, dict):
        return shape()
    kinds = _hints(shape)
    taken: dict[str, Any] = {}
    for attribute, name in zip(shape.__struct_fields__, shape.__struct_encode_fields__, strict=True):
        if name in value:
            kind = kinds[attribute]
            if kind is msgspec.Raw:
                taken[attribute] = msgspec.Raw(msgspec.json.encode(value[name]))
                continue
            for fitted in _fitted(value[name], kind):
                taken[attribute] = fitted
    return shape(**taken)


def _fitted(value: object, kind: Any) -> Iterator[object]:
    """`value` as `kind`, once, or nothing where it does not fit at all."""
    options = getattr(kind, "__args__", (kind,)) if not hasattr(kind, "__origin__") else (kind,)
    for option in options:
        if isinstance(option, type) and issubclass(option, msgspec.Struct):
            if isinstance(value, dict):
                yield _fit(value, option)
                return
        elif getattr(option, "__origin__", None) is list:
            if isinstance(value, list):
                yield [_fit(item, option.__args__[0]) for item in value if isinstance(item, dict)]
                return
        elif type(value) is option:
            yield value
            return


def texts(content: str | list[Block] | None) -> list[str]:
    """The text of a content, one string a text block."""
    if isinstance(content, str):
        return [content]
    return [block.text for block in content or () if block.type == "text" and block.text]


def loose(data: bytes | str | msgspec.Raw) -> object:
    """Any JSON as plain Python values; None where it cannot be read (deep nesting)."""
    try:
        return msgspec.json.decode(data)
    except UnicodeError:  # skipped unread by the quick way, so met only now
        raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
        return loose(raw.decode("utf-8", "replace").encode())
    except FAULTS:
        return None
