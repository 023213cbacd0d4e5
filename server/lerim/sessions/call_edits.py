"""The edits of one tool call, read again from its transcript: the catalog stores only which files they changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from lerim.errors import NotFoundError
from lerim.redaction import clean_text
from lerim.sessions.exporting import find_transcript
from lerim.sessions.model import FileEdit, ToolCall
from lerim.sessions.readers import read_session
from lerim.sessions.tables import render_calls

MAX_SIDE = 400_000
"""The most characters of a file's text before or after the edits."""
GAP = "\n⋯\n"
"""Stands between two replacements in one file, whose places in it are not recorded."""


def find_call_edits(db: sqlite3.Connection, place: str, turn: str, number: int) -> list[FileEdit]:
    """Returns the edits of a turn's call, one for each file and without secrets. `number` counts the calls from 0, as
    the transcript page lists them. Reads the transcript of the session at `place` up to the turn.

    Raises NotFoundError if the transcript, the turn or its edits are gone; TranscriptError if it cannot be read.
    """
    for one in read_session(find_transcript(db, place)):
        if one.id == turn:
            calls = [call for call in one.tool_calls if render_calls([call])]
            edits = _join_edits(calls[number]) if number < len(calls) else []
            if edits:
                return edits
            break
    raise NotFoundError("The text of this edit is not in the transcript.", where=place, todo="Open the file instead.")


def _join_edits(call: ToolCall) -> list[FileEdit]:
    by_path: dict[str, list[FileEdit]] = {}
    for edit in call.edits:
        by_path.setdefault(edit.path, []).append(edit)
    return [
        FileEdit(clean_text(path), _join_texts(one.old for one in edits), _join_texts(one.new for one in edits))
        for path, edits in by_path.items()
    ]


def _join_texts(texts: Iterable[str]) -> str:
    """Joins texts and redacts more than is returned, so that no secret is cut in two."""
    joined = GAP.join(texts).replace("\r\n", "\n")
    return clean_text(joined[: MAX_SIDE * 2])[:MAX_SIDE]
