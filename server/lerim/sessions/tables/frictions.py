"""Errors of commands, one row per session and error, to detect errors that recur in other sessions.

They are written in the same transaction as the position of the job that found them, so both are kept or rolled back.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

MOST_FRICTIONS = 2_000  # rows per project


@dataclass(frozen=True, slots=True)
class Friction:
    """An error that occurred in a session: its fingerprint, its message (redacted), the command, the turn, and the
    time (epoch seconds). `session_id` is that of the main session, also for a subagent's transcript."""

    fingerprint: str
    message: str
    command: str
    session_id: str
    turn_id: str
    time: float


def keep_frictions(db: sqlite3.Connection, project: str, frictions: Iterable[Friction]) -> None:
    """Saves the errors that occurred in a session; call it inside a transaction. Beyond `MOST_FRICTIONS` rows per
    project, the oldest are removed."""
    rows = [
        (project, one.fingerprint, one.session_id, one.message, one.command, one.turn_id, one.time) for one in frictions
    ]
    if not rows:
        return
    db.executemany("INSERT OR IGNORE INTO frictions VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    db.execute(
        "DELETE FROM frictions WHERE project = :project AND (mark, session) IN (SELECT mark, session FROM frictions"
        " WHERE project = :project ORDER BY time DESC LIMIT -1 OFFSET :kept)",
        {"project": project, "kept": MOST_FRICTIONS},
    )


def find_same_errors(db: sqlite3.Connection, project: str, friction: Friction) -> list[Friction]:
    """Returns the same error in other sessions and other turns of the project, oldest first."""
    rows = db.execute(
        "SELECT mark, quote, command, session, turn, time FROM frictions"
        " WHERE project = ? AND mark = ? AND session <> ? AND turn <> ? ORDER BY time, session",
        (project, friction.fingerprint, friction.session_id, friction.turn_id),
    )
    return [Friction(*row) for row in rows]
