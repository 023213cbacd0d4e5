"""Estimates how much of a project's sessions is waiting for a model, from the catalog's turns, without reading a
transcript.

If there are many sessions, a sample is counted, spread evenly over their sizes, and the result is scaled up.
"""

from __future__ import annotations

import re
import sqlite3
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from lerim.sessions.queue.jobs import MODEL_JOB
from lerim.sessions.tables import DEFLATE_WINDOW, OVERLAPS_BOUNDS, time_bounds, to_json_list

SAMPLE_SESSIONS = 50
_STATE_HEAD_BYTES = 200
"""How many bytes at the start of a packed state contain how much of the session was sent to the model
(`extraction/model/material.py`)."""
_LAST_SENT_TURN = re.compile(rb'"sent":(-?[0-9]{1,18})')


@dataclass(frozen=True, slots=True)
class PendingTurns:
    """How many sessions are waiting, and how much of them no model has seen: turns, their tool calls, and bytes of
    their stored text."""

    sessions: int = 0
    turns: int = 0
    calls: int = 0
    size: int = 0


def count_pending_turns(
    db: sqlite3.Connection,
    now: float,
    project: str,
    since: datetime | None = None,
    until: datetime | None = None,
    kinds: Iterable[str] = (MODEL_JOB,),
) -> PendingTurns:
    """Estimates how much is waiting for a model at `now` (epoch seconds), including failed jobs, in the sessions
    with turns between the bounds. `kinds` are the kinds of jobs to count."""
    waiting_sessions = db.execute(
        "SELECT DISTINCT j.transcript, coalesce(s.turns, 1) FROM jobs j JOIN transcripts t ON t.id = j.transcript"
        " LEFT JOIN sessions s ON s.transcript = t.id"
        " WHERE j.project = :project AND j.kind IN (SELECT value FROM json_each(:kinds))"
        " AND j.state IN ('pending', 'failed') AND NOT t.vanished"
        " AND (j.not_before <= :now OR j.state = 'failed')"
        f" AND {OVERLAPS_BOUNDS}"
        " ORDER BY 2, 1",
        {"project": project, "kinds": to_json_list(kinds), "now": now, **time_bounds(since, until)},
    ).fetchall()
    if not waiting_sessions:
        return PendingTurns()
    step = max(1, -(-len(waiting_sessions) // SAMPLE_SESSIONS))
    sample = waiting_sessions[step // 2 :: step]
    pending = [one for transcript, _ in sample if (one := _count_session(db, transcript, project)).turns]
    scale = sum(turns for _, turns in waiting_sessions) / max(1, sum(turns for _, turns in sample))
    return PendingTurns(
        round(len(pending) * len(waiting_sessions) / len(sample)),
        round(sum(one.turns for one in pending) * scale),
        round(sum(one.calls for one in pending) * scale),
        round(sum(one.size for one in pending) * scale),
    )


def _count_session(db: sqlite3.Connection, transcript: int, project: str) -> PendingTurns:
    row = db.execute(
        "SELECT substr(state, 1, ?) FROM positions WHERE transcript = ? AND project = ? AND kind = ?",
        (_STATE_HEAD_BYTES, transcript, project, MODEL_JOB),
    ).fetchone()
    [(turns, calls, size)] = db.execute(
        "SELECT count(*), coalesce(sum(calls), 0), coalesce(sum(length(body)), 0) FROM turns"
        " WHERE transcript = ? AND ordinal > ? AND folder IN (SELECT id FROM folders WHERE project = ?)",
        (transcript, _read_last_sent_turn(row[0]) if row else -1, project),
    )
    return PendingTurns(1, turns, calls, size)


def _read_last_sent_turn(head: bytes) -> int:
    """Returns the number of the last turn that was sent, read from the head of a packed state; -1 if it does not
    say."""
    try:
        found = _LAST_SENT_TURN.search(zlib.decompressobj(DEFLATE_WINDOW).decompress(head, _STATE_HEAD_BYTES))
    except zlib.error:
        return -1
    return int(found[1]) if found else -1
