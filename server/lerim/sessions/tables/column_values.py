"""Converts values of catalog columns, and lists for the catalog's statements."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from lerim.files import decode_path

EXTRACT_JOB = "extract"
"""The kind of job that reads a session without a model."""
OVERLAPS_BOUNDS = "(:since IS NULL OR s.ended >= :since) AND (:until IS NULL OR s.started <= :until)"
"""SQL condition on a session `s`: it has turns between the parameters of `time_bounds`."""


def place_file(place: str, within: str) -> Path:
    """Returns the file or database that contains the transcript at a place."""
    return decode_path(place.removesuffix(f"#{within}") if within else place)


def seconds_to_time(seconds: float | None) -> datetime | None:
    """Converts epoch seconds from a row to a UTC time; None for None and for values outside the calendar."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def time_bounds(since: datetime | None, until: datetime | None) -> dict[str, float | None]:
    """Returns the parameters `since` and `until` of a statement, in epoch seconds."""
    return {"since": since.timestamp() if since else None, "until": until.timestamp() if until else None}


def digest_text(text: str) -> int:
    """Returns a 64-bit digest of a text, as a signed integer for SQLite."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def to_json_list(values: Iterable[str] | Iterable[int]) -> str:
    """Encodes a list for SQLite's `json_each`, which avoids the limit on the number of parameters of a statement."""
    return msgspec.json.encode(list(values)).decode()
