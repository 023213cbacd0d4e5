"""The full-text index of one folder of memories: derived from the files, deleted without loss.

An index file is opened only if this installation made it: its device, inode and a nonce are noted in the private
folder. While it is written the note is gone, so that a kill, like a file brought by a repository, leads to a new index
and never to a damaged or foreign one. For the same reason there is no journal on disk: a planted one is never found.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from filelock import FileLock, Timeout

from lerim.errors import LerimError, MemoryError_, Problem
from lerim.memory import files
from lerim.memory.record import MemoryRecord
from lerim.memory.store import Found, Stamp
from lerim.memory.terms import indexed

VERSION = 3
WEIGHTS = (10.0, 6.0, 5.0, 2.0, 1.0)
"""Of title, tags, references, body and quotes."""
COMMON = 2_000
"""A word that so many memories have tells little about any of them."""
RANKED = 1_000
_KEPT_COUNTS = 2_000
_SCORE = f"bm25(words, {', '.join(map(str, WEIGHTS))})"
_SCHEMA = f"""
CREATE TABLE meta (nonce TEXT NOT NULL);
CREATE TABLE files (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, mtime INTEGER NOT NULL, size INTEGER NOT NULL,
    inode INTEGER NOT NULL, archived INTEGER NOT NULL, updated TEXT NOT NULL, problems TEXT NOT NULL
);
CREATE INDEX files_updated ON files (archived, updated);
CREATE VIRTUAL TABLE words USING fts5 (
    title, tags, places, body, quotes, tokenize = "porter unicode61 remove_diacritics 2 tokenchars '_'"
);
PRAGMA user_version = {VERSION};
"""
_WAIT_SECONDS = 2
_SIBLINGS = ("-wal", "-shm", "-journal")


class _Note(msgspec.Struct, frozen=True):
    """What makes an index ours."""

    device: int
    inode: int
    nonce: str
    folder: str


@dataclass(frozen=True, slots=True)
class Read:
    """A found file and what reading it gave: no record where it cannot be read, and what is wrong with it."""

    found: Found
    record: MemoryRecord | None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Spot:
    """Where an index lies: its file, the folder below which no link is followed, and the private folder."""

    path: Path
    anchor: Path
    private: Path

    @property
    def note(self) -> Path:
        """The file that says this index is ours."""
        return self.private / f"index-{self.path.stem}.json"


class Index:
    """One open index of `folder`'s memories; with no `spot`, one that lives in memory alone. Safe across threads."""

    def __init__(self, folder: Path, spot: Spot | None = None) -> None:
        """Open or make the index. Raises MemoryError_ or BoundaryError where that is not possible."""
        self.folder = folder
        self._spot = spot
        self._lock = threading.RLock()
        self._nonce = ""
        self._stamps: dict[str, tuple[int, Stamp]] | None = None
        self._version = -1
        self._counts: dict[str, int] = {}
        if spot is None:
            self._sql = _connect(":memory:")
            self._sql.executescript(_SCHEMA)
            return
        with _exclusive(spot):
            self._open(spot)

    def close(self) -> None:
        self._sql.close()

    def stale(self, found: Sequence[Found]) -> tuple[list[Found], list[str]]:
        """Which of the files there are must be read again, and which indexed ones are gone. Raises MemoryError_."""
        with self._lock:
            if self._spot is not None and not self._ours(self._spot):
                with _exclusive(self._spot):
                    self._reopen(self._spot)
            known = self._known()
            changed = [one for one in found if known.get(one.name, (0, None))[1] != one.stamp]
            present = {one.name for one in found}
            return changed, [name for name in known if name not in present]

    def update(self, read: Iterable[Read], gone: Iterable[str] = ()) -> bool:
        """Take over files that were read (an unreadable one is known, without words) and forget what is gone.

        False, and nothing done, where the index was another's meanwhile: ask `stale` again. Raises MemoryError_ if it
        cannot be written.
        """
        with self._lock, _exclusive(self._spot) if self._spot else contextlib.nullcontext():
            if self._spot is not None and not self._ours(self._spot):
                self._reopen(self._spot)
                return False
            self._counts.clear()
            try:
                if self._spot:
                    self._spot.note.unlink(missing_ok=True)
                self._write(read, gone)
                if self._spot:
                    self._sign(self._spot)
            except (sqlite3.Error, OSError) as error:
                self._stamps = None
                raise _unusable(error, self._spot) from error
            return True

    def count(self, query: str) -> int:
        """How many memories match an FTS5 query, counted up to COMMON. Asked once until `update`."""
        known = self._counts.get(query)
        if known is None:
            if len(self._counts) >= _KEPT_COUNTS:
                self._counts.clear()
            found = "SELECT 1 FROM words WHERE words MATCH ? LIMIT ?"
            known = int(self._rows(f"SELECT count(*) FROM ({found})", (query, COMMON))[0][0])
            self._counts[query] = known
        return known

    def match(
        self, query: str, likely: Sequence[str], limit: int, *, archived: bool, most: int = RANKED
    ) -> list[tuple[str, float]]:
        """The files matching an FTS5 query, best first, with their score (smaller is better). Raises MemoryError_.

        Ranking costs by the row. Where more than `most` match, only these are ranked: what matches the `likely`
        queries, one after the other until one of them gives `most`, and last whatever else matches; of each the `most`
        that were indexed last.
        """
        where, values = "", list[str | int]()
        if self._rows("SELECT 1 FROM words WHERE words MATCH ? LIMIT 1 OFFSET ?", (query, most)):
            pool: set[int] = set()
            last = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?"
            for one in (*likely, query):
                found = self._rows(last, (one, most))
                pool.update(row[0] for row in found)
                if len(found) == most:
                    break
            # `+`: FTS5 would look each row up by a search of its own
            where = " AND words.rowid >= ? AND +words.rowid IN (SELECT value FROM json_each(?))"
            values += (min(pool), json.dumps(list(pool)))
        live = "" if archived else " AND files.archived = 0"
        rows = self._rows(
            f"SELECT files.path, {_SCORE} AS score FROM words JOIN files ON files.id = words.rowid "
            f"WHERE words MATCH ?{where}{live} ORDER BY score LIMIT ?",
            (query, *values, limit),
        )
        return [(name, score) for name, score in rows]

    def newest(self, limit: int, *, archived: bool) -> list[tuple[str, float]]:
        """The files by the time their memory was last changed, newest first."""
        where = "" if archived else " WHERE archived = 0"
        rows = self._rows(f"SELECT path FROM files{where} ORDER BY updated DESC, path LIMIT ?", (limit,))
        return [(row[0], 0.0) for row in rows]

    def problems(self) -> list[Problem]:
        """What is wrong with the files as they were read last."""
        rows = self._rows("SELECT path, problems FROM files WHERE problems != '[]' ORDER BY path", ())
        return [problem for _, told in rows for problem in msgspec.json.decode(told, type=list[Problem])]

    def _rows(self, query: str, values: tuple[str | int, ...]) -> list[Any]:
        with self._lock:
            try:
                return self._sql.execute(query, values).fetchall()
            except sqlite3.Error as error:
                raise _unusable(error, self._spot) from error

    def _write(self, read: Iterable[Read], gone: Iterable[str]) -> None:
        known = self._known()
        with self._sql:
            self._sql.execute("BEGIN IMMEDIATE")
            for name in gone:
                self._forget(known.pop(name, None))
            for one in read:
                name = one.found.name
                self._forget(known.pop(name, None))
                updated = one.record.updated.isoformat() if one.record else ""
                told = msgspec.json.encode(one.problems).decode()
                row = self._sql.execute(
                    "INSERT INTO files (path, mtime, size, inode, archived, updated, problems) VALUES (?,?,?,?,?,?,?)",
                    (name, *_signed(one.found.stamp), one.found.archived, updated, told),
                )
                known[name] = (row.lastrowid or 0, one.found.stamp)
                if one.record is not None:
                    self._sql.execute(
                        "INSERT INTO words (rowid, title, tags, places, body, quotes) VALUES (?,?,?,?,?,?)",
                        (row.lastrowid, *_fields(one.record)),
                    )

    def _forget(self, known: tuple[int, Stamp] | None) -> None:
        if known is not None:
            self._sql.execute("DELETE FROM files WHERE id = ?", (known[0],))
            self._sql.execute("DELETE FROM words WHERE rowid = ?", (known[0],))

    def _known(self) -> dict[str, tuple[int, Stamp]]:
        """What is indexed, read anew only if another process wrote since."""
        version = self._sql.execute("PRAGMA data_version").fetchone()[0]
        if self._stamps is None or version != self._version:
            rows = self._sql.execute("SELECT path, id, mtime, size, inode FROM files")
            self._stamps = {row[0]: (row[1], _unsigned(row[2:5])) for row in rows}
            self._version = version
        return self._stamps

    def _reopen(self, spot: Spot) -> None:
        """Another process made the index anew, or somebody deleted it: take what is there, or make one."""
        if not self._ours(spot):  # it is, if the other was only writing when we looked
            self._sql.close()
            self._nonce = ""
            self._open(spot)

    def _open(self, spot: Spot) -> None:
        """Open our own index, or make a new one in its place; the lock is held."""
        try:
            files.inside(spot.anchor, spot.path.parent)
            files.make_folder(spot.path.parent)
            for suffix in _SIBLINGS:
                Path(f"{spot.path}{suffix}").unlink(missing_ok=True)
            self._stamps = None
            if self._ours(spot) and self._resume(spot):
                return
            spot.note.unlink(missing_ok=True)
            spot.path.unlink(missing_ok=True)  # of a link, the link
            os.close(os.open(spot.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            self._sql = _connect(str(spot.path))
            self._sql.executescript(f"BEGIN;{_SCHEMA}COMMIT;")
            self._nonce = secrets.token_hex(16)
            with self._sql:
                self._sql.execute("INSERT INTO meta VALUES (?)", (self._nonce,))
            self._sign(spot)
        except (sqlite3.Error, OSError) as error:
            raise _unusable(error, spot) from error

    def _resume(self, spot: Spot) -> bool:
        """Use the index that is there, if it holds our nonce."""
        note = _note(spot)
        try:
            connection = _connect(str(spot.path))
        except sqlite3.DatabaseError:
            return False  # damaged: it is made anew
        try:
            nonce = connection.execute("SELECT nonce FROM meta").fetchone()
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if note is not None and nonce == (note.nonce,) and version == VERSION:
                self._nonce, self._sql = note.nonce, connection
                return True
        except sqlite3.DatabaseError:
            pass  # as above
        connection.close()
        return False

    def _ours(self, spot: Spot) -> bool:
        note = _note(spot)
        if note is None or note.folder != str(self.folder) or (self._nonce and note.nonce != self._nonce):
            return False
        try:
            state = spot.path.lstat()
        except OSError:
            return False
        return (state.st_dev, state.st_ino) == (note.device, note.inode) and not spot.path.is_symlink()

    def _sign(self, spot: Spot) -> None:
        state = spot.path.lstat()
        note = _Note(state.st_dev, state.st_ino, self._nonce, str(self.folder))
        files.replace(spot.note, msgspec.json.encode(note).decode(), 0o600)


def _connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_WAIT_SECONDS, check_same_thread=False, isolation_level=None)
    try:
        for pragma in ("trusted_schema=OFF", "journal_mode=MEMORY", "synchronous=OFF", "cache_size=-4000"):
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _exclusive(spot: Spot) -> Iterator[None]:
    """One process at a time opens or writes an index."""
    files.make_folder(spot.private, 0o700)
    try:
        with FileLock(spot.private / "index.lock", timeout=_WAIT_SECONDS, mode=0o600):
            yield
    except Timeout as error:
        raise MemoryError_("Another process is writing the index.", where=str(spot.path), todo="Try again.") from error
    except OSError as error:
        raise _unusable(error, spot) from error


def _note(spot: Spot) -> _Note | None:
    try:
        return msgspec.json.decode(files.read_text(spot.note, 4096), type=_Note)
    except (LerimError, msgspec.MsgspecError):
        return None


def _unusable(error: Exception, spot: Spot | None) -> MemoryError_:
    where = str(spot.path) if spot else "memory"
    return MemoryError_(f"The index cannot be used: {error}.", where=where, todo="Make its folder writable.")


def _fields(record: MemoryRecord) -> tuple[str, str, str, str, str]:
    quotes = "\n".join(item.quote for item in record.evidence)
    labels = "\n".join((*record.tags, record.kind or ""))
    texts = (record.title, labels, "\n".join(record.references), record.body, quotes)
    title, tags, places, body, said = map(indexed, texts)
    return title, tags, places, body, said


def _signed(stamp: Stamp) -> Stamp:
    """SQLite's integers end at 2^63; inodes of some file systems do not."""
    return (stamp[0], stamp[1], stamp[2] - (1 << 63))


def _unsigned(stamp: Sequence[int]) -> Stamp:
    return (stamp[0], stamp[1], stamp[2] + (1 << 63))
