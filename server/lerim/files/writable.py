"""Text that can be written anywhere. A name of a file may hold bytes that are no UTF-8: in Python they are surrogates,
which no encoder takes."""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec


def escape_surrogates(text: str) -> str:
    """The text with such bytes written out: `caf\\xe9`."""
    try:
        text.encode()
    except UnicodeEncodeError:
        try:
            return os.fsencode(text).decode("utf-8", "backslashreplace")
        except UnicodeEncodeError:  # surrogates that stand for no byte
            return text.encode("utf-8", "backslashreplace").decode()
    return text


def encode_writable_json(value: object) -> bytes:
    """The value as JSON."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_writable(msgspec.to_builtins(value)))


def _writable(value: object) -> object:
    match value:
        case str():
            return escape_surrogates(value)
        case dict():
            return {_writable(key): _writable(item) for key, item in value.items()}
        case list() | tuple():
            return [_writable(item) for item in value]
        case _:
            return value


_MARK = "\x1a"
_UNSTORABLE = re.compile(f"[{_MARK}\ud800-\udfff]")
_MARKED = re.compile(_MARK + "([0-9a-f]{4})")


def encode_path(path: str | Path) -> str:
    """A path as text that any database takes: what is no Unicode in a file's name is told by its number."""
    text = str(path)
    if text.isascii() and _MARK not in text:
        return text
    return _UNSTORABLE.sub(lambda one: f"{_MARK}{ord(one[0]):04x}", text)


def decode_path(text: str) -> Path:
    """The path that was `encode_path`."""
    return Path(_MARKED.sub(lambda one: chr(int(one[1], 16)), text) if _MARK in text else text)
