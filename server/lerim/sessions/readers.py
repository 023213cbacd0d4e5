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
from lerim.repository import can_be_folder
from lerim.sessions import claude, codex, copilot, cursor, gemini, opencode
from lerim.sessions.model import NAMES, Database, Found, Platform, Readable, Session, Transcript, Turn
from lerim.sessions.regular import unreadable
from lerim.sessions.typed import ASKED
from lerim.sessions.whole import Loaded, WholeReading


class Reader(Protocol):
    """What a module that reads one agent's sessions offers."""

    def find(self, root: Path, folders: Sequence[str], /) -> Found:
        """What lies at a root, by stat alone; `folders` are working folders known on this machine."""
        ...

    def probe(self, transcript: Transcript, /) -> str:
        """The working folder a session begins in; '' where that is not known."""
        ...

    def read(self, transcript: Transcript, resume: bytes | None = None, /, *, brief: bool = False) -> Readable:
        """A reading of one session, from where `resume` says."""
        ...


class Lister(Protocol):
    """What a module offers besides whose agent keeps many sessions in one database."""

    def listed(self, database: Database, folders: Sequence[str], /) -> tuple[list[Transcript], list[Problem]]:
        """The sessions in a database, each with its stamp."""
        ...


READERS: Mapping[Platform, Reader] = {
    "claude": claude,
    "codex": codex,
    "cursor": cursor,
    "opencode": opencode,
    "copilot": copilot,
    "gemini": gemini,
}
LISTERS: Mapping[Platform, Lister] = {"cursor": cursor, "opencode": opencode}
ROOTS: Mapping[Platform, Callable[[Mapping[str, str]], tuple[PurePath, ...]]] = {
    "claude": paths.claude_roots,
    "codex": paths.codex_roots,
    "cursor": paths.cursor_roots,
    "opencode": paths.opencode_roots,
    "copilot": paths.copilot_roots,
    "gemini": paths.gemini_roots,
}


def find_sessions(platform: Platform, root: Path, folders: Sequence[str]) -> Found:
    """What lies at a root, by stat alone; a root that cannot be looked at is a problem of the result."""
    try:
        with faults_as_errors(platform, str(root)):
            found = READERS[platform].find(root, folders)
            return replace(found, transcripts=_with_real_folders(found.transcripts))
    except LerimError as error:
        cause = error.__cause__
        if isinstance(cause, OSError):
            what = f"This store cannot be looked at: {reason_of(cause)}"
            return Found(problems=[Problem("unreadable", str(root), what)])
        return Found(problems=[error.problem(str(root))])


def list_sessions(database: Database, folders: Sequence[str]) -> tuple[list[Transcript], list[Problem]]:
    """The sessions in a database, each with its stamp. Raises LerimError, and nothing else."""
    with faults_as_errors(database.platform, str(database.path)):
        transcripts, problems = LISTERS[database.platform].listed(database, folders)
        return _with_real_folders(transcripts), problems


def _with_real_folders(transcripts: list[Transcript]) -> list[Transcript]:
    """Transcripts without the folders that can be none on any machine."""
    return [one if can_be_folder(one.cwd) else replace(one, cwd="") for one in transcripts]


def reading(transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> Readable:
    """A reading of a session of any agent. Iterating it raises LerimError, and nothing else."""
    try:
        with faults_as_errors(transcript.platform, transcript.place):
            found = READERS[transcript.platform].read(transcript, resume, brief=brief)
    except LerimError as error:
        found = WholeReading(transcript, partial(_failed, error))
    return GuardedReading(transcript, found)


def probe(transcript: Transcript) -> str:
    """The working folder a session of any agent begins in; '' where that is not known. A session that cannot be read is
    reported when it is read."""
    if transcript.cwd:
        return transcript.cwd
    try:
        with faults_as_errors(transcript.platform, transcript.place):
            cwd = READERS[transcript.platform].probe(transcript)
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
                    ours = turn.text.lstrip().startswith(ASKED)
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
        what = f"Nothing of this session of {NAMES[self._transcript.platform]} could be read. {first}."
        return TranscriptError(what, where=self._transcript.place, todo="It is tried again when it changes.")

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
        raise unreadable(Path(where), error) from error
    except Exception as error:
        what = "there is not enough memory" if isinstance(error, MemoryError) else _place(error)
        message = f"What {NAMES[platform]} keeps here could not be read or understood: {what}."
        todo = "It is left out until it changes, and everything else is read; please report this fault of Lerim."
        raise ReaderError(message, where=where, todo=todo) from error


def _place(error: Exception) -> str:
    """The kind of an exception and the deepest line of our own that it came through; never its text, which may quote
    the session."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(_OWN)] or frames
    return f"{type(error).__name__} in {Path(own[-1].filename).name}, line {own[-1].lineno}"


_LOSSES = ("bad-line", "bad-row", "line-too-long", "cut-short")
"""The problem codes of what is lost from a session."""

_OWN = Path(__file__).parents[1]


def _failed(error: LerimError, _transcript: Transcript) -> Loaded:
    raise error
