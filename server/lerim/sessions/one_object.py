"""Sessions kept as one JSON object, as by the first Codex and Copilot CLI: folded like those kept in lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from lerim.errors import Problem
from lerim.sessions.jsonl import LineReading
from lerim.sessions.model import Transcript
from lerim.sessions.regular import unreadable
from lerim.sessions.session_files import contents
from lerim.sessions.shapes import loose, read
from lerim.sessions.totals import settled
from lerim.sessions.whole import Loaded

Kept = TypeVar("Kept", bound=msgspec.Struct)
Record = TypeVar("Record")


def load(
    transcript: Transcript,
    shape: type[Kept],
    records: Callable[[Kept], Iterable[Record]],
    reading: LineReading[Record, Any, Any],
) -> Loaded:
    """The session in an object of this shape, told by `records` as its lines would. Raises TranscriptError when the
    file cannot be read."""
    try:
        data = contents(transcript.path)
    except OSError as error:
        raise unreadable(transcript.path, error) from error
    kept = read(data, shape)
    turns = reading.fold(records(kept))
    if kept == shape() and loose(data) is None:
        reading.problems.append(
            Problem("bad-line", str(transcript.path), "This transcript could not be read: it is no whole JSON")
        )
    return Loaded(reading.session, turns, settled(turns), reading.problems)
