"""Stores of many memories that are alike in one way or another."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lerim.memory.claims.claim_words import ClaimWords, claim_words
from lerim.memory.record import MemoryRecord, render_record

START = datetime(2026, 1, 1, tzinfo=UTC)
BODY = "The upload service drops every tenth request; the retry keeps the nightly job green."
TITLES: dict[str, Callable[[int], str]] = {
    "a number": lambda number: f"Retry the upload {number} times before giving up",
    "a word": lambda number: f"Retry the w{number:x}w upload before giving up",
    "equal": lambda _: "Retry the upload before giving up",
    "one word": lambda number: f"Deployment {' '.join(f'x{number:x}{letter}' for letter in 'abcde')}",
}
"""By what sets them apart (or, of the last, what they have in common): the title of each."""


def memories(count: int, alike: str) -> list[MemoryRecord]:
    """Decisions, one a minute."""
    body = BODY if alike != "one word" else ""
    times = [START + timedelta(minutes=number) for number in range(count)]
    return [
        MemoryRecord(
            *(f"{START:%Y%m%d}-memory-{at}", "decision", TITLES[alike](at), time, time, "manual", 0.8, (), body)
        )
        for at, time in enumerate(times)
    ]


def claims(records: list[MemoryRecord]) -> list[ClaimWords]:
    return [claim_words(one.title, one.body) for one in records]


def write(repository: Path, records: list[MemoryRecord]) -> Path:
    """Writes them as files of a repository; returns their folder."""
    folder = repository / ".lerim" / "memory" / "decisions"
    folder.mkdir(parents=True)
    for one in records:
        (folder / f"{one.id}.md").write_text(render_record(one), encoding="utf-8")
    return folder
