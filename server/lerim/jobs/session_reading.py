"""The new turns of one session that belong to a project: what a job of the queue reads, by rules or with a model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import chain
from pathlib import Path

from lerim import extraction
from lerim.errors import Problem
from lerim.jobs.sync_context import SyncContext
from lerim.project import FolderOwners, Project
from lerim.sessions import (
    QueueJob,
    Transcript,
    Turn,
    faults_as_errors,
    find_settling_time,
    group_problems,
    read_session,
)

CUT_SECONDS = 60.0
"""How long the job of a session that was cut waits, unless the next explicit sync claims it first."""


class SessionReading:
    """Reads the session of a job from where the last job stopped. It can be iterated over once.

    `state` and `redactions` are those the last job saved; a file that was rewritten is read from its start, without
    them. `is_settled`: the last exchange is over; if not, `settles_at` is when it will be. A reading as of a
    moment is cut at the first turn from then on, and the job waits for the rest.
    Iterating raises StoppedError if the person cancels, and TranscriptError if the file cannot be read.
    """

    def __init__(self, job: QueueJob, context: SyncContext, owners: FolderOwners) -> None:
        self._transcript, self._context, self._owners = job.transcript, context, owners
        self._reading = read_session(job.transcript, job.resume)
        turns = iter(self._reading)
        first = next(turns, None)  # the reader detects a rewritten file only when it starts
        self._turns = chain(() if first is None else (first,), turns)
        restarted = self._reading.restarted
        self.state = None if restarted else job.state
        self.redactions = 0 if restarted else job.redactions
        self._settles_in: float | None = None
        if context.options.as_of is None:  # what was read as of a moment is not being written
            now = context.clock().timestamp()
            settles_at = find_settling_time(job.transcript.mtime_ns / 1e9, now)
            self._settles_in = None if settles_at is None else settles_at - now
        self.is_settled = self._settles_in is None
        self._resume_before = b"" if restarted else job.resume or b""
        self._is_cut = False

    @property
    def settles_at(self) -> float | None:
        """When the job is due again, in epoch seconds; None if it has read everything.

        It is always later than now, by the clock of the queue: a job that was due at once would be claimed for ever.
        """
        wait = CUT_SECONDS if self._is_cut else self._settles_in
        return None if wait is None else time.time() + wait

    @property
    def resume(self) -> bytes:
        """The position from which the next reading continues; after one that was cut, the one before it, because turns
        that are read again change nothing. Valid once this reading has ended."""
        return self._resume_before if self._is_cut else self._reading.resume

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The parts of the session that could not be read."""
        return group_problems(self._reading.problems)

    def __iter__(self) -> Iterator[Turn]:
        as_of = self._context.options.as_of
        for turn in self._turns:
            self._context.raise_if_cancelled()
            if as_of is not None and turn.time is not None and turn.time >= as_of:
                self._is_cut = True
                return
            if self._owners.find_owner(turn.cwd) == self._context.project.key:
                yield turn

    def faults_as_errors(self) -> AbstractContextManager[None]:
        """Within the block, turn every unexpected exception into a LerimError that names the session. Use it around
        code that processes a turn."""
        return faults_as_errors(self._transcript.platform, self._transcript.place)


def make_material(project: Project, transcript: Transcript, state: bytes | None = None) -> extraction.Material:
    """Return the material that a model reads of a session; `state` is what the last job saved."""
    root, exists = _find_root(project)
    session, platform = transcript.session_id, transcript.platform
    return extraction.Material(root, session, platform, state, exists=exists, roots=project.folders)


def make_extraction(
    project: Project, transcript: Transcript, correction: extraction.Correction, state: bytes | None = None
) -> extraction.Extraction:
    """Return the extraction by rules from a session; `state` is what the last job saved."""
    root, exists = _find_root(project)
    session, platform = transcript.session_id, transcript.platform
    return extraction.Extraction(
        root, session, platform, state, exists=exists, roots=project.folders, correction=correction
    )


def _find_root(project: Project) -> tuple[Path | None, Callable[[str], bool]]:
    """Return the project's root, and a function that tells whether a path relative to it exists. The personal project
    has no root, and no path exists there."""
    root = None if project.is_personal else project.root
    return root, lambda path: root is not None and (root / path).exists()
