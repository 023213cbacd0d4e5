"""Browses the catalog: days, the sessions of a day, a session's outline and its turns page by page.

Positions count a session's turns from 0 in catalog order; ordinals can have gaps if turns were copied.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lerim.sessions.model import Platform, Role, Tokens, TurnKind
from lerim.sessions.redacted import redact_stored_calls, redact_text
from lerim.sessions.search import search
from lerim.sessions.search.query import SessionFilters
from lerim.sessions.tables import (
    IS_MAIN_SESSION,
    PARENT_MISSING,
    StoredCall,
    replace_surrogates,
    seconds_to_time,
    session_rows,
    to_json_list,
    unpack_turn_text,
)

PACK_RATIO = 3
"""How many times longer a text is than its packed form, approximately."""


@dataclass(frozen=True, slots=True)
class SessionListItem:
    """A session as a list shows it; `place` identifies it. `opening` is its first prompt if it has no title.
    `parent` is the session that started this one, if this is a subagent's; `parent_missing`: that session was not
    read, so this one is listed by itself."""

    place: str
    platform: Platform
    session_id: str
    parent: str
    title: str
    opening: str
    started: datetime | None
    ended: datetime | None
    cwds: tuple[str, ...]
    branches: tuple[str, ...]
    models: tuple[str, ...]
    turns: int
    prompts: int
    tool_calls: int
    tool_errors: int
    denials: int
    tokens: Tokens | None
    cost: float | None
    files: int
    vanished: bool
    error: str
    parent_missing: bool


@dataclass(frozen=True, slots=True)
class SessionOutline:
    """The kind and approximate length in characters of each turn of a session; `position` is the position of the
    requested turn, -1 for none."""

    kinds: tuple[TurnKind, ...]
    sizes: tuple[int, ...]
    position: int


@dataclass(frozen=True, slots=True)
class RedactedTurn:
    """One turn, redacted."""

    turn: str
    role: Role
    kind: TurnKind
    time: datetime | None
    text: str
    calls: tuple[StoredCall, ...]


_DAY_COLUMN = "coalesce(date(coalesce(s.ended, s.started), 'unixepoch', 'localtime'), '')"
_FROM_LISTED_SESSIONS = (
    f" FROM transcripts t JOIN sessions s ON s.transcript = t.id WHERE {IS_MAIN_SESSION} AND s.turns > 0"
    " AND (:projects IS NULL OR t.id IN (SELECT value FROM json_each(:copies)) OR EXISTS (SELECT 1 FROM turns"
    "  WHERE turns.transcript = t.id AND turns.folder IN"
    "  (SELECT id FROM folders WHERE project IN (SELECT value FROM json_each(:projects)))))"
)
_ITEM_COLUMNS = (
    "t.id, t.place, t.platform, t.session AS session_id, t.parent, t.vanished, t.error, s.title, s.started, s.ended,"
    " s.cwds, s.branches, s.models, s.turns, s.prompts, s.tool_calls, s.tool_errors, s.denials, s.input, s.output,"
    f" s.cache_read, s.cache_write, s.cost, {PARENT_MISSING} AS parent_missing,"
    " (SELECT count(DISTINCT touched.file) FROM turns JOIN touched ON touched.turn = turns.id"
    "  WHERE turns.transcript = t.id) AS files"
)


def list_days(db: sqlite3.Connection, projects: Sequence[str] | None) -> list[tuple[str, int]]:
    """Returns the days (`2026-11-21` in local time, '' if unknown) on which sessions of the projects ended, each
    with the number of these sessions, newest first. None means every project. A subagent's session counts as part of
    its parent's, if that was read."""
    rows = db.execute(
        f"SELECT {_DAY_COLUMN} AS day, count(*){_FROM_LISTED_SESSIONS} GROUP BY day ORDER BY day DESC",
        _select_projects(db, projects),
    )
    return [(str(day), int(number)) for day, number in rows]


def list_recent_sessions(
    db: sqlite3.Connection, projects: Sequence[str] | None, start: int, limit: int, day: str | None = None
) -> tuple[list[SessionListItem], int]:
    """Returns the sessions of the projects from index `start` on, the most recently ended first, and how many there
    are. None means every project. With `day`, as `list_days` returns it, returns only sessions that ended on that
    day."""
    parameters = {**_select_projects(db, projects), "start": start, "limit": limit, "day": day}
    listed = f"{_FROM_LISTED_SESSIONS} AND (:day IS NULL OR {_DAY_COLUMN} = :day)"
    [(total,)] = db.execute(f"SELECT count(*){listed}", parameters)
    # only the rows of the page are read in full: counting the files of each session takes a query of its own
    rows = db.execute(
        f"SELECT t.place{listed} ORDER BY coalesce(s.ended, s.started) DESC, t.id DESC LIMIT :limit OFFSET :start",
        parameters,
    ).fetchall()
    return _find_list_items(db, (place for (place,) in rows)), int(total)


def find_list_item(db: sqlite3.Connection, place: str) -> SessionListItem | None:
    """Returns the session at this place, or None if the catalog does not know it."""
    rows = db.execute(
        f"SELECT {_ITEM_COLUMNS} FROM transcripts t JOIN sessions s ON s.transcript = t.id WHERE t.place = ?",
        (replace_surrogates(place),),
    )
    names = [column[0] for column in rows.description]
    return next((_make_list_item(db, dict(zip(names, row, strict=True))) for row in rows), None)


def _find_list_items(db: sqlite3.Connection, places: Iterable[str]) -> list[SessionListItem]:
    return [one for place in places if (one := find_list_item(db, place)) is not None]


def list_filtered_sessions(db: sqlite3.Connection, filters: SessionFilters, limit: int) -> list[SessionListItem]:
    """Returns the sessions with turns that pass the filters, the most recently ended first; see
    `search.filter_places`."""
    return _find_list_items(db, search.filter_places(db, filters, limit))


def find_turn_sessions(db: sqlite3.Connection, turns: Sequence[str]) -> dict[str, SessionListItem]:
    """Returns the sessions that contain these turns, by turn."""
    places = {
        str(turn): str(place)
        for turn, place in db.execute(
            "SELECT turns.turn, t.place FROM turns JOIN transcripts t ON t.id = turns.transcript"
            " WHERE turns.turn IN (SELECT value FROM json_each(?))",
            (to_json_list(map(replace_surrogates, turns)),),
        )
    }
    found = {place: find_list_item(db, place) for place in set(places.values())}
    return {turn: session for turn, place in places.items() if (session := found[place]) is not None}


def find_sessions_by_id(db: sqlite3.Connection, session: str) -> list[SessionListItem]:
    """Returns the session with this id, or else all sessions whose id starts with it."""
    return _find_list_items(db, session_rows.find_session_places(db, session))


def locate_turn(db: sqlite3.Connection, turn: str) -> tuple[str, str] | None:
    """Returns the place and id of the session that contains a turn, or None if the catalog does not have the turn."""
    row = db.execute(
        "SELECT t.place, t.session FROM turns JOIN transcripts t ON t.id = turns.transcript WHERE turns.turn = ?",
        (replace_surrogates(turn),),
    ).fetchone()
    return (str(row[0]), str(row[1])) if row else None


def find_next_prompt(db: sqlite3.Connection, turn: str) -> str:
    """Returns the first prompt after a turn of its session, redacted; "" if there is none, or if it was typed in the
    folder of another project."""
    row = db.execute(
        "SELECT n.body, their.project = own.project FROM turns JOIN folders own ON own.id = turns.folder"
        " JOIN turns n ON n.transcript = turns.transcript AND n.ordinal > turns.ordinal"
        " JOIN folders their ON their.id = n.folder"
        " WHERE turns.turn = ? AND n.kind = 'prompt' AND n.role = 'user' ORDER BY n.ordinal, n.id LIMIT 1",
        (replace_surrogates(turn),),
    ).fetchone()
    return redact_text(unpack_turn_text(row[0])[0]) if row and row[1] else ""


_FROM_TURNS = " FROM turns WHERE transcript = (SELECT id FROM transcripts WHERE place = :place)"


def load_outline(db: sqlite3.Connection, place: str, turn: str) -> SessionOutline:
    """Returns the kinds and sizes of a session's turns, without their text, and the position of `turn`."""
    rows = db.execute(
        "SELECT turn, kind, CASE typeof(body) WHEN 'blob' THEN length(body) * :packed ELSE length(body) END"
        f"{_FROM_TURNS} ORDER BY ordinal, id",
        {"place": replace_surrogates(place), "packed": PACK_RATIO},
    ).fetchall()
    at = next((position for position, (name, _, _) in enumerate(rows) if name == turn), -1)
    return SessionOutline(tuple(kind for _, kind, _ in rows), tuple(size for _, _, size in rows), at)


def read_redacted_turns(db: sqlite3.Connection, place: str, start: int, count: int) -> Iterator[RedactedTurn]:
    """Yields `count` turns of a session from position `start` on; -1 for all."""
    rows = db.execute(
        f"SELECT turn, role, kind, time, body{_FROM_TURNS} ORDER BY ordinal, id LIMIT :count OFFSET :start",
        {"place": replace_surrogates(place), "start": start, "count": count},
    )
    for name, role, kind, time, body in rows:
        text, tools = unpack_turn_text(body)
        yield RedactedTurn(name, role, kind, seconds_to_time(time), redact_text(text), redact_stored_calls(tools))


def find_positions(db: sqlite3.Connection, place: str, words: str) -> Iterator[int]:
    """Yields the positions of the turns whose text or tool calls contain `words`, ignoring case."""
    wanted = words.lower()
    for position, turn in enumerate(read_redacted_turns(db, place, 0, -1)):
        if any(wanted in text.lower() for text in (turn.text, *(call.text for call in turn.calls))):
            yield position


def _select_projects(db: sqlite3.Connection, projects: Sequence[str] | None) -> dict[str, object]:
    """Returns the parameters of `_FROM_LISTED_SESSIONS`."""
    copies: set[int] = set()
    for project in projects or ():
        copies |= session_rows.find_copied_transcripts(db, project)
    return {"projects": None if projects is None else to_json_list(projects), "copies": to_json_list(copies)}


def _make_list_item(db: sqlite3.Connection, row: dict[str, Any]) -> SessionListItem:
    number, *counts = (row.pop(name) for name in ("id", "input", "output", "cache_read", "cache_write"))
    row["opening"] = "" if row["title"] else _load_opening(db, number)
    row["title"] = redact_text(row["title"])
    row["tokens"] = None if counts[0] is None else Tokens.from_columns(*counts)
    row |= {name: seconds_to_time(row[name]) for name in ("started", "ended")}
    row |= {name: tuple(filter(None, row[name].split("\n"))) for name in ("cwds", "branches", "models")}
    return SessionListItem(**row | {name: bool(row[name]) for name in ("vanished", "parent_missing")})


def _load_opening(db: sqlite3.Connection, number: int) -> str:
    row = db.execute(
        "SELECT body FROM turns WHERE transcript = ? AND role = 'user' ORDER BY kind <> 'prompt', ordinal LIMIT 1",
        (number,),
    ).fetchone()
    return redact_text(unpack_turn_text(row[0])[0]) if row else ""
