"""What columns of the catalog hold, as what they mean, and lists as its statements take them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

_MARK = "\x1a"
_UNSTORABLE = re.compile(f"[{_MARK}\ud800-\udfff]")
_MARKED = re.compile(_MARK + "([0-9a-f]{4})")


def spelled(path: str | Path) -> str:
    """A path as text that any database takes: what is no Unicode in a file's name is told by its number."""
    text = str(path)
    if text.isascii() and _MARK not in text:
        return text
    return _UNSTORABLE.sub(lambda one: f"{_MARK}{ord(one[0]):04x}", text)


def path_of(text: str) -> Path:
    """The path that was `spelled`."""
    return Path(_MARKED.sub(lambda one: chr(int(one[1], 16)), text) if _MARK in text else text)


def file_of(place: str, within: str) -> Path:
    """The file or database a transcript's place lies in."""
    return path_of(place.removesuffix(f"#{within}") if within else place)


def moment(seconds: float | None) -> datetime | None:
    """The time a row holds; None for none, and for one that no calendar has."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def lines_of(text: str) -> tuple[str, ...]:
    """Names that are stored one a line."""
    return tuple(text.split("\n")) if text else ()


def json_of(values: Iterable[str] | Iterable[int]) -> str:
    """A list for SQLite's `json_each`: statements take one value where the number of them would be limited."""
    return msgspec.json.encode(list(values)).decode()
