"""What columns of the catalog hold, as what they mean."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path


def file_of(place: str, within: str) -> Path:
    """The file or database a transcript's place lies in."""
    return Path(place.removesuffix(f"#{within}") if within else place)


def moment(seconds: float | None) -> datetime | None:
    """The time a row holds; None for none, and for one that no calendar has."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None
