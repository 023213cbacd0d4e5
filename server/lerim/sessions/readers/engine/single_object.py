"""Reads sessions stored as one JSON object, as the first versions of Codex and Copilot CLI do, with the code for
sessions stored in lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from lerim.errors import Problem
from lerim.files import make_unreadable_error
from lerim.sessions.model import Transcript
from lerim.sessions.readers.engine.lenient_json import decode_leniently, decode_plain
from lerim.sessions.readers.engine.line_reading import LineReading
from lerim.sessions.readers.engine.session_files import read_session_file
from lerim.sessions.readers.engine.whole_session import LoadedSession, count_final_turns

StoredObject = TypeVar("StoredObject", bound=msgspec.Struct)
Record = TypeVar("Record")


def load_single_object(
    transcript: Transcript,
    shape: type[StoredObject],
    list_records: Callable[[StoredObject], Iterable[Record]],
    reading: LineReading[Record, Any, Any],
) -> LoadedSession:
    """Loads the session in an object of this shape; `list_records` yields the records that its lines would contain.
    Raises TranscriptError if the file cannot be read."""
    try:
        data = read_session_file(transcript.path)
    except OSError as error:
        raise make_unreadable_error(transcript.path, error) from error
    stored = decode_leniently(data, shape)
    turns = reading.fold(list_records(stored))
    if stored == shape() and decode_plain(data) is None:
        reading.problems.append(
            Problem("bad-line", str(transcript.path), "This transcript could not be read: it is not complete JSON")
        )
    return LoadedSession(reading.session, turns, count_final_turns(turns), reading.problems)
