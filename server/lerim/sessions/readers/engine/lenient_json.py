"""Decodes JSON as agents' stores really contain it: with lone surrogates, control characters, fields of a wrong type,
several objects on one line, or damage in the middle.

Data that a fast decoder rejects is decoded slowly here, object by object, without the fields that cannot be used.
"""

from __future__ import annotations

import functools
import json
import math
import re
from contextlib import suppress
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

import msgspec

JSON_NULL = msgspec.Raw(b"null")

DECODE_ERRORS = (msgspec.MsgspecError, UnicodeError, RecursionError, ValueError)

_REPAIR_LIMIT = 8 * 1024 * 1024

_OBJECT_LIMIT = 1000
"""Maximum number of objects read from one line; a program that is killed leaves two or three on one line."""

Shape = TypeVar("Shape", bound=msgspec.Struct)


def decode_line(line: bytes, shape: type[Shape]) -> tuple[list[Shape], str]:
    """Decodes the objects of a line, each as `shape`: usually one, none for an empty line. Also returns what is
    wrong with the rest of the line; '' if nothing is wrong."""
    try:
        return [cast(Shape, _decoder(shape).decode(line))], ""
    except DECODE_ERRORS:
        if len(line) > _REPAIR_LIMIT:
            return [], "broken, and too long to be repaired"
    text = line.decode("utf-8", "replace").strip("\ufeff\0 \t\r\n")
    records: list[Shape] = []
    position = 0
    while position < len(text):
        if len(records) >= _OBJECT_LIMIT:
            return records, "too many objects on one line"
        try:
            value, position = OBJECT_DECODER.raw_decode(text, position)
            if not isinstance(value, dict):
                return records, "no JSON object"
            records.append(decode_leniently(_encode_clean(value), shape))
        except (ValueError, RecursionError) as error:
            return records, "nested too deeply" if isinstance(error, RecursionError) else str(error).split(":")[0]
        while position < len(text) and text[position] in "\0 \t\r\n":
            position += 1
    return records, ""


def is_one_object(line: bytes) -> bool:
    """Checks whether a line is complete and contains a single object; if so, its beginning shows what kind of record
    it is."""
    return line.endswith((b"}\n", b"}\r\n")) and b"}{" not in line


def _parse_finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


OBJECT_DECODER = json.JSONDecoder(strict=False, parse_constant=lambda _: None, parse_float=_parse_finite)
"""A decoder that accepts control characters in strings, and turns NaN and infinite numbers into None."""


def decode_leniently(data: bytes | msgspec.Raw, shape: type[Shape]) -> Shape:
    """Decodes JSON as `shape`. Fields of a wrong type get their default; if `data` cannot be read, all fields get
    theirs."""
    try:
        return parse_object(data, shape)
    except ValueError:
        return shape()


def parse_object(data: bytes | msgspec.Raw, shape: type[Shape]) -> Shape:
    """Parses a JSON object as `shape`; fields of a wrong type get their default. Raises ValueError if it is not an
    object."""
    try:
        return cast(Shape, _decoder(shape).decode(data))
    except DECODE_ERRORS:
        value = parse_json(data)
    if not isinstance(value, dict):
        raise ValueError("no JSON object")
    return _fit_object(value, shape)


@functools.cache
def _decoder(shape: type[msgspec.Struct]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(shape)


@functools.cache
def _field_types(shape: type[msgspec.Struct]) -> dict[str, Any]:
    return get_type_hints(shape)


def _fit_object(value: dict[str, Any], shape: type[Shape]) -> Shape:
    types = _field_types(shape)
    fields: dict[str, Any] = {}
    for attribute, name in zip(shape.__struct_fields__, shape.__struct_encode_fields__, strict=True):
        if name in value:
            with suppress(msgspec.ValidationError):
                fields[attribute] = _fit_value(value[name], types[attribute])
    return shape(**fields)


def _fit_value(value: object, kind: Any) -> object:
    """Returns `value` as type `kind`. Raises ValidationError if it does not fit."""
    if kind is msgspec.Raw:
        return msgspec.Raw(encode_json(value))
    for option in (kind,) if get_origin(kind) is list else get_args(kind) or (kind,):
        if isinstance(value, list) and get_origin(option) is list:
            items: list[object] = []
            for item in value:
                with suppress(msgspec.ValidationError):
                    items.append(_fit_value(item, get_args(option)[0]))
            return items
        if isinstance(value, dict) and isinstance(option, type) and issubclass(option, msgspec.Struct):
            return _fit_object(value, option)
    return msgspec.convert(value, kind)


def decode_string(raw: msgspec.Raw) -> str:
    """Decodes a JSON string; returns '' for anything else."""
    value = parse_json_or_none(raw)
    return value if isinstance(value, str) else ""


def content_texts(raw: msgspec.Raw) -> list[str]:
    """Returns the texts of a message's content, which is one string or a list of parts; an image becomes `[image]`,
    a document `[document]`."""
    value = parse_json_or_none(raw)
    if isinstance(value, str):
        return [value]
    texts: list[str] = []
    for part in value if isinstance(value, list) else ():
        if isinstance(part, dict):
            text = part.get("text")
            if isinstance(text, str):
                texts.append(text)
            elif part.get("type") in ("input_image", "image", "local_image"):
                texts.append("[image]")
            elif part.get("type") == "document":
                texts.append("[document]")
    return texts


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

ATTEMPT_LIMIT = 200
"""How many failed attempts to find an object in a damaged text are made before the rest of the text is given up."""

EFFORT_LIMIT = 4
"""How much text all failed attempts may scan, as a multiple of the length of the damaged text, however its objects
are nested."""


def parse_json(data: bytes | str | msgspec.Raw) -> object:
    """Parses any JSON into plain Python values, replacing lone surrogates. Raises ValueError if it is not JSON."""
    try:
        return msgspec.json.decode(data)
    except DECODE_ERRORS:
        text = data if isinstance(data, str) else bytes(data).decode("utf-8", "replace")
        text = text.strip("\ufeff\0 \t\r\n")
    try:
        value, end = OBJECT_DECODER.raw_decode(text)
        if end != len(text):
            raise ValueError("two values in one place")
        return msgspec.json.decode(_encode_clean(value))
    except DECODE_ERRORS as error:
        raise ValueError("nested too deeply" if isinstance(error, RecursionError) else str(error)) from error


def parse_leading_json(data: bytes) -> object:
    """Parses the JSON at the start of `data` and ignores what follows it. Raises ValueError if there is none."""
    try:
        return msgspec.json.decode(_encode_clean(OBJECT_DECODER.raw_decode(data.decode("utf-8", "replace"))[0]))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def parse_json_or_none(data: bytes | str | msgspec.Raw) -> object:
    """Parses one part of a record like `parse_json`, but returns None if it cannot be read."""
    try:
        return parse_json(data)
    except ValueError:
        return None


def split_json_array(data: bytes | msgspec.Raw) -> list[msgspec.Raw]:
    """Splits an array into its items, to be parsed separately. Returns an empty list if it is not an array."""
    try:
        return msgspec.json.decode(data, type=list[msgspec.Raw])
    except DECODE_ERRORS:
        value = parse_json_or_none(data)
        return [msgspec.Raw(encode_json(one)) for one in value] if isinstance(value, list) else []


def encode_json(value: object) -> bytes:
    """Encodes plain values as JSON, or as `null` if they are nested too deeply."""
    try:
        return msgspec.json.encode(value)
    except DECODE_ERRORS:
        return b"null"


def salvage_objects(data: bytes, key: str) -> list[bytes]:
    """Finds the complete objects in a damaged text that begin with `key`, and returns them as JSON: only the outermost
    ones, in order."""
    text = data.decode("utf-8", "replace")
    objects: list[bytes] = []
    failed = scanned = position = 0
    opening = re.compile(r"\{\s{0,100}" + re.escape(f'"{key}"'))
    effort = EFFORT_LIMIT * len(text)
    while failed < ATTEMPT_LIMIT and scanned < effort and (match := opening.search(text, position)):
        try:
            value, position = OBJECT_DECODER.raw_decode(text, match.start())
            objects.append(_encode_clean(value))
        except (ValueError, RecursionError) as error:
            failed += 1
            scanned += (error.pos if isinstance(error, json.JSONDecodeError) else len(text)) - match.start()
            position = max(position, match.end())
    return objects


def _encode_clean(value: object) -> bytes:
    """Encodes a value as JSON, replacing lone surrogates."""
    return _LONE_SURROGATE.sub("\ufffd", json.dumps(value, ensure_ascii=False)).encode()
