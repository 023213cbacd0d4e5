"""Exports a session of any agent in one normalised form, read from its transcript and redacted: one object per turn
(docs/SESSION_FORMAT.md). Also reads the edits and the output of a single tool call, because the catalog stores
little of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator

import msgspec

from lerim.errors import NotFoundError, Problem
from lerim.redaction import clean_text
from lerim.sessions.model import (
    NO_TOKENS,
    FileEdit,
    Platform,
    Role,
    Tokens,
    ToolCall,
    ToolKind,
    ToolStatus,
    Transcript,
    Turn,
    TurnKind,
)
from lerim.sessions.readers import read_session
from lerim.sessions.redacted import redact_text, redact_turn
from lerim.sessions.tables import TRANSCRIPT_COLUMNS, make_transcript, render_calls, replace_surrogates
from lerim.sessions.transcript_page import clean_transcript
from lerim.times import format_utc

FORMAT_VERSION = 1

MAX_SIDE = 400_000
"""The most characters of a file's text before or after the edits."""
GAP = "\n⋯\n"
"""Separates two replacements in one file, whose positions in the file are not recorded."""


class ExportedAnswer(msgspec.Struct, frozen=True):
    """A question the agent asked through a tool, its options, and what the person chose or typed."""

    question: str
    options: tuple[str, ...]
    answer: str


class ExportedCall(msgspec.Struct, frozen=True):
    """A tool call and its result; the fields are those of `ToolCall`."""

    name: str
    kind: ToolKind
    status: ToolStatus
    command: str
    description: str
    paths: tuple[str, ...]
    edits: tuple[FileEdit, ...]
    answers: tuple[ExportedAnswer, ...]
    plan: str
    output: str
    output_cut: int
    exit_code: int | None
    feedback: str


class ExportedTurn(msgspec.Struct, frozen=True):
    """One line of an export: a turn with its session. `time` is ISO 8601 in UTC, "" if unknown; `tokens` is None if the
    agent records none. The other fields are those of `Turn`."""

    format: int
    platform: Platform
    session: str
    parent: str
    turn: str
    number: int
    role: Role
    kind: TurnKind
    time: str
    folder: str
    branch: str
    model: str
    sidechain: bool
    unattended: bool
    text: str
    reasoning: str
    calls: tuple[ExportedCall, ...]
    tokens: Tokens | None


def export_session(db: sqlite3.Connection, place: str, problems: list[Problem]) -> Iterator[ExportedTurn]:
    """Yields the turns of the session at a place of the catalog, in order, from its transcript. The same transcript
    gives the same objects. A problem is added to `problems` for everything that could not be read.

    Raises NotFoundError if the transcript is gone, TranscriptError if it cannot be read.
    """
    transcript = find_transcript(db, place)
    reading = read_session(transcript)
    for turn in reading:
        yield _make_turn(transcript, redact_turn(turn))
    problems += reading.problems


def find_transcript(db: sqlite3.Connection, place: str) -> Transcript:
    """Returns the transcript at a place of the catalog. Raises NotFoundError if its agent deleted it."""
    query = f"SELECT {TRANSCRIPT_COLUMNS} FROM transcripts t WHERE place = ? AND NOT vanished"
    row = db.execute(query, (replace_surrogates(place),)).fetchone()
    if row is None:
        todo = "`lerim sessions show` prints what was read of it."
        raise NotFoundError("The transcript of this session was deleted by its agent.", where=place, todo=todo)
    return make_transcript(row)


def _make_turn(transcript: Transcript, turn: Turn) -> ExportedTurn:
    return ExportedTurn(
        format=FORMAT_VERSION,
        platform=transcript.platform,
        session=redact_text(transcript.session_id),
        parent=redact_text(transcript.parent),
        turn=turn.id,
        number=turn.ordinal,
        role=turn.role,
        kind=turn.kind,
        time=format_utc(turn.time),
        folder=redact_text(turn.cwd),
        branch=redact_text(turn.branch),
        model=redact_text(turn.model),
        sidechain=turn.sidechain,
        unattended=turn.unattended,
        text=turn.text,
        reasoning=turn.reasoning,
        calls=msgspec.convert(turn.tool_calls, tuple[ExportedCall, ...], from_attributes=True),
        tokens=None if turn.tokens == NO_TOKENS else turn.tokens,
    )


class RecordedCall(msgspec.Struct, frozen=True):
    """A tool call as its transcript records it, without secrets: its edits, one for each file, and the beginning and
    end of its output. `output_cut` is the number of characters left out between these."""

    edits: list[FileEdit]
    output: str
    output_cut: int


def read_call(db: sqlite3.Connection, place: str, turn: str, number: int) -> RecordedCall:
    """Returns what the transcript records of a turn's tool call. `number` counts the calls from 0, as the transcript
    page lists them. Reads the transcript of the session at `place` up to the turn.

    Raises NotFoundError if the transcript, the turn or the call is gone; TranscriptError if it cannot be read.
    """
    for one in read_session(find_transcript(db, place)):
        if one.id == turn:
            calls = [call for call in one.tool_calls if render_calls([call])]
            if number < len(calls):
                call = calls[number]
                return RecordedCall(_join_edits(call), clean_transcript(call.output).rstrip(), call.output_cut)
            break
    raise NotFoundError("This call is not in the transcript.", where=place, todo="Open the session again.")


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
