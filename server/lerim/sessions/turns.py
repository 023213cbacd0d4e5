"""Turns as rows of the catalog: written in batches, read back around a turn, found by their words."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import msgspec

from lerim.sessions.model import Platform, Role, ToolCall, Turn, TurnKind

COMMAND_CHARACTERS = 4_000
ERROR_CHARACTERS = 400
QUERY_WORDS = 32

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One turn as the catalog holds it, not redacted. `tools` is a readable line or more for each tool call;
    `score` is higher for a better match and 0 outside a search."""

    id: str
    platform: Platform
    session: str
    path: Path
    ordinal: int
    role: Role
    kind: TurnKind
    time: datetime | None
    cwd: str
    project: str
    text: str
    tools: str
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Written:
    """What one batch did: turns never seen before, and the folders of every turn that is this transcript's own."""

    new: int
    folders: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Known:
    row: int
    own: bool
    text: str
    tools: str


def write(db: sqlite3.Connection, transcript: int, turns: Sequence[Turn], folders: Mapping[str, int]) -> Written:
    """Writes turns of one transcript; for use inside a transaction. A turn met again is updated, and one that stands
    in another transcript (a fork copied it) stays there, unless that transcript is gone."""
    batch = {turn.id: turn for turn in turns}
    known = _known(db, transcript, batch)
    new = [turn for key, turn in batch.items() if key not in known]
    first = cast(int, db.execute("SELECT coalesce(max(id), 0) + 1 FROM turns").fetchone()[0])
    rows = [_values(turn, transcript, folders, first + number) for number, turn in enumerate(new)]
    db.executemany("INSERT INTO turns VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    db.executemany(
        "INSERT INTO words (rowid, text, tools) VALUES (?, ?, ?)", [(row[0], row[8], row[9]) for row in rows]
    )
    own = [(turn, known[key]) for key, turn in batch.items() if key in known and known[key].own]
    for turn, before in own:
        _update(db, _values(turn, transcript, folders, before.row), before)
    return Written(len(new), frozenset(turn.cwd for turn in new) | frozenset(turn.cwd for turn, _ in own))


def _known(db: sqlite3.Connection, transcript: int, batch: Iterable[str]) -> dict[str, _Known]:
    found = db.execute(
        "SELECT turns.turn, turns.id, transcripts.id = ? OR transcripts.vanished, turns.text, turns.tools"
        " FROM turns JOIN transcripts ON transcripts.id = turns.transcript"
        " WHERE turns.turn IN (SELECT value FROM json_each(?))",
        (transcript, msgspec.json.encode(list(batch)).decode()),
    )
    return {key: _Known(row, bool(own), text, tools) for key, row, own, text, tools in found}


_Values = tuple[int, str, int, int, int, str, str, float | None, str, str]


def _values(turn: Turn, transcript: int, folders: Mapping[str, int], row: int) -> _Values:
    return (
        row,
        turn.id,
        transcript,
        turn.ordinal,
        folders[turn.cwd],
        turn.role,
        turn.kind,
        turn.time.timestamp() if turn.time else None,
        storable(turn.text),
        storable(rendered(turn.tool_calls)),
    )


def _update(db: sqlite3.Connection, values: _Values, before: _Known) -> None:
    row, _, transcript, ordinal, folder, role, kind, time, text, tools = values
    if (text, tools) != (before.text, before.tools):
        # An index without its own content must be told what it had.
        db.execute(
            "INSERT INTO words (words, rowid, text, tools) VALUES ('delete', ?, ?, ?)", (row, before.text, before.tools)
        )
        db.execute("INSERT INTO words (rowid, text, tools) VALUES (?, ?, ?)", (row, text, tools))
    db.execute(
        "UPDATE turns SET transcript = ?, ordinal = ?, folder = ?, role = ?, kind = ?, time = ?, text = ?, tools = ?"
        " WHERE id = ?",
        (transcript, ordinal, folder, role, kind, time, text, tools, row),
    )


def weight(turn: Turn) -> int:
    """About how many characters the turn's row takes."""
    return len(turn.text) + sum(len(call.command) + len(call.plan) for call in turn.tool_calls)


def moment(seconds: float | None) -> datetime | None:
    """The time a row holds; None for none, and for one that no calendar has."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def storable(text: str) -> str:
    """`text` with lone surrogates replaced: SQLite takes only what UTF-8 can hold."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def rendered(calls: Iterable[ToolCall]) -> str:
    """The tool calls of a turn for people and for search: commands, paths, questions with answers, plans, errors."""
    return "\n".join(line for call in calls for line in _lines(call))


def _lines(call: ToolCall) -> Iterator[str]:
    head = " ".join((call.name[:80], *call.paths))
    yield f"$ {call.command[:COMMAND_CHARACTERS]}" if call.kind == "shell" and call.command else head
    if call.description:
        yield call.description[:COMMAND_CHARACTERS]
    if call.kind != "shell" and call.command:
        yield call.command[:COMMAND_CHARACTERS]
    for answer in call.answers:
        yield f"{answer.question} [{' | '.join(answer.options)}] {answer.answer}"
    if call.plan:
        yield call.plan
    if call.status == "error" and call.output:
        yield call.output[:ERROR_CHARACTERS]
    if call.feedback:
        yield call.feedback


_COLUMNS = (
    "turns.turn, transcripts.platform, transcripts.session, transcripts.path, turns.ordinal, turns.role, turns.kind,"
    " turns.time, folders.cwd, folders.project, turns.text, turns.tools"
)
_JOINED = "turns JOIN transcripts ON transcripts.id = turns.transcript JOIN folders ON folders.id = turns.folder"


def turn(db: sqlite3.Connection, turn_id: str) -> TurnRow | None:
    """The turn of this id, or None."""
    row = db.execute(f"SELECT {_COLUMNS} FROM {_JOINED} WHERE turns.turn = ?", (turn_id,)).fetchone()
    return _row(row) if row else None


def around(db: sqlite3.Connection, turn_id: str, before: int, after: int) -> list[TurnRow]:
    """The turn, up to `before` turns ahead of it and `after` behind it in its transcript; [] for an unknown id."""
    place = db.execute("SELECT transcript, ordinal FROM turns WHERE turn = ?", (turn_id,)).fetchone()
    if place is None:
        return []
    transcript, ordinal = place
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM {_JOINED} WHERE turns.transcript = ? AND turns.ordinal BETWEEN ? AND ?"
        " ORDER BY turns.ordinal, turns.id",
        (transcript, ordinal - before, ordinal + after),
    )
    return [_row(row) for row in rows]


def search(db: sqlite3.Connection, query: str, project: str | None, limit: int) -> list[TurnRow]:
    """Turns holding every word of `query`, best first; where none does, those holding any. Any text is safe."""
    words = [f'"{word}"' for word in _words(query)]
    for joined in (" AND ".join(words), " OR ".join(words)) if words else ():
        rows = db.execute(
            f"SELECT {_COLUMNS}, -words.rank FROM {_JOINED} JOIN words ON words.rowid = turns.id"
            " WHERE words MATCH ? AND (? IS NULL OR folders.project = ?) ORDER BY words.rank LIMIT ?",
            (joined, project, project, limit),
        ).fetchall()
        if rows:
            return [_row(row[:-1], row[-1]) for row in rows]
    return []


def _words(query: str) -> list[str]:
    plain = storable(query).replace("\0", " ").replace('"', " ")
    return [word for word in plain.split() if any(character.isalnum() for character in word)][:QUERY_WORDS]


_Row = tuple[str, Platform, str, str, int, Role, TurnKind, float | None, str, str, str, str]


def _row(row: _Row, score: float = 0.0) -> TurnRow:
    turn_id, platform, session, path, ordinal, role, kind, time, cwd, project, text, tools = row
    return TurnRow(
        id=turn_id,
        platform=platform,
        session=session,
        path=Path(path),
        ordinal=ordinal,
        role=role,
        kind=kind,
        time=moment(time),
        cwd=cwd,
        project=project,
        text=text,
        tools=tools,
        score=score,
    )
