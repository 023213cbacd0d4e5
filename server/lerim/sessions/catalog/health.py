"""How the reading of transcripts and the learning from them went, as recorded in the catalog; the states of the
agents are derived from it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from lerim import __version__
from lerim.errors import Problem
from lerim.files import decode_path, encode_path
from lerim.sessions.model import DamagedStore, Database, Platform, Stamp, StoreStamp
from lerim.sessions.tables import IS_MAIN_SESSION, replace_surrogates, seconds_to_time, session_rows
from lerim.sqlite import transaction

FAILED = "failed"
UNREADABLE = "unreadable"
PARTLY_READ = "in-part"


@dataclass(frozen=True, slots=True)
class KnownTranscript:
    """A transcript that has not vanished, as of its last reading.

    `stamp` is None if it was never read to the end or could not be opened. `fault` is `FAILED`, `UNREADABLE`,
    `PARTLY_READ` (read to the end except for damaged parts) or ''. `has_no_folder`: it has turns, but no working folder
    is recorded. `is_main`: lists and counts show it as a session rather than as part of another. `is_in_other_project`:
    it has turns of a project other than the requested one.
    """

    platform: Platform
    store_key: str
    is_main: bool
    stamp: Stamp | None
    fault: str
    error: str
    failed_at: datetime | None
    has_no_folder: bool
    is_in_other_project: bool


@dataclass(frozen=True, slots=True)
class Health:
    """Transcripts by place, the readable and the damaged databases with their last stamps, the places with turns
    of the project, the redactions per agent, the failed jobs (agent, place, error, time), and when the project was last
    synced."""

    transcripts: dict[str, KnownTranscript] = field(default_factory=dict)
    store_stamps: dict[Path, StoreStamp] = field(default_factory=dict)
    damaged_stores: dict[Path, DamagedStore] = field(default_factory=dict)
    project_places: frozenset[str] = frozenset()
    redactions: dict[str, int] = field(default_factory=dict)
    failed_jobs: list[tuple[Platform, str, str, datetime | None]] = field(default_factory=list)
    last_sync: datetime | None = None

    def is_unread(self, place: str) -> bool:
        """Returns whether reading a transcript failed."""
        one = self.transcripts.get(place)
        return one is not None and one.fault not in ("", PARTLY_READ)

    @property
    def stamps(self) -> dict[str, Stamp]:
        """The stamps of the transcripts that have one, by place."""
        return {place: one.stamp for place, one in self.transcripts.items() if one.stamp}


def load_health(db: sqlite3.Connection, project: str) -> Health:
    """Returns how the reading of transcripts and the learning from them went; `project` is '' for none."""
    redactions = db.execute(
        "SELECT t.platform, sum(p.redactions) FROM positions p JOIN transcripts t ON t.id = p.transcript"
        " WHERE p.project = ? GROUP BY t.platform",
        (project,),
    ).fetchall()
    failed_jobs = db.execute(
        "SELECT t.platform, t.place, j.error, j.claimed FROM jobs j JOIN transcripts t ON t.id = j.transcript"
        " WHERE j.project = ? AND j.state IN ('failed', 'dead')",
        (project,),
    )
    synced = db.execute("SELECT ended FROM syncs WHERE project = ?", (project,)).fetchone()
    return Health(
        _list_known_transcripts(db, project),
        load_store_stamps(db),
        load_damaged_stores(db),
        session_rows.find_project_places(db, project) if project else frozenset(),
        dict(redactions),
        [(platform, place, error, seconds_to_time(claimed)) for platform, place, error, claimed in failed_jobs],
        seconds_to_time(synced[0]) if synced else None,
    )


def _list_known_transcripts(db: sqlite3.Connection, project: str) -> dict[str, KnownTranscript]:
    """Returns every transcript that has not vanished, by place."""
    rows = db.execute(
        f"SELECT t.place, t.platform, t.within, {IS_MAIN_SESSION}, t.size, t.mtime_ns, t.inode, t.error, t.failed,"
        " coalesce(s.turns, 0) > 0 AND s.cwds = '' AND t.cwd = '',"
        " t.id IN (SELECT turns.transcript FROM folders JOIN turns ON turns.folder = folders.id"
        "  WHERE folders.project NOT IN ('', ?))"
        " FROM transcripts t LEFT JOIN sessions s ON s.transcript = t.id WHERE NOT t.vanished",
        (project,),
    )
    return {
        place: KnownTranscript(
            platform=platform,
            store_key=within,
            is_main=bool(is_main),
            stamp=None if size is None else (size, mtime_ns, inode),
            fault=(UNREADABLE if size is None else PARTLY_READ if failed is None else FAILED) if error else "",
            error=error,
            failed_at=seconds_to_time(failed),
            has_no_folder=bool(has_no_folder),
            is_in_other_project=bool(is_elsewhere),
        )
        for place, platform, within, is_main, size, mtime_ns, inode, error, failed, has_no_folder, is_elsewhere in rows
    }


def load_store_stamps(db: sqlite3.Connection) -> dict[Path, StoreStamp]:
    """Returns the stamp each database had when all of its sessions were last indexed."""
    rows = db.execute("SELECT path, size, mtime_ns, wal_size, wal_mtime_ns FROM stores")
    return {decode_path(path): (size, at, wal, wal_at) for path, size, at, wal, wal_at in rows}


def keep_store_stamps(db: sqlite3.Connection, databases: Iterable[Database]) -> None:
    """Records that all sessions of these databases have been indexed, in the state given by their stamps."""
    rows = [(encode_path(one.path), *one.stamp) for one in databases]
    with transaction(db):
        db.executemany("INSERT OR REPLACE INTO stores VALUES (?, ?, ?, ?, ?)", rows)
        db.executemany("DELETE FROM damaged_stores WHERE path = ?", [(path,) for path, *_ in rows])


def load_damaged_stores(db: sqlite3.Connection) -> dict[Path, DamagedStore]:
    """Returns the databases that this version of Lerim could not read, with the stamps they had then. Other versions
    try to read them again."""
    rows = db.execute(
        "SELECT path, platform, size, mtime_ns, wal_size, wal_mtime_ns, code, place, message FROM damaged_stores"
        " WHERE version = ?",
        (__version__,),
    )
    return {
        decode_path(path): DamagedStore(
            Database(platform, decode_path(path), (size, at, wal, wal_at)), Problem(code, place, message)
        )
        for path, platform, size, at, wal, wal_at, code, place, message in rows
    }


def keep_damaged_stores(db: sqlite3.Connection, stores: Iterable[DamagedStore]) -> None:
    """Records that these databases cannot be read until they change."""
    rows = [
        (
            encode_path(one.database.path),
            one.database.platform,
            *one.database.stamp,
            __version__,
            one.problem.code,
            replace_surrogates(one.problem.path),
            replace_surrogates(one.problem.message)[:2000],
        )
        for one in stores
    ]
    with transaction(db):
        db.executemany("INSERT OR REPLACE INTO damaged_stores VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
