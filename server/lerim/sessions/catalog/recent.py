"""The recent sessions of a project."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import datetime

from lerim.sessions.model import Platform


@dataclass(frozen=True, slots=True)
class RecentSession:
    """A session and its place in the catalog."""

    place: str
    platform: Platform
    session_id: str


def list_recent_sessions(db: sqlite3.Connection, project: str, since: datetime, most: int) -> list[RecentSession]:
    """Returns the newest `most` sessions with turns in folders of a project that ended after `since`, without
    subagents'."""
    rows = db.execute(
        "SELECT t.place, t.platform, t.session FROM transcripts t JOIN sessions s ON s.transcript = t.id"
        " WHERE t.parent = '' AND s.ended >= ? AND EXISTS (SELECT 1 FROM turns JOIN folders f ON f.id = turns.folder"
        " WHERE turns.transcript = t.id AND f.project = ?) ORDER BY s.ended DESC, t.id LIMIT ?",
        (since.timestamp(), project, most),
    )
    return [RecentSession(*row) for row in rows]
