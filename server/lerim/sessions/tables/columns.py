"""Converts values of catalog columns, and lists for the catalog's statements."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from lerim.files import decode_path

EXTRACT_JOB = "extract"
"""The kind of job that reads a session without a model."""


def place_file(place: str, within: str) -> Path:
    """Returns the file or database that contains the transcript at a place."""
    return decode_path(place.removesuffix(f"#{within}") if within else place)


def seconds_to_time(seconds: float | None) -> datetime | None:
    """Converts epoch seconds from a row to a UTC time; None for None and for values outside the calendar."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def split_stored_lines(text: str) -> tuple[str, ...]:
    """Splits names that are stored one per line."""
    return tuple(text.split("\n")) if text else ()


def to_json_list(values: Iterable[str] | Iterable[int]) -> str:
    """Encodes a list for SQLite's `json_each`, which avoids the limit on the number of parameters of a statement."""
    return msgspec.json.encode(list(values)).decode()
