"""Parses JSON as stores really contain it: with lone surrogates, control characters, fields of a wrong type, or damage
in the middle."""

from __future__ import annotations

import json
import re

import msgspec

from lerim.sessions.readers.engine.shapes import DECODE_ERRORS, OBJECT_DECODER, Shape, decode_leniently

_LONE = re.compile("[\ud800-\udfff]")

ATTEMPTS = 200
"""How many failed attempts to find an object in a damaged text are made before the rest is given up."""

EFFORT = 1_000_000_000
"""Characters that failed attempts may scan in total, so that fewer places are tried in a text of many megabytes."""


def parse_json(data: bytes | msgspec.Raw) -> object:
    """Parses any JSON into plain Python values, replacing lone surrogates. Raises ValueError if it is not JSON."""
    try:
        return msgspec.json.decode(data)
    except DECODE_ERRORS:
        text = bytes(data).decode("utf-8", "replace").strip("\ufeff\0 \t\r\n")
    try:
        found, end = OBJECT_DECODER.raw_decode(text)
        if end != len(text):
            raise ValueError("two values in one place")
        return msgspec.json.decode(_clean(found))
    except DECODE_ERRORS as error:
        raise ValueError(str(error)) from error


def parse_leading_json(data: bytes) -> object:
    """Parses the JSON at the start of `data` and ignores what follows it. Raises ValueError if there is none."""
    try:
        return msgspec.json.decode(_clean(OBJECT_DECODER.raw_decode(data.decode("utf-8", "replace"))[0]))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def parse_json_or_none(data: bytes | msgspec.Raw) -> object:
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
        found = parse_json_or_none(data)
        return [msgspec.Raw(encode_json(one)) for one in found] if isinstance(found, list) else []


def encode_json(found: object) -> bytes:
    """Encodes plain values as JSON, or as `null` if they are nested too deeply."""
    try:
        return msgspec.json.encode(found)
    except DECODE_ERRORS:
        return b"null"


def parse_object(data: bytes | msgspec.Raw, shape: type[Shape]) -> Shape:
    """Parses a JSON object as `shape`; fields of a wrong type get their default. Raises ValueError if it is not an
    object."""
    try:
        return msgspec.json.decode(data, type=shape)
    except DECODE_ERRORS:
        found = parse_json(data)
    if not isinstance(found, dict):
        raise ValueError("no JSON object")
    return decode_leniently(encode_json(found), shape)


def salvage_objects(data: bytes, key: str) -> list[bytes]:
    """Finds the complete objects in a damaged text that begin with `key`, and returns them as JSON: only the outermost
    ones, in order."""
    text = data.decode("utf-8", "replace")
    found: list[bytes] = []
    failed = position = 0
    opening = re.compile(r"\{\s{0,100}" + re.escape(f'"{key}"'))
    attempts = min(ATTEMPTS, 4 + EFFORT // (len(text) + 1))
    while failed < attempts and (match := opening.search(text, position)):
        try:
            one, position = OBJECT_DECODER.raw_decode(text, match.start())
            found.append(_clean(one))
        except (ValueError, RecursionError):
            failed += 1
            position = max(position, match.end())
    return found


def _clean(found: object) -> bytes:
    """Encodes a value as JSON, replacing lone surrogates."""
    return _LONE.sub("\ufffd", json.dumps(found, ensure_ascii=False)).encode()
