"""`projects/<key>/freshness.sqlite3`: what references looked like when their memory was verified, and their state
when their file was last checked. It cannot be rebuilt from files: nothing else records what changed since."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from lerim import files, sqlite
from lerim.errors import MemoryError_
from lerim.memory.reference import DRIFT_STATES, DriftState, Reference, reference_text
from lerim.project import PATH_DIGEST_BYTES

StatStamp = tuple[int, ...]
"""(mtime in ns, size, inode) of a referenced file; () if there is none."""
DATABASE = "freshness.sqlite3"
_TABLES = """
CREATE TABLE IF NOT EXISTS baselines (
  memory TEXT NOT NULL, reference TEXT NOT NULL, verified TEXT NOT NULL,
  digest TEXT NOT NULL, words INTEGER NOT NULL, twins TEXT NOT NULL, sketch BLOB NOT NULL,
  PRIMARY KEY (memory, reference, verified)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS trees (id INTEGER PRIMARY KEY, root TEXT NOT NULL UNIQUE, indexed TEXT NOT NULL,
  known BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS looks (
  tree INTEGER NOT NULL, memory TEXT NOT NULL, reference TEXT NOT NULL, verified TEXT NOT NULL,
  place TEXT NOT NULL, stamp TEXT NOT NULL, state TEXT NOT NULL, moved_to TEXT NOT NULL, detail TEXT NOT NULL,
  since TEXT NOT NULL, PRIMARY KEY (tree, memory, reference)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS places ON looks (tree, place);
CREATE INDEX IF NOT EXISTS stale ON looks (tree, state) WHERE state <> 'fresh' OR moved_to <> '';
"""
_SCHEMA = sqlite.Schema(
    name="The record of referenced code",
    version=1,
    upgrade=lambda db, version: sqlite.run_script(db, _TABLES),
    settings=("synchronous = NORMAL", "cache_size = -500"),
    wal=True,
    wait=30.0,
    error=MemoryError_,
    failure="The record of referenced code cannot be used",
    todo="Check the free disk space and the file's permissions.",
    todo_damaged="If the file is damaged, delete it. Memories are then compared with the code as it is now.",
    damage_errors=(ValueError,),
)
_COLUMNS = "memory, reference, verified, place, stamp, state, moved_to, detail, since"


@dataclass(frozen=True, slots=True)
class Baseline:
    """A reference as it was when verified. `digest` is "" if the symbol was not found: then the whole file is
    compared. `word_count` is the number of words by which the symbol can be recognised; for a file, 0 if it was
    empty, else 1. `identical_symbols` are the other symbols of the file with the same fingerprint; `sketch` is of
    the whole file."""

    digest: str
    word_count: int
    identical_symbols: tuple[str, ...]
    sketch: bytes


@dataclass(frozen=True, slots=True)
class DriftRecord:
    """The drift of one reference of one memory. `checked_path` is the file that was checked: the referenced
    one, or where it moved to; `since` (YYYY-MM-DD) is when this was first seen."""

    memory: str
    reference: Reference
    verified: str
    checked_path: str
    stamp: StatStamp
    state: DriftState
    moved_to: str = ""
    detail: str = ""
    since: str = ""


class Baselines:
    """The database, as seen from the worktree at `root`. Every method raises sqlite3.Error if it cannot be used;
    `open_baselines` turns that into MemoryError_."""

    def __init__(self, db: sqlite3.Connection, root: Path) -> None:
        self._db = db
        self._worktree = self._worktree_id(files.path_to_text(root))

    def _worktree_id(self, root: str) -> int:
        found = self._db.execute("SELECT id FROM trees WHERE root = ?", (root,)).fetchone()
        if found is None:  # only then, because a write waits for other writers
            self._db.execute("INSERT OR IGNORE INTO trees (root, indexed, known) VALUES (?, '', x'')", (root,))
            found = self._db.execute("SELECT id FROM trees WHERE root = ?", (root,)).fetchone()
        return int(found[0])

    def baseline(self, memory: str, reference: Reference, verified: str) -> Baseline | None:
        """Returns the baseline of a reference for this `verified`; None if there is none."""
        row = self._db.execute(
            "SELECT digest, words, twins, sketch FROM baselines WHERE memory = ? AND reference = ? AND verified = ?",
            (memory, reference_text(reference), verified),
        ).fetchone()
        return _parse_baseline(row) if row else None

    def baselines(self, memories: Iterable[str]) -> dict[tuple[str, str, str], Baseline]:
        """Returns all baselines of these memories, by memory, reference as written and `verified`."""
        sql = """SELECT memory, reference, verified, digest, words, twins, sketch FROM baselines
            WHERE memory IN (SELECT value FROM json_each(?))"""
        rows = self._db.execute(sql, (json.dumps(list(memories)),))
        return {(row[0], row[1], row[2]): _parse_baseline(row[3:]) for row in rows}

    def store_baseline(self, memory: str, reference: Reference, verified: str, found: Baseline) -> None:
        """Stores the baseline of a reference, replacing one with the same `verified`."""
        key = (memory, reference_text(reference), verified)
        row = (*key, found.digest, found.word_count, json.dumps(found.identical_symbols), found.sketch)
        self._db.execute("INSERT OR REPLACE INTO baselines VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def drift_record(self, memory: str, reference: Reference) -> DriftRecord | None:
        """Returns the state of a reference when it was last checked; None if it never was."""
        found = self._select_drift("WHERE tree = ? AND memory = ? AND reference = ?", memory, reference_text(reference))
        return found[0] if found else None

    def drift_records_in(self, place: str) -> list[DriftRecord]:
        """Returns the drift records of the references that were checked in this file."""
        # without the hint SQLite takes the primary key, and scans the whole tree for each file
        return self._select_drift("INDEXED BY places WHERE tree = ? AND place = ?", place)

    def checked_files(self) -> Iterator[tuple[str, str]]:
        """Yields each file that was checked and the stamp it had, as `format_stamp` writes it; one row per stamp."""
        return iter(self._db.execute("SELECT DISTINCT place, stamp FROM looks WHERE tree = ?", (self._worktree,)))

    def stale_records(self) -> list[DriftRecord]:
        """Returns the references that are not fresh or have moved."""
        return self._select_drift("INDEXED BY stale WHERE tree = ? AND (state <> 'fresh' OR moved_to <> '')")

    def _select_drift(self, rows: str, *values: str) -> list[DriftRecord]:
        sql = f"SELECT {_COLUMNS} FROM looks {rows}"
        return [_parse_drift_record(row) for row in self._db.execute(sql, (self._worktree, *values))]

    def store_drift(self, *drift_records: DriftRecord) -> None:
        """Stores drift records."""
        rows = []
        for one in drift_records:
            row = (self._worktree, one.memory, reference_text(one.reference), one.verified, one.checked_path)
            rows.append((*row, format_stamp(one.stamp), one.state, one.moved_to, one.detail, one.since))
        self._db.executemany("INSERT OR REPLACE INTO looks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)

    def replace_references(
        self, memory: str, verified: str, found: Iterable[tuple[Reference, Baseline, DriftRecord | None]]
    ) -> None:
        """Stores the references of a memory as they are with this `verified`; its other drift records are deleted."""
        self.delete_drift(memory)
        for reference, baseline, drift_record in found:
            self.store_baseline(memory, reference, verified, baseline)
            if drift_record is not None:
                self.store_drift(replace(drift_record, verified=verified))

    def delete_drift(self, memory: str, but: Iterable[Reference] = ()) -> None:
        """Deletes the drift records of a memory, except those of the references in `but`."""
        kept = [reference_text(reference) for reference in but]
        marks = ", ".join("?" * len(kept))
        sql = f"DELETE FROM looks WHERE tree = ? AND memory = ? AND reference NOT IN ({marks})"
        self._db.execute(sql, (self._worktree, memory, *kept))

    def drift_records_of(self, memories: Iterable[str]) -> dict[str, list[DriftRecord]]:
        """Returns the drift records of these memories, by memory."""
        rows = "WHERE tree = ? AND memory IN (SELECT value FROM json_each(?))"
        found: dict[str, list[DriftRecord]] = {}
        for one in self._select_drift(rows, json.dumps(list(memories))):
            found.setdefault(one.memory, []).append(one)
        return found

    def checked_memories(self) -> set[str]:
        """Returns the memories that have drift records."""
        sql = "SELECT DISTINCT memory FROM looks WHERE tree = ?"
        return {str(row[0]) for row in self._db.execute(sql, (self._worktree,))}

    def read_checked(self) -> tuple[dict[str, str], set[tuple[str, str]]]:
        """Returns the `comparison_key` that each memory had when it was last compared, by memory; and what
        `checked_files` yields."""
        keys: dict[str, str] = {}
        checked: set[tuple[str, str]] = set()
        sql = "SELECT memory, verified, reference, place, stamp FROM looks WHERE tree = ? ORDER BY memory, reference"
        for memory, verified, reference, place, stamp in self._db.execute(sql, (self._worktree,)):
            keys[memory] = f"{keys.get(memory, verified)}\n{reference}"
            checked.add((place, stamp))
        return keys, checked

    def read_index_paths(self) -> tuple[str, frozenset[bytes]]:
        """Returns the stamp of git's index when it was last read, and the digests of the paths it contained."""
        row = self._db.execute("SELECT indexed, known FROM trees WHERE id = ?", (self._worktree,)).fetchone()
        names = bytes(row[1])
        return str(row[0]), frozenset(
            names[at : at + PATH_DIGEST_BYTES] for at in range(0, len(names), PATH_DIGEST_BYTES)
        )

    def store_index_paths(self, stamp: str, names: Iterable[bytes]) -> None:
        """Stores the stamp of git's index and the digests of the paths it contains."""
        row = (stamp, b"".join(names), self._worktree)
        self._db.execute("UPDATE trees SET indexed = ?, known = ? WHERE id = ?", row)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Runs the block in one transaction."""
        with sqlite.transaction(self._db):
            yield


def has_baselines(private_dir: Path) -> bool:
    """Returns whether the database exists."""
    return not files.is_absent(private_dir / DATABASE)


def baselines_stamp(private_dir: Path) -> StatStamp:
    """Returns a stamp that changes whenever any process writes to the database."""
    return sqlite.read_stamp(private_dir / DATABASE)


def hold_baselines_open(private_dir: Path) -> sqlite3.Connection | None:
    """Returns a connection that keeps the database open. Until it is closed, other connections open, write and close
    without waiting for the disk; closing it may wait, and may happen in any thread. None if the database cannot be
    used: `open_baselines` reports why."""
    try:
        db = sqlite.connect(private_dir / DATABASE, any_thread=True)
    except sqlite3.Error:
        return None
    try:
        db.execute("SELECT count(*) FROM trees").fetchone()
    except sqlite3.Error:
        db.close()
        return None
    return db


@contextmanager
def open_baselines(private_dir: Path, root: Path) -> Iterator[Baselines]:
    """Opens the database; it is closed at the end of the `with` block. Raises MemoryError_ if it cannot be used."""
    path = private_dir / DATABASE
    files.make_folder(private_dir, 0o700)
    with sqlite.convert_errors(path, _SCHEMA), closing(sqlite.open_database(path, _SCHEMA)) as db:
        yield Baselines(db, root)


def _parse_baseline(row: tuple[str, int, str, bytes]) -> Baseline:
    return Baseline(row[0], int(row[1]), tuple(json.loads(row[2])) if row[2] != "[]" else (), bytes(row[3]))


_DRIFT_STATES: dict[str, DriftState] = {state: state for state in DRIFT_STATES}


def _parse_drift_record(row: tuple[str, ...]) -> DriftRecord:
    memory, reference, verified, place, stamp, state, moved_to, detail, since = row
    path, _, symbol = reference.partition("#")
    known = _DRIFT_STATES.get(state, "unknown")
    return DriftRecord(
        memory, Reference(path, symbol), verified, place, tuple(map(int, stamp.split())), known, moved_to, detail, since
    )


def format_stamp(stamp: StatStamp) -> str:
    """Returns a stamp as the database has it."""
    return " ".join(map(str, stamp))
