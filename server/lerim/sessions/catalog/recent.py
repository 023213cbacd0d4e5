"""The sessions of a project that were held since some time."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import datetime

from lerim.sessions.model import Platform


@dataclass(frozen=True, slots=True)
class RecentSession:
    """A session and where it lies in the catalog."""

    place: str
    platform: Platform
    session: str


def list_recent_sessions(db: sqlite3.Connection, project: str, since: datetime, most: int) -> list[RecentSession]:
    """The newest `most` sessions with turns in folders of a project that ended since then; no subagent's."""
    rows = db.execute(
        "SELECT t.place, t.platform, t.session FROM transcripts t JOIN sessions s ON s.transcript = t.id"
        " WHERE t.parent = '' AND s.ended >= ? AND EXISTS (SELECT 1 FROM turns JOIN folders f ON f.id = turns.folder"
        " WHERE turns.transcript = t.id AND f.project = ?) ORDER BY s.ended DESC, t.id LIMIT ?",
        (since.timestamp(), project, most),
    )
    return [RecentSession(*row) for row in rows]
