"""The catalog: every session of every agent on this machine, one full-text row per turn, and the queue of jobs.

It mirrors the agents' stores unredacted; everything that leaves it is redacted. It can be deleted and is then rebuilt,
except for turns whose transcripts are gone. A Catalog may only be used by one thread; any number of processes may use
the same file.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, Self, TypeVar

from lerim.errors import Problem
from lerim.paths import Home
from lerim.sessions import queue
from lerim.sessions.catalog import folder_owners, health, indexing, session_parts, turns
from lerim.sessions.catalog.indexing import IndexResult, OwnerLookup
from lerim.sessions.model import Readable, Stamp, Transcript
from lerim.sessions.queue import job_rows, pending_windows
from lerim.sessions.search import browsing, search
from lerim.sessions.tables import convert_sqlite_errors, frictions, open_catalog, replace_surrogates, session_rows
from lerim.sqlite import transaction

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def _make_method(
    function: Callable[Concatenate[sqlite3.Connection, _Parameters], _Result],
) -> Callable[Concatenate[Catalog, _Parameters], _Result]:
    """Turns a function that takes a connection into a method of the catalog that raises CatalogError instead of
    sqlite3.Error."""

    @wraps(function)
    def method(catalog: Catalog, /, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        with catalog._convert_errors():
            return function(catalog.db, *args, **kwargs)

    return method


def _make_timed_method(
    function: Callable[Concatenate[sqlite3.Connection, float, _Parameters], _Result],
) -> Callable[Concatenate[Catalog, _Parameters], _Result]:
    """Does the same as `_make_method`, for a function that also takes the time, in epoch seconds."""

    @wraps(function)
    def method(catalog: Catalog, /, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        with catalog._convert_errors():
            return function(catalog.db, catalog._clock(), *args, **kwargs)

    return method


class Catalog:
    """The open catalog; a context manager. `problems` says whether it had to be rebuilt.

    Methods made from functions of other modules are documented in those modules.
    """

    def __init__(self, path: Path, db: sqlite3.Connection, problems: list[Problem], clock: Callable[[], float]) -> None:
        self.path = path
        self.db = db
        self.problems = problems
        self._clock = clock

    @classmethod
    def open(cls, home: Home, clock: Callable[[], float] = time.time) -> Self:
        """Opens the catalog of `home`, creating it if needed. `clock` returns epoch seconds. Raises CatalogError."""
        db, problems = open_catalog(home)
        return cls(home.catalog, db, problems, clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection; calling it twice is harmless."""
        self.db.close()

    # Transcripts

    def load_stamps(self) -> dict[str, Stamp]:
        """Returns the stamps of the transcripts that have not vanished, by place, so that changes can be detected by
        stat alone."""
        with self._convert_errors():
            rows = self.db.execute("SELECT place, size, mtime_ns, inode FROM transcripts WHERE NOT vanished")
            return {place: (size, mtime_ns, inode) for place, size, mtime_ns, inode in rows}

    load_store_stamps = _make_method(health.load_store_stamps)
    keep_store_stamps = _make_method(health.keep_store_stamps)
    load_damaged_stores = _make_method(health.load_damaged_stores)
    keep_damaged_stores = _make_method(health.keep_damaged_stores)
    load_resume = _make_method(session_rows.load_resume)

    def index_transcripts(
        self,
        readings: Iterable[tuple[Transcript, Readable]],
        owners: OwnerLookup,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[IndexResult]:
        """Indexes the turns that `readings` yield, in short transactions. Each reading must begin at `load_resume`.
        Several small transcripts share one, which is faster, so their results arrive together. Pass a generator, so
        that each reading is created only when needed. Stops early once `cancelled` returns True.

        A position is written together with the turns before it, so an interrupted run can be repeated with the same
        result. A transcript that cannot be read is a problem in its result. Raises CatalogError.
        """
        with self._convert_errors():
            yield from indexing.index_transcripts(self.db, readings, owners, cancelled)

    count_changed_sessions = _make_method(session_parts.count_changed_sessions)

    def find_unopened_places(self) -> frozenset[str]:
        """Returns the places of transcripts that could not be opened the last time they were to be read."""
        with self._convert_errors():
            return frozenset(
                place
                for (place,) in self.db.execute("SELECT place FROM transcripts WHERE error != '' AND size IS NULL")
            )

    def mark_vanished(self, places: Iterable[str]) -> None:
        """Marks transcripts as vanished. Their turns stay, and their pending jobs keep waiting."""
        with self._convert_errors(), transaction(self.db):
            parameters = [(replace_surrogates(place),) for place in places]
            self.db.executemany("UPDATE transcripts SET vanished = 1 WHERE place = ?", parameters)

    reassign_folders = _make_method(folder_owners.reassign_folders)
    return_folders = _make_method(folder_owners.return_folders)

    # Contents

    count_sessions = _make_method(session_rows.count_sessions)
    find_project_places = _make_method(session_rows.find_project_places)
    find_project_platforms = _make_method(session_rows.find_project_platforms)
    load_turn = _make_method(turns.load_turn)
    load_turns = _make_method(turns.load_turns)
    search_turns = _make_method(turns.find_turns)
    search_sessions = _make_method(turns.find_session_turns)
    count_matching_turns = _make_method(search.count_matching_turns)
    list_filtered_sessions = _make_method(browsing.list_filtered_sessions)
    find_sessions_by_id = _make_method(browsing.find_sessions_by_id)
    find_same_errors = _make_method(frictions.find_same_errors)

    def list_folders(self, project: str | None = None) -> list[str]:
        """Returns the working folders of all turns or, with `project`, only those that belong to that project."""
        with self._convert_errors():
            query = "SELECT cwd FROM folders WHERE ?1 IS NULL OR project = ?1"
            return [cwd for (cwd,) in self.db.execute(query, (project,))]

    def find_token_count(self, text: int) -> int | None:
        """Returns how many tokens the text with this digest has, or None if they were never counted; see
        `column_values.digest_text`."""
        with self._convert_errors():
            row = self.db.execute("SELECT tokens FROM counted WHERE text = ?", (text,)).fetchone()
            return None if row is None else int(row[0])

    def keep_token_counts(self, tokens: Mapping[int, int]) -> None:
        """Saves the token counts of texts, by digest."""
        with self._convert_errors(), transaction(self.db):
            self.db.executemany("INSERT OR REPLACE INTO counted VALUES (?, ?)", tokens.items())

    count_folder_sessions = _make_method(folder_owners.count_folder_sessions)

    # The queue

    claim_job = _make_timed_method(queue.claim_job)
    finish_job = _make_timed_method(queue.finish_job)
    keep_job_progress = _make_method(queue.keep_job_progress)
    fail_job = _make_timed_method(queue.fail_job)
    put_back_job = _make_timed_method(queue.put_back_job)
    recover_jobs = _make_method(queue.recover_jobs)
    count_due_jobs = _make_timed_method(queue.count_due_jobs)
    count_unread_bytes = _make_timed_method(queue.count_unread_bytes)
    find_settling_jobs = _make_timed_method(queue.find_settling_jobs)
    count_pending_turns = _make_timed_method(pending_windows.count_pending_turns)
    count_passed_over = _make_method(queue.count_passed_over)
    count_jobs_by_state = _make_method(queue.count_jobs_by_state)
    load_other_state = _make_method(queue.load_other_state)
    list_open_jobs = _make_timed_method(job_rows.list_open_jobs)
    count_open_jobs = _make_method(job_rows.count_open_jobs)
    retry_jobs = _make_method(job_rows.retry_jobs)
    skip_jobs = _make_method(job_rows.skip_jobs)
    hold_removed_platforms = _make_method(job_rows.hold_removed_platforms)

    def record_sync(self, project: str) -> None:
        """Records that a sync of the project ended now."""
        with self._convert_errors(), transaction(self.db):
            self.db.execute("INSERT OR REPLACE INTO syncs VALUES (?, ?)", (project, self._clock()))

    load_health = _make_method(health.load_health)

    def _convert_errors(self) -> AbstractContextManager[None]:
        return convert_sqlite_errors(self.path)
