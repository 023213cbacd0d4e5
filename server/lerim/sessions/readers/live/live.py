"""Reads SQLite databases that belong to another program, which may be writing them now.

Nothing is written, neither to the database nor next to it, and the other program never has to wait for Lerim. Rows that
are only in the `-wal` are seen, uncommitted rows are not: the result of `read_database` is always computed from a
single committed state.

- A database with a filled `-wal` is read in one short transaction, as SQLite intends: readers of a `-wal` do not block
  writers. Its index (`-shm`) is opened read-only, so that it is neither created nor changed.
- Any other database is read without a lock, and the result is thrown away if the file changed meanwhile: a lock would
  make a writer wait.
- If neither works, the file, `-wal` and `-journal` are copied while none of them changes, and the copy is read.
- A `-wal` or `-journal` that is damaged as a whole is ignored, as SQLite does, and never copied (see logs.py).

No query may run longer than the size of its database can explain: pages that point to one another make a few bytes look
like billions of rows.
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
from typing import TypeVar

from lerim.errors import Problem, TranscriptError, error_reason
from lerim.sessions.model import PLATFORM_NAMES, Database, Platform
from lerim.sessions.readers.live.copy import copy_database, has_shared_copy, is_recent_write
from lerim.sessions.readers.live.logs import DatabaseState, read_state, stamp_file
from lerim.sqlite import file_uri

CELL_LIMIT = 64 * 1024 * 1024
"""The longest value that is read, in bytes; a row with a longer one counts as unreadable."""

OLDER_STATE = "older-state"
"""The problem code for a database of which only an older state could be read."""

BROKEN_LOG = "broken-log"
"""The problem code for a database that was read without the damaged `-wal` or `-journal` next to it."""

BASE_STEPS, STEPS_A_BYTE = 5_000_000, 20
"""How many virtual machine steps all queries of one read may take, and how many more for each byte of the database."""

BASE_SESSIONS, BYTES_A_SESSION = 1000, 4096
"""How many sessions are read from any database, and how many of its bytes allow one more: a prompt and its answer
take about that many, including their keys."""

CUT_SHORT = "cut-short"
"""The problem code for a session or database that was read only in part, because it is damaged or contains more than
its size explains."""

_STEPS_AT_ONCE = 100_000
_SETTLED_NS = 1_000_000_000
"""If nothing was written for this long, waiting for a writer to finish is pointless."""

_NEW_NS = 60 * 1_000_000_000
"""An empty file that is younger than this was just created by its program."""

_TRIES = 5
_PAUSE = 0.05
_BUSY_SECONDS = 0.2
_ALWAYS_BUSY = "it keeps being written"
_ENDLESS_PAGES = "its pages lead to one another: it seems to hold more rows than its size allows"

SQLITE_FAULTS = (sqlite3.Error, UnicodeDecodeError)
"""The errors that reading a damaged database raises: the second one if SQLite's message quotes damaged text."""

Found = TypeVar("Found")


class _ChangedMeanwhile(Exception):  # noqa: N818 - not an error: reading is tried again
    """Raised if the database changed while it was read without a lock, or is in the middle of a change: reading is
    tried again."""


def find_databases(platform: Platform, paths: Iterable[Path], problems: list[Problem]) -> list[Database]:
    """Returns those of `paths` that are files, with their stamps, by stat alone. Adds a problem for each one that
    cannot be read, is not a file or has been empty for long."""
    found: list[Database] = []
    for path in paths:
        try:
            file_stat = path.stat()
            wal = stamp_file(Path(f"{path}-wal"))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            what = f"This database cannot be read: {error_reason(error)}"
            problems.append(Problem("unreadable", str(path), what))
            continue
        if not stat.S_ISREG(file_stat.st_mode):
            problems.append(Problem("unreadable", str(path), f"{PLATFORM_NAMES[platform]}'s database is not a file"))
        elif not file_stat.st_size and not wal[0] and abs(time.time_ns() - file_stat.st_mtime_ns) > _NEW_NS:
            problems.append(Problem("unreadable", str(path), f"{PLATFORM_NAMES[platform]}'s database is empty"))
        else:
            found.append(Database(platform, path, (file_stat.st_size, file_stat.st_mtime_ns, wal[0], wal[1])))
    return found


def read_database(path: Path, work: Callable[[sqlite3.Connection], Found], problems: list[Problem]) -> Found:
    """Returns the result of `work` for one committed state of the database.

    `work` may be called several times, and its last result is returned, so it must have no side effects and return
    nothing lazy. Its connection is read-only and returns TEXT as bytes (see rows.py). Raises TranscriptError if the
    database cannot be opened, is not a database, is damaged, or stays locked. Adds a problem if only an older state
    could be read, or a damaged `-wal` or `-journal` was ignored.
    """
    try:
        for attempt in range(0 if has_shared_copy(path) else _TRIES):
            before = read_state(path)
            try:
                found = _read_in_place(path, work, before)
            except _ChangedMeanwhile:
                if read_state(path) == before and abs(time.time_ns() - before.last_write) > _SETTLED_NS:
                    break
                if attempt < _TRIES - 1:
                    time.sleep(_PAUSE * 2**attempt)
                continue
            problems += (_ignored_log_problem(path, ending) for ending in before.broken_suffixes)
            return found
        with copy_database(path) as copy:
            if copy is not None:
                with _open_connection(copy, "mode=rw") as db:
                    return work(db)
        return _read_without_wal(path, work, problems)
    except SQLITE_FAULTS as error:
        raise _unreadable_error(path, error) from _error_cause(error)
    except OSError as error:
        raise TranscriptError(
            f"The database cannot be read: {error_reason(error)}.",
            where=str(path),
            todo="Check that the file is still there and that you may read it.",
        ) from error


def _ignored_log_problem(path: Path, ending: str) -> Problem:
    what = f"The {ending} beside this database is damaged; changes stored only there were skipped"
    return Problem(BROKEN_LOG, str(path), f"{what}. Start the program it belongs to, which removes it.")


def _read_without_wal(path: Path, work: Callable[[sqlite3.Connection], Found], problems: list[Problem]) -> Found:
    """Reads the file alone, if its `-wal` can neither be read in place nor copied."""
    before = read_state(path)
    if before.journal_log.used or not before.wal_log.used:
        raise sqlite3.OperationalError(_ALWAYS_BUSY)
    with _open_connection(path, "mode=ro&immutable=1") as db:
        found = work(db)
    if read_state(path).file != before.file:
        raise sqlite3.OperationalError(_ALWAYS_BUSY)
    what = (
        "Only an older state of this database could be read: its -wal cannot be opened "
        "and there is not enough space to copy it"
    )
    problems.append(Problem(OLDER_STATE, str(path), f"{what}. Free some space, or start the program it belongs to."))
    return found


def _read_in_place(path: Path, work: Callable[[sqlite3.Connection], Found], before: DatabaseState) -> Found:
    has_wal = bool(before.wal_log.used)
    if before.journal_log.used:  # it has to be rolled back, or belongs to a running transaction
        raise _ChangedMeanwhile
    is_recent = is_recent_write(before.file[1]) or (before.broken_suffixes and is_recent_write(before.wal[1]))
    if is_recent and not has_wal:
        raise _ChangedMeanwhile
    try:
        with _open_connection(path, "mode=ro&readonly_shm=1" if has_wal else "mode=ro&immutable=1") as db:
            found = work(db)
    except SQLITE_FAULTS as error:
        is_unreadable = has_wal and _primary_code(error) in _UNREADABLE_WAL_CODES
        if is_unreadable or read_state(path) != before:
            raise _ChangedMeanwhile from error
        raise
    if not has_wal and read_state(path) != before:
        raise _ChangedMeanwhile
    return found


_UNREADABLE_WAL_CODES = (
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_IOERR,
)


def _primary_code(error: Exception) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


@contextmanager
def _open_connection(path: Path, options: str) -> Iterator[sqlite3.Connection]:
    """Opens a connection inside one read transaction."""
    db = sqlite3.connect(
        f"{file_uri(path.absolute())}?{options}", uri=True, timeout=_BUSY_SECONDS, isolation_level=None
    )
    with closing(db):
        db.text_factory = bytes
        _limit_steps(db, path.stat().st_size + stamp_file(Path(f"{path}-wal"))[0])
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, CELL_LIMIT)
        db.execute("PRAGMA query_only = ON")
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("BEGIN")
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        yield db


def _limit_steps(db: sqlite3.Connection, size: int) -> None:
    """Aborts queries that take more steps than a file and `-wal` of this size explain."""
    steps_left = BASE_STEPS + STEPS_A_BYTE * size

    def is_too_much() -> bool:
        nonlocal steps_left
        steps_left -= _STEPS_AT_ONCE
        return steps_left < 0

    db.set_progress_handler(is_too_much, _STEPS_AT_ONCE)


def keep_newest_sessions(
    database: Database, sessions: list[Found], age: Callable[[Found], tuple[int, int]], problems: list[Problem]
) -> list[Found]:
    """Returns as many of the sessions as the size of their database explains: the newest ones, for which `age`
    returns the greatest times. Adds a problem for the rest."""
    limit = BASE_SESSIONS + (database.stamp[0] + database.stamp[2]) // BYTES_A_SESSION
    if len(sessions) <= limit:
        return sessions
    what = f"This database holds {len(sessions)} sessions, too many for its size; the newest {limit} are read"
    problems.append(Problem(CUT_SHORT, str(database.path), what))
    return nlargest(limit, sessions, key=age)


def missing_tables_error(path: Path) -> TranscriptError:
    """Returns the error for a database that lacks the tables its program creates."""
    return TranscriptError(
        "The sessions in this database have a format that this version of Lerim does not know",
        where=str(path),
        todo="Update Lerim. What was read before is kept.",
    )


def _unreadable_error(path: Path, error: sqlite3.Error | UnicodeDecodeError) -> TranscriptError:
    code = _primary_code(error)
    if error.args == (_ALWAYS_BUSY,):
        code = sqlite3.SQLITE_BUSY
    if _is_damage(error):
        reason = _ENDLESS_PAGES if code == sqlite3.SQLITE_INTERRUPT else str(error)
        if isinstance(error, UnicodeDecodeError):
            reason = "SQLite's error message is not text"
        what = f"This file is damaged, or not a database: {reason}."
        todo = "Start the program it belongs to, which may repair it. Other sessions are still read."
    elif code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL):
        what = "The program this database belongs to keeps it locked, or keeps writing it."
        todo = "Lerim tries again at the next sync. If this does not help, quit that program."
    else:
        what = f"This database cannot be read: {error}."
        todo = "Check that you may read it and that the disk is not full. Lerim tries again at the next sync."
    return TranscriptError(what, where=str(path), todo=todo)


def _error_cause(error: sqlite3.Error | UnicodeDecodeError) -> Exception:
    """Returns the cause of the error that is raised. If the database is not damaged, the failure is temporary and
    becomes a system error, so that reading is tried again even if the file does not change."""
    return error if _is_damage(error) else BlockingIOError(errno.EAGAIN, str(error))


def _is_damage(error: sqlite3.Error | UnicodeDecodeError) -> bool:
    codes = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_INTERRUPT)
    return isinstance(error, UnicodeDecodeError) or _primary_code(error) in codes
