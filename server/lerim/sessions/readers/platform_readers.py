"""The supported agents: where the store of each may be, and the module that reads it.

Every call of a reader goes through the functions at the end of this file. Stores can be damaged in unforeseen ways, and
readers have bugs: any exception becomes a problem of that one store or session, and reading continues with the others.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path, PurePath
from typing import Protocol

import msgspec

from lerim import paths
from lerim.errors import LerimError, Problem, ReaderError, TranscriptError, error_reason
from lerim.files import make_unreadable_error
from lerim.project import can_be_folder
from lerim.sessions.model import (
    LOST_PLACE_CODES,
    PLATFORM_NAMES,
    UNKNOWN_FORM,
    Database,
    Platform,
    Readable,
    Session,
    StoreContents,
    Transcript,
    Turn,
)
from lerim.sessions.readers import copilot_family, gemini_family
from lerim.sessions.readers.claude import store as claude
from lerim.sessions.readers.codex import store as codex
from lerim.sessions.readers.cursor import store as cursor
from lerim.sessions.readers.engine import ASKS_MARK, LoadedSession, WholeReading
from lerim.sessions.readers.opencode import store as opencode
from lerim.sessions.readers.served_memories import without_served_memories


class PlatformReader(Protocol):
    """The interface of a module that reads one agent's sessions."""

    def scan_root(self, root: Path, folders: Sequence[str], /) -> StoreContents:
        """Lists the contents of a root, from stat alone. `folders` are working folders known on this machine."""
        ...

    def open_session(self, transcript: Transcript, resume: bytes | None = None, /, *, brief: bool = False) -> Readable:
        """Returns a reading of one session that starts where `resume` says."""
        ...


PLATFORM_READERS: Mapping[Platform, PlatformReader] = {
    "claude": claude,
    "codex": codex,
    "cursor": cursor,
    "opencode": opencode,
    "copilot": copilot_family,
    "gemini": gemini_family,
}
DATABASE_LISTERS: Mapping[Platform, Callable[[Database, Sequence[str]], tuple[list[Transcript], list[Problem]]]] = {
    "cursor": cursor.list_database,
    "opencode": opencode.list_database,
}
"""Lists the sessions in a database, each with its stamp, for the agents that keep many in one."""
FOLDER_FINDERS: Mapping[Platform, Callable[[Transcript], str | None]] = {"gemini": gemini_family.find_folder}
"""Finds the working folder of a session from its beginning, for an agent whose sessions are read as a whole; None if
the session must be read for it."""
PROBED_TURNS = 50
"""How many turns of a session are read to find its working folder."""
ROOT_FINDERS: Mapping[Platform, Callable[[Mapping[str, str]], tuple[PurePath, ...]]] = {
    "claude": paths.claude_roots,
    "codex": paths.codex_roots,
    "cursor": paths.cursor_roots,
    "opencode": paths.opencode_roots,
    "copilot": paths.copilot_roots,
    "gemini": paths.gemini_roots,
}


def find_sessions(platform: Platform, root: Path, folders: Sequence[str]) -> StoreContents:
    """Lists the contents of a root, from stat alone. A root that cannot be read is reported as a problem in the
    result."""
    try:
        with faults_as_errors(platform, str(root)):
            contents = PLATFORM_READERS[platform].scan_root(root, folders)
            return replace(contents, transcripts=_clear_unreal_folders(contents.transcripts))
    except LerimError as error:
        problem = error.problem(str(root))
        if isinstance(cause := error.__cause__, OSError):
            problem = Problem("unreadable", str(root), f"This store cannot be read: {error_reason(cause)}")
        return StoreContents(problems=[problem])


def list_sessions(database: Database, folders: Sequence[str]) -> tuple[list[Transcript], list[Problem]]:
    """Lists the sessions in a database, each with its stamp. Raises only LerimError."""
    with faults_as_errors(database.platform, str(database.path)):
        transcripts, problems = DATABASE_LISTERS[database.platform](database, folders)
        return _clear_unreal_folders(transcripts), problems


def _clear_unreal_folders(transcripts: list[Transcript]) -> list[Transcript]:
    """Clears the working folder of transcripts if it cannot be a folder on any machine."""
    return [one if can_be_folder(one.cwd) else replace(one, cwd="") for one in transcripts]


def read_session(transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> Readable:
    """Returns a reading of one session of any agent. Iterating it raises only LerimError."""
    try:
        with faults_as_errors(transcript.platform, transcript.place):
            reading = PLATFORM_READERS[transcript.platform].open_session(transcript, resume, brief=brief)
    except LerimError as error:
        reading = WholeReading(transcript, partial(_raise_error, error))
    return GuardedReading(transcript, reading)


def find_working_folder(transcript: Transcript) -> str:
    """Returns the working folder a session of any agent begins in, or '' if its first turns do not name it. A session
    that cannot be read is not reported here, but when it is read."""
    if transcript.cwd:
        return transcript.cwd
    if find_folder := FOLDER_FINDERS.get(transcript.platform):
        with suppress(LerimError), faults_as_errors(transcript.platform, transcript.place):
            if (folder := find_folder(transcript)) is not None:
                return folder if can_be_folder(folder) else ""
    reading = read_session(transcript, brief=True)
    with suppress(LerimError):
        for turn in islice(reading, PROBED_TURNS):
            if turn.cwd:
                return turn.cwd
    return next(iter(reading.session.cwds), "")


class GuardedReading:
    """A reading that raises only LerimError while it is iterated. It clears working folders that cannot exist on any
    machine and removes memories that Lerim gave to the agent. If the first prompt is a question that Lerim itself asked
    an agent, it yields no turns from there on."""

    def __init__(self, transcript: Transcript, inner: Readable) -> None:
        self._transcript = transcript
        self._inner = inner

    def __iter__(self) -> Iterator[Turn]:
        with faults_as_errors(self._transcript.platform, self._transcript.place):
            is_own_question: bool | None = None  # unknown until the first prompt
            for turn in self._inner:
                if is_own_question is None and turn.kind == "prompt":
                    is_own_question = turn.text.lstrip().startswith(ASKS_MARK)
                if is_own_question:
                    continue
                shown = without_served_memories(turn)
                yield shown if can_be_folder(shown.cwd) else msgspec.structs.replace(shown, cwd="")
            loss = next((one for one in self._inner.problems if one.code in _LOSS_CODES), None)
            if loss is not None and not self._inner.session.turns:
                raise self._nothing_read_error(loss)

    def checkpoint(self) -> bool:
        with faults_as_errors(self._transcript.platform, self._transcript.place):
            return self._inner.checkpoint()

    def _nothing_read_error(self, loss: Problem) -> TranscriptError:
        why = loss.message.rstrip(".")
        what = f"Nothing of this session of {PLATFORM_NAMES[self._transcript.platform]} could be read. {why}."
        return TranscriptError(what, where=self._transcript.place, todo="Lerim tries again when it changes.")

    @property
    def session(self) -> Session:
        session = self._inner.session
        if all(map(can_be_folder, session.cwds)):
            return session
        return replace(session, cwds=tuple(filter(can_be_folder, session.cwds)))

    @property
    def resume(self) -> bytes:
        return self._inner.resume

    @property
    def problems(self) -> list[Problem]:
        return self._inner.problems

    @property
    def restarted(self) -> bool:
        return self._inner.restarted

    @property
    def ids(self) -> frozenset[str] | None:
        return self._inner.ids


@contextmanager
def faults_as_errors(platform: Platform, where: str) -> Iterator[None]:
    """Turns every exception that is not a LerimError into one that names the agent and the place; interrupts pass
    through.

    Used around each call of a reader, and around the code that processes the turns it returns.
    """
    try:
        yield
    except LerimError:
        raise
    except OSError as error:
        raise make_unreadable_error(Path(where), error) from error
    except Exception as error:
        what = "there is not enough memory" if isinstance(error, MemoryError) else _describe_exception(error)
        message = f"This data of {PLATFORM_NAMES[platform]} could not be read or understood: {what}."
        todo = "It is skipped until it changes; everything else is read. Please report this bug in Lerim."
        raise ReaderError(message, where=where, todo=todo) from error


def _describe_exception(error: Exception) -> str:
    """Returns the type of an exception and the innermost line of Lerim's own code in its traceback. Leaves out its
    message, which may quote the session."""
    frames = traceback.extract_tb(error.__traceback__)
    own_frames = [frame for frame in frames if Path(frame.filename).is_relative_to(_OWN_SOURCE)] or frames
    return f"{type(error).__name__} in {Path(own_frames[-1].filename).name}, line {own_frames[-1].lineno}"


_LOSS_CODES = (*LOST_PLACE_CODES, UNKNOWN_FORM, "bad-record", "unreadable", "cut-short")
"""The problem codes which mean that a part of the session was lost."""

_OWN_SOURCE = Path(__file__).parents[2]


def _raise_error(error: LerimError, _transcript: Transcript) -> LoadedSession:
    raise error
