"""What columns of the catalog hold, as what they mean, and lists as its statements take them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from lerim.writable import path_of

EXTRACT = "extract"
"""The kind of the job that reads a session without a model."""


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
