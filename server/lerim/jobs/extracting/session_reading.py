"""The new turns of one session that belong to a project: what a job of the queue reads, by rules or with a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from lerim import extraction, files
from lerim.errors import Problem, StoppedError
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


class TurnReading(Protocol):
    """One pass over the turns of a session, as `lerim.sessions.Readable` explains it."""

    @property
    def resume(self) -> bytes: ...
    @property
    def problems(self) -> list[Problem]: ...
    @property
    def restarted(self) -> bool: ...
    def __iter__(self) -> Iterator[Turn]: ...


@dataclass(frozen=True, slots=True)
class ReadingScope:
    """Which turns a reading yields: those in folders that `owners` gives to `project` (None: all) and, if `as_of` is
    set, said before it. `now` is the time in epoch seconds by which the last exchange counts as over.

    A session that is not on this machine is read by `open_session`, and `exists` tells whether a path relative to
    the project's root exists where the session was."""

    project: Project
    owners: FolderOwners | None
    now: float
    as_of: datetime | None = None
    open_session: Callable[[Transcript, bytes | None], TurnReading] = read_session
    exists: Callable[[str], bool] | None = None


@dataclass(frozen=True, slots=True)
class EarlierProgress:
    """What the last job of a session saved: the position, the state at that position, and how many secrets were cut
    out so far. All empty at the start."""

    resume: bytes | None = None
    state: bytes | None = None
    redactions: int = 0


FROM_START = EarlierProgress()


def earlier_progress(job: QueueJob) -> EarlierProgress:
    """Returns what the last job of the same session saved."""
    return EarlierProgress(job.resume, job.state, job.redactions)


class SessionReading:
    """Reads a session from where the last job stopped. It can be iterated over once.

    `state` and `redactions` are those the last job saved; a file that was rewritten is read from its start, without
    them. `is_settled`: the last exchange is over. A reading as of a moment is cut at the first turn from then on, and
    the job waits for the rest. A turn whose time the agent did not store has the time of the transcript's last change.
    Iterating raises StoppedError once `cancelled`, and TranscriptError if the file cannot be read.
    """

    def __init__(
        self,
        transcript: Transcript,
        scope: ReadingScope,
        earlier: EarlierProgress = FROM_START,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self._transcript, self._scope, self._cancelled = transcript, scope, cancelled
        self._reading = scope.open_session(transcript, earlier.resume)
        turns = iter(self._reading)
        first = next(turns, None)  # the reader detects a rewritten file only when it starts
        self._turns = chain(() if first is None else (first,), turns)
        restarted = self._reading.restarted
        self.state = None if restarted else earlier.state
        self.redactions = 0 if restarted else earlier.redactions
        self._settles_in: float | None = None
        if scope.as_of is None:  # what was read as of a moment is not being written
            settles_at = find_settling_time(transcript.mtime_ns / 1e9, scope.now)
            self._settles_in = None if settles_at is None else settles_at - scope.now
        self.is_settled = self._settles_in is None
        self._resume_before = b"" if restarted else earlier.resume or b""
        self._is_cut = False

    @property
    def due_in(self) -> float | None:
        """The number of seconds, always more than 0, until the job is due again; None if everything was read."""
        return CUT_SECONDS if self._is_cut else self._settles_in

    @property
    def resume(self) -> bytes:
        """The position from which the next reading continues. After a reading that was cut short, this is where that
        reading began, because reading turns again changes nothing. Valid once this reading has ended."""
        return self._resume_before if self._is_cut else self._reading.resume

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The parts of the session that could not be read."""
        return group_problems(self._reading.problems)

    def __iter__(self) -> Iterator[Turn]:
        as_of, owners = self._scope.as_of, self._scope.owners
        changed = self._transcript.mtime_ns / 1e9
        last_change = datetime.fromtimestamp(changed, UTC) if changed > 0 else None
        for turn in self._turns:
            if self._cancelled():
                raise StoppedError
            if as_of is not None and turn.time is not None and turn.time >= as_of:
                self._is_cut = True
                return
            if owners is None or owners.find_owner(turn.cwd) == self._scope.project.key:
                yield turn if turn.time is not None else replace(turn, time=last_change)

    def faults_as_errors(self) -> AbstractContextManager[None]:
        """Within the block, turn every unexpected exception into a LerimError that names the session. Use it around
        code that processes a turn."""
        return faults_as_errors(self._transcript.platform, self._transcript.place)


def make_material(
    project: Project,
    transcript: Transcript,
    state: bytes | None = None,
    exists: Callable[[str], bool] | None = None,
) -> extraction.Material:
    """Returns the material that a model reads of a session; `state` is what the last job saved, and `exists` is that of
    `ReadingScope`."""
    root, exists_here = _find_root(project)
    session, platform = transcript.session_id, transcript.platform
    return extraction.Material(root, session, platform, state, exists=exists or exists_here, roots=project.folders)


def make_extraction(
    project: Project,
    transcript: Transcript,
    adjustment: extraction.PersonalAdjustment,
    state: bytes | None = None,
    exists: Callable[[str], bool] | None = None,
) -> extraction.Extraction:
    """Returns the extraction by rules from a session; `state` is what the last job saved, and `exists` is that of
    `ReadingScope`."""
    root, exists_here = _find_root(project)
    session, platform = transcript.session_id, transcript.platform
    return extraction.Extraction(
        root, session, platform, state, exists=exists or exists_here, roots=project.folders, adjustment=adjustment
    )


def make_locator(project: Project) -> extraction.Locator:
    """Returns what makes the paths in a session's tool calls repo-relative, also those of deleted files."""
    return extraction.Locator(() if project.is_personal else project.all_folders)


def _find_root(project: Project) -> tuple[Path | None, Callable[[str], bool]]:
    """Returns the project's root, and a function that tells whether a path relative to it exists. The personal project
    has no root, and no path exists there."""
    root = None if project.is_personal else project.root
    return root, cache(lambda path: root is not None and not files.is_absent(f"{root}/{path}"))
