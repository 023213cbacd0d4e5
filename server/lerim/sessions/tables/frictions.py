"""Errors that commands met, a row a session and error, so that one that comes again in another session is seen.

They are written with the position of the job that found them, in its transaction, and come back with it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

MOST_FRICTIONS = 2_000  # rows of one project


@dataclass(frozen=True, slots=True)
class Friction:
    """An error one session met: its fingerprint, the words it was printed in (redacted), the command, the turn, and
    when (epoch seconds). `session` is the main session's id, also for a subagent's transcript."""

    mark: str
    quote: str
    command: str
    session: str
    turn: str
    time: float


def keep_frictions(db: sqlite3.Connection, project: str, frictions: Iterable[Friction]) -> None:
    """Remembers what a session met, inside a transaction; what is oldest goes beyond `MOST_FRICTIONS` rows of the
    project."""
    rows = [(project, one.mark, one.session, one.quote, one.command, one.turn, one.time) for one in frictions]
    if not rows:
        return
    db.executemany("INSERT OR IGNORE INTO frictions VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    db.execute(
        "DELETE FROM frictions WHERE project = :project AND (mark, session) IN (SELECT mark, session FROM frictions"
        " WHERE project = :project ORDER BY time DESC LIMIT -1 OFFSET :kept)",
        {"project": project, "kept": MOST_FRICTIONS},
    )


def find_same_errors(db: sqlite3.Connection, project: str, friction: Friction) -> list[Friction]:
    """Where else the project met the same error: in other sessions and other turns, the oldest first."""
    rows = db.execute(
        "SELECT mark, quote, command, session, turn, time FROM frictions"
        " WHERE project = ? AND mark = ? AND session <> ? AND turn <> ? ORDER BY time, session",
        (project, friction.mark, friction.session, friction.turn),
    )
    return [Friction(*row) for row in rows]
