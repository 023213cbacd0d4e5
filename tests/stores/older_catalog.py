"""Catalogs as earlier releases made them: a catalog of today is written again in the form it had then."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from lerim.paths import Home
from lerim.sessions.tables.turn_text import unpack_turn_text

FORM_3 = """
CREATE TABLE transcripts (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, platform TEXT NOT NULL, session TEXT NOT NULL,
    parent TEXT NOT NULL, size INTEGER, mtime_ns INTEGER, inode INTEGER, vanished INTEGER NOT NULL DEFAULT 0,
    generation INTEGER NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT ''
);
CREATE TABLE sessions (
    transcript INTEGER PRIMARY KEY, resume BLOB NOT NULL, title TEXT NOT NULL, started REAL, ended REAL,
    cwds TEXT NOT NULL, branches TEXT NOT NULL, models TEXT NOT NULL, version TEXT NOT NULL, turns INTEGER NOT NULL,
    prompts INTEGER NOT NULL, tool_calls INTEGER NOT NULL, tool_errors INTEGER NOT NULL, denials INTEGER NOT NULL,
    api_errors INTEGER NOT NULL, injected INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL
);
CREATE TABLE folders (id INTEGER PRIMARY KEY, cwd TEXT NOT NULL UNIQUE, project TEXT NOT NULL);
CREATE INDEX folders_project ON folders (project);
CREATE TABLE turns (
    id INTEGER PRIMARY KEY, turn TEXT NOT NULL UNIQUE, transcript INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    folder INTEGER NOT NULL, role TEXT NOT NULL, kind TEXT NOT NULL, time REAL, body BLOB NOT NULL
);
CREATE INDEX turns_place ON turns (transcript, ordinal);
CREATE INDEX turns_folder ON turns (folder, transcript, time);
CREATE VIRTUAL TABLE words USING fts5 (
    text, tools, content = '', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TABLE positions (
    transcript INTEGER NOT NULL, project TEXT NOT NULL, kind TEXT NOT NULL, resume BLOB NOT NULL, state BLOB NOT NULL,
    PRIMARY KEY (transcript, project, kind)
) WITHOUT ROWID;
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, transcript INTEGER NOT NULL, project TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'done', 'failed', 'dead')),
    tries INTEGER NOT NULL DEFAULT 0, interrupted INTEGER NOT NULL DEFAULT 0, again INTEGER NOT NULL DEFAULT 0,
    not_before REAL NOT NULL DEFAULT 0, claimed REAL NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '',
    UNIQUE (kind, transcript, project)
);
CREATE INDEX jobs_waiting ON jobs (project, state);
CREATE TABLE frictions (
    project TEXT NOT NULL, mark TEXT NOT NULL, session TEXT NOT NULL, quote TEXT NOT NULL, command TEXT NOT NULL,
    turn TEXT NOT NULL, time REAL NOT NULL, PRIMARY KEY (project, mark, session)
) WITHOUT ROWID;
"""
FORM_1_POSITIONS = """
ALTER TABLE positions RENAME TO newer;
CREATE TABLE positions (transcript INTEGER NOT NULL, project TEXT NOT NULL, resume BLOB NOT NULL,
 state BLOB NOT NULL, PRIMARY KEY (transcript, project)) WITHOUT ROWID;
INSERT INTO positions SELECT transcript, project, resume, state FROM newer WHERE kind = 'extract';
DROP TABLE newer;
DELETE FROM jobs WHERE kind <> 'extract';
"""
RENAMED = {"path": "place"}


def written_as(home: Home, form: int) -> None:
    """Replaces the catalog of `home` by one of an earlier form (1 to 9) with the same transcripts, turns and jobs."""
    if form >= 4:
        with closing(sqlite3.connect(home.catalog)) as db:
            newer = {"session_parts": 10, "model_facts": 9, "facts": 8, "left_folders": 7, "damaged_stores": 6}
            newer |= {"counted": 5}
            later = "".join(f"DROP TABLE {table};" for table, since in newer.items() if form < since)
            later += "DROP INDEX transcripts_session;" if form < 7 else ""
            db.executescript(f"{later} PRAGMA user_version = {form}")
        return
    older = home.catalog.with_suffix(".older")
    with closing(sqlite3.connect(older)) as db:
        db.executescript(FORM_3)
        db.execute("ATTACH ? AS newer", (str(home.catalog),))
        tables = [name for (name,) in db.execute("SELECT name FROM main.sqlite_schema WHERE type = 'table'")]
        for table in tables:
            if table.startswith("words"):
                continue
            columns = [row[1] for row in db.execute(f"PRAGMA main.table_info({table})")]
            taken = ", ".join(RENAMED.get(name, name) if table == "transcripts" else name for name in columns)
            db.execute(f"INSERT INTO main.{table} ({', '.join(columns)}) SELECT {taken} FROM newer.{table}")
        for row, body in db.execute("SELECT id, body FROM turns").fetchall():
            db.execute("INSERT INTO words (rowid, text, tools) VALUES (?, ?, ?)", (row, *unpack_turn_text(body)))
        db.commit()
        db.execute("DETACH newer")
        if form < 3:
            db.execute("DROP TABLE frictions")
        if form < 2:
            db.executescript(FORM_1_POSITIONS)
        db.execute(f"PRAGMA user_version = {form}")
        db.execute("PRAGMA journal_mode = WAL")
        db.commit()
    for ending in ("-wal", "-shm"):
        home.catalog.with_name(home.catalog.name + ending).unlink(missing_ok=True)
    older.replace(home.catalog)
