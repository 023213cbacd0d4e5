"""The catalog: every session of every agent on this machine, one full-text row a turn, and the queue of work.

It mirrors what lies in the agents' stores and is not redacted: whatever leaves it is. It can be deleted and is
made again, except for turns whose transcripts are gone. One Catalog belongs to one thread; any number of processes may
use the same file.
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

__all__ = [
    "Catalog",
    "IndexResult",
    "JobRow",
    "OwnerLookup",
    "QueueJob",
    "Readable",
    "SessionFilters",
    "SessionRow",
    "Stamp",
    "TurnRow",
]


class Catalog:
    """The open catalog; a context manager. `problems` says whether it had to be made anew."""

    def __init__(self, path: Path, db: sqlite3.Connection, problems: list[Problem], clock: Callable[[], float]) -> None:
        self.path = path
        self.db = db
        self.problems = problems
        self._clock = clock
        self._folders: indexing.FolderRows = {}

    @classmethod
    def open(cls, home: Home, clock: Callable[[], float] = time.time) -> Self:
        """Opens the catalog of `home`, making it where needed. `clock` gives epoch seconds. Raises CatalogError."""
        db, problems = open_catalog(home)
        return cls(home.catalog, db, problems, clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection; twice does no harm."""
        self.db.close()

    # Transcripts

    def stamps(self) -> dict[str, Stamp]:
        """Place -> stamp of every transcript that was read to the end and is not known to be gone: the stat gate."""
        with self._telling():
            rows = self.db.execute("SELECT place, size, mtime_ns, inode FROM transcripts WHERE NOT vanished")
            return {place: (size, mtime_ns, inode) for place, size, mtime_ns, inode in rows}

    def stores(self) -> dict[Path, StoreStamp]:
        """The stamp each database had when all its sessions were last taken in."""
        with self._telling():
            rows = self.db.execute("SELECT path, size, mtime_ns, wal_size, wal_mtime_ns FROM stores")
            return {decode_path(path): (size, at, wal, wal_at) for path, size, at, wal, wal_at in rows}

    def keep_stores(self, databases: Iterable[Database]) -> None:
        """Remembers that all sessions of these databases, as they were found, have been taken in."""
        with self._telling(), transaction(self.db):
            rows = [(_spelled(one.path), *one.stamp) for one in databases]
            self.db.executemany("INSERT OR REPLACE INTO stores VALUES (?, ?, ?, ?, ?)", rows)
            self.db.executemany("DELETE FROM damaged_stores WHERE path = ?", [(path,) for path, *_ in rows])

    def damaged_stores(self) -> dict[Path, DamagedStore]:
        """The databases that this version of Lerim could not read, as they were then."""
        with self._telling():
            return health.load_damaged_stores(self.db)

    def keep_damaged(self, stores: Iterable[DamagedStore]) -> None:
        """Remembers that these databases cannot be read before they change."""
        with self._telling(), transaction(self.db):
            health.keep_damaged_stores(self.db, stores)

    def resume_of(self, place: str | Path) -> bytes | None:
        """Where reading the transcript of this place goes on; None from the start."""
        with self._telling():
            return session_rows.load_resume(self.db, _spelled(place))

    def index(self, transcript: Transcript, reading: Readable, owners: OwnerLookup) -> IndexResult:
        """Takes what `reading` (begun at `resume_of`) yields into the catalog, in short transactions.

        Where it got to is written with the last turns, so that a run killed before is repeated, to the same end. A
        transcript that cannot be read is a problem of the result. Raises CatalogError.
        """
        return next(self.index_all([(transcript, reading)], owners))

    def index_all(
        self,
        readings: Iterable[tuple[Transcript, Readable]],
        owners: OwnerLookup,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[IndexResult]:
        """`index` for many: several small transcripts share a transaction, which is faster, so their results come
        together. Make each reading only when it is asked for (pass a generator). Once `cancelled` it ends early."""
        with self._telling():
            yield from indexing.index_transcripts(self.db, readings, owners, self._folders, cancelled)

    def failed(self, transcript: Transcript, problem: Problem) -> None:
        """Remembers that a transcript could not be read; it is tried again when it changes, or in the next cycle if
        it was closed to us."""
        with self._telling(), transaction(self.db):
            session_rows.enter_transcript(self.db, transcript)
            session_rows.fail_transcript(self.db, transcript, problem)

    def closed(self) -> frozenset[str]:
        """The places of transcripts that could not be opened the last time."""
        with self._telling():
            return frozenset(
                place
                for (place,) in self.db.execute("SELECT place FROM transcripts WHERE error != '' AND size IS NULL")
            )

    def vanished(self, places: Iterable[str]) -> None:
        """Marks transcripts that are gone; their turns stay, and what waited to be done with them waits."""
        with self._telling(), transaction(self.db):
            gone = [(_spelled(place),) for place in places]
            self.db.executemany("UPDATE transcripts SET vanished = 1 WHERE place = ?", gone)

    def reown(self, owners: OwnerLookup) -> frozenset[str]:
        """Asks again which project each folder belongs to (a new alias, a new repository), and queues what changed
        hands. A folder that has no owner any more keeps the one it had. Returns the projects with new work."""
        with self._telling():
            changed = folder_owners.reassign_folders(self.db, owners.owner)
        self._folders.clear()
        return changed

    def give_back(self, project: str, owners: Mapping[str, str]) -> None:
        """Folders (by name) of a project go to the owner named for each, "" for none; what waits and is kept of their
        transcripts for the project is forgotten, unless they have other turns of it."""
        with self._telling():
            folder_owners.return_folders(self.db, project, owners)
        self._folders.clear()

    # What is in it

    def sessions(
        self,
        project: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 1000,
        folders: Iterable[str] = (),
        kind: str = columns.EXTRACT,
    ) -> list[SessionRow]:
        """Sessions with turns of a project (None: all), newest first. `folders` are taken for the project's too;
        `kind` of the jobs is what a session may wait for."""
        with self._telling():
            return session_rows.list_session_rows(self.db, project, since, until, limit, folders, kind)

    def folders(self, project: str | None = None) -> list[str]:
        """Every working folder some turn was said in, or those of a project."""
        with self._telling():
            query = "SELECT cwd FROM folders WHERE ?1 IS NULL OR project = ?1"
            return [cwd for (cwd,) in self.db.execute(query, (project,))]

    def places_of(self, project: str, *, main: bool = False) -> frozenset[str]:
        """The places of transcripts known to hold turns of a project; see `session_rows.places_of`."""
        with self._telling():
            return session_rows.find_project_places(self.db, project, main=main)

    def turn(self, turn_id: str) -> TurnRow | None:
        """The turn of this id, or None."""
        with self._telling():
            return turns.load_turn(self.db, turn_id)

    def search(
        self, query: str, project: str | None = None, limit: int = 20, filters: SessionFilters = NO_FILTERS
    ) -> list[TurnRow]:
        """Turns that hold words of `query`, best first. Any text is safe; the rows are redacted. `project` is
        short for a filter of one."""
        if project is not None:
            filters = replace(filters, projects=(project,))
        with self._telling():
            return turns.find_turns(self.db, query, filters, limit)

    def holding(self, query: SearchQuery, filters: SessionFilters) -> tuple[list[int], int]:
        """How many turns of the filters' projects hold each word of a query, and how many turns these have."""
        with self._telling():
            return search.count_turns_holding(self.db, query, filters)

    def search_sessions(
        self, query: str, project: str | None = None, limit: int = 20, filters: SessionFilters = NO_FILTERS
    ) -> list[TurnRow]:
        """The best turn of each session that speaks of `query`, best session first; the score is the session's. As
        `search` otherwise."""
        if project is not None:
            filters = replace(filters, projects=(project,))
        with self._telling():
            return turns.find_session_turns(self.db, query, filters, limit)

    def briefs(self, filters: SessionFilters, limit: int) -> list[SessionListItem]:
        """The sessions with turns that the filters leave, the last ended first; see `session_search.places`."""
        with self._telling():
            found = [browsing.find_list_item(self.db, place) for place in search.filter_places(self.db, filters, limit)]
        return [one for one in found if one is not None]

    def named(self, session: str) -> list[SessionListItem]:
        """The sessions of this id, or else all whose id begins so."""
        with self._telling():
            found = [
                browsing.find_list_item(self.db, place) for place in session_rows.find_session_places(self.db, session)
            ]
        return [one for one in found if one is not None]

    def turns_of(self, place: str) -> list[TurnRow]:
        """All turns of a transcript, in order."""
        with self._telling():
            return turns.load_turns(self.db, _spelled(place))

    def counted(self, text: int) -> int | None:
        """How many tokens the text of this digest has, where it was counted before; see `counted.digest`."""
        with self._telling():
            return token_counts.find_token_count(self.db, text)

    def keep_counted(self, tokens: Mapping[int, int]) -> None:
        """Keeps how many tokens texts have, by their digests."""
        with self._telling(), transaction(self.db):
            token_counts.keep_token_counts(self.db, tokens)

    # The queue

    def enqueue(self, kind: str, place: str, project: str) -> bool:
        """Makes a job wait; False for a transcript the catalog does not know."""
        with self._telling(), transaction(self.db):
            row = self.db.execute("SELECT id FROM transcripts WHERE place = ?", (_spelled(place),)).fetchone()
            if row:
                queue.enqueue_job(self.db, kind, row[0], project)
        return bool(row)

    def claim(
        self,
        project: str,
        *,
        kind: str = columns.EXTRACT,
        started: float | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> QueueJob | None:
        """Takes the newest job that is due; see `queue.claim`."""
        with self._telling():
            return queue.claim_job(
                self.db, project, self._clock(), kind=kind, started=started, since=since, until=until
            )

    def done(
        self,
        job: QueueJob,
        resume: bytes,
        state: bytes,
        again_at: float | None = None,
        met: Iterable[Friction] = (),
        redactions: int = 0,
    ) -> None:
        """Ends a job and keeps how far it got; see `queue.done`."""
        with self._telling():
            queue.finish_job(self.db, job, resume, state, again_at, met, redactions)

    def progressed(self, job: QueueJob, resume: bytes, state: bytes, redactions: int) -> None:
        """Keeps how far a running job got; see `queue.progressed`."""
        with self._telling():
            queue.keep_job_progress(self.db, job, resume, state, redactions)

    def met_elsewhere(self, project: str, friction: Friction) -> list[Friction]:
        """Where else a project met the same error; see `frictions.elsewhere`."""
        with self._telling():
            return frictions.find_same_errors(self.db, project, friction)

    def fail(self, job: QueueJob, error: str) -> bool:
        """Ends a job that failed; True if it is dead now; see `queue.fail`."""
        with self._telling():
            return queue.fail_job(self.db, job, error, self._clock())

    def put_back(self, job: QueueJob, wait: float = 0.0) -> None:
        """Gives a claimed job back, as when the person cancels; it waits for so many seconds."""
        with self._telling():
            queue.put_back_job(self.db, job, self._clock() + wait if wait else 0.0)

    def recover(self, project: str) -> int:
        """Puts back what a dead process left running; only for the holder of the project's lock."""
        with self._telling():
            return queue.recover_jobs(self.db, project)

    def jobs(self, project: str, kinds: Sequence[str] = (columns.EXTRACT,)) -> list[JobRow]:
        """The jobs of a project that are not done; see `queue_rows.listed`."""
        with self._telling():
            return job_rows.list_open_jobs(self.db, project, self._clock(), kinds)

    def retry(self, project: str, jobs: Sequence[int] = ()) -> int:
        """Lets these jobs run at once (none named: all failed and dead ones); see `queue_rows.retry`."""
        with self._telling():
            return job_rows.retry_jobs(self.db, project, jobs)

    def skip(self, project: str, jobs: Sequence[int] = ()) -> int:
        """Takes these jobs out of the queue (none named: all dead ones); see `queue_rows.skip`."""
        with self._telling():
            return job_rows.skip_jobs(self.db, project, jobs)

    def hold(self, removed: Iterable[Platform]) -> None:
        """Takes the jobs of agents that are not read out of the queue; see `queue_rows.hold`."""
        with self._telling():
            job_rows.hold_removed_platforms(self.db, removed)

    def health(self, project: str) -> Health:
        """How reading and learning went; `project` may be '' for none."""
        with self._telling():
            return Health(
                health.list_known_transcripts(self.db, project),
                self.stores(),
                health.load_damaged_stores(self.db),
                self.places_of(project) if project else frozenset(),
                health.count_redactions(self.db, project),
                health.list_failed_jobs(self.db, project),
                health.last_sync_time(self.db, project),
            )

    def synced(self, project: str) -> None:
        """Remembers that a sync of a project ended now."""
        with self._telling(), transaction(self.db):
            self.db.execute("INSERT OR REPLACE INTO syncs VALUES (?, ?)", (project, self._clock()))

    def pending(self, project: str, kind: str = columns.EXTRACT) -> int:
        """How many jobs of a project are due now."""
        with self._telling():
            return queue.count_due_jobs(self.db, project, kind, self._clock())

    def unsent(self, project: str, since: datetime | None = None, until: datetime | None = None) -> PendingTurns:
        """What of a project's sessions waits for a model; see `unsent.unsent`."""
        with self._telling():
            return pending_windows.count_pending_turns(self.db, project, self._clock(), since, until)

    def left_out(self, project: str, since: datetime | None, until: datetime | None) -> int:
        """How many sessions of a project wait that these bounds leave out; see `queue.left_out`."""
        with self._telling():
            return queue.count_passed_over(self.db, project, since, until)

    def state_of(self, job: QueueJob, kind: str) -> bytes | None:
        """What the last job of another kind left open for the same transcript; see `queue.state_of`."""
        with self._telling():
            return queue.load_other_state(self.db, job, kind)

    def counts(self, project: str, kind: str = columns.EXTRACT) -> dict[str, int]:
        """Jobs of a project by state."""
        with self._telling():
            return queue.count_jobs_by_state(self.db, project, kind)

    def _telling(self) -> AbstractContextManager[None]:
        return convert_sqlite_errors(self.path)


def _spelled(path: str | Path) -> str:
    return encode_path(path) if isinstance(path, Path) else replace_surrogates(path)
