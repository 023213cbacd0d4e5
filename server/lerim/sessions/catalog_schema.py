"""The catalog's database: its tables, and how it is opened, refused, or moved aside and made again."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock

from lerim.errors import CatalogError, Problem
from lerim.paths import Home
from lerim.registry import private_folder
from lerim.sessions import turn_words

VERSION = 7
BUSY_MS = 30_000

# transcripts is narrow, because the stat gate reads all of it in every cycle; what is wide stands in sessions. A place
# is a file, or a database and the session's key in it. stores are the databases, as they were when all of their
# sessions had been taken in; damaged_stores those that cannot be read as they are, and which version of Lerim found so.
# turns.turn is unique: a turn copied into a fork of its session is one row. A turn's project is its folder's, so that
# a new alias moves every turn by one row. words holds only the index (see turn_words.py); the text stands once, packed,
# in turns.body, which is last because reading what stands before it is cheap. touched are the files of a turn's calls.
# counted has the tokens of texts that were counted for a model, by a digest of 64 bits. left_folders has the jobs and
# positions a project had for a transcript when one of its folders went to another project (see folder_owners.py).
#
# SCHEMA and the steps that lead to it share the texts of tables. When a table changes, its text of today is written
# out in the step that made it.
SESSIONS = """
CREATE TABLE sessions (
    transcript INTEGER PRIMARY KEY, resume BLOB NOT NULL, title TEXT NOT NULL, started REAL, ended REAL,
    cwds TEXT NOT NULL, branches TEXT NOT NULL, models TEXT NOT NULL, version TEXT NOT NULL, turns INTEGER NOT NULL,
    prompts INTEGER NOT NULL, tool_calls INTEGER NOT NULL, tool_errors INTEGER NOT NULL, denials INTEGER NOT NULL,
    api_errors INTEGER NOT NULL, injected INTEGER NOT NULL, input INTEGER, output INTEGER, cache_read INTEGER,
    cache_write INTEGER, cost REAL
);
"""
STORES = """
CREATE TABLE stores (
    path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, wal_size INTEGER NOT NULL,
    wal_mtime_ns INTEGER NOT NULL
) WITHOUT ROWID;
"""
TURNS = """
CREATE TABLE turns (
    id INTEGER PRIMARY KEY, turn TEXT NOT NULL UNIQUE, transcript INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    folder INTEGER NOT NULL, role TEXT NOT NULL, kind TEXT NOT NULL, time REAL, prose INTEGER NOT NULL,
    branch TEXT NOT NULL, model TEXT NOT NULL, calls INTEGER NOT NULL, errors INTEGER NOT NULL, failed INTEGER NOT NULL,
    input INTEGER, output INTEGER, cache_read INTEGER, cache_write INTEGER, body BLOB NOT NULL
);
"""
FOUND_BY = """
CREATE INDEX turns_place ON turns (transcript, ordinal);
CREATE INDEX turns_folder ON turns (folder, transcript, time);
CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, name TEXT NOT NULL COLLATE NOCASE);
CREATE INDEX files_name ON files (name);
CREATE TABLE touched (turn INTEGER NOT NULL, file INTEGER NOT NULL, PRIMARY KEY (turn, file)) WITHOUT ROWID;
CREATE INDEX touched_file ON touched (file);
CREATE VIRTUAL TABLE words USING fts5 (
    text, tools, near, content = '', tokenize = 'porter unicode61 remove_diacritics 2'
);
"""
JOBS = """
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, transcript INTEGER NOT NULL, project TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'done', 'failed', 'dead', 'skipped')),
    tries INTEGER NOT NULL DEFAULT 0, interrupted INTEGER NOT NULL DEFAULT 0, again INTEGER NOT NULL DEFAULT 0,
    not_before REAL NOT NULL DEFAULT 0, claimed REAL NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '',
    runs INTEGER NOT NULL DEFAULT 0, UNIQUE (kind, transcript, project)
);
"""
FRICTIONS = """
CREATE TABLE IF NOT EXISTS frictions (
    project TEXT NOT NULL, mark TEXT NOT NULL, session TEXT NOT NULL, quote TEXT NOT NULL, command TEXT NOT NULL,
    turn TEXT NOT NULL, time REAL NOT NULL, PRIMARY KEY (project, mark, session)
) WITHOUT ROWID;
"""
SYNCS = """
CREATE TABLE syncs (project TEXT PRIMARY KEY, ended REAL NOT NULL) WITHOUT ROWID;
"""
DAMAGED_STORES = """
CREATE TABLE damaged_stores (
    path TEXT PRIMARY KEY, platform TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    wal_size INTEGER NOT NULL, wal_mtime_ns INTEGER NOT NULL, version TEXT NOT NULL, code TEXT NOT NULL,
    place TEXT NOT NULL, message TEXT NOT NULL
) WITHOUT ROWID;
"""
COUNTED = """
CREATE TABLE counted (text INTEGER PRIMARY KEY, tokens INTEGER NOT NULL);
"""
LEFT_FOLDERS = """
CREATE TABLE left_folders (
    project TEXT NOT NULL, folder INTEGER NOT NULL, transcript INTEGER NOT NULL, kind TEXT NOT NULL,
    done INTEGER NOT NULL, generation INTEGER NOT NULL, resume BLOB, state BLOB, redactions INTEGER,
    PRIMARY KEY (project, folder, transcript, kind)
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
{SESSIONS}
{STORES}
CREATE TABLE folders (id INTEGER PRIMARY KEY, cwd TEXT NOT NULL UNIQUE, project TEXT NOT NULL);
CREATE INDEX folders_project ON folders (project);
{TURNS}
{FOUND_BY}
CREATE TABLE positions (
    transcript INTEGER NOT NULL, project TEXT NOT NULL, kind TEXT NOT NULL, resume BLOB NOT NULL, state BLOB NOT NULL,
    redactions INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (transcript, project, kind)
) WITHOUT ROWID;
{JOBS}
CREATE INDEX jobs_waiting ON jobs (project, state);
{FRICTIONS}
{SYNCS}
{COUNTED}
{DAMAGED_STORES}
{LEFT_FOLDERS}
"""

PARENT_MISSING = (
    "(t.parent != '' AND NOT EXISTS (SELECT 1 FROM transcripts p JOIN sessions ps ON ps.transcript = p.id"
    " WHERE p.session = t.parent AND p.platform = t.platform AND ps.turns > 0))"
)
"""In SQL, of a transcript `t`: it is a subagent's, and nothing was read of the session that started it."""
MAIN = f"(t.parent = '' OR {PARENT_MISSING})"
"""Whether lists and counts have it as a session of its own; else it is part of its parent's."""

# Form 1 knew one kind of job only. What its rules have read waits for a model from now on.
FROM_1 = """
ALTER TABLE positions RENAME TO positions_1;
CREATE TABLE positions (
    transcript INTEGER NOT NULL, project TEXT NOT NULL, kind TEXT NOT NULL, resume BLOB NOT NULL, state BLOB NOT NULL,
    PRIMARY KEY (transcript, project, kind)
) WITHOUT ROWID;
INSERT INTO positions SELECT transcript, project, 'extract', resume, state FROM positions_1;
DROP TABLE positions_1;
INSERT INTO jobs (kind, transcript, project, state) SELECT 'model', transcript, project, 'pending' FROM positions;
PRAGMA user_version = 2
"""
# Form 2 did not remember errors; those of sessions read before are not looked for again.
FROM_2 = f"""
{FRICTIONS}
PRAGMA user_version = 3
"""
# Form 3 knew files only, and of a turn not what its calls did. Every transcript that is there is read once more; of the
# others the texts stay and are found as before.
FROM_3 = f"""
ALTER TABLE transcripts RENAME COLUMN path TO place;
ALTER TABLE transcripts ADD COLUMN within TEXT NOT NULL DEFAULT '';
ALTER TABLE transcripts ADD COLUMN cwd TEXT NOT NULL DEFAULT '';
UPDATE transcripts SET size = NULL, mtime_ns = NULL, inode = NULL, generation = generation + 1;
ALTER TABLE sessions RENAME TO sessions_3;
{SESSIONS}
INSERT INTO sessions SELECT *, NULL FROM sessions_3;
UPDATE sessions SET resume = X'0300';
DROP TABLE sessions_3;
{STORES}
ALTER TABLE transcripts ADD COLUMN failed REAL;
ALTER TABLE positions ADD COLUMN redactions INTEGER NOT NULL DEFAULT 0;
{SYNCS}
ALTER TABLE jobs RENAME TO jobs_3;
{JOBS}
INSERT INTO jobs
    SELECT id, kind, transcript, project, state, tries, interrupted, again, not_before, claimed, error, tries
    FROM jobs_3;
DROP TABLE jobs_3;
CREATE INDEX jobs_waiting ON jobs (project, state);
ALTER TABLE turns RENAME TO turns_3;
{TURNS}
INSERT INTO turns SELECT id, turn, transcript, ordinal, folder, role, kind, time, 0, '', '', 0, 0, 0,
    NULL, NULL, NULL, NULL, body FROM turns_3;
DROP TABLE turns_3;
DROP TABLE words;
{FOUND_BY}
PRAGMA user_version = 4
"""
# Form 4 did not keep how many tokens a turn has, and summarized nothing.
FROM_4 = f"""
{COUNTED}
INSERT OR IGNORE INTO jobs (kind, transcript, project, state) SELECT 'summary', p.transcript, p.project, 'pending'
    FROM positions p JOIN transcripts t ON t.id = p.transcript WHERE p.kind = 'extract' AND t.parent = '';
PRAGMA user_version = 5
"""
# Form 5 opened damaged databases in every cycle.
FROM_5 = f"""
{DAMAGED_STORES}
PRAGMA user_version = 6
"""
# Form 6 forgot what a project had read in a folder that was its own for one sync, and did not find a session by its id.
FROM_6 = f"""
{LEFT_FOLDERS}
{TRANSCRIPTS_SESSION}
PRAGMA user_version = 7
"""
_STEPS = (FROM_1, FROM_2, FROM_3, FROM_4, FROM_5, FROM_6)

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def open_database(home: Home) -> tuple[sqlite3.Connection, list[Problem]]:
    """The catalog's connection (autocommit; use `transaction`), made where it is missing.

    A damaged catalog, or one of an older form, is moved aside and made again from the transcripts: a problem.
    Raises CatalogError for a newer one, or where the folder cannot be used.
    """
    path = home.catalog
    try:
        private_folder(home, path.parent)
        ready = None if _marker(path).exists() else _connect_ready(path)
        if ready is not None:
            return ready, []
        with filelock.FileLock(path.with_suffix(".lock"), timeout=BUSY_MS / 1000, mode=0o600):
            return _make(path)
    except (OSError, sqlite3.Error) as error:  # filelock.Timeout is an OSError
        todo = "Check the folder's rights and the disk's free space, or set LERIM_HOME to another folder."
        raise CatalogError(f"The catalog of sessions cannot be opened: {error}.", where=str(path), todo=todo) from error


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """A writing transaction: all of the block, or nothing of it."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # SQLite may have rolled back already; the first error is told
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


@contextmanager
def telling(path: Path) -> Iterator[None]:
    """Turns what SQLite raises into CatalogError; damage found is remembered, so that the next opening rebuilds."""
    try:
        yield
    except (sqlite3.Error, zlib.error) as error:
        todo = "Check the disk's free space and the folder's rights, then try again."
        if _is_damage(error):
            _marker(path).touch(mode=0o600)
            todo = "Run the command again: the catalog is then made anew from the transcripts."
        raise CatalogError(f"The catalog of sessions failed: {error}.", where=str(path), todo=todo) from error


def _connect_ready(path: Path) -> sqlite3.Connection | None:
    """A connection if the catalog is there and of this version; None if it must be made or is damaged."""
    if not path.exists():
        return None
    db = _connect(path)
    try:
        _settle(db)
        version = int(db.execute("PRAGMA user_version").fetchone()[0])
        if version == VERSION:
            db.execute("SELECT 1 FROM transcripts, turns, jobs LIMIT 1").fetchone()
            return db
    except sqlite3.DatabaseError as error:
        db.close()
        if _is_damage(error) or "no such table" in str(error):
            return None
        raise
    db.close()
    if version > VERSION:
        message = f"The catalog of sessions was made by a newer Lerim (form {version}, this one knows {VERSION})."
        raise CatalogError(message, where=str(path), todo="Update Lerim, or delete the file: it is made again.")
    return None


def _from_older(path: Path) -> sqlite3.Connection | None:
    """A catalog of a form before, brought to this one as a whole or not at all; None for any other."""
    if not path.exists():
        return None
    db = _connect(path)
    try:
        _settle(db)
        form = int(db.execute("PRAGMA user_version").fetchone()[0])
        if 0 < form < VERSION:
            steps = _STEPS[form - 1 :]
            with transaction(db):
                for statement in ";\n".join(step.strip() for step in steps).split(";\n"):
                    db.execute(statement)
                if form < 4:
                    turn_words.refill(db)
            return db
    except (sqlite3.DatabaseError, zlib.error):
        pass  # it is made anew from the transcripts
    db.close()
    return None


def _make(path: Path) -> tuple[sqlite3.Connection, list[Problem]]:
    problems: list[Problem] = []
    if not _marker(path).exists():
        ready = _connect_ready(path) or _from_older(path)
        if ready is not None:
            return ready, []  # another process made it while this one waited, or it could be kept
    if path.exists() and not _is_empty(path):
        aside = _move_aside(path)
        message = f"The catalog was damaged or of an older form; it is kept as {aside.name} and made again."
        problems.append(Problem("catalog-rebuilt", str(path), message))
    _marker(path).unlink(missing_ok=True)
    _create(path)
    db = _connect(path)
    try:
        _settle(db)
    except BaseException:
        db.close()
        raise
    return db, problems


def _is_empty(path: Path) -> bool:
    """Whether a catalog holds nothing: earlier versions left such a file when they were killed while making it."""
    with contextlib.closing(_connect(path)) as db:
        try:
            tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            return not tables and db.execute("PRAGMA user_version").fetchone()[0] == 0
        except sqlite3.DatabaseError:
            return False


def _create(path: Path) -> None:
    """Makes the catalog under another name and gives it its own when it is whole: what a kill or a full disk cuts short
    is not mistaken for a damaged catalog."""
    new = path.with_name(f"{path.name}.new")
    for name in (new, path):
        _remove_logs(name)
    new.unlink(missing_ok=True)
    with contextlib.closing(_connect(new)) as db:
        with transaction(db):
            for statement in SCHEMA.split(";\n"):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("PRAGMA journal_mode = WAL")  # last: so nothing of it is in a log beside
    new.replace(path)


def _remove_logs(path: Path) -> None:
    for suffix in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _connect(path: Path) -> sqlite3.Connection:
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if os.name == "posix" and os.fstat(handle).st_mode & 0o077:
            os.fchmod(handle, 0o600)  # SQLite gives -wal and -shm the rights of this file
    finally:
        os.close(handle)
    return sqlite3.connect(path, timeout=BUSY_MS / 1000, isolation_level=None)


def _settle(db: sqlite3.Connection) -> None:
    """Settings of a connection; the first of them reads the file."""
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA temp_store = MEMORY")
    db.execute("PRAGMA cache_size = -16000")
    db.execute("PRAGMA wal_autocheckpoint = 4000")


def _move_aside(path: Path) -> Path:
    """Keeps one damaged catalog, the last: what it held lies in the transcripts, and it can be large."""
    aside = path.with_name(path.name + ".damaged-copy")
    _remove_logs(path)
    path.replace(aside)
    return aside


def _marker(path: Path) -> Path:
    return path.with_name(path.name + ".damaged")


def _is_damage(error: sqlite3.Error | zlib.error) -> bool:
    return isinstance(error, zlib.error) or getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED
