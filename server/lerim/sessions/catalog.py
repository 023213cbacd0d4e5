"""The catalog: every session of every agent on this machine, one full-text row a turn, and the queue of work.

It mirrors what lies in the agents' stores and is not redacted: whatever leaves it must be. It can be deleted and is
made again, except for turns whose transcripts are gone. One Catalog belongs to one thread; any number of processes may
use the same file.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from lerim.errors import LerimError, Problem
from lerim.paths import Home
from lerim.sessions import queue, session_rows, turns
from lerim.sessions.catalog_schema import open_database, telling, transaction
from lerim.sessions.model import Platform, Session, Transcript, Turn
from lerim.sessions.queue import Job, Trouble
from lerim.sessions.session_rows import SessionRow
from lerim.sessions.turns import TurnRow

BATCH_TURNS = 500
BATCH_CHARACTERS = 2_000_000

__all__ = ["Catalog", "Indexed", "Job", "Owning", "Readable", "SessionRow", "Stamp", "Trouble", "TurnRow"]

Stamp = tuple[int, int, int]


class Readable(Protocol):
    """A reading of one transcript: its turns, and after the last one the session, the resume position and problems."""

    session: Session
    resume: bytes
    problems: list[Problem]

    def __iter__(self) -> Iterator[Turn]: ...


class Owning(Protocol):
    """Says which project a working folder belongs to ('' for none)."""

    def owner(self, cwd: str) -> str: ...


@dataclass(frozen=True, slots=True)
class Indexed:
    """What indexing one transcript did. `projects` are those it brought work for. `failed`: it could not be read at
    all. `taken`: another process was indexing it at the same time and goes on with it."""

    new_turns: int
    projects: frozenset[str]
    session: Session | None
    problems: tuple[Problem, ...] = ()
    failed: bool = False
    taken: bool = False


class _TakenError(Exception):
    """Another process wrote this transcript's turns since this one began."""


class Catalog:
    """The open catalog; a context manager. `problems` says whether it had to be made anew."""

    def __init__(self, path: Path, db: sqlite3.Connection, problems: list[Problem], clock: Callable[[], float]) -> None:
        self.path = path
        self.db = db
        self.problems = problems
        self._clock = clock
        self._folders: dict[str, tuple[int, str]] = {}

    @classmethod
    def open(cls, home: Home, clock: Callable[[], float] = time.time) -> Self:
        """Opens the catalog of `home`, making it where needed. `clock` gives epoch seconds. Raises CatalogError."""
        db, problems = open_database(home)
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

    def stamps(self, platform: Platform) -> dict[str, Stamp]:
        """Path -> stamp of every transcript that was read to the end and is not known to be gone: the stat gate."""
        with self._telling():
            rows = self.db.execute(
                "SELECT path, size, mtime_ns, inode FROM transcripts WHERE platform = ? AND NOT vanished", (platform,)
            )
            return {path: (size, mtime_ns, inode) for path, size, mtime_ns, inode in rows}

    def resume_of(self, path: Path) -> bytes | None:
        """Where reading this transcript goes on; None from the start."""
        with self._telling():
            row = self.db.execute(
                "SELECT resume FROM sessions JOIN transcripts ON transcripts.id = transcript WHERE path = ?",
                (_spelled(path),),
            ).fetchone()
        return bytes(row[0]) if row else None

    def index(self, transcript: Transcript, reading: Readable, owners: Owning) -> Indexed:
        """Takes what `reading` (begun at `resume_of`) yields into the catalog, in short transactions.

        Where it got to is written with the last turns, so that a run killed before is repeated, to the same end. A
        transcript that cannot be read is a problem of the result. Raises CatalogError.
        """
        with self._telling():
            number, generation = session_rows.enter(self.db, transcript)
            new, touched, batch, size = 0, set[str](), list[Turn](), 0
            try:
                for turn in reading:
                    batch.append(turn)
                    size += turns.weight(turn)
                    if len(batch) >= BATCH_TURNS or size >= BATCH_CHARACTERS:
                        new += self._write(number, generation, batch, owners, touched)
                        generation += 1
                        batch, size = [], 0
                new += self._write(number, generation, batch, owners, touched, (transcript, reading))
            except _TakenError:
                return Indexed(new, frozenset(touched), None, taken=True)
            except (LerimError, OSError) as error:
                problem = _problem(transcript, error)
                session_rows.fail(self.db, transcript, problem)
                return Indexed(new, frozenset(touched), None, (problem,), failed=True)
        return Indexed(new, frozenset(touched), reading.session, tuple(reading.problems))

    def _write(
        self,
        number: int,
        generation: int,
        batch: Sequence[Turn],
        owners: Owning,
        touched: set[str],
        ended: tuple[Transcript, Readable] | None = None,
    ) -> int:
        """One transaction. The generation tells whether another process wrote to this transcript in between."""
        with transaction(self.db):
            mine = self.db.execute(
                "UPDATE transcripts SET generation = generation + 1 WHERE id = ? AND generation = ?",
                (number, generation),
            )
            if not mine.rowcount:
                raise _TakenError
            folders = {cwd: self._folder(cwd, owners) for cwd in {turn.cwd for turn in batch}}
            written = turns.write(self.db, number, batch, {cwd: row for cwd, (row, _) in folders.items()})
            projects = {folders[cwd][1] for cwd in written.folders} - {""}
            for project in projects:
                queue.put(self.db, queue.EXTRACT, number, project)
            if ended is not None:
                session_rows.finish(self.db, number, ended[0], ended[1].session, ended[1].resume)
        self._folders.update(folders)
        touched |= projects
        return written.new

    def _folder(self, cwd: str, owners: Owning) -> tuple[int, str]:
        known = self._folders.get(cwd)
        if known is not None:
            return known
        spelled = turns.storable(cwd)
        self.db.execute(
            "INSERT INTO folders (cwd, project) VALUES (?, ?) ON CONFLICT DO NOTHING", (spelled, owners.owner(cwd))
        )
        row = self.db.execute("SELECT id, project FROM folders WHERE cwd = ?", (spelled,)).fetchone()
        return int(row[0]), str(row[1])

    def failed(self, transcript: Transcript, problem: Problem) -> None:
        """Remembers that a transcript could not be read; it is tried again when it changes, or in the next cycle if
        it was closed to us."""
        with self._telling():
            session_rows.enter(self.db, transcript)
            session_rows.fail(self.db, transcript, problem)

    def vanished(self, paths: Iterable[str | Path]) -> None:
        """Marks transcripts that are gone; their turns stay, and what waited to be done with them waits."""
        with self._telling(), transaction(self.db):
            gone = [(_spelled(path),) for path in paths]
            self.db.executemany("UPDATE transcripts SET vanished = 1 WHERE path = ?", gone)

    def reown(self, owners: Owning) -> frozenset[str]:
        """Asks again which project each folder belongs to (a new alias, a new repository), and queues what changed
        hands. A folder that has no owner any more keeps the one it had. Returns the projects with new work."""
        with self._telling():
            changed = session_rows.reown(self.db, owners.owner)
        self._folders.clear()
        return changed

    # What is in it

    def sessions(
        self,
        project: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 1000,
    ) -> list[SessionRow]:
        """Sessions with turns of a project (None: all), newest first."""
        with self._telling():
            return session_rows.listed(self.db, project, since, until, limit)

    def paths_of(self, project: str) -> frozenset[str]:
        """The paths of transcripts known to hold turns of a project."""
        with self._telling():
            return session_rows.paths_of(self.db, project)

    def turn(self, turn_id: str) -> TurnRow | None:
        """The turn of this id, or None."""
        with self._telling():
            return turns.turn(self.db, turn_id)

    def around(self, turn_id: str, before: int = 20, after: int = 20) -> list[TurnRow]:
        """The turn with its neighbours in its transcript; [] for an unknown id."""
        with self._telling():
            return turns.around(self.db, turn_id, before, after)

    def search(self, query: str, project: str | None = None, limit: int = 20) -> list[TurnRow]:
        """Turns that hold the words of `query`, best first. Any text is safe; the rows are not redacted."""
        with self._telling():
            return turns.search(self.db, query, project, limit)

    # The queue

    def enqueue(self, kind: str, path: Path, project: str) -> bool:
        """Makes a job wait; False for a transcript the catalog does not know."""
        with self._telling(), transaction(self.db):
            row = self.db.execute("SELECT id FROM transcripts WHERE path = ?", (_spelled(path),)).fetchone()
            if row:
                queue.put(self.db, kind, row[0], project)
        return bool(row)

    def claim(
        self,
        project: str,
        *,
        kind: str = queue.EXTRACT,
        started: float | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Job | None:
        """Takes the newest job that is due; see `queue.claim`."""
        with self._telling():
            return queue.claim(self.db, project, self._clock(), kind=kind, started=started, since=since, until=until)

    def done(self, job: Job, resume: bytes, state: bytes, again_at: float | None = None) -> None:
        """Ends a job and keeps how far it got; see `queue.done`."""
        with self._telling():
            queue.done(self.db, job, resume, state, again_at)

    def fail(self, job: Job, error: str) -> bool:
        """Ends a job that failed; True if it is dead now; see `queue.fail`."""
        with self._telling():
            return queue.fail(self.db, job, error, self._clock())

    def put_back(self, job: Job) -> None:
        """Gives a claimed job back, as when the person cancels."""
        with self._telling():
            queue.put_back(self.db, job)

    def recover(self, project: str) -> int:
        """Puts back what a dead process left running; only for the holder of the project's lock."""
        with self._telling():
            return queue.recover(self.db, project)

    def revive(self, project: str) -> int:
        """Lets dead and failed jobs run at once."""
        with self._telling():
            return queue.revive(self.db, project)

    def pending(self, project: str, kind: str = queue.EXTRACT) -> int:
        """How many jobs of a project are due now."""
        with self._telling():
            return queue.due(self.db, project, kind, self._clock())

    def counts(self, project: str) -> dict[str, int]:
        """Jobs of a project by state."""
        with self._telling():
            return queue.counts(self.db, project)

    def troubles(self, project: str) -> list[Trouble]:
        """The project's failed and dead jobs with what went wrong."""
        with self._telling():
            return queue.troubles(self.db, project)

    def _telling(self) -> AbstractContextManager[None]:
        return telling(self.path)


def _problem(transcript: Transcript, error: LerimError | OSError) -> Problem:
    closed = isinstance(error, OSError) or isinstance(error.__cause__, OSError)
    code = session_rows.CLOSED if closed else getattr(error, "code", LerimError.code)
    return Problem(code, _spelled(transcript.path), str(error))


def _spelled(path: str | Path) -> str:
    return turns.storable(str(path))
