"""The recent sessions of a project, and the times its files were last worked on, which show whether the area of a
theme is still being worked on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from lerim.sessions.model import Platform


@dataclass(frozen=True, slots=True)
class RecentSession:
    """A session and its place in the catalog."""

    place: str
    platform: Platform
    session_id: str


def list_sessions_since(
    db: sqlite3.Connection, project: str, since: datetime, most: int, until: datetime | None = None
) -> list[RecentSession]:
    """Returns the newest `most` sessions of a project that ended at or after `since` and began before `until`. A
    session belongs to the project if it has turns in one of its folders. Subagents' sessions are left out."""
    rows = db.execute(
        "SELECT t.place, t.platform, t.session FROM transcripts t JOIN sessions s ON s.transcript = t.id"
        " WHERE t.parent = '' AND s.ended >= ?1 AND (?4 IS NULL OR s.started < ?4)"
        " AND EXISTS (SELECT 1 FROM turns JOIN folders f ON f.id = turns.folder"
        " WHERE turns.transcript = t.id AND f.project = ?2) ORDER BY s.ended DESC, t.id LIMIT ?3",
        (since.timestamp(), project, most, None if until is None else until.timestamp()),
    )
    return [RecentSession(*row) for row in rows]


def find_worked_files(
    db: sqlite3.Connection, project: str, folders: Iterable[str], since: datetime, until: datetime
) -> dict[str, datetime]:
    """Returns the files named by turns in a project's folders from `since` on and before `until`, each with the time it
    was last named.

    Paths are relative to the repository, with forward slashes. `folders` are its worktrees; files elsewhere are left
    out.
    """
    rows = db.execute(
        "SELECT files.path, max(turns.time) FROM folders JOIN turns ON turns.folder = folders.id"
        " JOIN touched ON touched.turn = turns.id JOIN files ON files.id = touched.file"
        " WHERE folders.project = ? AND turns.time >= ? AND turns.time < ? GROUP BY files.id",
        (project, since.timestamp(), until.timestamp()),
    )
    roots = sorted({folder.replace("\\", "/").rstrip("/") + "/" for folder in folders}, key=len, reverse=True)
    found: dict[str, datetime] = {}
    for path, last in rows:
        root = next((root for root in roots if path.startswith(root)), None)
        if root is None and (path.startswith("/") or path[1:2] == ":"):
            continue
        name, time = path[len(root or "") :], datetime.fromtimestamp(last, UTC)
        found[name] = max(time, found.get(name, time))
    return found


def add_folder_times(worked: Mapping[str, datetime]) -> dict[str, datetime]:
    """Adds the folders of these files, each with the latest time one of its files was worked on."""
    found = dict(worked)
    for path, time in worked.items():
        for end in (at for at, letter in enumerate(path) if letter == "/"):
            folder = path[:end]
            found[folder] = max(time, found.get(folder, time))
    return found


@dataclass(frozen=True, slots=True)
class SessionTime:
    """When a session of the catalog ended, in seconds since 1970, and whether it has turns of the requested project."""

    place: str
    platform: Platform
    ended: float
    is_of_project: bool


def list_session_times(db: sqlite3.Connection, project: str) -> list[SessionTime]:
    """Returns every session on this machine, without subagents'. `project` is a project's key, '' for none."""
    own = {
        number
        for (number,) in db.execute(
            "SELECT DISTINCT turns.transcript FROM folders JOIN turns ON turns.folder = folders.id"
            " WHERE folders.project = ?",
            (project,),
        )
    }
    rows = db.execute(
        "SELECT t.id, t.place, t.platform, s.ended FROM transcripts t JOIN sessions s ON s.transcript = t.id"
        " WHERE t.parent = ''"
    )
    return [SessionTime(place, platform, ended or 0.0, number in own) for number, place, platform, ended in rows]
