"""When memories were last used and how often, and what people said of them: `uses.sqlite3` of a private folder.

A use is a person who accepted, wrote, changed, restored or verified a memory, called it useful, opened it or looked at
its hover, a session that says it again, an answer that cites it, an agent it was served to. What Lerim reads for itself
is none, and no use ever makes a memory truer. Nothing here raises: what cannot be read counts as unused, what cannot be
written is lost, and both are told in `problems`.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, TypeVar

from filelock import FileLock

from lerim.errors import MemoryError_, Problem, reason_of
from lerim.memory.store import Stored

How = Literal["kept", "said", "useful", "opened", "hovered", "cited", "served"]
Said = Literal["useful", "wrong", "outdated"]

VERSION = 1
_WAIT_SECONDS = 2.0
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SCHEMA = """
CREATE TABLE uses (
    memory TEXT NOT NULL, how TEXT NOT NULL, last INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (memory, how)
) WITHOUT ROWID;
CREATE TABLE feedback (memory TEXT NOT NULL, what TEXT NOT NULL, at INTEGER NOT NULL);
CREATE INDEX feedback_memory ON feedback (memory, at);
"""
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_FEW = 500
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Used:
    """When a memory was last used, and how often."""

    last: datetime
    count: int


class Uses:
    """The uses of the memories of one scope; nothing is made on disk before the first is noted. Safe across threads
    and processes."""

    def __init__(self, private_dir: Path) -> None:
        self.path = private_dir / "uses.sqlite3"
        self.problems: list[Problem] = []

    def note(self, ids: Iterable[str], how: How, at: datetime) -> None:
        """Count one use of each of these memories at this time."""
        rows = [(one, how, _micros(at)) for one in dict.fromkeys(ids)]
        if rows:
            self._changed(lambda db: db.executemany(_NOTE, rows))

    def feedback(self, memory_id: str, what: Said, at: datetime) -> None:
        """Keep what a person said of a memory."""
        self._changed(lambda db: db.execute("INSERT INTO feedback VALUES (?, ?, ?)", (memory_id, what, _micros(at))))

    def last(self, memory_id: str) -> datetime | None:
        """When a memory was last used; None for one that never was."""
        used = self.of([memory_id]).get(memory_id)
        return used.last if used else None

    def of(self, ids: Iterable[str]) -> dict[str, Used]:
        """The uses of these memories, those that were ever used."""
        wanted = list(dict.fromkeys(ids))

        def read(db: sqlite3.Connection) -> dict[str, Used]:
            found: dict[str, Used] = {}
            for at in range(0, len(wanted), _FEW):
                part = wanted[at : at + _FEW]
                marks = ",".join("?" * len(part))
                found |= _used(db.execute(f"{_SUMS} WHERE memory IN ({marks}) GROUP BY memory", part))
            return found

        return self._read(read, {})

    def all(self) -> dict[str, Used]:
        """Every memory that was ever used."""
        return self._read(lambda db: _used(db.execute(f"{_SUMS} GROUP BY memory")), {})

    def said(self) -> dict[str, tuple[Said, datetime]]:
        """What people said last of the memories they said something of."""
        query = "SELECT memory, what, max(at) FROM feedback GROUP BY memory"
        return self._read(lambda db: {one: (what, _time(at)) for one, what, at in db.execute(query)}, {})

    def unsay(self, memory_id: str) -> None:
        """Forget what was said last of a memory."""
        last = "SELECT rowid FROM feedback WHERE memory = ? ORDER BY at DESC, rowid DESC LIMIT 1"
        self._changed(lambda db: db.execute(f"DELETE FROM feedback WHERE rowid = ({last})", (memory_id,)))

    def kept(self) -> dict[str, datetime]:
        """When a person last did to a memory what is done only with one that shall stay."""
        query = "SELECT memory, last FROM uses WHERE how = 'kept'"
        return self._read(lambda db: {memory: _time(last) for memory, last in db.execute(query)}, {})

    def _read(self, work: Callable[[sqlite3.Connection], Result], nothing: Result) -> Result:
        try:
            if not self.path.exists():
                return nothing
            with self._opened() as db:
                return work(db)
        except (sqlite3.Error, OSError, MemoryError_) as error:
            self._tell(error)
            return nothing

    def _changed(self, work: Callable[[sqlite3.Connection], object]) -> None:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600))
            with self._opened() as db:
                db.execute("BEGIN IMMEDIATE")
                work(db)
                db.execute("COMMIT")
        except (sqlite3.Error, OSError, MemoryError_) as error:
            self._tell(error)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """The database, made anew where it was damaged."""
        try:
            db = self._connected()
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGED:
                raise
            self._set_aside()
            db = self._connected()
        with closing(db):
            yield db

    def _connected(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=_WAIT_SECONDS, isolation_level=None)
        try:
            db.execute("PRAGMA trusted_schema=OFF")
            db.execute("PRAGMA synchronous=NORMAL")
            if self._version(db) < VERSION:
                db.execute("BEGIN IMMEDIATE")
                if self._version(db) < VERSION:  # another process made it meanwhile
                    for statement in _SCHEMA.split(";")[:-1]:
                        db.execute(statement)
                    db.execute(f"PRAGMA user_version = {VERSION}")
                db.execute("COMMIT")
        except BaseException:
            db.close()
            raise
        return db

    def _version(self, db: sqlite3.Connection) -> int:
        version = int(db.execute("PRAGMA user_version").fetchone()[0])
        if version > VERSION:
            message = f"A newer Lerim keeps the uses of memories (form {version}, this one knows {VERSION})."
            raise MemoryError_(message, where=str(self.path), todo="Update Lerim.")
        return version

    def _set_aside(self) -> None:
        """Keeps a damaged database under another name, unless another process did so meanwhile."""
        with FileLock(self.path.with_suffix(".lock"), timeout=_WAIT_SECONDS, mode=0o600):
            try:
                self._connected().close()
                return
            except sqlite3.DatabaseError:
                pass  # it is damaged indeed
            aside = self.path.with_name(f"{self.path.name}.damaged-copy")
            self.path.with_name(f"{self.path.name}-journal").unlink(missing_ok=True)
            self.path.replace(aside)
        message = (
            f"The record of uses was damaged; it is kept as {aside.name}, and memories count as unused until used."
        )
        self._add(Problem("uses", str(self.path), message))

    def _tell(self, error: Exception) -> None:
        if isinstance(error, MemoryError_):
            self._add(error.problem(code="uses"))
            return
        todo = "Check the rights of the file and the disk's free space."
        self._add(Problem("uses", str(self.path), f"The uses of memories cannot be kept: {reason_of(error)}. {todo}"))

    def _add(self, problem: Problem) -> None:
        if problem not in self.problems:
            self.problems.append(problem)


def unused_since(stored: Stored, last: datetime | None) -> datetime:
    """Since when nobody used a memory, of which the `last` use is known or none is: its own times count, too.

    The time of its file tells nothing: git writes files, too.
    """
    known = [stored.record.updated, last or stored.record.updated]
    with suppress(ValueError):
        known.append(datetime.fromisoformat(stored.record.verified[:10]).replace(tzinfo=UTC))
    return max(known)


_SUMS = "SELECT memory, max(last), sum(count) FROM uses"
_NOTE = (
    "INSERT INTO uses VALUES (?, ?, ?, 1) "
    "ON CONFLICT (memory, how) DO UPDATE SET last = max(last, excluded.last), count = count + 1"
)


def _used(rows: Iterable[tuple[str, int, int]]) -> dict[str, Used]:
    return {memory: Used(_time(last), count) for memory, last, count in rows}


def _micros(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(microseconds=1)


def _time(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)
