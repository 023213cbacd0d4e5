"""Loads the turns of a project between two times, by session, and lists the times at which the project has turns.

A session that goes on after midnight belongs to both days, each with its own turns. A turn without a recorded time
is treated as if it had the time of the turn before it.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, replace
from datetime import datetime

from lerim.sessions.catalog.session_parts import QUARTER_SECONDS
from lerim.sessions.catalog.summary_turns import SummaryTurn, load_summary_turns
from lerim.sessions.model import Platform
from lerim.sessions.redacted import redact_text
from lerim.sessions.tables import IS_MAIN_SESSION, seconds_to_time


@dataclass(frozen=True, slots=True)
class WorkedSession:
    """A session with turns in a span of time. `turns` are the project's turns up to the end of the span; the first
    `earlier` of them come before its beginning. `title` is the title given by the agent, or "" if the session
    continued after the span, because the title may have been given later."""

    place: str
    platform: Platform
    session_id: str
    title: str
    turns: tuple[SummaryTurn, ...]
    earlier: int

    @property
    def new_turns(self) -> tuple[SummaryTurn, ...]:
        """The turns of the span itself."""
        return self.turns[self.earlier :]


def list_worked_times(db: sqlite3.Connection, project: str) -> list[datetime]:
    """Returns the beginning (UTC) of each quarter of an hour that has turns in a project's folders."""
    rows = db.execute(
        f"SELECT DISTINCT CAST(turns.time / {QUARTER_SECONDS} AS INTEGER) AS quarter FROM folders"
        " JOIN turns ON turns.folder = folders.id JOIN transcripts t ON t.id = turns.transcript"
        f" WHERE folders.project = ? AND turns.time > 0 AND {IS_MAIN_SESSION} ORDER BY quarter",
        (project,),
    )
    times = (seconds_to_time(float(quarter * QUARTER_SECONDS)) for (quarter,) in rows)
    return [time for time in times if time is not None]


def load_worked_sessions(db: sqlite3.Connection, project: str, since: datetime, until: datetime) -> list[WorkedSession]:
    """Returns the sessions with turns in a project's folders from `since` to before `until`, redacted, in the order
    of their first such turn. Subagents' sessions are left out, because the session that started them contains their
    results."""
    rows = db.execute(
        "SELECT t.place, t.platform, t.session, s.title, max(turns.time) >= :until, min(turns.time) FROM folders"
        " JOIN turns ON turns.folder = folders.id JOIN transcripts t ON t.id = turns.transcript"
        " JOIN sessions s ON s.transcript = t.id"
        f" WHERE folders.project = :project AND turns.time >= :since AND {IS_MAIN_SESSION}"
        " GROUP BY t.id HAVING min(turns.time) < :until ORDER BY min(turns.time), t.session, t.place",
        {"project": project, "since": since.timestamp(), "until": until.timestamp()},
    ).fetchall()
    found: list[WorkedSession] = []
    for place, platform, session, title, goes_on, _ in rows:
        turns = _fill_times(load_summary_turns(db, place, project))
        before = [turn for turn in turns if turn.time is not None and turn.time < since]
        during = [turn for turn in turns if turn.time is not None and since <= turn.time < until]
        shown_title = "" if goes_on else redact_text(title)
        found.append(WorkedSession(place, platform, session, shown_title, (*before, *during), len(before)))
    return found


def _fill_times(turns: list[SummaryTurn]) -> list[SummaryTurn]:
    """Gives each turn without a time the time of the turn before it; turns at the beginning get the time of the
    first turn that has one."""
    time = next((turn.time for turn in turns if turn.time is not None), None)
    filled: list[SummaryTurn] = []
    for turn in turns:
        time = turn.time or time
        filled.append(turn if turn.time else replace(turn, time=time))
    return filled
