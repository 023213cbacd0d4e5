"""Which project a folder belongs to in the catalog, and what happens to a project's jobs when a folder changes owner.

A folder can leave a project and come back (`lerim sync --alias` twice). The project's positions in the transcripts with
turns in that folder are kept meanwhile, so that only new turns are read the second time.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from lerim.project import PERSONAL_KEY
from lerim.sessions import queue
from lerim.sessions.tables import columns, replace_surrogates, to_json_list
from lerim.sqlite import transaction

_HELD = "SELECT DISTINCT transcript FROM turns WHERE folder = :folder"


def reassign_folders(db: sqlite3.Connection, owner: Callable[[str], str]) -> frozenset[str]:
    """Moves folders to the projects that own them now and queues their transcripts; returns the projects that gained.

    A repository's folder never becomes personal: its git folder may only be unavailable for a moment.
    """
    rows = db.execute("SELECT id, cwd, project FROM folders").fetchall()
    moved = [
        (number, before, now)
        for number, cwd, before in rows
        if (now := owner(cwd)) and now != before and not (before and now == PERSONAL_KEY)
    ]
    if not moved:
        return frozenset()
    with transaction(db):
        for folder, before, now in moved:
            _move(db, folder, before, now)
        _queue(db, ((now, folder) for folder, _, now in moved))
    return frozenset(now for _, _, now in moved)


def return_folders(db: sqlite3.Connection, project: str, owners: Mapping[str, str]) -> None:
    """Moves folders of a project to the owners given by folder ('' for none) and queues their transcripts for the new
    owner."""
    if not owners:
        return
    with transaction(db):
        left: set[int] = set()
        came: list[tuple[str, int]] = []
        for cwd, owner in owners.items():
            [(folder,)] = db.execute("SELECT id FROM folders WHERE cwd = ?", (replace_surrogates(cwd),))
            _move(db, folder, project, owner)
            left |= _transcripts(db, folder)
            if owner:
                came.append((owner, folder))
        _queue(db, came)
        own = "SELECT 1 FROM turns JOIN folders f ON f.id = turns.folder WHERE turns.transcript = ? AND f.project = ?"
        for transcript in left:
            if db.execute(f"{own} LIMIT 1", (transcript, project)).fetchone() is None:
                for table in ("jobs", "positions"):
                    db.execute(f"DELETE FROM {table} WHERE transcript = ? AND project = ?", (transcript, project))


def _move(db: sqlite3.Connection, folder: int, before: str, now: str) -> None:
    """Gives a folder to another project, and keeps how far the previous owner had read its transcripts."""
    if before:
        db.execute(
            "INSERT OR REPLACE INTO left_folders"
            " SELECT j.project, :folder, j.transcript, j.kind, j.state = 'done', t.generation,"
            "  p.resume, p.state, p.redactions"
            " FROM jobs j JOIN transcripts t ON t.id = j.transcript"
            " LEFT JOIN positions p USING (transcript, project, kind)"
            f" WHERE j.project = :before AND j.transcript IN ({_HELD})",
            {"folder": folder, "before": before},
        )
    db.execute("UPDATE folders SET project = ? WHERE id = ?", (now, folder))


def _queue(db: sqlite3.Connection, came: Iterable[tuple[str, int]]) -> None:
    """Queues the transcripts with turns in folders that joined a project, resuming where it left off or from the
    start."""
    folders: dict[tuple[str, int], list[int]] = defaultdict(list)
    for project, folder in came:
        for transcript in _transcripts(db, folder):
            folders[project, transcript].append(folder)
    for (project, transcript), own in folders.items():
        if not _go_on(db, project, transcript, own):
            # The project's position may be past turns that belong to it only now.
            db.execute("DELETE FROM positions WHERE transcript = ? AND project = ?", (transcript, project))
            queue.enqueue_job(db, columns.EXTRACT_JOB, transcript, project)
        db.execute(
            "DELETE FROM left_folders WHERE project = ? AND transcript = ?"
            " AND folder IN (SELECT value FROM json_each(?))",
            (project, transcript, to_json_list(own)),
        )


def _go_on(db: sqlite3.Connection, project: str, transcript: int, folders: list[int]) -> bool:
    """Resumes the project's work on a transcript where it left off. Returns False if turns in these folders may be
    unread before that position."""
    known = {"project": project, "transcript": transcript, "folders": to_json_list(folders)}
    left = "project = :project AND transcript = :transcript AND folder IN (SELECT value FROM json_each(:folders))"
    places = db.execute(
        f"SELECT count(*), count(resume), count(DISTINCT resume), min(resume) FROM left_folders"
        f" WHERE {left} AND kind = '{columns.EXTRACT_JOB}'",
        known,
    ).fetchone()
    if places[:3] != (len(folders), len(folders), 1):
        return False
    now = db.execute(
        "SELECT p.resume FROM jobs j LEFT JOIN positions p USING (transcript, project, kind)"
        f" WHERE project = :project AND transcript = :transcript AND kind = '{columns.EXTRACT_JOB}'",
        known,
    ).fetchone()
    if now is not None and now[0] != places[3]:
        return False
    known["folder"] = folders[0]
    one = "project = :project AND transcript = :transcript AND folder = :folder"
    if now is None:
        db.execute(
            "INSERT OR REPLACE INTO positions (transcript, project, kind, resume, state, redactions)"
            f" SELECT transcript, project, kind, resume, state, redactions FROM left_folders"
            f" WHERE {one} AND resume IS NOT NULL",
            known,
        )
        db.execute(
            "INSERT INTO jobs (kind, transcript, project, state)"
            f" SELECT kind, transcript, project, 'done' FROM left_folders WHERE {one} AND done",
            known,
        )
    waiting = db.execute(
        f"SELECT kind FROM left_folders l JOIN transcripts t ON t.id = transcript WHERE {one}"
        f" AND (NOT done OR kind = '{columns.EXTRACT_JOB}' AND l.generation != t.generation)",
        known,
    ).fetchall()
    for (kind,) in waiting:
        queue.enqueue_job(db, kind, transcript, project)
    return True


def _transcripts(db: sqlite3.Connection, folder: int) -> set[int]:
    return {row for (row,) in db.execute(_HELD, {"folder": folder})}
