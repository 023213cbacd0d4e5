"""When sessions of a project last worked on its files: whether the ground of a theme is still worked on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime


def find_worked_files(
    db: sqlite3.Connection, project: str, folders: Iterable[str], since: datetime
) -> dict[str, datetime]:
    """The files that turns in a project's folders named since then, and when last; repo-relative, forward slashes.

    `folders` are the places of its worktrees. What lies elsewhere is left out.
    """
    rows = db.execute(
        "SELECT files.path, max(turns.time) FROM folders JOIN turns ON turns.folder = folders.id"
        " JOIN touched ON touched.turn = turns.id JOIN files ON files.id = touched.file"
        " WHERE folders.project = ? AND turns.time >= ? GROUP BY files.id",
        (project, since.timestamp()),
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
    """The same with the folders of these files, each with the time that one of its files was last worked on."""
    found = dict(worked)
    for path, time in worked.items():
        for end in (at for at, letter in enumerate(path) if letter == "/"):
            folder = path[:end]
            found[folder] = max(time, found.get(folder, time))
    return found
