"""Text that can be written anywhere. A name of a file may hold bytes that are no UTF-8: in Python they are surrogates,
which no encoder takes."""

from __future__ import annotations

import os

import msgspec


def writable(text: str) -> str:
    """The text with such bytes written out: `caf\\xe9`."""
    try:
        text.encode()
    except UnicodeEncodeError:
        try:
            return os.fsencode(text).decode("utf-8", "backslashreplace")
        except UnicodeEncodeError:  # surrogates that stand for no byte
            return text.encode("utf-8", "backslashreplace").decode()
    return text


def encoded(value: object) -> bytes:
    """The value as JSON."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_writable(msgspec.to_builtins(value)))


def _writable(value: object) -> object:
    match value:
        case str():
            return writable(value)
        case dict():
            return {_writable(key): _writable(item) for key, item in value.items()}
        case list() | tuple():
            return [_writable(item) for item in value]
        case _:
            return value
