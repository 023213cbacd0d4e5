"""Catalogs as earlier versions made them: a catalog of today without what is newer."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from lerim.paths import Home

NEWER_TABLES = {"session_parts": 10, "model_facts": 9, "facts": 8, "left_folders": 7, "damaged_stores": 6, "counted": 5}
DROPPED_COLUMNS = (
    "version TEXT NOT NULL DEFAULT ''",
    "api_errors INTEGER NOT NULL DEFAULT 0",
    "injected INTEGER NOT NULL DEFAULT 0",
)


def written_as(home: Home, form: int) -> None:
    """Gives the catalog of `home` an earlier form (4 to 10), with the same transcripts, turns and jobs."""
    with closing(sqlite3.connect(home.catalog)) as db:
        later = "".join(f"DROP TABLE {table};" for table, since in NEWER_TABLES.items() if form < since)
        later += "".join(f"ALTER TABLE sessions ADD COLUMN {column};" for column in DROPPED_COLUMNS)
        later += "DROP INDEX transcripts_session;" if form < 7 else ""
        db.executescript(f"{later} PRAGMA user_version = {form}")
