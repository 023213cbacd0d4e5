"""Groups the sums that the catalog keeps for sessions, in SQL.

If a bound cuts a quarter of an hour, that quarter is counted turn by turn, in temporary tables of the connection.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from lerim.sessions import IS_MAIN_SESSION, column_values, session_parts

QUARTER_SECONDS = session_parts.QUARTER_SECONDS
_YEAR_1971, _YEAR_2037 = 35_040, 2_349_600
"""Quarters of an hour between which SQLite knows the local time. For times outside, it uses the local time of
another year."""


class GroupSum(NamedTuple):
    """A sum within one group, for one model, over the sessions with or without `by_price` (see `CountedPart`). `key`
    is a quarter of an hour instead of a day if SQLite does not know the day. `has_tokens`: at least one session has
    token counts. `cost` is the cost that is known without prices, in 10^-12 USD."""

    key: str | int | None
    model: str
    by_price: bool
    has_tokens: bool
    prompts: int
    milliseconds: int
    calls: int
    errors: int
    input: int
    output: int
    cache_read: int
    cache_write: int
    cost: int | None


class GroupSession(NamedTuple):
    """A session in a group. `untold`: nothing is known about its tokens; `unpriced`: the cost of at least a part of
    it is unknown."""

    key: str | int | None
    transcript: int
    untold: bool
    unpriced: bool


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of what is counted: one project (None: all), between two times in epoch seconds (None: no bound)."""

    project: str | None
    earliest: float | None
    latest: float | None


_PROJECT = (
    "coalesce(f.project, (SELECT o.project FROM folders o WHERE p.folder IS NULL"
    " AND o.cwd = substr(s.cwds, 1, instr(s.cwds || char(10), char(10)) - 1)), '')"
)
_KEYS = {
    "day": f"CASE WHEN p.quarter BETWEEN {_YEAR_1971} AND {_YEAR_2037}"
    f" THEN date(p.quarter * {QUARTER_SECONDS}, 'unixepoch', 'localtime') ELSE p.quarter END",
    "agent": "t.platform",
    "model": "p.model",
    "repo": _PROJECT,
}
_SUMS = ", ".join(
    (
        *(f"sum(p.{name} * {IS_MAIN_SESSION})" for name in ("prompts", "milliseconds")),
        *(f"sum(p.{name})" for name in ("calls", "errors", "input", "output", "cache_read", "cache_write")),
        "sum(p.cost >> 32)",
        "sum(p.cost & 4294967295)",
    )
)
"""The columns that are summed. A subagent has no prompts and no time of its own. Costs are summed in two halves,
because whole sums may need more than 64 bits."""
_FROM = (
    " FROM {table} p JOIN sessions s ON s.transcript = p.transcript JOIN transcripts t ON t.id = p.transcript"
    " LEFT JOIN folders f ON f.id = p.folder"
    " WHERE (s.turns OR s.input OR s.output OR s.cache_read OR s.cache_write OR s.cost)"
    f" AND (:project IS NULL OR {_PROJECT} = :project)"
    " AND (:first IS NULL OR p.quarter >= :first) AND (:end IS NULL OR p.quarter < :end)"
)
"""The tables that are summed. Sessions in which nothing was said are left out, because they were only opened and
closed."""
_HAS_TOKENS = "(p.input OR p.output OR p.cache_read OR p.cache_write)"
_WHOLE_SESSIONS = "session_parts"
_WITHOUT_CUT_SESSIONS = "(SELECT * FROM session_parts WHERE transcript NOT IN (SELECT transcript FROM cut_sessions))"


def cut_sessions(db: sqlite3.Connection, bounds: Bounds) -> tuple[str, ...]:
    """Counts the sessions with turns in a quarter of an hour that a bound cuts. Returns the tables to sum."""
    times = [time for time in (bounds.earliest, bounds.latest) if time is not None and time % QUARTER_SECONDS]
    if not times:
        return (_WHOLE_SESSIONS,)
    db.execute("CREATE TEMP TABLE IF NOT EXISTS cut_sessions (transcript INTEGER PRIMARY KEY)")
    db.execute("CREATE TEMP TABLE IF NOT EXISTS cut_parts AS SELECT * FROM session_parts WHERE FALSE")
    db.execute("DELETE FROM cut_sessions")
    db.execute("DELETE FROM cut_parts")
    db.execute(
        "INSERT INTO cut_sessions SELECT DISTINCT transcript FROM session_parts"
        " WHERE quarter IN (SELECT value FROM json_each(?))",
        (column_values.to_json_list(math.floor(time / QUARTER_SECONDS) for time in times),),
    )
    earliest = -math.inf if bounds.earliest is None else bounds.earliest
    latest = math.inf if bounds.latest is None else bounds.latest
    rows: list[session_parts.SumRow] = []
    for session, turns in session_parts.read_counted_sessions(
        db, [transcript for (transcript,) in db.execute("SELECT transcript FROM cut_sessions")]
    ):
        parts = (
            part
            for part in session_parts.split_session(session, turns)
            if part.time is not None and earliest <= part.time < latest
        )
        rows += session_parts.sum_parts(session.transcript, parts)
    db.executemany(f"INSERT INTO cut_parts VALUES ({session_parts.SUM_ROW})", rows)
    return (_WITHOUT_CUT_SESSIONS, "cut_parts")


def sum_groups(db: sqlite3.Connection, by: str, bounds: Bounds, tables: Iterable[str]) -> list[GroupSum]:
    """Returns the sums by key, by model, and by whether their tokens have a price. If sessions are cut, there is
    more than one sum for the same group."""
    found: list[GroupSum] = []
    for table in tables:
        rows = db.execute(
            f"SELECT {_KEYS[by]} AS key, p.model, p.by_price, max(s.input IS NOT NULL OR {_HAS_TOKENS}), {_SUMS}"
            f"{_FROM.format(table=table)} GROUP BY key, p.model, p.by_price",
            _make_parameters(bounds),
        )
        found += (GroupSum._make((*row[:-2], _join_halves(*row[-2:]))) for row in rows)
    return found


def list_group_sessions(
    db: sqlite3.Connection, by: str, bounds: Bounds, tables: Iterable[str], unpriced_models: Iterable[str]
) -> Iterator[GroupSession]:
    """Yields each session with each group that it is in, except subagents' sessions."""
    parameters = {**_make_parameters(bounds), "unpriced_models": column_values.to_json_list(unpriced_models)}
    for table in tables:
        rows = db.execute(
            f"SELECT {_KEYS[by]} AS key, p.transcript, s.input IS NULL, max(p.unpriced OR p.by_price AND {_HAS_TOKENS}"
            " AND p.model IN (SELECT value FROM json_each(:unpriced_models)))"
            f"{_FROM.format(table=table)} AND {IS_MAIN_SESSION} GROUP BY key, p.transcript",
            parameters,
        )
        yield from map(GroupSession._make, rows)


def _make_parameters(bounds: Bounds) -> dict[str, str | int | None]:
    return {
        "project": bounds.project,
        "first": None if bounds.earliest is None else math.floor(bounds.earliest / QUARTER_SECONDS),
        "end": None if bounds.latest is None else math.ceil(bounds.latest / QUARTER_SECONDS),
    }


def _join_halves(high: int | None, low: int | None) -> int | None:
    return None if high is None or low is None else (high << 32) + low
