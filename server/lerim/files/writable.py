"""Converts text so that it can be written anywhere. File names may contain bytes that are not UTF-8; Python represents
them as surrogates, which no encoder accepts."""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec


def escape_surrogates(text: str) -> str:
    """Returns the text with such bytes as escapes: `caf\\xe9`."""
    try:
        text.encode()
    except UnicodeEncodeError:
        try:
            return os.fsencode(text).decode("utf-8", "backslashreplace")
        except UnicodeEncodeError:  # surrogates that do not represent bytes
            return text.encode("utf-8", "backslashreplace").decode()
    return text


def encode_writable_json(value: object) -> bytes:
    """Encodes a value as JSON, escaping such bytes."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_escape_all(msgspec.to_builtins(value)))


def _escape_all(value: object) -> object:
    match value:
        case str():
            return escape_surrogates(value)
        case dict():
            return {_escape_all(key): _escape_all(item) for key, item in value.items()}
        case list() | tuple():
            return [_escape_all(item) for item in value]
        case _:
            return value


_MARK = "\x1a"
_UNSTORABLE = re.compile(f"[{_MARK}\ud800-\udfff]")
_MARKED = re.compile(_MARK + "([0-9a-f]{4})")


def encode_path(path: str | Path) -> str:
    """Encodes a path as text that any database accepts. Each surrogate, and each mark U+001A itself, becomes the
    mark followed by four hex digits; `decode_path` turns the text back into the same path."""
    text = str(path)
    if text.isascii() and _MARK not in text:
        return text
    return _UNSTORABLE.sub(lambda one: f"{_MARK}{ord(one[0]):04x}", text)


def decode_path(text: str) -> Path:
    """Decodes a path from `encode_path`."""
    return Path(_MARKED.sub(lambda one: chr(int(one[1], 16)), text) if _MARK in text else text)
