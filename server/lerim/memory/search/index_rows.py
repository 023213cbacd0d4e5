"""What an index stores for each memory: a row of facts, its words, and which memories it ends."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from lerim import sqlite
from lerim.errors import Problem
from lerim.memory.claims import find_replied_to, without_replied_to
from lerim.memory.lifecycle import Status, ended_status
from lerim.memory.links import EndingLink, MemoryLinks, ending_links, find_ended
from lerim.memory.record import MemoryRecord, primitive_of
from lerim.memory.reference import comparison_key
from lerim.memory.search.filters import change_status_facet, facet_words
from lerim.memory.search.index_location import IndexLocation
from lerim.memory.search.synonyms import find_synonyms
from lerim.memory.store import FileStamp, MemoryFile, status_of
from lerim.memory.views import source_parts
from lerim.words import index_text

INDEX_VERSION = 11
_HASH_BITS = 20
"""A row number is the second in which the memory was last changed, followed by this many bits of a hash of its file
name: rows are thus in order of time, whenever they were written. Memories that ended, and unreadable files, are
`ENDED_OFFSET` lower, so that leaving them out costs nothing."""
ENDED_OFFSET = 1 << 60
_AUTOMERGE_SEGMENTS = 4
"""How many segments of the full-text index are merged into one: SQLite's default."""
_EPOCH = datetime(1, 1, 1, tzinfo=UTC)
INDEX_SCHEMA = f"""
CREATE TABLE meta (nonce TEXT NOT NULL);
CREATE TABLE files (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, mtime INTEGER NOT NULL, size INTEGER NOT NULL,
    inode INTEGER NOT NULL, memory TEXT NOT NULL, said TEXT NOT NULL, status TEXT NOT NULL, shown TEXT NOT NULL,
    updated INTEGER NOT NULL, confidence REAL NOT NULL, fades INTEGER NOT NULL, session TEXT NOT NULL,
    superseded_by TEXT NOT NULL, resolved_by TEXT NOT NULL, comparison TEXT NOT NULL, problems TEXT NOT NULL
);
CREATE INDEX files_memory ON files (memory);
CREATE INDEX files_session ON files (session);
CREATE INDEX files_over ON files (shown) WHERE status != shown;
CREATE INDEX files_ended ON files (id) WHERE superseded_by != '' OR resolved_by != '';
CREATE INDEX files_wrong ON files (path) WHERE problems != '[]';
CREATE TABLE ends (ender INTEGER NOT NULL, target TEXT NOT NULL, status TEXT NOT NULL);
CREATE INDEX ends_ender ON ends (ender);
CREATE INDEX ends_target ON ends (target);
CREATE TABLE synonyms (row INTEGER NOT NULL, name TEXT NOT NULL, other TEXT NOT NULL);
CREATE INDEX synonyms_row ON synonyms (row);
CREATE INDEX synonyms_name ON synonyms (name);
CREATE TABLE records (id INTEGER PRIMARY KEY, record BLOB NOT NULL);
CREATE VIRTUAL TABLE words USING fts5 (
    title, tags, places, body, quotes, facets, tokenize = "porter unicode61 remove_diacritics 2 tokenchars '_'"
);
PRAGMA user_version = {INDEX_VERSION};
"""


_ROW_COLUMNS = (("files", "id"), ("records", "id"), ("words", "rowid"), ("ends", "ender"), ("synonyms", "row"))
"""The tables with rows of a file, and the column of each that has the file's row number."""


@dataclass(frozen=True, slots=True)
class ReadMemory:
    """A file and the result of reading it: `record` is None if it is unreadable, `problems` say what is wrong."""

    file: MemoryFile
    record: MemoryRecord | None
    text_hash: str = ""
    problems: tuple[Problem, ...] = ()


RecordParts = tuple[MemoryRecord, str, tuple[Problem, ...]]
"""A memory as it was read, with private quotes joined, the hash of its file's text and the problems found."""
_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(RecordParts)


def first_row(second: int) -> int:
    """Returns the lowest row number of an active memory that was changed in this second or later."""
    return second << _HASH_BITS


def whole_seconds(time: datetime) -> int:
    """Returns the whole seconds since the year 1."""
    return (time - _EPOCH) // timedelta(seconds=1)


def row_of(read: ReadMemory) -> int:
    """Returns the preferred row number of a file, which may be taken."""
    has_ended = read.record is None or status_of(read.record, read.file.is_archived) != "active"
    return _row_number(read.file.name, whole_seconds(read.record.updated) if read.record else 0, has_ended)


def add_rows(sql: sqlite3.Connection, row: int, read: ReadMemory) -> int:
    """Writes a file's rows at `row`, or at the next free number; returns the number used."""
    row = _free_row(sql, row)
    problems_json = msgspec.json.encode(read.problems).decode() if read.problems else "[]"
    record = read.record
    if record is None:
        values = ("", "", "", "", 0, 0.0, False, "", "", "", "", problems_json)
    else:
        status = status_of(record, read.file.is_archived)
        session = source_parts(record.source)[1]
        fades = record.primitive == "learning"
        dated = (whole_seconds(record.updated), record.confidence, fades, session)
        by = (record.superseded_by, record.resolved_by)
        comparison = comparison_key(record.references, record.verified)
        values = (record.id, hash_claim(record), status, status, *dated, *by, comparison, problems_json)
        ends = dict.fromkeys((row, link.target, link.kind) for link in ending_links(record))
        if ends:
            sql.executemany("INSERT INTO ends VALUES (?,?,?)", list(ends))
        if pairs := find_synonyms(f"{record.title}\n{without_replied_to(record.body)}"):
            both_ways = [(row, *pair) for one in pairs for pair in (one, one[::-1])]
            sql.executemany("INSERT INTO synonyms VALUES (?,?,?)", both_ways)
        sql.execute(
            "INSERT INTO words (rowid, title, tags, places, body, quotes, facets) VALUES (?,?,?,?,?,?,?)",
            (row, *_indexed_texts(record), facet_words(record, status)),
        )
    if record is not None and (packed := _encode_parts((record, read.text_hash, read.problems))):
        sql.execute("INSERT INTO records VALUES (?,?)", (row, packed))
    sql.execute(
        "INSERT INTO files VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        (row, read.file.name, *to_signed(read.file.stamp), *values),
    )
    return row


def hash_claim(record: MemoryRecord) -> str:
    """Returns a hash that is equal for memories with the same title and body."""
    return hashlib.blake2b(f"{record.title}\0{record.body}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _encode_parts(parts: RecordParts) -> bytes:
    """Encodes a memory; empty if decoding it would not return an equal one."""
    try:
        packed = _ENCODER.encode(parts)
        return packed if _DECODER.decode(packed) == parts else b""
    except (msgspec.MsgspecError, UnicodeError, ValueError):
        return b""


def stored_records(
    location: IndexLocation | None, folder: Path, stamps: Mapping[str, FileStamp]
) -> Iterator[tuple[str, RecordParts]]:
    """Yields the memories of our index of `folder` whose files have these stamps, by file name, as far as the index can
    be read. It is opened read-only."""
    if location is None or not location.is_ours(folder, ""):
        return
    try:
        with contextlib.closing(sqlite.connect(location.path, mode="ro")) as sql:
            nonce = sql.execute("SELECT nonce FROM meta").fetchone()
            if nonce == (location.nonce(),) and sqlite.schema_version(sql) == INDEX_VERSION:
                query = "SELECT path, mtime, size, inode, record FROM files JOIN records USING (id)"
                for path, *stamp, record in sql.execute(query):
                    if stamps.get(path) == to_unsigned(stamp):
                        yield path, _DECODER.decode(record)
    except (sqlite3.Error, msgspec.MsgspecError, ValueError):
        return  # damaged, or being written: the caller reads the files


def read_records(sql: sqlite3.Connection, names: Sequence[str]) -> dict[str, tuple[FileStamp, RecordParts]]:
    """Returns the memories in the files with these names as they were read, each with the stamp that its file had."""
    query = (
        "SELECT path, mtime, size, inode, record FROM files JOIN records USING (id)"
        " WHERE path IN (SELECT value FROM json_each(?))"
    )
    found: dict[str, tuple[FileStamp, RecordParts]] = {}
    for path, *stamp, record in sql.execute(query, (msgspec.json.encode(names).decode(),)):
        with contextlib.suppress(msgspec.MsgspecError, ValueError):  # damaged: its file is read
            found[path] = to_unsigned(stamp), _DECODER.decode(record)
    return found


def settle_statuses(sql: sqlite3.Connection) -> bool:
    """Marks memories as ended if another one ends them, even if their own file does not say so. Returns whether a
    row moved."""
    over = "SELECT memory FROM files WHERE status != shown"
    named = "SELECT memory FROM files JOIN ends ON target = memory WHERE files.status = 'active' AND files.id != ender"
    concerned = [row[0] for row in sql.execute(f"{over} UNION {named}")]
    if not concerned:
        return False
    links = sql.execute("SELECT memory, updated, target, ends.status FROM ends JOIN files ON id = ender")
    end_kinds = find_ended(EndingLink(*row) for row in links)
    any_moved = False
    for memory in concerned:
        query = "SELECT id, path, updated, status, shown FROM files WHERE memory = ?"
        for row, name, second, status, shown in sql.execute(query, (memory,)).fetchall():
            now: Status = status
            if status == "active" and memory in end_kinds:
                now = ended_status(end_kinds[memory], primitive_of(Path(name)) or "decision")
            if now != shown:
                any_moved = True
                _move_row(sql, row, _free_row(sql, _row_number(name, second, now != "active")), shown, now)
    return any_moved


def read_links(sql: sqlite3.Connection) -> list[MemoryLinks]:
    """Returns the links of every memory that has a link or is linked to."""
    ends: dict[int, dict[str, list[str]]] = {}
    for ender, target, how in sql.execute("SELECT ender, target, status FROM ends"):
        ends.setdefault(ender, {}).setdefault(how, []).append(target)
    over = "superseded_by != '' OR resolved_by != ''"
    backs = f"SELECT superseded_by FROM files WHERE {over} UNION SELECT resolved_by FROM files WHERE {over}"
    named = f"SELECT id FROM files WHERE memory IN (SELECT target FROM ends UNION {backs})"
    wanted = f"SELECT ender FROM ends UNION SELECT id FROM files WHERE {over} UNION {named}"
    query = f"SELECT id, memory, path, updated, superseded_by, resolved_by FROM files WHERE id IN ({wanted})"
    links: list[MemoryLinks] = []
    for row, memory, name, updated, superseded_by, resolved_by in sql.execute(f"{query} AND memory != ''"):
        own = ends.get(row, {})
        says = (tuple(own.get("superseded", ())), tuple(own.get("resolved", ())))
        links.append(MemoryLinks(memory, updated, name.startswith("archived/"), *says, superseded_by, resolved_by))
    return links


def set_merging(sql: sqlite3.Connection, on: bool) -> None:
    """Turns merging of full-text segments on added rows on or off: off in a large update, after which
    `merge_segments` merges all of them."""
    sql.execute("INSERT INTO words (words, rank) VALUES ('automerge', ?)", (_AUTOMERGE_SEGMENTS if on else 0,))


def merge_segments(sql: sqlite3.Connection) -> None:
    """Merges all segments of the full-text index into one: a search looks each word up in every segment."""
    sql.execute("INSERT INTO words (words) VALUES ('optimize')")


def _move_row(sql: sqlite3.Connection, row: int, to: int, shown: Status, now: Status) -> None:
    columns = "title, tags, places, body, quotes, facets"
    [(*texts, facets)] = sql.execute(f"SELECT {columns} FROM words WHERE rowid = ?", (row,))
    sql.execute("DELETE FROM words WHERE rowid = ?", (row,))
    sql.execute(
        f"INSERT INTO words (rowid, {columns}) VALUES (?,?,?,?,?,?,?)",
        (to, *texts, change_status_facet(facets, shown, now)),
    )
    sql.execute("UPDATE files SET id = ?, shown = ? WHERE id = ?", (to, now, row))
    sql.execute("UPDATE records SET id = ? WHERE id = ?", (to, row))
    sql.execute("UPDATE ends SET ender = ? WHERE ender = ?", (to, row))
    sql.execute("UPDATE synonyms SET row = ? WHERE row = ?", (to, row))


def _row_number(name: str, second: int, has_ended: bool) -> int:
    digest = hashlib.blake2b(name.encode("utf-8", "surrogateescape"), digest_size=4).digest()
    return first_row(second) + int.from_bytes(digest, "big") % (1 << _HASH_BITS) - (ENDED_OFFSET if has_ended else 0)


def _free_row(sql: sqlite3.Connection, row: int) -> int:
    while sql.execute("SELECT 1 FROM files WHERE id = ?", (row,)).fetchone():
        row += 1
    return row


def delete_rows(sql: sqlite3.Connection, row: int) -> None:
    """Deletes a file's rows."""
    for table, column in _ROW_COLUMNS:
        sql.execute(f"DELETE FROM {table} WHERE {column} = ?", (row,))


def to_signed(stamp: FileStamp) -> FileStamp:
    """Makes a stamp fit SQLite's integers, which end at 2^63; inodes of some file systems are larger."""
    return (stamp[0], stamp[1], stamp[2] - (1 << 63))


def to_unsigned(stamp: Sequence[int]) -> FileStamp:
    """Returns a file's stamp from its form in SQLite."""
    return (stamp[0], stamp[1], stamp[2] + (1 << 63))


def _indexed_texts(record: MemoryRecord) -> tuple[str, str, str, str, str]:
    replied_to = find_replied_to(record.body)
    quotes = "\n".join(item.quote for item in record.evidence if item.quote != replied_to)
    labels = "\n".join((*record.tags, record.kind or ""))
    texts = (record.title, labels, "\n".join(record.references), without_replied_to(record.body), quotes)
    title, tags, places, body, quotes = map(index_text, texts)
    return title, tags, places, body, quotes
