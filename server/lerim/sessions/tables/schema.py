"""The catalog's database: its tables, the upgrades from older versions, and how it is opened."""

from __future__ import annotations

import sqlite3
import zlib
from contextlib import AbstractContextManager
from pathlib import Path

from lerim import sqlite
from lerim.errors import CatalogError, Problem
from lerim.paths import Home
from lerim.project import make_private_folder

VERSION = 11

# transcripts is narrow, because all of it is read in every cycle to compare stamps; wide columns are in sessions. A
# place is a file, or a database and the session's key in it. stores are the databases with their stamps when all of
# their sessions had been indexed; damaged_stores those that cannot be read, and the version of Lerim that found this.
# turns.turn is unique: a turn copied into a fork of its session is one row. A turn belongs to the project of its
# folder, so a new alias moves all turns by changing one row. words is only the index (see turn_words.py); the text is
# stored once, packed, in turns.body, the last column, so that the columns before it are cheap to read. touched are the
# files of a turn's tool calls. counted has the token counts of texts sent to a model, by a digest of 64 bits.
# left_folders keeps the jobs and positions a project had for a transcript when one of its folders moved to another
# project (see folder_owners.py). facts and model_facts are explained in facts.py, session_parts in session_parts.py.
#
# SCHEMA and the upgrades share the texts of tables. When a table changes, write out its old text in the upgrade that
# created it.
DAMAGED_STORES = """
CREATE TABLE damaged_stores (
    path TEXT PRIMARY KEY, platform TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    wal_size INTEGER NOT NULL, wal_mtime_ns INTEGER NOT NULL, version TEXT NOT NULL, code TEXT NOT NULL,
    place TEXT NOT NULL, message TEXT NOT NULL
) WITHOUT ROWID;
"""
COUNTED = "CREATE TABLE counted (text INTEGER PRIMARY KEY, tokens INTEGER NOT NULL);"
LEFT_FOLDERS = """
CREATE TABLE left_folders (
    project TEXT NOT NULL, folder INTEGER NOT NULL, transcript INTEGER NOT NULL, kind TEXT NOT NULL,
    done INTEGER NOT NULL, generation INTEGER NOT NULL, resume BLOB, state BLOB, redactions INTEGER,
    PRIMARY KEY (project, folder, transcript, kind)
) WITHOUT ROWID;
"""
FACTS = "CREATE TABLE facts (turn TEXT PRIMARY KEY, facts BLOB NOT NULL) WITHOUT ROWID;"
MODEL_FACTS = "CREATE TABLE model_facts (turn TEXT PRIMARY KEY, facts BLOB) WITHOUT ROWID;"
SESSION_PARTS = """
CREATE TABLE session_parts (
    transcript INTEGER NOT NULL, number INTEGER NOT NULL, quarter INTEGER, folder INTEGER, model TEXT NOT NULL,
    prompts INTEGER NOT NULL, calls INTEGER NOT NULL, errors INTEGER NOT NULL, milliseconds INTEGER NOT NULL,
    input INTEGER NOT NULL, output INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL,
    by_price INTEGER NOT NULL, cost INTEGER, unpriced INTEGER NOT NULL, PRIMARY KEY (transcript, number)
) WITHOUT ROWID;
"""
TRANSCRIPTS_SESSION = "CREATE INDEX transcripts_session ON transcripts (session);"

SCHEMA = f"""
CREATE TABLE transcripts (
    id INTEGER PRIMARY KEY, place TEXT NOT NULL UNIQUE, platform TEXT NOT NULL, session TEXT NOT NULL,
    parent TEXT NOT NULL, within TEXT NOT NULL, cwd TEXT NOT NULL,
    size INTEGER, mtime_ns INTEGER, inode INTEGER, vanished INTEGER NOT NULL DEFAULT 0,
    generation INTEGER NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '', failed REAL
);
{TRANSCRIPTS_SESSION}
CREATE TABLE sessions (
    transcript INTEGER PRIMARY KEY, resume BLOB NOT NULL, title TEXT NOT NULL, started REAL, ended REAL,
    cwds TEXT NOT NULL, branches TEXT NOT NULL, models TEXT NOT NULL, turns INTEGER NOT NULL,
    prompts INTEGER NOT NULL, tool_calls INTEGER NOT NULL, tool_errors INTEGER NOT NULL, denials INTEGER NOT NULL,
    input INTEGER, output INTEGER, cache_read INTEGER, cache_write INTEGER, cost REAL
);
CREATE TABLE stores (
    path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, wal_size INTEGER NOT NULL,
    wal_mtime_ns INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE folders (id INTEGER PRIMARY KEY, cwd TEXT NOT NULL UNIQUE, project TEXT NOT NULL);
CREATE INDEX folders_project ON folders (project);
CREATE TABLE turns (
    id INTEGER PRIMARY KEY, turn TEXT NOT NULL UNIQUE, transcript INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    folder INTEGER NOT NULL, role TEXT NOT NULL, kind TEXT NOT NULL, time REAL, prose INTEGER NOT NULL,
    branch TEXT NOT NULL, model TEXT NOT NULL, calls INTEGER NOT NULL, errors INTEGER NOT NULL, failed INTEGER NOT NULL,
    input INTEGER, output INTEGER, cache_read INTEGER, cache_write INTEGER, body BLOB NOT NULL
);
CREATE INDEX turns_place ON turns (transcript, ordinal);
CREATE INDEX turns_folder ON turns (folder, transcript, time);
CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, name TEXT NOT NULL COLLATE NOCASE);
CREATE INDEX files_name ON files (name);
CREATE TABLE touched (turn INTEGER NOT NULL, file INTEGER NOT NULL, PRIMARY KEY (turn, file)) WITHOUT ROWID;
CREATE INDEX touched_file ON touched (file);
CREATE VIRTUAL TABLE words USING fts5 (
    text, tools, near, content = '', tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE TABLE positions (
    transcript INTEGER NOT NULL, project TEXT NOT NULL, kind TEXT NOT NULL, resume BLOB NOT NULL, state BLOB NOT NULL,
    redactions INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (transcript, project, kind)
) WITHOUT ROWID;
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, transcript INTEGER NOT NULL, project TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'done', 'failed', 'dead', 'skipped')),
    tries INTEGER NOT NULL DEFAULT 0, interrupted INTEGER NOT NULL DEFAULT 0, again INTEGER NOT NULL DEFAULT 0,
    not_before REAL NOT NULL DEFAULT 0, claimed REAL NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '',
    runs INTEGER NOT NULL DEFAULT 0, UNIQUE (kind, transcript, project)
);
CREATE INDEX jobs_waiting ON jobs (project, state);
CREATE TABLE frictions (
    project TEXT NOT NULL, mark TEXT NOT NULL, session TEXT NOT NULL, quote TEXT NOT NULL, command TEXT NOT NULL,
    turn TEXT NOT NULL, time REAL NOT NULL, PRIMARY KEY (project, mark, session)
) WITHOUT ROWID;
CREATE TABLE syncs (project TEXT PRIMARY KEY, ended REAL NOT NULL) WITHOUT ROWID;
{COUNTED}
{DAMAGED_STORES}
{LEFT_FOLDERS}
{FACTS}
{MODEL_FACTS}
{SESSION_PARTS}
"""

PARENT_MISSING = (
    "(t.parent != '' AND NOT EXISTS (SELECT 1 FROM transcripts p JOIN sessions ps ON ps.transcript = p.id"
    " WHERE p.session = t.parent AND p.platform = t.platform AND ps.turns > 0))"
)
"""SQL condition on a transcript `t`: it is a subagent's, and the session that started it was not read."""
IS_MAIN_SESSION = f"(t.parent = '' OR {PARENT_MISSING})"
"""SQL condition on a transcript `t`: lists and counts show it as a session rather than as part of its parent's."""

_OLDEST_UPGRADED = 4
_UPGRADE_SCRIPTS = (
    # Version 4 did not save token counts and had no summaries.
    f"""{COUNTED}
INSERT OR IGNORE INTO jobs (kind, transcript, project, state) SELECT 'summary', p.transcript, p.project, 'pending'
    FROM positions p JOIN transcripts t ON t.id = p.transcript WHERE p.kind = 'extract' AND t.parent = '';""",
    # Version 5 opened damaged databases in every cycle.
    DAMAGED_STORES,
    # Version 6 forgot how far a project had read a folder that it owned for one sync only, and had no index on session
    # ids.
    LEFT_FOLDERS + TRANSCRIPTS_SESSION,
    # Version 7 had no facts; sessions read before get them as they grow.
    FACTS,
    # Version 8 did not ask models for facts.
    MODEL_FACTS,
    # Version 9 had no sums of sessions; they are written by the next sync, or before statistics are shown.
    SESSION_PARTS,
    # Version 10 stored values that nothing read.
    """ALTER TABLE sessions DROP COLUMN version;
ALTER TABLE sessions DROP COLUMN api_errors;
ALTER TABLE sessions DROP COLUMN injected;""",
)


class _TooOldError(Exception):
    """Raised if the catalog is of a version that is not upgraded but made anew
    (docs/decisions/0091-catalogs-made-anew.md)."""


def _upgrade(db: sqlite3.Connection, version: int) -> None:
    if 0 < version < _OLDEST_UPGRADED:
        raise _TooOldError
    for script in _UPGRADE_SCRIPTS[version - _OLDEST_UPGRADED :] if version else (SCHEMA,):
        sqlite.run_script(db, script)


CATALOG_SCHEMA = sqlite.Schema(
    name="The catalog of sessions",
    version=VERSION,
    upgrade=_upgrade,
    probe="SELECT 1 FROM transcripts, turns, jobs LIMIT 1",
    settings=("synchronous = NORMAL", "temp_store = MEMORY", "cache_size = -16000", "wal_autocheckpoint = 4000"),
    wal=True,
    wait=30.0,
    error=CatalogError,
    failure="The catalog of sessions cannot be used",
    todo="Check the free disk space and the folder's permissions, or set LERIM_HOME to another folder. Then try again.",
    todo_damaged="Run the command again: the catalog is rebuilt from the transcripts.",
    damage_errors=(zlib.error, _TooOldError),
    replacement_notice="It is rebuilt from the transcripts.",
    code="catalog-rebuilt",
)


def open_catalog(home: Home) -> tuple[sqlite3.Connection, list[Problem]]:
    """Opens the catalog's database, creating it if missing (autocommit; use `transaction`).

    A damaged catalog is moved aside and rebuilt from the transcripts, which is reported as a problem. Raises
    CatalogError if the catalog is from a newer version or the folder cannot be used.
    """
    problems: list[Problem] = []
    with convert_sqlite_errors(home.catalog):
        make_private_folder(home, home.catalog.parent)
    return sqlite.open_database(home.catalog, CATALOG_SCHEMA, problems), problems


def convert_sqlite_errors(path: Path) -> AbstractContextManager[None]:
    """Converts SQLite errors raised in the block to CatalogError. A damaged catalog is replaced the next time it is
    opened."""
    return sqlite.convert_errors(path, CATALOG_SCHEMA)
