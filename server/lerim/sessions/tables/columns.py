"""What columns of the catalog hold, as what they mean, and lists as its statements take them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from lerim.files import decode_path

EXTRACT = "extract"
"""The kind of the job that reads a session without a model."""


def place_file(place: str, within: str) -> Path:
    """The file or database a transcript's place lies in."""
    return decode_path(place.removesuffix(f"#{within}") if within else place)


def seconds_to_time(seconds: float | None) -> datetime | None:
    """The time a row holds; None for none, and for one that no calendar has."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def split_stored_lines(text: str) -> tuple[str, ...]:
    """Names that are stored one a line."""
    return tuple(text.split("\n")) if text else ()


def to_json_list(values: Iterable[str] | Iterable[int]) -> str:
    """A list for SQLite's `json_each`: statements take one value where the number of them would be limited."""
    return msgspec.json.encode(list(values)).decode()
