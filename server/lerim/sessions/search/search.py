"""Finds turns by words in two steps: the index returns the best candidates, ranking.py ranks them.

The index weighs the text of a turn highest, its tool calls less, and neighbouring turns least. A turn is found only if
it contains a word itself.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from lerim.sessions.search import query as queries
from lerim.sessions.search import ranking
from lerim.sessions.search.filters import NO_FILTERS, SessionFilters
from lerim.sessions.search.query import SearchQuery
from lerim.sessions.search.ranking import TOOLS, TurnMatch
from lerim.sessions.tables import (
    IS_MAIN_SESSION,
    replace_surrogates,
    session_rows,
    to_json_list,
    touched_files,
    unpack_turn_text,
)

RANKED_TURNS = 100
"""How many turns are ranked, unless more are asked for."""
MOST_COUNTED = 5_000
"""The most turns with a word that are counted, and about how many the index is asked to rank."""
NEAR_WEIGHT = 0.35
"""The index's weight of a word in a neighbouring turn."""

_OWN = "{text tools}"


@dataclass(frozen=True, slots=True)
class _Narrowed:
    """Conditions on `turns` in SQL and their parameters; `home` contains only the conditions on projects."""

    where: str
    home: str
    values: dict[str, str | float | None]


def search_turns(db: sqlite3.Connection, text: str, filters: SessionFilters, limit: int) -> list[tuple[int, float]]:
    """Returns the rows of the turns that contain words of `text`, best first, with a score. If `text` has no words but
    filters are set, returns the newest turns that pass them. Any text is a valid query."""
    query = queries.parse_query(text)
    narrowed = _narrowed(db, filters)
    if not query.terms:
        return [] if filters == NO_FILTERS else _newest(db, narrowed, limit)
    found = ranking.demote_copies(_ranked(db, query, narrowed, limit))
    return [(one.row, one.score) for one in found[:limit]]


def search_sessions(db: sqlite3.Connection, text: str, filters: SessionFilters, limit: int) -> list[tuple[int, float]]:
    """Returns the best turn of each session that matches `text`, with the session's score, best first; nothing if
    `text` has no words. Any text is a valid query."""
    query = queries.parse_query(text)
    if not query.terms:
        return []
    found = ranking.best_by_session(_ranked(db, query, _narrowed(db, filters), limit))
    return [(best.row, score) for best, score in found[:limit]]


def _ranked(db: sqlite3.Connection, query: SearchQuery, narrowed: _Narrowed, limit: int) -> list[TurnMatch]:
    held = [_holding(db, term.fts_expression, narrowed) for term in query.terms]
    asked = _asked(db, query, [everywhere for _, everywhere in held])
    found = _likeliest(db, asked, narrowed, max(limit, RANKED_TURNS))
    if not found and asked != query.fts_expression:  # the rarest words do not occur in these projects
        found = _likeliest(db, query.fts_expression, narrowed, max(limit, RANKED_TURNS))
    return ranking.rank_turns(query, found, [own for own, _ in held], _number(db, narrowed))


def count_turns_holding(db: sqlite3.Connection, query: SearchQuery, filters: SessionFilters) -> tuple[list[int], int]:
    """Returns how many of the projects' turns contain each word of a query (at most MOST_COUNTED), and how many there
    are."""
    narrowed = _narrowed(db, filters)
    return [_holding(db, term.fts_expression, narrowed)[0] for term in query.terms], _number(db, narrowed)


def filter_places(db: sqlite3.Connection, filters: SessionFilters, limit: int) -> list[str]:
    """Returns the places of the sessions with turns that pass the filters, the most recently ended first.

    A session whose turns were all copied from another is judged by its totals. They do not say which turn read a file
    or failed, so `file` and `failed` exclude it. A subagent's session counts as part of its parent's, if that was read.
    """
    narrowed = _narrowed(db, filters)
    copies: set[int] = set()
    if not filters.file and not filters.failed:
        for project in (None,) if filters.projects is None else filters.projects:
            copies |= session_rows.find_copied_transcripts(db, project)
    rows = db.execute(
        "SELECT t.place FROM transcripts t JOIN sessions s ON s.transcript = t.id"
        f" WHERE {IS_MAIN_SESSION} AND s.turns > 0 AND (:agent IS NULL OR t.platform = :agent)"
        f" AND (t.id IN (SELECT transcript FROM turns WHERE 1{narrowed.where})"
        f"  OR t.id IN (SELECT value FROM json_each(:copies)){_OF_COPIES})"
        " ORDER BY coalesce(s.ended, s.started) DESC, t.id DESC LIMIT :limit",
        {**narrowed.values, "copies": to_json_list(sorted(copies)), "limit": limit},
    )
    return [place for (place,) in rows]


_OF_COPIES = (
    " AND (:branch = '' OR instr(char(10) || s.branches || char(10), char(10) || :branch || char(10)))"
    " AND (:model = '' OR instr(char(10) || lower(s.models), char(10) || lower(:model)))"
    " AND (:since IS NULL OR s.ended >= :since) AND (:until IS NULL OR s.started <= :until)"
)
"""The conditions of the filters for a session that has no turns of its own."""


def _narrowed(db: sqlite3.Connection, filters: SessionFilters) -> _Narrowed:
    home = conditions = ""
    if filters.projects is not None:
        home = " AND turns.folder IN (SELECT id FROM folders WHERE project IN (SELECT value FROM json_each(:projects)))"
    if filters.agent is not None:
        conditions += " AND turns.transcript IN (SELECT id FROM transcripts WHERE platform = :agent)"
    if filters.branch:
        conditions += " AND turns.branch = :branch"
    if filters.model:
        conditions += " AND substr(turns.model, 1, length(:model)) = :model COLLATE NOCASE"
    if filters.failed:
        conditions += " AND turns.failed"
    if filters.since is not None:
        conditions += " AND turns.time >= :since"
    if filters.until is not None:
        conditions += " AND turns.time <= :until"
    if filters.file:
        conditions += (
            " AND EXISTS (SELECT 1 FROM touched WHERE touched.turn = turns.id"
            " AND touched.file IN (SELECT value FROM json_each(:files)))"
        )
    values: dict[str, str | float | None] = {
        "projects": to_json_list(filters.projects or ()),
        "agent": filters.agent,
        "branch": replace_surrogates(filters.branch),
        "model": replace_surrogates(filters.model),
        "since": filters.since.timestamp() if filters.since else None,
        "until": filters.until.timestamp() if filters.until else None,
        "files": to_json_list(touched_files.find_touched_files(db, filters.file)) if filters.file else "[]",
    }
    return _Narrowed(home + conditions, home, values)


def _holding(db: sqlite3.Connection, match: str, narrowed: _Narrowed) -> tuple[int, int]:
    """Returns how many turns of the projects contain a word, and how many do overall, among the first MOST_COUNTED
    found."""
    rows = f"SELECT rowid FROM words WHERE words MATCH :match LIMIT {MOST_COUNTED}"
    counted = f"SELECT count(*) FROM ({rows}) AS held"
    values = {**narrowed.values, "match": f"{_OWN} : {match}"}
    [(everywhere,)] = db.execute(counted, values)
    if not narrowed.home:
        return everywhere, everywhere
    [(own,)] = db.execute(f"{counted} JOIN turns ON turns.id = held.rowid WHERE 1{narrowed.home}", values)
    return own, everywhere


def _number(db: sqlite3.Connection, narrowed: _Narrowed) -> int:
    """Returns how many turns there are; for all projects an estimate from the highest row id."""
    counted = f"SELECT count(*) FROM turns WHERE 1{narrowed.home}" if narrowed.home else "SELECT max(id) FROM turns"
    return int(db.execute(counted, narrowed.values).fetchone()[0] or 0)


def _asked(db: sqlite3.Connection, query: SearchQuery, held: Sequence[int]) -> str:
    """Returns the expression to ask the index for: any of the words, or only the rarest ones if too many turns
    match."""
    if sum(held) <= MOST_COUNTED:
        return query.fts_expression
    rarest = sorted(zip(held, (term.fts_expression for term in query.terms), strict=True))
    if rarest[0][0] >= MOST_COUNTED:
        every = f"{_OWN} : ({' AND '.join(match for _, match in rarest)})"
        if db.execute("SELECT 1 FROM words WHERE words MATCH ? LIMIT 1", (every,)).fetchone():
            return every
    taken = [rarest[0][1]]
    left = MOST_COUNTED - rarest[0][0]
    for number, match in rarest[1:]:
        left -= number
        if left < 0:
            break
        taken.append(match)
    return f"{_OWN} : ({' OR '.join(taken)})"


def _likeliest(db: sqlite3.Connection, match: str, narrowed: _Narrowed, limit: int) -> list[TurnMatch]:
    joined = f" JOIN turns ON turns.id = words.rowid WHERE words MATCH :match{narrowed.where}"
    rows = db.execute(
        "SELECT turns.id, turns.transcript, turns.ordinal, turns.role, turns.prose, turns.time, turns.body, own, score"
        f" FROM (SELECT words.rowid AS row, -bm25(words, 1, {TOOLS}, 0) AS own,"
        f"  -bm25(words, 1, {TOOLS}, {NEAR_WEIGHT}) AS score FROM words"
        f"  {joined if narrowed.where else 'WHERE words MATCH :match'} ORDER BY score DESC LIMIT :limit)"
        " JOIN turns ON turns.id = row",
        {**narrowed.values, "match": match, "limit": limit},
    )
    return [
        TurnMatch(number, transcript, ordinal, role == "user", bool(prose), time, *unpack_turn_text(body), score)
        for number, transcript, ordinal, role, prose, time, body, own, score in rows
        if own > 0
    ]


def _newest(db: sqlite3.Connection, narrowed: _Narrowed, limit: int) -> list[tuple[int, float]]:
    rows = db.execute(
        f"SELECT turns.id FROM turns WHERE 1{narrowed.where} ORDER BY turns.time DESC, turns.id DESC LIMIT :limit",
        {**narrowed.values, "limit": limit},
    )
    return [(row, 0.0) for (row,) in rows]
