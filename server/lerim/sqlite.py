"""Opens Lerim's own SQLite databases: creates and upgrades them, and replaces those that are damaged.

A store describes its database with a `Schema` and opens it with `open_database`. Any number of threads and processes
may do so at once, and a process may be killed at any instant:

- A new database is created under another name and renamed when it is complete, so a half-made one is never opened.
- An upgrade is one transaction.
- Whoever creates, upgrades or replaces a database holds a file lock beside it; the others wait and use the result.
- A database of a newer version is refused and left alone.
- A damaged database is refused, or, if its schema says so, kept as `NAME.damaged-copy` and replaced by a new one.

A database file is opened through SQLite alone: when a process closes any handle of a file, it loses all POSIX locks it
holds on that file, including those of SQLite's other connections.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Literal
from urllib.parse import quote

from lerim.errors import LerimError, Problem, error_reason

DEFAULT_WAIT = 5.0
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_UNUSABLE = (*_DAMAGED, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT)
"""The error codes of a database that is damaged or whose tables are not those of its version. Other errors are
temporary (locked, disk full)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """The contents of one of Lerim's databases, and how it is opened.

    `upgrade(db, version)` brings a database of an older version to this one, inside a transaction; version 0 is a new
    database. `probe` is a query that fails if the tables are not as they must be. `settings` are PRAGMAs of each
    connection and `wal` is the journal of a new database. `wait` is how many seconds to wait for other processes.
    `damage_errors` are the exceptions that show damage besides SQLite's own.

    The messages of `error` begin with `name` ("The review ledger") or `failure` ("The review ledger cannot be used")
    and end with `todo`, or `todo_damaged` if the database is damaged. `replacement_notice` tells the person what
    they lose when a damaged database is replaced; if it is empty, the database is not replaced.
    """

    name: str
    version: int
    upgrade: Callable[[sqlite3.Connection, int], None]
    probe: str = "SELECT count(*) FROM sqlite_master"
    settings: Sequence[str] = ()
    wal: bool = False
    wait: float = DEFAULT_WAIT
    error: type[LerimError]
    failure: str
    todo: str
    todo_damaged: str
    damage_errors: tuple[type[Exception], ...] = ()
    replacement_notice: str = ""
    code: str = ""
    """The code of the problems that report a replacement, and of those that report errors (`note_errors`)."""


def open_database(
    path: Path, schema: Schema, problems: list[Problem] | None = None, wait: float | None = None
) -> sqlite3.Connection:
    """Opens the database at `path`, and creates, upgrades or replaces it first if needed.

    The connection is in autocommit mode (use `transaction`) and belongs to one thread. If a damaged database was
    replaced, a problem is added to `problems`. `wait` replaces the schema's `wait` for this connection. Raises the
    schema's error.
    """
    with convert_errors(path, schema):
        db = None if _is_marked_damaged(path, schema) else _open_usable(path, schema, wait)
        if db is not None:
            return db
        from filelock import FileLock

        with FileLock(f"{path}.lock", timeout=schema.wait, mode=0o600):
            return _open_or_make(path, schema, problems, wait)


def open_existing(path: Path, schema: Schema) -> sqlite3.Connection | None:
    """Opens the database at `path` as it is. Returns None if there is no database of this version. Raises the
    schema's error."""
    with convert_errors(path, schema):
        return _open_current(path, schema, None)


def connect(
    path: Path | None,
    *,
    wait: float = DEFAULT_WAIT,
    mode: Literal["rw", "ro"] = "rw",
    any_thread: bool = False,
    settings: Sequence[str] = (),
) -> sqlite3.Connection:
    """Connects to the existing database at `path` or, if that is None, to a new one in memory.

    The connection is in autocommit mode. Raises sqlite3.Error.
    """
    place = ":memory:" if path is None else f"{file_uri(path.absolute())}?mode={mode}"
    db = sqlite3.connect(
        place, uri=path is not None, timeout=wait, isolation_level=None, check_same_thread=not any_thread
    )
    try:
        for setting in ("trusted_schema = OFF", *settings):
            db.execute(f"PRAGMA {setting}")
    except BaseException:
        db.close()
        raise
    return db


def file_uri(path: PurePath) -> str:
    """Returns an absolute path as a URI for SQLite. `?`, `#`, `%` and drive letters are part of the path, and no
    host is ever named."""
    posix_path = path.as_posix()
    return "file://" + ("" if posix_path.startswith("/") else "/") + quote(os.fsencode(posix_path))


@contextmanager
def transaction(db: sqlite3.Connection, *, exclusive: bool = False) -> Iterator[None]:
    """Runs the block in a write transaction: either all of it is committed, or nothing. `exclusive` keeps readers
    out, too."""
    db.execute("BEGIN EXCLUSIVE" if exclusive else "BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # SQLite may have rolled back already; the first error is raised
            db.execute("ROLLBACK")
        raise


def run_script(db: sqlite3.Connection, script: str) -> None:
    """Executes SQL statements, each of which ends with `;` and a line end, in the current transaction
    (`executescript` would commit it)."""
    for statement in script.split(";\n"):  # SQLite accepts an empty one
        db.execute(statement)


def schema_version(db: sqlite3.Connection) -> int:
    """Returns the schema version of a database; 0 for an empty one. Raises sqlite3.Error."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def read_stamp(path: Path) -> tuple[int, ...]:
    """Returns a stamp that changes whenever any process writes to the database at `path`."""
    stamp: list[int] = []
    for name in (path, path.with_name(f"{path.name}-wal")):
        try:
            state = name.stat()
        except OSError:
            continue
        stamp += [state.st_mtime_ns, state.st_size, state.st_ino]
    return tuple(stamp)


@contextmanager
def convert_errors(path: Path, schema: Schema) -> Iterator[None]:
    """Raises the errors of SQLite and the system in the block as the schema's error. If the schema replaces damaged
    databases, damage is recorded, so that the database is replaced the next time it is opened."""
    # filelock.Timeout is an OSError
    faults: tuple[type[Exception], ...] = (sqlite3.Error, OSError, *schema.damage_errors)
    try:
        yield
    except faults as error:
        damaged = _has_code(error, _DAMAGED, schema)
        if damaged and schema.replacement_notice:
            with suppress(OSError):  # the damage will be found again
                _damage_marker(path).touch(mode=0o600)
        todo = schema.todo_damaged if damaged else schema.todo
        raise schema.error(f"{schema.failure}: {error_reason(error)}.", where=str(path), todo=todo) from error


@contextmanager
def note_errors(path: Path, schema: Schema, problems: list[Problem]) -> Iterator[None]:
    """Ends the block at an error that `convert_errors` would raise, and adds that error to `problems`, only once."""
    try:
        with convert_errors(path, schema):
            yield
    except schema.error as error:
        problem = error.problem(str(path), code=schema.code)
        if problem not in problems:
            problems.append(problem)


def _open_current(path: Path, schema: Schema, wait: float | None) -> sqlite3.Connection | None:
    """Opens the database if it is of this version. Returns None if there is no file, or one of an older version.
    Raises the schema's error for a newer version, or sqlite3.Error or OSError."""
    if not _file_exists(path):
        return None
    try:
        db = _connect_with_settings(path, schema, wait)
    except sqlite3.Error as error:
        if _has_code(error, (sqlite3.SQLITE_CANTOPEN,), schema) and not path.exists():
            return None  # another process is replacing a damaged database and has just moved it away
        raise
    try:
        version = schema_version(db)
        if version > schema.version:
            raise _make_newer_version_error(path, schema, version)
        if version == schema.version:
            db.execute(schema.probe).fetchone()
            return db
    except BaseException:
        db.close()
        raise
    db.close()
    return None


def _open_usable(path: Path, schema: Schema, wait: float | None) -> sqlite3.Connection | None:
    """Opens a database like `_open_current`, but also returns None if it must be replaced."""
    try:
        return _open_current(path, schema, wait)
    except sqlite3.Error as error:
        if schema.replacement_notice and _has_code(error, _UNUSABLE, schema):
            return None
        raise


def _open_or_make(path: Path, schema: Schema, problems: list[Problem] | None, wait: float | None) -> sqlite3.Connection:
    """Creates, upgrades or replaces the database, unless another process has done so. The caller holds the lock."""
    if not _is_marked_damaged(path, schema):
        db = _open_usable(path, schema, wait)
        if db is not None:
            return db
        if _file_exists(path) and _try_upgrade(path, schema):
            return _connect_with_settings(path, schema, wait)
    if _file_exists(path):
        damaged_copy = path.with_name(f"{path.name}.damaged-copy")
        _remove_logs(path)
        path.replace(damaged_copy)
        message = f"{schema.name} was damaged and is kept as {damaged_copy.name}. {schema.replacement_notice}"
        (problems if problems is not None else []).append(Problem(schema.code, str(path), message))
    _damage_marker(path).unlink(missing_ok=True)
    _create(path, schema)
    return _connect_with_settings(path, schema, wait)


def _connect_with_settings(path: Path, schema: Schema, wait: float | None) -> sqlite3.Connection:
    return connect(path, wait=schema.wait if wait is None else wait, settings=schema.settings)


def _try_upgrade(path: Path, schema: Schema) -> bool:
    """Upgrades the database in one transaction. Returns False if it must be replaced instead."""
    faults: tuple[type[Exception], ...] = (sqlite3.Error, *schema.damage_errors)
    try:
        with closing(_connect_with_settings(path, schema, None)) as db:
            with transaction(db):
                _upgrade(db, schema)
            if schema.wal:
                db.execute("PRAGMA journal_mode = WAL")  # an empty file does not use a -wal yet
    except faults as error:
        if schema.replacement_notice and _has_code(error, _UNUSABLE, schema):
            return False
        raise
    return True


def _upgrade(db: sqlite3.Connection, schema: Schema) -> None:
    version = schema_version(db)
    if version < schema.version:
        schema.upgrade(db, version)
        db.execute(f"PRAGMA user_version = {schema.version}")
    db.execute(schema.probe).fetchone()


def _create(path: Path, schema: Schema) -> None:
    new = path.with_name(f"{path.name}.new")
    for name in (new, path):
        _remove_logs(name)
    new.unlink(missing_ok=True)
    os.close(os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(connect(new, wait=schema.wait, settings=schema.settings)) as db:
        with transaction(db):
            _upgrade(db, schema)
        if schema.wal:
            db.execute("PRAGMA journal_mode = WAL")  # last, so that no data is left in a -wal
    new.replace(path)


def _file_exists(path: Path) -> bool:
    """Returns whether there is a file to open, and makes it private. Raises OSError if it cannot be read and
    written."""
    try:  # another process may move a damaged database away at any instant
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            number = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
            raise OSError(number, os.strerror(number), str(path))
        effective = os.access in os.supports_effective_ids
        if not os.access(path, os.R_OK | os.W_OK, effective_ids=effective):  # SQLite would open it read-only
            path.stat()
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        if os.name == "posix" and mode & 0o077:
            path.chmod(0o600)  # SQLite gives -wal and -shm the permissions of this file
    except FileNotFoundError:
        return False
    return True


def _is_marked_damaged(path: Path, schema: Schema) -> bool:
    return bool(schema.replacement_notice) and _damage_marker(path).exists()


def _damage_marker(path: Path) -> Path:
    """Returns the path of the marker file, which exists if damage was found in the database."""
    return path.with_name(f"{path.name}.damaged")


def _remove_logs(path: Path) -> None:
    for suffix in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _make_newer_version_error(path: Path, schema: Schema, version: int) -> LerimError:
    message = f"{schema.name} was made by a newer Lerim (schema version {version}, this one knows {schema.version})."
    todo = (
        "Update Lerim, or move the file away: a new one is then made." if schema.replacement_notice else "Update Lerim."
    )
    return schema.error(message, where=str(path), todo=todo)


def _has_code(error: Exception, codes: tuple[int, ...], schema: Schema) -> bool:
    return isinstance(error, schema.damage_errors) or getattr(error, "sqlite_errorcode", 0) & 0xFF in codes
