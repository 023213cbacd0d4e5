"""The new turns of one session that belong to a project: what a job of the queue reads, by rules or with a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from itertools import chain

from lerim.errors import Problem
from lerim.jobs.sync_context import SyncContext
from lerim.project import FolderOwners, Project
from lerim.sessions import QueueJob, Turn, faults_as_errors, group_problems, read_session

SETTLED_AFTER = timedelta(minutes=15)
"""The last exchange of a session that was written to more recently waits, unless the person asked (design §3)."""


class SessionReading:
    """One reading of a job's session, from where the last job stopped. Iterate over it once.

    `state` and `redactions` are what the last job left; a file that was rewritten is read from its start, without them.
    `settled` tells whether the last exchange counts already; if not, `again_at` (epoch seconds) is when it will.
    Iterating raises StoppedError when the person cancelled, and TranscriptError for a file that cannot be read.
    """

    def __init__(self, job: QueueJob, context: SyncContext, owners: FolderOwners) -> None:
        self._transcript, self._context, self._owners = job.transcript, context, owners
        self._reading = read_session(job.transcript, job.resume)
        turns = iter(self._reading)
        first = next(turns, None)  # only now the reader knows whether the file was rewritten
        self._turns = chain(() if first is None else (first,), turns)
        restarted = self._reading.restarted
        self.state = None if restarted else job.state
        self.redactions = 0 if restarted else job.redactions
        now = context.clock()
        settles = datetime.fromtimestamp(job.transcript.mtime_ns / 1e9, tz=now.tzinfo) + SETTLED_AFTER
        self.settled = context.options.explicit or settles <= now
        self.again_at = None if self.settled else settles.timestamp()

    @property
    def resume(self) -> bytes:
        """Where the next reading goes on, once this one has ended."""
        return self._reading.resume

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read."""
        return group_problems(self._reading.problems)

    def __iter__(self) -> Iterator[Turn]:
        for turn in self._turns:
            self._context.raise_if_cancelled()
            if self._owners.find_owner(turn.cwd) == self._context.project.key:
                yield turn

    def guarded(self) -> AbstractContextManager[None]:
        """Within this block, which learns from a turn, a fault of ours becomes a LerimError that names the session."""
        return faults_as_errors(self._transcript.platform, self._transcript.place)


def exists_in(project: Project) -> Callable[[str], bool]:
    """Return a function that tells whether a path relative to the project's root exists; never for the person's own."""
    return lambda path: not project.is_personal and (project.root / path).exists()
