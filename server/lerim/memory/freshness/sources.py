"""Reads the files that memories refer to: once, within limits, and only inside the worktree, links resolved."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from lerim.files import open_buffered
from lerim.memory.freshness.baselines import Baseline, StatStamp
from lerim.memory.freshness.fingerprint import FileOutline, outline_file, sketch_text
from lerim.memory.reference import Reference

MAX_SOURCE = 1024 * 1024
"""Bytes of a referenced file that are read; of a larger one only its existence is known."""
MAX_CACHED_FILES = 4


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A referenced file; `text` is None if it is a folder, or is not read as text."""

    text: str | None


class SourceReader:
    """Reads the files of a worktree. Caches all stamps, but only the last few texts: proceed file by file."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._stamps: dict[str, StatStamp] = {}
        self._sources: OrderedDict[str, SourceFile | None] = OrderedDict()
        self._outlines: OrderedDict[tuple[str, str], FileOutline | None] = OrderedDict()
        self._sketches: OrderedDict[str, bytes] = OrderedDict()

    def stamp(self, path: str) -> StatStamp:
        """Returns the file's stamp by stat alone; () if there is no file."""
        if path not in self._stamps:
            self._stamps[path] = stamp_of(f"{self.root}/{path}")
        return self._stamps[path]

    @property
    def stamps(self) -> Mapping[str, StatStamp]:
        """The stamps of all files that were looked at, by path."""
        return self._stamps

    def refresh(self) -> None:
        """Forgets what was read of files that have changed since, by stat alone."""
        for path, stamp in list(self._stamps.items()):
            if stamp_of(f"{self.root}/{path}") != stamp:
                del self._stamps[path]
                for cache in (self._sources, self._sketches):
                    cache.pop(path, None)
                for key in [key for key in self._outlines if key[0] == path]:
                    del self._outlines[key]

    def source(self, path: str) -> SourceFile | None:
        """Returns the file as it is now; None if it cannot be read."""
        return _cached(self._sources, path, lambda: _read(self.root, path))

    def text(self, path: str) -> str | None:
        """Returns the file's text as it is now; None if it is a folder, is not read as text, or cannot be read."""
        source = self.source(path)
        return source.text if source is not None else None

    def outline_now(self, path: str, kind: str = "") -> FileOutline | None:
        """Returns the definitions of a file as it is now; None if it has no text, or does not parse."""
        text = self.text(path)
        return self.outline(path, text, kind) if text is not None else None

    def outline(self, path: str, text: str, kind: str = "") -> FileOutline | None:
        """Returns the definitions of a file's text; None if it does not parse. `kind` as in `outline_file`."""
        usual = self._outlines.get((path, ""))
        if usual is not None and usual.kind == kind:
            return usual
        return _cached(self._outlines, (path, kind), lambda: outline_file(path, text, kind))

    def baseline(self, reference: Reference) -> Baseline | None:
        """Returns the baseline of a reference as it is now; None if its file is missing or cannot be read."""
        source = self.source(reference.path) if self.stamp(reference.path) else None
        if source is None:
            return None
        path, text = reference.path, source.text
        if text is None:
            return Baseline("", 1, (), b"")
        lines = _cached(self._sketches, path, lambda: sketch_text(text))
        return make_baseline(reference, text, lines, self.outline(path, text) if reference.symbol else None)


def make_baseline(reference: Reference, text: str, lines: bytes, found: FileOutline | None) -> Baseline:
    """Returns the baseline of a reference in a text of its file; `lines` is the text's sketch. If the symbol is not
    found, or found twice, the baseline is that of the whole file."""
    known = found.fingerprints(reference.symbol) if found is not None else []
    if found is None or len(known) != 1:
        return Baseline("", 0 if is_blank(text) else 1, (), lines)
    return Baseline(
        known[0].digest, known[0].word_count, tuple(found.find_identical_symbols(reference.symbol, known[0])), lines
    )


def baseline_in(reference: Reference, text: str) -> Baseline:
    """Returns the baseline of a reference in any text of its file, such as a committed one."""
    outline = outline_file(reference.path, text) if reference.symbol else None
    return make_baseline(reference, text, sketch_text(text), outline)


def is_blank(text: str) -> bool:
    """Returns whether a text contains nothing but white space."""
    return not text or text.isspace()


_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def _cached(cache: OrderedDict[_Key, _Value], key: _Key, make: Callable[[], _Value]) -> _Value:
    if key not in cache:
        cache[key] = make()
        if len(cache) > MAX_CACHED_FILES:
            cache.popitem(last=False)
    return cache[key]


def stamp_of(path: str | Path) -> StatStamp:
    """Returns a file's stamp by stat alone; () if there is no file."""
    try:
        state = os.stat(path)  # noqa: PTH116 - of ten thousand files, making paths would take longer
    except (OSError, ValueError):
        return ()
    return (state.st_mtime_ns, state.st_size, state.st_ino)


def are_unchanged(root: Path, stamps: Mapping[str, StatStamp]) -> bool:
    """Returns whether each of these files of a worktree still has its stamp."""
    folder = f"{root}/"
    return all(stamp_of(folder + path) == stamp for path, stamp in stamps.items())


def _read(root: Path, path: str) -> SourceFile | None:
    try:
        real = Path(os.path.realpath(root / path))
        if not real.is_relative_to(os.path.realpath(root)):
            return None  # a link that leads out
        if real.is_dir():
            return SourceFile(None)
        with open_buffered(real) as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read(min(size, MAX_SOURCE) + 1)  # no more, since that much memory is made ready first
    except (OSError, ValueError):
        return None
    if len(data) > MAX_SOURCE or b"\0" in data[:8192]:
        return SourceFile(None)
    return SourceFile(data.decode("utf-8", "replace"))
