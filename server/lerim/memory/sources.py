"""The files that memories speak of, as they are in a worktree: read once, within bounds, wherever links lead."""

from __future__ import annotations

import os
import stat
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from lerim.memory.baselines import Baseline, Stamp
from lerim.memory.fingerprint import Outline, outline, sketch
from lerim.memory.reference import Reference

MAX_SOURCE = 1024 * 1024
"""Bytes of a referenced file that are read; of a larger one it is only known whether it is there."""
HELD_FILES = 4


@dataclass(frozen=True, slots=True)
class Source:
    """A referenced file as it is: `text` None where it is a folder, or nothing that is read as text."""

    text: str | None


class Reader:
    """The files of a worktree. Stamps are kept while it lives, texts of the last few files alone: ask file by file."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._stamps: dict[str, Stamp] = {}
        self._read: OrderedDict[str, Source | None] = OrderedDict()
        self._parsed: OrderedDict[tuple[str, str], Outline | None] = OrderedDict()

    def stamp(self, path: str) -> Stamp:
        """The file's stamp by stat alone; () where there is none."""
        if path not in self._stamps:
            self._stamps[path] = stamp_of(self.root / path)
        return self._stamps[path]

    def source(self, path: str) -> Source | None:
        """The file as it is; None where it cannot be read."""
        if path not in self._read:
            self._read[path] = _read(self.root, path)
            if len(self._read) > HELD_FILES:
                self._read.popitem(last=False)
        return self._read[path]

    def outline(self, path: str, text: str, kind: str = "") -> Outline | None:
        """The definitions of a file's text; None where it does not parse in that way."""
        key = (path, kind)
        if key not in self._parsed:
            self._parsed[key] = outline(path, text, kind)
            if len(self._parsed) > HELD_FILES:
                self._parsed.popitem(last=False)
        return self._parsed[key]

    def baseline(self, reference: Reference) -> Baseline | None:
        """What a reference is now; None where its file is not there or cannot be read."""
        source = self.source(reference.path) if self.stamp(reference.path) else None
        if source is None:
            return None
        found = self.outline(reference.path, source.text) if reference.symbol and source.text is not None else None
        return taken(reference, source.text, found)


def taken(reference: Reference, text: str | None, found: Outline | None) -> Baseline:
    """What a reference is in this text of its file; None for a folder and what is not read as text."""
    if text is None:
        return Baseline("", 0, (), b"")
    known = found.prints(reference.symbol) if found is not None else []
    if found is None or len(known) != 1:
        return Baseline("", 0, (), sketch(text))  # the file stands for it
    twins = tuple(found.twins(reference.symbol, known[0]))
    return Baseline(known[0].digest, known[0].words, twins, sketch(text))


def stamp_of(path: Path) -> Stamp:
    """A file's stamp by stat alone; () where there is none."""
    try:
        state = path.stat()
    except (OSError, ValueError):
        return ()
    return (state.st_mtime_ns, state.st_size, state.st_ino)


def _read(root: Path, path: str) -> Source | None:
    try:
        real = Path(os.path.realpath(root / path))
        if not real.is_relative_to(os.path.realpath(root)):
            return None  # a link that leads out
        # O_NONBLOCK: a named pipe of this name must not hang us
        handle = os.open(real, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except IsADirectoryError:
        return Source(None)
    except PermissionError:
        return Source(None) if real.is_dir() else None  # a folder, on Windows
    except (OSError, ValueError):
        return None
    try:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            os.close(handle)
            return Source(None) if stat.S_ISDIR(mode) else None
        with os.fdopen(handle, "rb") as file:
            data = file.read(MAX_SOURCE + 1)
    except OSError:
        return None
    if len(data) > MAX_SOURCE or b"\0" in data[:8192]:
        return Source(None)
    return Source(data.decode("utf-8", "replace"))
