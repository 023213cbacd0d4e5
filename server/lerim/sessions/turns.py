"""Turns as rows of the catalog: written in batches, read back around a turn, found by their words."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import msgspec

from lerim.sessions.filters import Filters
from lerim.sessions.model import Platform, Role, Turn, TurnKind
from lerim.sessions.turn_text import pack, readable, rendered, searchable, storable, unpack

QUERY_WORDS = 32


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
    """What one batch did, by transcript row: how many turns were never seen before, and the folders of all turns that
    are its own."""

    new: Counter[int]
    folders: frozenset[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class _Known:
    row: int
    transcript: int
    vanished: bool
    body: str | bytes


def write(db: sqlite3.Connection, turns: Sequence[tuple[int, Turn]], folders: Mapping[str, int]) -> Written:
    """Writes turns, each with its transcript's row; for use inside a transaction. A turn met again is updated, and one
    that stands in another transcript (a fork copied it) stays there, unless that transcript is gone."""
    known = _known(db, [turn.id for _, turn in turns])
    inserts: dict[str, tuple[int, Turn]] = {}
    updates: dict[str, tuple[int, Turn]] = {}
    for transcript, turn in turns:
        before = known.get(turn.id)
        if before is not None:
            if before.transcript == transcript or before.vanished:
                updates[turn.id] = transcript, turn
        elif turn.id not in inserts or inserts[turn.id][0] == transcript:
            inserts[turn.id] = transcript, turn
    _insert(db, inserts.values(), folders)
    for transcript, turn in updates.values():
        _update(db, known[turn.id], turn, _place(turn, transcript, folders))
    own = (*inserts.values(), *updates.values())
    return Written(
        Counter(transcript for transcript, _ in inserts.values()),
        frozenset((transcript, turn.cwd) for transcript, turn in own),
    )


def keep_only(db: sqlite3.Connection, transcript: int, ids: Iterable[str]) -> None:
    """Removes the turns a transcript has no more (a rewound chat), inside a transaction."""
    gone = db.execute(
        "SELECT id, body FROM turns WHERE transcript = ? AND turn NOT IN (SELECT value FROM json_each(?))",
        (transcript, msgspec.json.encode(list(ids)).decode()),
    ).fetchall()
    for row, body in gone:
        text, tools = map(searchable, unpack(body))
        db.execute("INSERT INTO words (words, rowid, text, tools) VALUES ('delete', ?, ?, ?)", (row, text, tools))
        db.execute("DELETE FROM turns WHERE id = ?", (row,))


def _known(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, _Known]:
    found = db.execute(
        "SELECT turns.turn, turns.id, turns.transcript, transcripts.vanished, turns.body"
        " FROM turns JOIN transcripts ON transcripts.id = turns.transcript"
        " WHERE turns.turn IN (SELECT value FROM json_each(?))",
        (msgspec.json.encode(ids).decode(),),
    )
    return {key: _Known(row, transcript, bool(gone), body) for key, row, transcript, gone, body in found}


def _insert(db: sqlite3.Connection, turns: Iterable[tuple[int, Turn]], folders: Mapping[str, int]) -> None:
    first = cast(int, db.execute("SELECT coalesce(max(id), 0) + 1 FROM turns").fetchone()[0])
    rows, words = [], []
    for number, (transcript, turn) in enumerate(turns, first):
        text, tools = storable(turn.text), rendered(turn.tool_calls)
        rows.append((number, turn.id, *_place(turn, transcript, folders), pack(text, tools)))
        words.append((number, searchable(text), searchable(tools)))
    db.executemany("INSERT INTO turns VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    db.executemany("INSERT INTO words (rowid, text, tools) VALUES (?, ?, ?)", words)


_Place = tuple[int, int, int, str, str, float | None]


def _place(turn: Turn, transcript: int, folders: Mapping[str, int]) -> _Place:
    time = turn.time.timestamp() if turn.time else None
    return transcript, turn.ordinal, folders[turn.cwd], turn.role, turn.kind, time


def _update(db: sqlite3.Connection, before: _Known, turn: Turn, place: _Place) -> None:
    words = (storable(turn.text), rendered(turn.tool_calls))
    had = unpack(before.body)
    if words != had:
        # An index without its own text must be told what it had.
        gone, come = map(searchable, had), map(searchable, words)
        db.execute("INSERT INTO words (words, rowid, text, tools) VALUES ('delete', ?, ?, ?)", (before.row, *gone))
        db.execute("INSERT INTO words (rowid, text, tools) VALUES (?, ?, ?)", (before.row, *come))
    db.execute(
        "UPDATE turns SET transcript = ?, ordinal = ?, folder = ?, role = ?, kind = ?, time = ?, body = ? WHERE id = ?",
        (*place, pack(*words), before.row),
    )


def file_of(place: str, within: str) -> Path:
    """The file or database a transcript's place lies in."""
    return Path(place.removesuffix(f"#{within}") if within else place)


def moment(seconds: float | None) -> datetime | None:
    """The time a row holds; None for none, and for one that no calendar has."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None


_COLUMNS = (
    "turns.turn, transcripts.platform, transcripts.session, transcripts.place, transcripts.within,"
    " turns.ordinal, turns.role, turns.kind, turns.time, folders.cwd, folders.project, turns.body"
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


def search(db: sqlite3.Connection, query: str, filters: Filters, limit: int) -> list[TurnRow]:
    """Turns holding every word of `query`, best first; where none does, those holding any. Any text is safe."""
    words = [f'"{searchable(word)}"' for word in _words(query)]
    for joined in (" AND ".join(words), " OR ".join(words)) if words else ():
        rows = db.execute(
            f"SELECT {_COLUMNS}, -words.rank FROM {_JOINED} JOIN words ON words.rowid = turns.id"
            " WHERE words MATCH :words AND (:projects IS NULL"
            " OR folders.project IN (SELECT value FROM json_each(:projects)))"
            " AND (:agent IS NULL OR transcripts.platform = :agent)"
            " AND (:since IS NULL OR turns.time >= :since) AND (:until IS NULL OR turns.time <= :until)"
            " ORDER BY words.rank LIMIT :limit",
            {
                "words": joined,
                "projects": None if filters.projects is None else msgspec.json.encode(filters.projects).decode(),
                "agent": filters.agent,
                "since": filters.since.timestamp() if filters.since else None,
                "until": filters.until.timestamp() if filters.until else None,
                "limit": limit,
            },
        ).fetchall()
        if rows:
            return [_row(row[:-1], row[-1]) for row in rows]
    return []


def _words(query: str) -> list[str]:
    plain = storable(query).replace("\0", " ").replace('"', " ")
    return [word for word in plain.split() if any(character.isalnum() for character in word)][:QUERY_WORDS]


_Row = tuple[str, Platform, str, str, str, int, Role, TurnKind, float | None, str, str, str | bytes]


def _row(row: _Row, score: float = 0.0) -> TurnRow:
    turn_id, platform, session, place, within, ordinal, role, kind, time, cwd, project, body = row
    text, tools = unpack(body)
    return TurnRow(
        id=turn_id,
        platform=platform,
        session=session,
        path=file_of(place, within),
        ordinal=ordinal,
        role=role,
        kind=kind,
        time=moment(time),
        cwd=cwd,
        project=project,
        text=text,
        tools=readable(tools),
        score=score,
    )
