"""The agents whose sessions are read: where the store of each may lie, and the module that reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Protocol

from lerim import paths
from lerim.errors import Problem
from lerim.sessions import claude, codex, copilot, cursor, gemini, opencode
from lerim.sessions.indexing import Readable
from lerim.sessions.model import Database, Found, Platform, Transcript


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


def reading(transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> Readable:
    """A reading of a session of any agent."""
    return READERS[transcript.platform].read(transcript, resume, brief=brief)


def probe(transcript: Transcript) -> str:
    """The working folder a session of any agent begins in; '' where that is not known."""
    return transcript.cwd or READERS[transcript.platform].probe(transcript)
