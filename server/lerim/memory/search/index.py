"""The full-text index of one folder of memories: derived from the files, so it can be deleted without loss."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from lerim import sqlite
from lerim.errors import Problem
from lerim.files import Directory, open_directory
from lerim.memory.lifecycle import Status
from lerim.memory.search.filters import MemoryFilters, facet_expressions
from lerim.memory.search.index_location import IndexLocation, connect_index, unusable_index_error
from lerim.memory.search.index_rows import (
    ENDED_OFFSET,
    INDEX_SCHEMA,
    INDEX_VERSION,
    ReadMemory,
    add_rows,
    delete_rows,
    first_row,
    merge_segments,
    row_of,
    set_merging,
    settle_statuses,
    to_unsigned,
    whole_seconds,
)
from lerim.memory.search.ranking import RankedMemory
from lerim.memory.store import FileStamp, MemoryFile

WEIGHTS = (10.0, 6.0, 5.0, 2.0, 1.0, 0.0)
"""The weights of title, tags, references, body, quotes and facets."""
COMMON_WORD_COUNT = 2_000
"""A word in this many memories says little about any of them."""
MAX_RANKED = 500
_ENOUGH_RANKED = 3
"""How many times more rows than wanted are ranked before less likely ones are left out."""
_MAX_CACHED_COUNTS = 50_000
_SCORE = f"bm25(words, {', '.join(map(str, WEIGHTS))})"
_RANKED_COLUMNS = "id, path, memory, said, shown, updated, confidence, fades"
_BATCH_SIZE = 2_000
_SYNONYMS = "\0synonyms"  # where `has_synonyms` is cached: no FTS5 query is called that
_NEWEST_FIRST = "ORDER BY rowid DESC LIMIT ?"
_BEST_FIRST = "ORDER BY score, rowid DESC LIMIT ?"
_LAST_CHARACTER = "\U0010ffff"
_VERSIONS = count(1)
R = TypeVar("R")
_SIDE_FILES = ("-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class IndexFilter:
    """The filters of a search in terms of the index: FTS5 queries that must all match, ranges of rows in ascending
    order, the only rows that count, and rows that do not count."""

    facets: tuple[str, ...]
    row_ranges: tuple[tuple[int, int], ...]
    only_rows: frozenset[int] | None
    excluded_rows: frozenset[int]


class MemoryIndex:
    """An open index of `folder`'s memories; without a `location`, it exists in memory only. Safe across threads."""

    def __init__(self, folder: Path, location: IndexLocation | None = None) -> None:
        """Opens or creates the index. Raises MemoryError_ or BoundaryError if that is not possible."""
        self.folder = folder
        self._location = location
        self._lock = threading.RLock()
        self._nonce = ""
        self._stamps: dict[str, tuple[int, FileStamp]] | None = None
        self._data_version = -1
        self._counts: dict[str, int] = {}
        self.version = next(_VERSIONS)
        """Changes with each `update`, also by another process once that was noticed. No two indexes have the same."""
        if location is None:
            self._sql = connect_index(None)
            sqlite.run_script(self._sql, INDEX_SCHEMA)
            return
        with location.write_lock():
            self._open(location)

    def close(self) -> None:
        self._sql.close()

    def find_outdated(self, found: Sequence[MemoryFile]) -> tuple[list[MemoryFile], list[str]]:
        """Returns the files to read again, and the names of indexed files that are gone. Raises MemoryError_."""
        with self._lock:
            if self._location is not None and not self._location.is_ours(self.folder, self._nonce):
                with self._location.write_lock():
                    self._reopen(self._location)
            known = self._indexed_files()
            changed = [one for one in found if known.get(one.name, (0, None))[1] != one.stamp]
            present = {one.name for one in found}
            return changed, [name for name in known if name not in present]

    def update(self, read: Iterable[ReadMemory], gone: Iterable[str] = ()) -> bool:
        """Stores files that were read (an unreadable one without words) and removes those that are gone.

        Returns False, and does nothing, if another process replaced the index in the meantime: call `find_outdated`
        again. Raises MemoryError_ if the index cannot be written.
        """
        with self._lock, self._location.write_lock() if self._location else contextlib.nullcontext():
            if self._location is not None and not self._location.is_ours(self.folder, self._nonce):
                self._reopen(self._location)
                return False
            self._begin_version()
            try:
                if self._location:
                    self._location.note_path.unlink(missing_ok=True)
                self._write_rows(read, gone)
                if self._location:
                    self._location.write_note(self.folder, self._nonce)
            except (sqlite3.Error, OSError) as error:
                self._stamps = None
                raise unusable_index_error(error, self._location) from error
            return True

    def count(self, query: str) -> int:
        """Returns how many memories match an FTS5 query, counted up to COMMON_WORD_COUNT. Cached until `update`."""
        return self._count_once(query, "SELECT 1 FROM words WHERE words MATCH ? LIMIT ?", (query, COMMON_WORD_COUNT))

    def _count_once(self, name: str, rows: str, values: tuple[str | int, ...] = ()) -> int:
        known = self._counts.get(name)
        if known is None:  # another thread may clear the counts at any time
            if len(self._counts) >= _MAX_CACHED_COUNTS:
                self._counts.clear()
            known = self._counts[name] = int(self._rows(f"SELECT count(*) FROM ({rows})", values)[0][0])
        return known

    def list_stems(self, beginning: str, shortest: int, longest: int) -> list[str]:
        """Returns the stems of all words that begin with these letters and have this length. Raises MemoryError_."""
        self._rows("CREATE VIRTUAL TABLE IF NOT EXISTS temp.stems USING fts5vocab(main, words, row)", ())
        query = "SELECT term FROM temp.stems WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?"
        return [row[0] for row in self._rows(query, (beginning, f"{beginning}{_LAST_CHARACTER}", shortest, longest))]

    def has_synonyms(self) -> bool:
        """Returns whether any memory gives a thing another name. Cached until `update`. Raises MemoryError_."""
        return self._count_once(_SYNONYMS, "SELECT 1 FROM synonyms LIMIT 1") > 0

    def find_synonyms(self, names: Sequence[str]) -> dict[str, list[str]]:
        """Returns the other names that active memories use for these, most frequent first. Raises MemoryError_."""
        query = (
            "SELECT name, other FROM synonyms WHERE row >= 0 AND name IN (SELECT value FROM json_each(?))"
            " GROUP BY name, other ORDER BY count(*) DESC, other"
        )
        found: dict[str, list[str]] = {}
        for name, other in self._rows(query, (json.dumps(names),)):
            found.setdefault(name, []).append(other)
        return found

    def total(self) -> int:
        """Returns how many memories can be found."""
        return self._count_once("", "SELECT 1 FROM files WHERE memory != ''")

    def active_rows(self, query: str, limit: int) -> list[int]:
        """Returns the rows of active memories that match an FTS5 query, the last changed first."""
        found = f"SELECT rowid FROM words WHERE rowid >= 0 AND words MATCH ? {_NEWEST_FIRST}"
        return [row[0] for row in self._rows(found, (query, limit))]

    def stored_texts(self, rows: Iterable[int]) -> list[tuple[str, str, str]]:
        """Returns the id, title and body of each of these memories; title and body in the form of `index_text`."""
        wanted = "SELECT value FROM json_each(?)"
        query = f"SELECT memory, title, body FROM words JOIN files ON id = words.rowid WHERE words.rowid IN ({wanted})"
        return [(row[0], row[1], row[2]) for row in self._rows(query, (json.dumps(list(rows)),))]

    def make_filter(
        self, filters: MemoryFilters, only: Iterable[str] | None = None, excluded: Iterable[str] = ()
    ) -> IndexFilter:
        """Translates filters for this index. `only` are the ids of the only memories that count, `excluded` of
        those that do not."""
        rows = None if only is None else self._rows_of(only)
        if filters.session_prefix:
            query = "SELECT id FROM files WHERE session >= ? AND session < ?"
            own = {
                row[0]
                for row in self._rows(query, (filters.session_prefix, f"{filters.session_prefix}{_LAST_CHARACTER}"))
            }
            rows = own if rows is None else rows & own
        low = 0 if filters.since is None else first_row(whole_seconds(filters.since))
        high = ENDED_OFFSET - 1 if filters.until is None else first_row(whole_seconds(filters.until)) - 1
        halves = [
            base
            for base, has in ((-ENDED_OFFSET, filters.statuses != ("active",)), (0, "active" in filters.statuses))
            if has
        ]
        spans = tuple((base + low, base + high) for base in halves if low <= high)
        counted = None if rows is None else frozenset(rows)
        facets = tuple(group and f"facets : ({group})" for group in facet_expressions(filters))
        return IndexFilter(facets, spans, counted, frozenset(self._rows_of(excluded)))

    def match(
        self, query: str, likely: Sequence[str], row_filter: IndexFilter, limit: int, most: int = MAX_RANKED
    ) -> list[tuple[int, float]]:
        """Returns the rows that match an FTS5 query, best first, with their score (smaller is better). Raises
        MemoryError_.

        The cost of ranking grows with the rows. If more than `most` match, only some are ranked: those matching the
        `likely` queries, one after the other until one of them returns `most` or there are enough, and finally any
        other match. Each query contributes the `most` rows that were changed last.
        """
        enough = max(_ENOUGH_RANKED * limit, most // _ENOUGH_RANKED)
        if self._select_rows(row_filter, "rowid", f"({query})", "LIMIT 1 OFFSET ?", most):
            pool: set[int] = set()
            for one in (*likely, query):
                found = self._select_rows(row_filter, "rowid", f"({one})", _NEWEST_FIRST, most)
                pool.update(row[0] for row in found)
                if len(found) == most or len(pool) >= enough:
                    break
            row_filter = IndexFilter((), ((min(pool), max(pool)),), frozenset(pool), frozenset())
        return self._select_rows(row_filter, f"rowid, {_SCORE} AS score", f"({query})", _BEST_FIRST, limit)

    def newest(self, row_filter: IndexFilter, limit: int) -> list[int]:
        """Returns the rows of the memories that were changed last, newest first."""
        halves = [
            self._select_rows(replace(row_filter, row_ranges=(span,)), "rowid", "", _NEWEST_FIRST, limit)
            for span in row_filter.row_ranges
        ]
        rows = [row[0] for half in halves for row in half]
        return sorted(rows, key=lambda row: row % ENDED_OFFSET, reverse=True)[:limit]

    def count_rows(self, row_filter: IndexFilter) -> int:
        """Returns how many memories pass a filter."""
        counts = self._select_rows(row_filter, "count(*)", "", "LIMIT ?", 1)
        return int(counts[0][0]) if counts else 0

    def _select_rows(self, row_filter: IndexFilter, columns: str, query: str, order: str, limit: int) -> list[Any]:
        if not row_filter.row_ranges or not all(row_filter.facets):
            return []
        asked = " AND ".join(filter(None, (query, *row_filter.facets)))
        where = " AND words MATCH ?" if asked else ""
        values: list[str | int] = [asked] if asked else []
        # `+` keeps FTS5 from looking up each row with a separate search
        if len(row_filter.row_ranges) > 1:
            where += f" AND ({' OR '.join('+rowid BETWEEN ? AND ?' for _ in row_filter.row_ranges)})"
            values += [bound for span in row_filter.row_ranges for bound in span]
        for rows, how in ((row_filter.only_rows, "IN"), (row_filter.excluded_rows or None, "NOT IN")):
            if rows is not None:
                where += f" AND {'+' if asked else ''}rowid {how} (SELECT value FROM json_each(?))"
                values.append(json.dumps(list(rows)))
        bounds = (row_filter.row_ranges[0][0], row_filter.row_ranges[-1][1])
        # without a query, the small table is enough: `words` contains every text
        table = "words" if asked else "files"
        where += "" if asked else " AND memory != ''"
        query = f"SELECT {columns} FROM {table} WHERE rowid >= ? AND rowid <= ?{where} {order}"
        return self._rows(query, (*bounds, *values, limit))

    def ranked_memories(self, rows: Sequence[int]) -> list[RankedMemory]:
        """Returns what the index knows about these rows, in their order."""
        query = f"SELECT {_RANKED_COLUMNS} FROM files WHERE id IN (SELECT value FROM json_each(?))"
        found = {row[0]: RankedMemory(*row) for row in self._rows(query, (json.dumps(rows),))}
        return [found[row] for row in rows if row in found]

    def rows_present(self, found: Iterable[RankedMemory]) -> set[int]:
        """Returns the rows of another index whose memory is in this one, too, by id or with the same title and body: in
        the same status, or in any status here if it is active there."""
        query = "SELECT 1 FROM files WHERE (memory = ? OR said = ?) AND ? IN (shown, 'active') LIMIT 1"
        return {one.row for one in found if self._rows(query, (one.memory, one.text_hash, one.status))}

    def shown_status(self, name: str) -> Status | None:
        """Returns the status of the memory in this file; None if the index does not have it. Raises MemoryError_."""
        rows = self._rows("SELECT shown FROM files WHERE path = ? AND memory != ''", (name,))
        return rows[0][0] if rows else None

    def run_query(self, query: Callable[[sqlite3.Connection], R]) -> R:
        """Runs a query on the index. Raises MemoryError_."""
        with self._lock:
            try:
                return query(self._sql)
            except sqlite3.Error as error:
                raise unusable_index_error(error, self._location) from error

    def problems(self) -> list[Problem]:
        """Returns the problems found when the files were last read."""
        rows = self._rows("SELECT path, problems FROM files WHERE problems != '[]' ORDER BY path", ())
        return [problem for _, told in rows for problem in msgspec.json.decode(told, type=list[Problem])]

    def _rows(self, query: str, values: tuple[str | int, ...]) -> list[Any]:
        return self.run_query(lambda sql: sql.execute(query, values).fetchall())

    def _rows_of(self, memories: Iterable[str]) -> set[int]:
        query = "SELECT id FROM files WHERE memory IN (SELECT value FROM json_each(?))"
        names = list(memories)
        return {row[0] for row in self._rows(query, (json.dumps(names),))} if names else set()

    def _write_rows(self, read: Iterable[ReadMemory], gone: Iterable[str]) -> None:
        known = self._indexed_files()
        with sqlite.transaction(self._sql):
            for name in gone:
                _drop_row(self._sql, known, name)
            rest, many = iter(read), False
            while some := list(islice(rest, _BATCH_SIZE)):
                if len(some) == _BATCH_SIZE and not many:
                    many = True
                    set_merging(self._sql, False)
                # in row order: FTS5 flushes its buffer when a row number is lower than the last
                for at, one in sorted(((row_of(one), one) for one in some), key=lambda pair: pair[0]):
                    _drop_row(self._sql, known, one.file.name)
                    known[one.file.name] = (add_rows(self._sql, at, one), one.file.stamp)
            if settle_statuses(self._sql):
                self._stamps = None
            if many:
                set_merging(self._sql, True)
                merge_segments(self._sql)

    def _indexed_files(self) -> dict[str, tuple[int, FileStamp]]:
        """Returns the row and stamp of each indexed file, by name; read again only if another process has written."""
        data_version = self._rows("PRAGMA data_version", ())[0][0]
        if data_version != self._data_version:
            self._data_version = data_version
            self._stamps = None
            self._begin_version()
        if self._stamps is None:
            rows = self._rows("SELECT path, id, mtime, size, inode FROM files", ())
            self._stamps = {row[0]: (row[1], to_unsigned(row[2:5])) for row in rows}
        return self._stamps

    def _begin_version(self) -> None:
        self._counts.clear()
        self.version = next(_VERSIONS)

    def _reopen(self, location: IndexLocation) -> None:
        # it is ours if another process was only writing when we checked
        if not location.is_ours(self.folder, self._nonce):
            self._sql.close()
            self._nonce = ""
            self._open(location)

    def _open(self, location: IndexLocation) -> None:
        """Opens our index, or creates a new one in its place. The caller has the lock."""
        try:
            with open_directory(location.path.parent, location.anchor, make=0o777) as folder:
                for suffix in _SIDE_FILES:
                    _unlink(folder, f"{location.path.name}{suffix}")
                self._data_version = -1
                if location.is_ours(self.folder, self._nonce) and self._resume(location):
                    return
                location.keep_out_of_git()
                location.note_path.unlink(missing_ok=True)
                _unlink(folder, location.path.name)  # if it is a symbolic link, only the link
                os.close(folder.open(location.path.name, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            self._sql = connect_index(location.path)
            self._nonce = secrets.token_hex(16)
            with sqlite.transaction(self._sql):
                sqlite.run_script(self._sql, INDEX_SCHEMA)
                self._sql.execute("INSERT INTO meta VALUES (?)", (self._nonce,))
            location.write_note(self.folder, self._nonce)
        except (sqlite3.Error, OSError) as error:
            raise unusable_index_error(error, location) from error

    def _resume(self, location: IndexLocation) -> bool:
        noted = location.nonce()
        try:
            connection = connect_index(location.path)
        except sqlite3.DatabaseError:
            return False  # damaged: a new one is created
        try:
            nonce = connection.execute("SELECT nonce FROM meta").fetchone()
            if noted and nonce == (noted,) and sqlite.schema_version(connection) == INDEX_VERSION:
                self._nonce, self._sql = noted, connection
                return True
        except sqlite3.DatabaseError:
            pass  # as above
        connection.close()
        return False


def _unlink(folder: Directory, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        folder.unlink(name)


def _drop_row(sql: sqlite3.Connection, known: dict[str, tuple[int, FileStamp]], name: str) -> None:
    if (was := known.pop(name, None)) is not None:
        delete_rows(sql, was[0])
