"""Assigns the folders of the catalog to projects, and moves a project's jobs when a folder changes owner.

A folder can leave a project and come back (`lerim sync --alias` twice). The project's positions in the transcripts
with turns in that folder are kept meanwhile, so that only new turns are read the second time.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping

from lerim.project import PERSONAL_KEY
from lerim.sessions import queue
from lerim.sessions.catalog.indexing import OwnerLookup
from lerim.sessions.tables import column_values, replace_surrogates, to_json_list
from lerim.sqlite import transaction

_FOLDER_TRANSCRIPTS = "SELECT DISTINCT transcript FROM turns WHERE folder = :folder"


def reassign_folders(db: sqlite3.Connection, owners: OwnerLookup) -> frozenset[str]:
    """Moves folders to the projects that own them now (after a new alias or repository) and queues their transcripts;
    returns the projects that gained a folder.

    A folder without an owner keeps its previous one, and a repository's folder never becomes personal: its git
    folder may only be unavailable for a moment.
    """
    rows = db.execute("SELECT id, cwd, project FROM folders").fetchall()
    changes = [
        (number, before, after)
        for number, cwd, before in rows
        if (after := owners.find_owner(cwd)) and after != before and not (before and after == PERSONAL_KEY)
    ]
    if not changes:
        return frozenset()
    with transaction(db):
        for folder, before, after in changes:
            _change_owner(db, folder, before, after)
        _queue_transcripts(db, ((after, folder) for folder, _, after in changes))
    return frozenset(after for _, _, after in changes)


def return_folders(db: sqlite3.Connection, project: str, owners: Mapping[str, str]) -> None:
    """Moves folders of a project to other owners and queues their transcripts for the new owners. `owners` maps each
    folder to its new owner ('' for none). The project's jobs and positions for these transcripts are deleted, unless
    the transcripts have other turns of the project."""
    if not owners:
        return
    with transaction(db):
        left_transcripts: set[int] = set()
        joined_folders: list[tuple[str, int]] = []
        for cwd, owner in owners.items():
            [(folder,)] = db.execute("SELECT id FROM folders WHERE cwd = ?", (replace_surrogates(cwd),))
            _change_owner(db, folder, project, owner)
            left_transcripts |= _find_transcripts(db, folder)
            if owner:
                joined_folders.append((owner, folder))
        _queue_transcripts(db, joined_folders)
        project_turn = (
            "SELECT 1 FROM turns JOIN folders f ON f.id = turns.folder WHERE turns.transcript = ? AND f.project = ?"
        )
        for transcript in left_transcripts:
            if db.execute(f"{project_turn} LIMIT 1", (transcript, project)).fetchone() is None:
                for table in ("jobs", "positions"):
                    db.execute(f"DELETE FROM {table} WHERE transcript = ? AND project = ?", (transcript, project))


def count_folder_sessions(db: sqlite3.Connection, folders: Iterable[str]) -> int:
    """Returns how many sessions have turns in at least one of these folders, whose paths are spelled as the agents
    wrote them."""
    query = (
        "SELECT count(DISTINCT t.transcript) FROM turns t JOIN folders f ON f.id = t.folder"
        " WHERE f.cwd IN (SELECT value FROM json_each(?))"
    )
    return int(db.execute(query, (to_json_list(folders),)).fetchone()[0])


def _change_owner(db: sqlite3.Connection, folder: int, before: str, after: str) -> None:
    """Gives a folder to another project, and keeps how far the previous owner had read its transcripts."""
    if before:
        db.execute(
            "INSERT OR REPLACE INTO left_folders"
            " SELECT j.project, :folder, j.transcript, j.kind, j.state = 'done', t.generation,"
            "  p.resume, p.state, p.redactions"
            " FROM jobs j JOIN transcripts t ON t.id = j.transcript"
            " LEFT JOIN positions p USING (transcript, project, kind)"
            f" WHERE j.project = :before AND j.transcript IN ({_FOLDER_TRANSCRIPTS})",
            {"folder": folder, "before": before},
        )
    db.execute("UPDATE folders SET project = ? WHERE id = ?", (after, folder))


def _queue_transcripts(db: sqlite3.Connection, joined_folders: Iterable[tuple[str, int]]) -> None:
    """Queues the transcripts with turns in folders that joined a project, resuming where it left off or from the
    start."""
    folders: dict[tuple[str, int], list[int]] = defaultdict(list)
    for project, folder in joined_folders:
        for transcript in _find_transcripts(db, folder):
            folders[project, transcript].append(folder)
    for (project, transcript), own_folders in folders.items():
        if not _resume_transcript(db, project, transcript, own_folders):
            # The project's position may be past turns that belong to it only now.
            db.execute("DELETE FROM positions WHERE transcript = ? AND project = ?", (transcript, project))
            queue.enqueue_job(db, column_values.EXTRACT_JOB, transcript, project)
        db.execute(
            "DELETE FROM left_folders WHERE project = ? AND transcript = ?"
            " AND folder IN (SELECT value FROM json_each(?))",
            (project, transcript, to_json_list(own_folders)),
        )


def _resume_transcript(db: sqlite3.Connection, project: str, transcript: int, folders: list[int]) -> bool:
    """Resumes the project's work on a transcript where it left off. Returns False if turns in these folders may be
    unread before that position."""
    parameters = {"project": project, "transcript": transcript, "folders": to_json_list(folders)}
    in_folders = "project = :project AND transcript = :transcript AND folder IN (SELECT value FROM json_each(:folders))"
    saved_positions = db.execute(
        f"SELECT count(*), count(resume), count(DISTINCT resume), min(resume) FROM left_folders"
        f" WHERE {in_folders} AND kind = '{column_values.EXTRACT_JOB}'",
        parameters,
    ).fetchone()
    if saved_positions[:3] != (len(folders), len(folders), 1):
        return False
    current = db.execute(
        "SELECT p.resume FROM jobs j LEFT JOIN positions p USING (transcript, project, kind)"
        f" WHERE project = :project AND transcript = :transcript AND kind = '{column_values.EXTRACT_JOB}'",
        parameters,
    ).fetchone()
    if current is not None and current[0] != saved_positions[3]:
        return False
    parameters["folder"] = folders[0]
    in_first_folder = "project = :project AND transcript = :transcript AND folder = :folder"
    if current is None:
        db.execute(
            "INSERT OR REPLACE INTO positions (transcript, project, kind, resume, state, redactions)"
            f" SELECT transcript, project, kind, resume, state, redactions FROM left_folders"
            f" WHERE {in_first_folder} AND resume IS NOT NULL",
            parameters,
        )
        db.execute(
            "INSERT INTO jobs (kind, transcript, project, state)"
            f" SELECT kind, transcript, project, 'done' FROM left_folders WHERE {in_first_folder} AND done",
            parameters,
        )
    waiting_kinds = db.execute(
        f"SELECT kind FROM left_folders l JOIN transcripts t ON t.id = transcript WHERE {in_first_folder}"
        f" AND (NOT done OR kind = '{column_values.EXTRACT_JOB}' AND l.generation != t.generation)",
        parameters,
    ).fetchall()
    for (kind,) in waiting_kinds:
        queue.enqueue_job(db, kind, transcript, project)
    return True


def _find_transcripts(db: sqlite3.Connection, folder: int) -> set[int]:
    return {row for (row,) in db.execute(_FOLDER_TRANSCRIPTS, {"folder": folder})}
