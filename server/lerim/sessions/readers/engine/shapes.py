"""JSON of any agent as typed records, as far as it fits; bytes of any kind come in, and only `BadLine` comes out.

What the quick way of an agent's module refuses (two objects on one line, invalid UTF-8, lone surrogates, control
characters, a field of an unexpected type) goes the patient way here, which takes a line apart object by object and
leaves out the fields it cannot use.
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
"""Objects that are read of one line: programs that are killed leave two or three on one."""

Shape = TypeVar("Shape", bound=msgspec.Struct)


class BadLine(Exception):  # noqa: N818 - a finding about a line, turned into a Problem by the reader
    """A line, or the rest of one, that holds no JSON object."""


def decode_patiently(line: bytes, shape: type[Shape]) -> list[Shape]:
    """The objects of a line that the quick way refused, each as `shape`. Raises BadLine, which carries
    what could be read in its second argument."""
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
"""Takes control characters in texts, and numbers that are none."""


def _record(value: dict[str, Any], shape: type[Shape]) -> Shape:
    clean = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()
    return decode_leniently(clean, shape)


def decode_leniently(data: bytes | msgspec.Raw, shape: type[Shape]) -> Shape:
    """JSON as `shape`; fields of a wrong type get their default, and so does everything when `data` cannot be read."""
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


def decode_plain(data: bytes | str | msgspec.Raw) -> object:
    """Any JSON as plain Python values; None where it cannot be read (deep nesting)."""
    try:
        return msgspec.json.decode(data)
    except UnicodeError:  # skipped unread by the quick way, so met only now
        raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
        return decode_plain(raw.decode("utf-8", "replace").encode())
    except DECODE_ERRORS:
        return None


def decode_string(raw: msgspec.Raw) -> str:
    """A JSON string; '' for anything else."""
    value = decode_plain(raw) if raw is not JSON_NULL else None
    return value if isinstance(value, str) else ""


def content_texts(raw: msgspec.Raw) -> list[str]:
    """The texts of a content: one string, or a list of parts; pictures stand as `[image]`."""
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
    """A JSON object, also one that stands as text in a string; empty for anything else."""
    value = decode_plain(raw) if raw is not JSON_NULL else None
    if isinstance(value, str):
        value = decode_plain(value) if value.startswith("{") or value.lstrip().startswith("{") else None
    return value if isinstance(value, dict) else {}
