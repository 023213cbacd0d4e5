"""Decodes JSON of any agent into typed records as far as it fits. Accepts any bytes and raises only `BadLine`.

What the fast decoder of an agent's module rejects (two objects on one line, invalid UTF-8, lone surrogates, control
characters, a field of an unexpected type) is decoded slowly here: object by object, leaving out the fields that cannot
be used.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterator
from typing import Any, TypeVar, cast, get_type_hints

import msgspec

JSON_NULL = msgspec.Raw(b"null")

DECODE_ERRORS = (msgspec.MsgspecError, UnicodeError, RecursionError, ValueError)

_PATIENT = 8 * 1024 * 1024

_TOGETHER = 1000
"""Maximum number of objects read from one line; programs that are killed leave two or three on one."""

Shape = TypeVar("Shape", bound=msgspec.Struct)


class BadLine(Exception):  # noqa: N818 - a finding about a line, turned into a Problem by the reader
    """A line, or the rest of one, that contains no JSON object."""


def decode_patiently(line: bytes, shape: type[Shape]) -> list[Shape]:
    """Decodes the objects of a line that the fast decoder rejected, each as `shape`. Raises BadLine, with the objects
    that could be read as its second argument."""
    if len(line) > _PATIENT:
        raise BadLine("broken, and too long to be repaired", [])
    text = line.decode("utf-8", "replace").strip("\ufeff\0 \t\r\n")
    records: list[Shape] = []
    position = 0
    while position < len(text):
        if len(records) >= _TOGETHER:
            raise BadLine("too many objects on one line", records)
        try:
            value, position = OBJECT_DECODER.raw_decode(text, position)
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


OBJECT_DECODER = json.JSONDecoder(strict=False, parse_constant=lambda _: None, parse_float=_finite)
"""Accepts control characters in strings, and turns NaN and infinite numbers into None."""


def _record(value: dict[str, Any], shape: type[Shape]) -> Shape:
    clean = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()
    return decode_leniently(clean, shape)


def decode_leniently(data: bytes | msgspec.Raw, shape: type[Shape]) -> Shape:
    """Decodes JSON as `shape`. Fields of a wrong type get their default; if `data` cannot be read, all fields do."""
    try:
        return cast(Shape, _decoder(shape).decode(data))
    except DECODE_ERRORS:
        return _fit(decode_plain(data), shape)


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
    """Yields `value` once as type `kind`, or nothing if it does not fit."""
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


def decode_plain(data: bytes | str | msgspec.Raw) -> object:
    """Decodes any JSON into plain Python values. Returns None if it cannot be read (deep nesting)."""
    try:
        return msgspec.json.decode(data)
    except UnicodeError:  # the fast decoder skips such a field unread, so the error appears only here
        raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
        return decode_plain(raw.decode("utf-8", "replace").encode())
    except DECODE_ERRORS:
        return None


def decode_string(raw: msgspec.Raw) -> str:
    """Decodes a JSON string; returns '' for anything else."""
    value = decode_plain(raw) if raw is not JSON_NULL else None
    return value if isinstance(value, str) else ""


def content_texts(raw: msgspec.Raw) -> list[str]:
    """Returns the texts of a content, which is one string or a list of parts; an image becomes `[image]`."""
    value = decode_plain(raw) if raw is not JSON_NULL else None
    if isinstance(value, str):
        return [value]
    found: list[str] = []
    for part in value if isinstance(value, list) else ():
        if isinstance(part, dict):
            text = part.get("text")
            if isinstance(text, str):
                found.append(text)
            elif part.get("type") in ("input_image", "image", "local_image"):
                found.append("[image]")
    return found


def decode_fields(raw: msgspec.Raw) -> dict[str, object]:
    """Decodes a JSON object, or a string that contains one as JSON; returns {} for anything else."""
    value = decode_plain(raw) if raw is not JSON_NULL else None
    if isinstance(value, str):
        value = decode_plain(value) if value.startswith("{") or value.lstrip().startswith("{") else None
    return value if isinstance(value, dict) else {}
