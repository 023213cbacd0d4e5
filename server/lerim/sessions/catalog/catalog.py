"""The catalog: every session of every agent on this machine, one full-text row per turn, and the queue of jobs.

It mirrors the agents' stores unredacted; everything that leaves it is redacted. It can be deleted and is then rebuilt,
except for turns whose transcripts are gone. A Catalog may only be used by one thread; any number of processes may use
the same file.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from lerim.errors import Problem
from lerim.files import decode_path, encode_path
from lerim.paths import Home
from lerim.sessions import queue
from lerim.sessions.catalog import folder_owners, health, indexing, turns
from lerim.sessions.catalog.health import Health
from lerim.sessions.catalog.indexing import IndexResult, OwnerLookup
from lerim.sessions.catalog.turns import TurnRow
from lerim.sessions.model import DamagedStore, Database, Platform, Readable, Stamp, StoreStamp, Transcript
from lerim.sessions.queue import JobRow, PendingTurns, QueueJob, job_rows, pending_windows
from lerim.sessions.search import NO_FILTERS, SearchQuery, SessionFilters, SessionListItem, browsing, search
from lerim.sessions.tables import (
    Friction,
    SessionRow,
    columns,
    convert_sqlite_errors,
    frictions,
    open_catalog,
    replace_surrogates,
    session_rows,
    token_counts,
)
from lerim.sqlite import transaction


class Catalog:
    """The open catalog; a context manager. `problems` says whether it had to be rebuilt."""

    def __init__(self, path: Path, db: sqlite3.Connection, problems: list[Problem], clock: Callable[[], float]) -> None:
        self.path = path
        self.db = db
        self.problems = problems
        self._clock = clock
        self._folders: indexing.FolderRows = {}

    @classmethod
    def open(cls, home: Home, clock: Callable[[], float] = time.time) -> Self:
        """Opens the catalog of `home`, creating it if needed. `clock` returns epoch seconds. Raises CatalogError."""
        db, problems = open_catalog(home)
        return cls(home.catalog, db, problems, clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection; calling it twice is harmless."""
        self.db.close()

    # Transcripts

    def load_stamps(self) -> dict[str, Stamp]:
        """Returns place -> stamp of the transcripts that have not vanished, to detect changes by stat alone."""
        with self._convert_errors():
            rows = self.db.execute("SELECT place, size, mtime_ns, inode FROM transcripts WHERE NOT vanished")
            return {place: (size, mtime_ns, inode) for place, size, mtime_ns, inode in rows}

    def load_store_stamps(self) -> dict[Path, StoreStamp]:
        """Returns the stamp each database had when all of its sessions were last indexed."""
        with self._convert_errors():
            rows = self.db.execute("SELECT path, size, mtime_ns, wal_size, wal_mtime_ns FROM stores")
            return {decode_path(path): (size, at, wal, wal_at) for path, size, at, wal, wal_at in rows}

    def keep_store_stamps(self, databases: Iterable[Database]) -> None:
        """Records that all sessions of these databases have been indexed, in the state given by their stamps."""
        with self._convert_errors(), transaction(self.db):
            rows = [(_encode_place(one.path), *one.stamp) for one in databases]
            self.db.executemany("INSERT OR REPLACE INTO stores VALUES (?, ?, ?, ?, ?)", rows)
            self.db.executemany("DELETE FROM damaged_stores WHERE path = ?", [(path,) for path, *_ in rows])

    def load_damaged_stores(self) -> dict[Path, DamagedStore]:
        """Returns the databases that this version of Lerim could not read, with the stamps they had then."""
        with self._convert_errors():
            return health.load_damaged_stores(self.db)

    def keep_damaged_stores(self, stores: Iterable[DamagedStore]) -> None:
        """Records that these databases cannot be read until they change."""
        with self._convert_errors(), transaction(self.db):
            health.keep_damaged_stores(self.db, stores)

    def load_resume(self, place: str | Path) -> bytes | None:
        """Returns the position at which to resume reading the transcript at this place; None to read from the start."""
        with self._convert_errors():
            return session_rows.load_resume(self.db, _encode_place(place))

    def index_transcript(self, transcript: Transcript, reading: Readable, owners: OwnerLookup) -> IndexResult:
        """Indexes the turns that `reading` (started at `load_resume`) yields, in short transactions.

        The position is written together with the last turns, so an interrupted run can be repeated with the same
        result. A transcript that cannot be read is a problem in the result. Raises CatalogError.
        """
        return next(self.index_transcripts([(transcript, reading)], owners))

    def index_transcripts(
        self,
        readings: Iterable[tuple[Transcript, Readable]],
        owners: OwnerLookup,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[IndexResult]:
        """Like `index_transcript` for many transcripts. Several small transcripts share a transaction, which is faster,
        so their results arrive together. Pass a generator, so that each reading is created only when needed. Stops
        early once `cancelled`."""
        with self._convert_errors():
            yield from indexing.index_transcripts(self.db, readings, owners, self._folders, cancelled)

    def find_unopened_places(self) -> frozenset[str]:
        """Returns the places of transcripts that could not be opened the last time."""
        with self._convert_errors():
            return frozenset(
                place
                for (place,) in self.db.execute("SELECT place FROM transcripts WHERE error != '' AND size IS NULL")
            )

    def mark_vanished(self, places: Iterable[str]) -> None:
        """Marks transcripts as vanished. Their turns stay, and their pending jobs keep waiting."""
        with self._convert_errors(), transaction(self.db):
            parameters = [(_encode_place(place),) for place in places]
            self.db.executemany("UPDATE transcripts SET vanished = 1 WHERE place = ?", parameters)

    def reassign_folders(self, owners: OwnerLookup) -> frozenset[str]:
        """Looks up again which project each folder belongs to (after a new alias or repository) and queues what changed
        owner. A folder that no longer has an owner keeps its previous one. Returns the projects with new work."""
        with self._convert_errors():
            changed = folder_owners.reassign_folders(self.db, owners.find_owner)
        self._folders.clear()
        return changed

    def return_folders(self, project: str, owners: Mapping[str, str]) -> None:
        """Moves folders of a project to the owners given by folder ("" for none). The project's jobs and positions for
        their transcripts are deleted, unless those have other turns of the project."""
        with self._convert_errors():
            folder_owners.return_folders(self.db, project, owners)
        self._folders.clear()

    # Contents

    def list_sessions(
        self,
        project: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 1000,
        folders: Iterable[str] = (),
        kind: str = columns.EXTRACT_JOB,
    ) -> list[SessionRow]:
        """Returns the sessions with turns of a project (None: all projects), newest first. `folders` count as the
        project's too; `kind` is the kind of job a session may be waiting for."""
        with self._convert_errors():
            return session_rows.list_session_rows(self.db, project, since, until, limit, folders, kind)

    def list_folders(self, project: str | None = None) -> list[str]:
        """Returns the working folders of all turns, or those that belong to a project."""
        with self._convert_errors():
            query = "SELECT cwd FROM folders WHERE ?1 IS NULL OR project = ?1"
            return [cwd for (cwd,) in self.db.execute(query, (project,))]

    def find_project_places(self, project: str, *, main: bool = False) -> frozenset[str]:
        """Returns the places of transcripts with turns of a project; see `session_rows.find_project_places`."""
        with self._convert_errors():
            return session_rows.find_project_places(self.db, project, main=main)

    def load_turn(self, turn_id: str) -> TurnRow | None:
        """Returns the turn with this id, or None."""
        with self._convert_errors():
            return turns.load_turn(self.db, turn_id)

    def search_turns(
        self, query: str, project: str | None = None, limit: int = 20, filters: SessionFilters = NO_FILTERS
    ) -> list[TurnRow]:
        """Returns turns that contain words of `query`, best first and redacted. Any text is a valid query. `project` is
        a shorthand for a filter with one project."""
        if project is not None:
            filters = replace(filters, projects=(project,))
        with self._convert_errors():
            return turns.find_turns(self.db, query, filters, limit)

    def count_matching_turns(self, query: SearchQuery, filters: SessionFilters) -> tuple[list[int], int]:
        """Returns how many turns of the filters' projects contain each word of a query, and how many turns these
        projects have."""
        with self._convert_errors():
            return search.count_matching_turns(self.db, query, filters)

    def search_sessions(
        self, query: str, project: str | None = None, limit: int = 20, filters: SessionFilters = NO_FILTERS
    ) -> list[TurnRow]:
        """Returns the best turn of each session that matches `query`, best session first; the score is the session's.
        Otherwise like `search`."""
        if project is not None:
            filters = replace(filters, projects=(project,))
        with self._convert_errors():
            return turns.find_session_turns(self.db, query, filters, limit)

    def list_filtered_sessions(self, filters: SessionFilters, limit: int) -> list[SessionListItem]:
        """Returns the sessions with turns that pass the filters, the most recently ended first; see
        `search.filter_places`."""
        with self._convert_errors():
            found = [browsing.find_list_item(self.db, place) for place in search.filter_places(self.db, filters, limit)]
        return [one for one in found if one is not None]

    def find_sessions_by_id(self, session: str) -> list[SessionListItem]:
        """Returns the session with this id, or else all sessions whose id starts with it."""
        with self._convert_errors():
            found = [
                browsing.find_list_item(self.db, place) for place in session_rows.find_session_places(self.db, session)
            ]
        return [one for one in found if one is not None]

    def load_turns(self, place: str) -> list[TurnRow]:
        """Returns all turns of a transcript, in order."""
        with self._convert_errors():
            return turns.load_turns(self.db, _encode_place(place))

    def find_token_count(self, text: int) -> int | None:
        """Returns how many tokens the text with this digest has, or None if never counted; see
        `token_counts.digest_text`."""
        with self._convert_errors():
            return token_counts.find_token_count(self.db, text)

    def keep_token_counts(self, tokens: Mapping[int, int]) -> None:
        """Saves the token counts of texts, by digest."""
        with self._convert_errors(), transaction(self.db):
            token_counts.keep_token_counts(self.db, tokens)

    # The queue

    def enqueue_job(self, kind: str, place: str, project: str) -> bool:
        """Enqueues a job; returns False if the catalog does not know the transcript."""
        with self._convert_errors(), transaction(self.db):
            row = self.db.execute("SELECT id FROM transcripts WHERE place = ?", (_encode_place(place),)).fetchone()
            if row:
                queue.enqueue_job(self.db, kind, row[0], project)
        return bool(row)

    def claim_job(
        self,
        project: str,
        *,
        kind: str = columns.EXTRACT_JOB,
        started: float | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> QueueJob | None:
        """Claims the newest job that is due; see `queue.claim_job`."""
        with self._convert_errors():
            return queue.claim_job(
                self.db, project, self._clock(), kind=kind, started=started, since=since, until=until
            )

    def finish_job(
        self,
        job: QueueJob,
        resume: bytes,
        state: bytes,
        again_at: float | None = None,
        new_frictions: Iterable[Friction] = (),
        redactions: int = 0,
    ) -> None:
        """Ends a job and saves how far it got; see `queue.finish_job`."""
        with self._convert_errors():
            queue.finish_job(self.db, job, resume, state, again_at, new_frictions, redactions)

    def keep_job_progress(self, job: QueueJob, resume: bytes, state: bytes, redactions: int) -> None:
        """Saves how far a running job got; see `queue.keep_job_progress`."""
        with self._convert_errors():
            queue.keep_job_progress(self.db, job, resume, state, redactions)

    def find_same_errors(self, project: str, friction: Friction) -> list[Friction]:
        """Returns where else the project met the same error; see `frictions.find_same_errors`."""
        with self._convert_errors():
            return frictions.find_same_errors(self.db, project, friction)

    def fail_job(self, job: QueueJob, error: str) -> bool:
        """Ends a failed job; returns True if it is dead now; see `queue.fail_job`."""
        with self._convert_errors():
            return queue.fail_job(self.db, job, error, self._clock())

    def put_back_job(self, job: QueueJob, wait: float = 0.0) -> None:
        """Returns a claimed job to the queue, for example when the person cancels; it is not due for `wait` seconds."""
        with self._convert_errors():
            queue.put_back_job(self.db, job, self._clock() + wait if wait else 0.0)

    def recover_jobs(self, project: str) -> int:
        """Puts back the jobs a dead process left running; only for the holder of the project's lock."""
        with self._convert_errors():
            return queue.recover_jobs(self.db, project)

    def list_open_jobs(self, project: str, kinds: Sequence[str] = (columns.EXTRACT_JOB,)) -> list[JobRow]:
        """Returns the jobs of a project that are not done; see `job_rows.list_open_jobs`."""
        with self._convert_errors():
            return job_rows.list_open_jobs(self.db, project, self._clock(), kinds)

    def retry_jobs(self, project: str, jobs: Sequence[int] = ()) -> int:
        """Makes these jobs run at once (none given: all failed and dead ones); see `job_rows.retry_jobs`."""
        with self._convert_errors():
            return job_rows.retry_jobs(self.db, project, jobs)

    def skip_jobs(self, project: str, jobs: Sequence[int] = ()) -> int:
        """Skips these jobs (none given: all dead ones); see `job_rows.skip_jobs`."""
        with self._convert_errors():
            return job_rows.skip_jobs(self.db, project, jobs)

    def hold_removed_platforms(self, removed: Iterable[Platform]) -> None:
        """Skips the jobs of agents that are not connected; see `job_rows.hold_removed_platforms`."""
        with self._convert_errors():
            job_rows.hold_removed_platforms(self.db, removed)

    def load_health(self, project: str) -> Health:
        """Returns how reading and learning went; `project` may be '' for none."""
        with self._convert_errors():
            return Health(
                health.list_known_transcripts(self.db, project),
                self.load_store_stamps(),
                health.load_damaged_stores(self.db),
                self.find_project_places(project) if project else frozenset(),
                health.count_redactions(self.db, project),
                health.list_failed_jobs(self.db, project),
                health.load_last_sync(self.db, project),
            )

    def record_sync(self, project: str) -> None:
        """Records that a sync of the project ended now."""
        with self._convert_errors(), transaction(self.db):
            self.db.execute("INSERT OR REPLACE INTO syncs VALUES (?, ?)", (project, self._clock()))

    def count_due_jobs(self, project: str, kind: str = columns.EXTRACT_JOB) -> int:
        """Returns how many jobs of a project are due now."""
        with self._convert_errors():
            return queue.count_due_jobs(self.db, project, kind, self._clock())

    def count_pending_turns(
        self, project: str, since: datetime | None = None, until: datetime | None = None
    ) -> PendingTurns:
        """Returns how much of a project's sessions waits for a model; see `pending_windows.count_pending_turns`."""
        with self._convert_errors():
            return pending_windows.count_pending_turns(self.db, project, self._clock(), since, until)

    def count_passed_over(self, project: str, since: datetime | None, until: datetime | None) -> int:
        """Returns how many waiting sessions of a project are outside these bounds; see `queue.count_passed_over`."""
        with self._convert_errors():
            return queue.count_passed_over(self.db, project, since, until)

    def load_other_state(self, job: QueueJob, kind: str) -> bytes | None:
        """Returns the state the last job of another kind left for the same transcript; see `queue.load_other_state`."""
        with self._convert_errors():
            return queue.load_other_state(self.db, job, kind)

    def count_jobs_by_state(self, project: str, kind: str = columns.EXTRACT_JOB) -> dict[str, int]:
        """Returns the number of jobs of a project by state."""
        with self._convert_errors():
            return queue.count_jobs_by_state(self.db, project, kind)

    def _convert_errors(self) -> AbstractContextManager[None]:
        return convert_sqlite_errors(self.path)


def _encode_place(place: str | Path) -> str:
    return encode_path(place) if isinstance(place, Path) else replace_surrogates(place)
