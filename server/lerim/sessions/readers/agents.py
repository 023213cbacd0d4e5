"""The agents whose sessions are read: where the store of each may lie, and the module that reads it.

Every call of a reader goes through the functions at the end of this file. Stores are damaged in ways nobody thought of,
and readers have faults: whatever is raised becomes the problem of that one store or session, and the others go on.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePath
from typing import Protocol

import msgspec

from lerim import paths
from lerim.errors import LerimError, Problem, ReaderError, TranscriptError, reason_of
from lerim.files import unreadable_error
from lerim.project import can_be_folder
from lerim.sessions.model import (
    PLATFORM_NAMES,
    Database,
    Platform,
    Readable,
    Session,
    StoreContents,
    Transcript,
    Turn,
)
from lerim.sessions.readers import copilot, gemini_family
from lerim.sessions.readers.claude import store
from lerim.sessions.readers.codex import store as codex
from lerim.sessions.readers.cursor import store as cursor
from lerim.sessions.readers.engine import ASKS_MARK, LoadedSession, WholeReading
from lerim.sessions.readers.opencode import store as opencode


class PlatformReader(Protocol):
    """What a module that reads one agent's sessions offers."""

    def scan_root(self, root: Path, folders: Sequence[str], /) -> StoreContents:
        """What lies at a root, by stat alone; `folders` are working folders known on this machine."""
        ...

    def probe_folder(self, transcript: Transcript, /) -> str:
        """The working folder a session begins in; '' where that is not known."""
        ...

    def open_session(self, transcript: Transcript, resume: bytes | None = None, /, *, brief: bool = False) -> Readable:
        """A reading of one session, from where `resume` says."""
        ...


class DatabaseLister(Protocol):
    """What a module offers besides whose agent keeps many sessions in one database."""

    def list_database(self, database: Database, folders: Sequence[str], /) -> tuple[list[Transcript], list[Problem]]:
        """The sessions in a database, each with its stamp."""
        ...


PLATFORM_READERS: Mapping[Platform, PlatformReader] = {
    "claude": store,
    "codex": codex,
    "cursor": cursor,
    "opencode": opencode,
    "copilot": copilot,
    "gemini": gemini_family,
}
DATABASE_LISTERS: Mapping[Platform, DatabaseLister] = {"cursor": cursor, "opencode": opencode}
ROOT_FINDERS: Mapping[Platform, Callable[[Mapping[str, str]], tuple[PurePath, ...]]] = {
    "claude": paths.claude_roots,
    "codex": paths.codex_roots,
    "cursor": paths.cursor_roots,
    "opencode": paths.opencode_roots,
    "copilot": paths.copilot_roots,
    "gemini": paths.gemini_roots,
}


def find_sessions(platform: Platform, root: Path, folders: Sequence[str]) -> StoreContents:
    """What lies at a root, by stat alone; a root that cannot be looked at is a problem of the result."""
    try:
        with faults_as_errors(platform, str(root)):
            found = PLATFORM_READERS[platform].scan_root(root, folders)
            return replace(found, transcripts=_with_real_folders(found.transcripts))
    except LerimError as error:
        cause = error.__cause__
        if isinstance(cause, OSError):
            what = f"This store cannot be read: {reason_of(cause)}"
            return StoreContents(problems=[Problem("unreadable", str(root), what)])
        return StoreContents(problems=[error.problem(str(root))])


def list_sessions(database: Database, folders: Sequence[str]) -> tuple[list[Transcript], list[Problem]]:
    """The sessions in a database, each with its stamp. Raises LerimError, and nothing else."""
    with faults_as_errors(database.platform, str(database.path)):
        transcripts, problems = DATABASE_LISTERS[database.platform].list_database(database, folders)
        return _with_real_folders(transcripts), problems


def _with_real_folders(transcripts: list[Transcript]) -> list[Transcript]:
    """Transcripts without the folders that can be none on any machine."""
    return [one if can_be_folder(one.cwd) else replace(one, cwd="") for one in transcripts]


def read_session(transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> Readable:
    """A reading of a session of any agent. Iterating it raises LerimError, and nothing else."""
    try:
        with faults_as_errors(transcript.platform, transcript.place):
            found = PLATFORM_READERS[transcript.platform].open_session(transcript, resume, brief=brief)
    except LerimError as error:
        found = WholeReading(transcript, partial(_failed, error))
    return GuardedReading(transcript, found)


def find_working_folder(transcript: Transcript) -> str:
    """The working folder a session of any agent begins in; '' where that is not known. A session that cannot be read is
    reported when it is read."""
    if transcript.cwd:
        return transcript.cwd
    try:
        with faults_as_errors(transcript.platform, transcript.place):
            cwd = PLATFORM_READERS[transcript.platform].probe_folder(transcript)
            return cwd if can_be_folder(cwd) else ""
    except LerimError:
        return ""


class GuardedReading:
    """A reading that raises no other error than LerimError while it is iterated, tells of no folder that can be none on
    any machine, and passes over a session in which Lerim itself asked an agent."""

    def __init__(self, transcript: Transcript, inner: Readable) -> None:
        self._transcript = transcript
        self._inner = inner

    def __iter__(self) -> Iterator[Turn]:
        with faults_as_errors(self._transcript.platform, self._transcript.place):
            ours: bool | None = None  # until the first prompt tells
            for turn in self._inner:
                if ours is None and turn.kind == "prompt":
                    ours = turn.text.lstrip().startswith(ASKS_MARK)
                if ours:
                    continue
                yield turn if can_be_folder(turn.cwd) else msgspec.structs.replace(turn, cwd="")
            if not self._inner.session.turns and any(one.code in _LOSSES for one in self._inner.problems):
                raise self._nothing()

    def checkpoint(self) -> bool:
        """See Readable."""
        return self._inner.checkpoint()

    def _nothing(self) -> TranscriptError:
        """The error for a session of which everything is lost."""
        first = self._inner.problems[0].message.rstrip(".")
        what = f"Nothing of this session of {PLATFORM_NAMES[self._transcript.platform]} could be read. {first}."
        return TranscriptError(what, where=self._transcript.place, todo="Lerim tries again when it changes.")

    @property
    def session(self) -> Session:
        """See Readable."""
        session = self._inner.session
        if all(map(can_be_folder, session.cwds)):
            return session
        return replace(session, cwds=tuple(filter(can_be_folder, session.cwds)))

    @property
    def resume(self) -> bytes:
        """See Readable."""
        return self._inner.resume

    @property
    def problems(self) -> list[Problem]:
        """See Readable."""
        return self._inner.problems

    @property
    def restarted(self) -> bool:
        """See Readable."""
        return self._inner.restarted

    @property
    def ids(self) -> frozenset[str] | None:
        """See Readable."""
        return self._inner.ids


@contextmanager
def faults_as_errors(platform: Platform, where: str) -> Iterator[None]:
    """Turns every exception that is none of ours into a LerimError which names agent and place. An interrupt passes.

    It stands around each call of a reader, and around what learns from a turn that was read.
    """
    try:
        yield
    except LerimError:
        raise
    except OSError as error:
        raise unreadable_error(Path(where), error) from error
    except Exception as error:
        what = "there is not enough memory" if isinstance(error, MemoryError) else _place(error)
        message = f"This data of {PLATFORM_NAMES[platform]} could not be read or understood: {what}."
        todo = "It is skipped until it changes; everything else is read. Please report this bug in Lerim."
        raise ReaderError(message, where=where, todo=todo) from error


def _place(error: Exception) -> str:
    """The kind of an exception and the deepest line of our own that it came through; never its text, which may quote
    the session."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(_OWN)] or frames
    return f"{type(error).__name__} in {Path(own[-1].filename).name}, line {own[-1].lineno}"


_LOSSES = ("bad-line", "bad-row", "line-too-long", "cut-short")
"""The problem codes of what is lost from a session."""

_OWN = Path(__file__).parents[2]


def _failed(error: LerimError, _transcript: Transcript) -> LoadedSession:
    raise error
