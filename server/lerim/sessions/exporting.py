"""Any agent's session in one normalised form, read from its transcript and redacted: one object a turn
(docs/SESSION_FORMAT.md)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import msgspec

from lerim.errors import NotFoundError, Problem
from lerim.sessions.model import (
    NO_TOKENS,
    FileEdit,
    Platform,
    Role,
    Tokens,
    ToolKind,
    ToolStatus,
    Transcript,
    Turn,
    TurnKind,
)
from lerim.sessions.readers import read_session
from lerim.sessions.redacted import redact_text, redact_turn
from lerim.sessions.tables import TRANSCRIPT_COLUMNS, make_transcript, replace_surrogates

FORMAT_VERSION = 1


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
    gives the same objects. Adds to `problems` what could not be read of it.

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
        time=turn.time.isoformat().replace("+00:00", "Z") if turn.time else "",
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
