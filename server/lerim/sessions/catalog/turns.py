"""Writes turns to the catalog in batches, loads them, and finds them by their words."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, cast

from lerim.sessions.model import NO_TOKENS, Platform, Role, Turn, TurnKind
from lerim.sessions.redacted import redact_text
from lerim.sessions.search import NO_FILTERS, SessionFilters, search
from lerim.sessions.tables import (
    IndexedTurn,
    facts,
    format_stored_calls,
    pack_turn_text,
    place_file,
    render_calls,
    replace_surrogates,
    seconds_to_time,
    to_json_list,
    touched_files,
    turn_words,
    unpack_turn_text,
)


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One turn from the catalog, redacted. `tools` has one or more readable lines for each tool call; `score` is higher
    for a better match and 0 outside a search."""

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
class WrittenTurns:
    """The result of writing one batch, by transcript row: how many turns were new, the folders of all turns written,
    and the vanished transcripts that lost turns to others."""

    new: Counter[int]
    folders: frozenset[tuple[int, str]]
    moved_from: frozenset[int]


class _KnownTurn(NamedTuple):
    row: int
    transcript: int
    ordinal: int
    vanished: bool


def write_turns(db: sqlite3.Connection, turns: Sequence[tuple[int, Turn]], folders: Mapping[str, int]) -> WrittenTurns:
    """Writes turns, each given with its transcript's row; call it inside a transaction. Known turns are updated. A turn
    that already belongs to another transcript (a fork copied it) stays there, unless that transcript has vanished."""
    known_turns = _load_known_turns(db, [turn.id for _, turn in turns])
    inserts: dict[str, tuple[int, Turn]] = {}
    updates: dict[str, tuple[int, Turn]] = {}
    for transcript, turn in turns:
        known_turn = known_turns.get(turn.id)
        if known_turn is not None:
            if known_turn.transcript == transcript or known_turn.vanished:
                updates[turn.id] = transcript, turn
        elif turn.id not in inserts or inserts[turn.id][0] == transcript:
            inserts[turn.id] = transcript, turn
    written = (*inserts.values(), *updates.values())
    old_places = [(known_turns[key].transcript, known_turns[key].ordinal) for key in updates]
    indexed_before = _load_affected_turns(
        db, [*old_places, *((transcript, turn.ordinal) for transcript, turn in written)]
    )
    first_row = cast(int, db.execute("SELECT coalesce(max(id), 0) + 1 FROM turns").fetchone()[0])
    new_rows = dict(enumerate(inserts.values(), first_row))
    changed_rows = {known_turns[key].row: one for key, one in updates.items()}
    indexed_after = {transcript: dict(rows) for transcript, rows in indexed_before.items()}
    for key in updates:
        indexed_after[known_turns[key].transcript].pop(known_turns[key].row)
    rows = []
    for row, (transcript, turn) in (*new_rows.items(), *changed_rows.items()):
        indexed = _make_indexed_turn(turn)
        indexed_after[transcript][row] = indexed
        rows.append((*_make_values(turn, indexed, transcript, folders), row))
    db.executemany(_INSERT, rows[: len(new_rows)])
    db.executemany(_UPDATE, rows[len(new_rows) :])
    turn_words.update_index(db, indexed_before.values(), indexed_after.values())
    touched_files.write_touched_files(
        db,
        {row: touched_files.list_touched_paths(turn) for row, (_, turn) in (*new_rows.items(), *changed_rows.items())},
        changed_rows,
    )
    return WrittenTurns(
        Counter(transcript for transcript, _ in inserts.values()),
        frozenset((transcript, turn.cwd) for transcript, turn in written),
        frozenset(known_turns[key].transcript for key, (to, _) in updates.items() if known_turns[key].transcript != to),
    )


def remove_other_turns(db: sqlite3.Connection, transcript: int, ids: Iterable[str]) -> None:
    """Removes the turns of a transcript that are not in `ids` (a rewound chat); call it inside a transaction."""
    removed = db.execute(
        "SELECT id, ordinal, turn FROM turns WHERE transcript = ? AND turn NOT IN (SELECT value FROM json_each(?))",
        (transcript, to_json_list(ids)),
    ).fetchall()
    indexed_before = _load_affected_turns(db, [(transcript, ordinal) for _, ordinal, _ in removed])
    indexed_after = {of: dict(rows) for of, rows in indexed_before.items()}
    for row, _, _ in removed:
        indexed_after[transcript].pop(row)
    db.executemany("DELETE FROM turns WHERE id = ?", [(row,) for row, _, _ in removed])
    facts.delete_facts(db, [turn for _, _, turn in removed])
    turn_words.update_index(db, indexed_before.values(), indexed_after.values())
    touched_files.write_touched_files(db, {}, [row for row, _, _ in removed])


def _load_known_turns(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, _KnownTurn]:
    rows = db.execute(
        "SELECT turns.turn, turns.id, turns.transcript, turns.ordinal, transcripts.vanished"
        " FROM turns JOIN transcripts ON transcripts.id = turns.transcript"
        " WHERE turns.turn IN (SELECT value FROM json_each(?))",
        (to_json_list(ids),),
    )
    return {key: _KnownTurn(*columns) for key, *columns in rows}


def _load_affected_turns(
    db: sqlite3.Connection, places: Iterable[tuple[int, int]]
) -> dict[int, dict[int, IndexedTurn]]:
    """Returns, by transcript, the rows that a change at these (transcript, ordinal) pairs can affect, together with
    their neighbours."""
    spans: dict[int, tuple[int, int]] = {}
    for transcript, ordinal in places:
        first, last = spans.get(transcript, (ordinal, ordinal))
        spans[transcript] = min(first, ordinal), max(last, ordinal)
    return {transcript: turn_words.load_indexed_turns(db, transcript, *span) for transcript, span in spans.items()}


def _make_indexed_turn(turn: Turn) -> IndexedTurn:
    text = replace_surrogates(turn.text)
    time = turn.time.timestamp() if turn.time else None
    return IndexedTurn(turn.ordinal, turn_words.is_prose(turn.kind, text), time, text, render_calls(turn.tool_calls))


_COLUMNS_WRITTEN = (
    "turn, transcript, ordinal, folder, role, kind, time, prose, branch, model, calls, errors, failed,"
    " input, output, cache_read, cache_write, body"
)
_INSERT = f"INSERT INTO turns ({_COLUMNS_WRITTEN}, id) VALUES ({', '.join('?' * 19)})"
_UPDATE = f"UPDATE turns SET {' = ?,'.join(_COLUMNS_WRITTEN.split(','))} = ? WHERE id = ?"


def _make_values(turn: Turn, indexed: IndexedTurn, transcript: int, folders: Mapping[str, int]) -> tuple[object, ...]:
    tokens = turn.tokens
    errors = sum(call.status == "error" for call in turn.tool_calls)
    failed = any(call.kind == "shell" and (call.status == "error" or call.exit_code) for call in turn.tool_calls)
    return (
        turn.id,
        transcript,
        turn.ordinal,
        folders[turn.cwd],
        turn.role,
        turn.kind,
        indexed.time,
        indexed.is_prose,
        replace_surrogates(turn.branch),
        replace_surrogates(turn.model),
        len(turn.tool_calls),
        errors,
        failed,
        *((None,) * 4 if tokens == NO_TOKENS else (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write)),
        pack_turn_text(indexed.text, indexed.tools),
    )


_COLUMNS = (
    "turns.turn, transcripts.platform, transcripts.session, transcripts.place, transcripts.within,"
    " turns.ordinal, turns.role, turns.kind, turns.time, folders.cwd, folders.project, turns.body"
)
_FROM_TURNS = "turns JOIN transcripts ON transcripts.id = turns.transcript JOIN folders ON folders.id = turns.folder"


def load_turn(db: sqlite3.Connection, turn_id: str) -> TurnRow | None:
    """Returns the turn with this id, or None."""
    row = db.execute(f"SELECT {_COLUMNS} FROM {_FROM_TURNS} WHERE turns.turn = ?", (turn_id,)).fetchone()
    return _make_turn_row(row) if row else None


def load_turns(db: sqlite3.Connection, place: str) -> list[TurnRow]:
    """Returns all turns of a transcript, in order."""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM {_FROM_TURNS} WHERE transcripts.place = ? ORDER BY turns.ordinal, turns.id",
        (replace_surrogates(place),),
    )
    return [_make_turn_row(row) for row in rows]


def find_answering_models(db: sqlite3.Connection, turn_ids: Iterable[str]) -> dict[str, str]:
    """Returns the model of each of these turns, by turn id; for a prompt, the model that answered it. Turns whose
    model is unknown are left out."""
    rows = db.execute(
        "SELECT asked.turn, (SELECT model FROM turns WHERE transcript = asked.transcript AND ordinal >= asked.ordinal"
        " AND model != '' ORDER BY ordinal LIMIT 1) AS answering FROM turns AS asked"
        " WHERE asked.turn IN (SELECT value FROM json_each(?)) AND answering IS NOT NULL",
        (to_json_list(turn_ids),),
    )
    return dict(rows.fetchall())


def find_turns(
    db: sqlite3.Connection, query: str, limit: int = 20, filters: SessionFilters = NO_FILTERS
) -> list[TurnRow]:
    """Returns turns that contain words of `query`, best first and redacted. Any text is a valid query."""
    return _load_found_turns(db, search.search_turns(db, query, filters, limit))


def find_session_turns(
    db: sqlite3.Connection, query: str, limit: int = 20, filters: SessionFilters = NO_FILTERS
) -> list[TurnRow]:
    """Returns the best turn of each session that matches `query`, best session first; the score is the session's.
    Otherwise like `find_turns`."""
    return _load_found_turns(db, search.search_sessions(db, query, filters, limit))


def _load_found_turns(db: sqlite3.Connection, ranked: Sequence[tuple[int, float]]) -> list[TurnRow]:
    scores = dict(ranked)
    rows = db.execute(
        f"SELECT turns.id, {_COLUMNS} FROM {_FROM_TURNS} WHERE turns.id IN (SELECT value FROM json_each(?))",
        (to_json_list(scores),),
    )
    turns_by_row = {number: _make_turn_row(row, scores[number]) for number, *row in rows}
    return [turns_by_row[number] for number in scores]


_TurnColumns = tuple[str, Platform, str, str, str, int, Role, TurnKind, float | None, str, str, str | bytes]


def _make_turn_row(row: _TurnColumns, score: float = 0.0) -> TurnRow:
    turn_id, platform, session, place, within, ordinal, role, kind, time, cwd, project, body = row
    text, tools = unpack_turn_text(body)
    return TurnRow(
        id=turn_id,
        platform=platform,
        session=session,
        path=place_file(place, within),
        ordinal=ordinal,
        role=role,
        kind=kind,
        time=seconds_to_time(time),
        cwd=cwd,
        project=project,
        text=redact_text(text),
        tools=redact_text(format_stored_calls(tools)),
        score=score,
    )
