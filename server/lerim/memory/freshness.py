"""Whether what memories speak of is still there and still the same: fresh, drifted, gone, or not known.

This is the second axis of a memory, apart from where it is in its life: being old or unused says nothing about it, and
being used never makes it fresh.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from lerim.errors import LerimError
from lerim.memory import baselines, commits
from lerim.memory.baselines import Baseline, Look, Stamp, State
from lerim.memory.fingerprint import Outline, outline, prints, sketch, twins
from lerim.memory.record import MemoryRecord
from lerim.memory.reference import Reference, normalise
from lerim.paths import Home
from lerim.project import Project

MAX_SOURCE = 1024 * 1024
"""Bytes of a referenced file that are read; of a larger one it is only known whether it is there."""
RANK: dict[State, int] = {"fresh": 0, "unknown": 1, "drifted": 2, "gone": 3}


@dataclass(frozen=True, slots=True)
class Standing:
    """How a memory's reference stands. `moved_to` is the reference that means the same now: it may be fresh there.

    `detail` says what happened (“`load` changed”), `since` (YYYY-MM-DD) when that was first seen.
    """

    state: State
    reference: str
    moved_to: str = ""
    detail: str = ""
    since: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is looked at of a memory."""

    id: str
    references: tuple[Reference, ...]
    verified: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A referenced file as it is: `text` None where it is a folder, or too large to be read."""

    stamp: Stamp
    text: str | None


def verify(project: Project, home: Home, record: MemoryRecord, now: datetime) -> MemoryRecord:
    """The record as verified now: what its references are is kept as what they shall be compared with.

    `verified` becomes `YYYY-MM-DD@<commit>`, or the day alone where no commit is checked out. Never raises for a file
    that cannot be read: its reference stays unknown. Where nothing can be kept the record stays as it was.
    """
    references = tuple(dict.fromkeys(filter(None, map(normalise, record.references))))
    commit = commits.head(project.root, project.common_dir)[: commits.SHORT]
    said = f"{now:%Y-%m-%d}@{commit}" if commit else f"{now:%Y-%m-%d}"
    try:
        with baselines.opened(home.project(project.key), project.root) as kept, kept.writing():
            kept.forget(record.id)
            reader = Reader(project.root)
            for reference in references:
                taken = reader.baseline(reference)
                if taken is not None:
                    kept.keep(record.id, reference, said, taken)
                    kept.put(Look(record.id, reference, said, reference.path, reader.stamp(reference.path), "fresh"))
    except LerimError:
        return record
    return replace(record, verified=said)


class Reader:
    """The files of a worktree, each read and parsed once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._sources: dict[str, Source | None] = {}
        self._outlines: dict[tuple[str, str], Outline | None] = {}
        self._stamps: dict[str, Stamp] = {}

    def stamp(self, path: str) -> Stamp:
        """The file's stamp by stat alone; () where there is none."""
        if path not in self._stamps:
            self._stamps[path] = _stamp(self.root / path)
        return self._stamps[path]

    def source(self, path: str) -> Source | None:
        """The file as it is; None where it cannot be read."""
        if path not in self._sources:
            self._sources[path] = _read(self.root, path, self.stamp(path))
        return self._sources[path]

    def outline(self, path: str, text: str, kind: str = "") -> Outline | None:
        """The definitions of a file's text."""
        key = (path, kind)
        if key not in self._outlines:
            self._outlines[key] = outline(path, text, kind)
        return self._outlines[key]

    def baseline(self, reference: Reference) -> Baseline | None:
        """What a reference is now; None where its file is not there or cannot be read."""
        source = self.source(reference.path) if self.stamp(reference.path) else None
        if source is None:
            return None
        text = source.text
        return Baseline("", 0, (), b"") if text is None else taken(reference, text, self.outline(reference.path, text))


def taken(reference: Reference, text: str, found: Outline | None) -> Baseline:
    """What a reference is in this text of its file."""
    if reference.symbol and found is not None:
        known = prints(found, reference.symbol)
        if len(known) == 1:
            others = tuple(twins(found, reference.symbol, known[0]))
            return Baseline(known[0].digest, known[0].words, others, sketch(text))
    return Baseline("", 0, (), sketch(text))


def _stamp(path: Path) -> Stamp:
    try:
        state = path.stat()
    except (OSError, ValueError):
        return ()
    return (state.st_mtime_ns, state.st_size, state.st_ino)


def _read(root: Path, path: str, stamp: Stamp) -> Source | None:
    try:
        real = Path(os.path.realpath(root / path))
        if not real.is_relative_to(os.path.realpath(root)):
            return None  # a link that leads out
        # O_NONBLOCK: a named pipe of this name must not hang us
        handle = os.open(real, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except IsADirectoryError:
        return Source(stamp, None)
    except PermissionError:
        return Source(stamp, None) if real.is_dir() else None  # a folder, on Windows
    except (OSError, ValueError):
        return None
    try:
        with os.fdopen(handle, "rb") as file:
            state = os.fstat(file.fileno())
            if stat.S_ISDIR(state.st_mode):
                return Source(stamp, None)
            if not stat.S_ISREG(state.st_mode):
                return None
            data = file.read(MAX_SOURCE + 1)
    except OSError:
        return None
    if len(data) > MAX_SOURCE or b"\0" in data[:8192]:
        return Source(stamp, None)
    return Source(stamp, data.decode("utf-8", "replace"))
