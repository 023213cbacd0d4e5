"""Reading SQLite databases that belong to another program, which may be writing them now.

Nothing is written, neither to the database nor beside it, and nothing that program does ever waits for us. Rows that
are only in the `-wal` are seen, rows that are not committed are not, and a state that was never committed is never
seen: what `read_database` returns was computed inside one committed state.

- A database with a filled `-wal` is read in one short transaction, as SQLite means it: readers of a `-wal` hold up no
  writer. Its index (`-shm`) is opened read-only, so that it is neither made nor changed.
- Any other is read without a lock, and what was read is thrown away if the file changed meanwhile: a lock would make
  a writer wait.
- Where neither works, a copy of file, `-wal` and `-journal` is read that was taken while none of them changed.
- A `-wal` or `-journal` that is damaged as a whole is passed over, as SQLite does, and never copied (live_logs.py).

No query runs for longer than the size of its database can explain: pages that lead to one another make a few bytes
look like billions of rows.
"""

from __future__ import annotations

import errno
import sqlite3
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from heapq import nlargest
from pathlib import Path
from typing import NamedTuple, TypeVar

from lerim.errors import Problem, TranscriptError, reason_of
from lerim.files import open_unbuffered
from lerim.sessions.model import PLATFORM_NAMES, Database, Platform
from lerim.sessions.readers.live import logs
from lerim.sessions.readers.live.copy import copy_database, find_last_write, has_shared_copy, is_recent_write
from lerim.sqlite import file_uri

CELL_LIMIT = 64 * 1024 * 1024
"""Bytes of the longest value read; a row with a longer one counts as one that cannot be read."""

OLDER_STATE = "older-state"
"""The problem code of a database of which only an older state could be read."""

BROKEN_LOG = "broken-log"
"""The problem code of a database that was read without the `-wal` or `-journal` beside it, because that is damaged."""

STEPS, STEPS_A_BYTE = 5_000_000, 20
"""Steps of SQLite's machine that all queries of one look at a database may take, and more for each byte of it."""

SESSIONS, BYTES_A_SESSION = 1000, 4096
"""Sessions that are taken from every database, and the bytes of it that allow one more: a prompt with its answer takes
about as many, with their keys."""

CUT_SHORT = "cut-short"
"""The problem code of what was read in part, because it is damaged or holds more than its size explains."""

_STEPS_AT_ONCE = 100_000
_SETTLED_NS = 1_000_000_000
"""Where nothing was written for so long, waiting for a writer to end is in vain."""

_NEW_NS = 60 * 1_000_000_000
"""For so long an empty file is one that its program has just made."""

_TRIES = 5
_PAUSE = 0.05
_BUSY_SECONDS = 0.2
_ALWAYS_BUSY = "it keeps being written"
_ENDLESS = "its pages lead to one another: it seems to hold more rows than its size allows"

SQLITE_FAULTS = (sqlite3.Error, UnicodeDecodeError)
"""What reading a damaged database raises: the second where SQLite quotes the damage in its message."""

Found = TypeVar("Found")


class _Moved(Exception):  # noqa: N818 - a finding, met by trying again
    """The database changed while it was read without a lock, or is in the middle of a change."""


class _Mark(NamedTuple):
    """What changes whenever the database does: size, time, file and commit counter, and the same of its `-wal`.

    `logged`: the `-wal` holds what the file does not. `hot`: the `-journal` has to be rolled back, or belongs to a
    transaction that is going on. `broken` are the endings of those that are damaged.
    """

    file: tuple[int, int, int]
    wal: tuple[int, int, int]
    counters: bytes
    logged: bool
    hot: bool
    broken: tuple[str, ...]


def find_databases(platform: Platform, paths: Iterable[Path], problems: list[Problem]) -> list[Database]:
    """Those of `paths` that are files, with their stamps, by stat alone. What cannot be looked at, is no file or has
    been empty for long is a Problem."""
    found: list[Database] = []
    for path in paths:
        try:
            known = path.stat()
            wal = _stamp(_beside(path, "-wal"))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            what = f"This database cannot be read: {reason_of(error)}"
            problems.append(Problem("unreadable", str(path), what))
            continue
        if not stat.S_ISREG(known.st_mode):
            problems.append(Problem("unreadable", str(path), f"{PLATFORM_NAMES[platform]}'s database is not a file"))
        elif not known.st_size and not wal[0] and abs(time.time_ns() - known.st_mtime_ns) > _NEW_NS:
            problems.append(Problem("unreadable", str(path), f"{PLATFORM_NAMES[platform]}'s database is empty"))
        else:
            found.append(Database(platform, path, (known.st_size, known.st_mtime_ns, wal[0], wal[1])))
    return found


def read_database(path: Path, work: Callable[[sqlite3.Connection], Found], problems: list[Problem]) -> Found:
    """What `work` makes of one committed state of the database.

    `work` may be called several times, with the last result taken, so it has no effects and returns nothing lazy. Its
    connection cannot write, and gives TEXT as bytes (see live_rows.py). Raises TranscriptError where the
    database cannot be opened, is none, is damaged, or stays locked. `problems` gets one where only an older state
    could be read.
    """
    try:
        for attempt in range(0 if has_shared_copy(path) else _TRIES):
            before = _mark(path)
            try:
                found = _at_once(path, work, before)
            except _Moved:
                if _mark(path) == before and abs(time.time_ns() - find_last_write(path)) > _SETTLED_NS:
                    break
                if attempt < _TRIES - 1:
                    time.sleep(_PAUSE * 2**attempt)
                continue
            problems += (_passed_over(path, ending) for ending in before.broken)
            return found
        with copy_database(path) as copy:
            if copy is not None:
                with _opened(copy, "mode=rw") as db:
                    return work(db)
        return _before_wal(path, work, problems)
    except SQLITE_FAULTS as error:
        raise _unreadable(path, error) from _cause(error)
    except OSError as error:
        raise TranscriptError(
            f"The database cannot be read: {reason_of(error)}.",
            where=str(path),
            todo="Check that the file is still there and that you may read it.",
        ) from error


def _passed_over(path: Path, ending: str) -> Problem:
    what = f"The {ending} beside this database is damaged; changes stored only there were skipped"
    return Problem(BROKEN_LOG, str(path), f"{what}. Start the program it belongs to, which removes it.")


def _before_wal(path: Path, work: Callable[[sqlite3.Connection], Found], problems: list[Problem]) -> Found:
    """What the file alone says, where its `-wal` can neither be read in place nor copied."""
    before = _mark(path)
    if before.hot or not before.logged:
        raise sqlite3.OperationalError(_ALWAYS_BUSY)
    with _opened(path, "mode=ro&immutable=1") as db:
        found = work(db)
    if _mark(path).file != before.file:
        raise sqlite3.OperationalError(_ALWAYS_BUSY)
    what = (
        "Only an older state of this database could be read: its -wal cannot be opened "
        "and there is not enough space to copy it"
    )
    problems.append(Problem(OLDER_STATE, str(path), f"{what}. Free some space, or start the program it belongs to."))
    return found


def _at_once(path: Path, work: Callable[[sqlite3.Connection], Found], before: _Mark) -> Found:
    if before.hot:
        raise _Moved
    if before.logged:
        return _beside_writers(path, work, before)
    if is_recent_write(before.file[1]) or (before.broken and is_recent_write(before.wal[1])):
        raise _Moved
    try:
        with _opened(path, "mode=ro&immutable=1") as db:
            found = work(db)
    except SQLITE_FAULTS:
        if _mark(path) != before:
            raise _Moved from None
        raise
    if _mark(path) != before:
        raise _Moved
    return found


def _beside_writers(path: Path, work: Callable[[sqlite3.Connection], Found], before: _Mark) -> Found:
    try:
        with _opened(path, "mode=ro&readonly_shm=1") as db:
            return work(db)
    except SQLITE_FAULTS as error:
        if _primary(error) in _CLOSED or _mark(path) != before:
            raise _Moved from error
        raise


_CLOSED = (
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_IOERR,
)


def _primary(error: Exception) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


@contextmanager
def _opened(path: Path, how: str) -> Iterator[sqlite3.Connection]:
    """A connection in one read transaction."""
    db = sqlite3.connect(f"{file_uri(path.absolute())}?{how}", uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
    with closing(db):
        db.text_factory = bytes
        _bound(db, path.stat().st_size + _stamp(_beside(path, "-wal"))[0])
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, CELL_LIMIT)
        db.execute("PRAGMA query_only = ON")
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("BEGIN")
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        yield db


def _bound(db: sqlite3.Connection, size: int) -> None:
    """Ends queries that take more steps than file and `-wal` of this size explain."""
    left = STEPS + STEPS_A_BYTE * size

    def is_too_much() -> bool:
        nonlocal left
        left -= _STEPS_AT_ONCE
        return left < 0

    db.set_progress_handler(is_too_much, _STEPS_AT_ONCE)


def keep_newest_sessions(
    database: Database, sessions: list[Found], age: Callable[[Found], tuple[int, int]], problems: list[Problem]
) -> list[Found]:
    """As many of the sessions as the size of their database explains, those with the greatest `age` first to stay; a
    problem tells of the rest."""
    most = SESSIONS + (database.stamp[0] + database.stamp[2]) // BYTES_A_SESSION
    if len(sessions) <= most:
        return sessions
    what = f"This database holds {len(sessions)} sessions, too many for its size; the newest {most} are read"
    problems.append(Problem(CUT_SHORT, str(database.path), what))
    return nlargest(most, sessions, key=age)


def missing_tables_error(path: Path) -> TranscriptError:
    """The error to raise for a database that lacks the tables its program makes."""
    return TranscriptError(
        "The sessions in this database have a format that this version of Lerim does not know",
        where=str(path),
        todo="Update Lerim. What was read before is kept.",
    )


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        known = path.stat()
    except FileNotFoundError:
        return (0, 0, 0)
    return (known.st_size, known.st_mtime_ns, known.st_ino)


def _mark(path: Path) -> _Mark:
    known = path.stat()
    if not stat.S_ISREG(known.st_mode):
        raise OSError(errno.EINVAL, "it is not a file")
    wal = _stamp(_beside(path, "-wal"))
    log = logs.inspect_wal(_beside(path, "-wal")) if wal[0] else logs.NO_LOG
    journal = logs.inspect_journal(_beside(path, "-journal"), known.st_size)
    # Closing a file gives up every lock this process holds on it: SQLite reads beside writers under locks.
    head = b"" if log.used else _head(path)[24:40]
    broken = tuple(ending for ending, one in (("-wal", log), ("-journal", journal)) if one.damaged)
    stamp = (known.st_size, known.st_mtime_ns, known.st_ino)
    return _Mark(stamp, wal, head, bool(log.used), bool(journal.used), broken)


def _head(path: Path) -> bytes:
    with open_unbuffered(path) as file:
        return file.read(100)


def _unreadable(path: Path, error: sqlite3.Error | UnicodeDecodeError) -> TranscriptError:
    code = _primary(error)
    if error.args == (_ALWAYS_BUSY,):
        code = sqlite3.SQLITE_BUSY
    if _is_damage(error):
        said = _ENDLESS if code == sqlite3.SQLITE_INTERRUPT else str(error)
        if isinstance(error, UnicodeDecodeError):
            said = "SQLite's error message is not text"
        what = f"This file is damaged, or not a database: {said}."
        todo = "Start the program it belongs to, which may repair it. Other sessions are still read."
    elif code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL):
        what = "The program this database belongs to keeps it locked, or keeps writing it."
        todo = "Lerim tries again at the next sync. If this does not help, quit that program."
    else:
        what = f"This database cannot be read: {error}."
        todo = "Check that you may read it and that the disk is not full. Lerim tries again at the next sync."
    return TranscriptError(what, where=str(path), todo=todo)


def _cause(error: sqlite3.Error | UnicodeDecodeError) -> Exception:
    """Being locked passes: it is told as the error of the system that it is, which is tried again unchanged."""
    return error if _is_damage(error) else BlockingIOError(errno.EAGAIN, str(error))


def _is_damage(error: sqlite3.Error | UnicodeDecodeError) -> bool:
    codes = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_INTERRUPT)
    return isinstance(error, UnicodeDecodeError) or _primary(error) in codes
