"""Which memories speak of a file or a symbol: the answer behind hovers and lenses, held in memory.

The map is built from the files and follows them; a file that cannot be read is a problem and takes no other with it.
One thread may change it while others read: what a reader gets is never changed afterwards.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from lerim.errors import LerimError, MemoryError_, NotFoundError, Problem
from lerim.memory import files
from lerim.memory.record import LearningKind, Primitive
from lerim.memory.reference import Reference, normalise
from lerim.memory.store import LIVE, Found, Stamp, Stored, find, read_file, stat_file, unreadable

__all__ = ["Entry", "Reference", "ReferenceMap", "normalise"]


@dataclass(frozen=True, slots=True)
class Entry:
    """What a hover's headline and a lens need of a memory; the rest is read from `path`, when it is shown."""

    folder: Path
    name: str
    primitive: Primitive
    kind: LearningKind | None
    title: str
    created: datetime
    confidence: float
    references: tuple[Reference, ...]
    verified: str = ""

    @property
    def path(self) -> Path:
        """The memory's file."""
        return self.folder / self.name

    @property
    def id(self) -> str:
        """The memory's id."""
        return self.path.stem

    @property
    def label(self) -> str:
        """The learning's kind where it has one, else the primitive."""
        return self.kind or self.primitive


class ReferenceMap:
    """The live memories of one folder by file and by symbol. Empty until the first `scan`."""

    def __init__(self, memory_dir: Path, anchor: Path | None = None) -> None:
        self.memory_dir = memory_dir
        self._anchor = anchor or memory_dir.parent.parent
        self._stamps: dict[str, Stamp] = {}
        self._entries: dict[str, Entry] = {}
        self._by_file: dict[str, tuple[Entry, ...]] = {}
        self._by_symbol: dict[tuple[str, str], tuple[Entry, ...]] = {}
        self._file_problems: dict[str, tuple[Problem, ...]] = {}
        self._folder_problems: tuple[Problem, ...] = ()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def problems(self) -> list[Problem]:
        """What could not be read, or only with a guess."""
        return [*self._folder_problems, *(one for many in list(self._file_problems.values()) for one in many)]

    @property
    def entries(self) -> list[Entry]:
        """Every live memory."""
        return list(self._entries.values())

    def for_file(self, path: str) -> tuple[Entry, ...]:
        """The memories that refer to a file or to something in it, newest first. `path` as in references."""
        return self._by_file.get(path, ())

    def for_symbol(self, path: str, symbol: str) -> tuple[Entry, ...]:
        """The memories that refer to a symbol of a file; `save` finds `Store.save` too."""
        return self._by_symbol.get((path, symbol), ())

    def symbols(self, path: str) -> list[str]:
        """The symbols of a file that memories refer to, as they are written there."""
        names = [reference.symbol for entry in self.for_file(path) for reference in entry.references]
        return sorted({name for name in names if name and self.for_symbol(path, name)})

    def scan(self) -> bool:
        """Compare every file's stat with what is known and read the changed ones; True if anything changed."""
        found, problems = find(self.memory_dir, self._anchor)
        changed = tuple(problems) != self._folder_problems
        self._folder_problems = tuple(problems)
        now = {item.name for item in found}
        touched: set[Reference] = set()
        for name in [name for name in self._stamps if name not in now]:
            touched |= self._drop(name)
            changed = True
        for item in found:
            if self._stamps.get(item.name) != item.stamp:
                touched |= self._drop(item.name) | self._read(item)
                changed = True
        self._rebuild(touched)
        return changed

    def apply(self, path: Path) -> bool:
        """Take over one file that was written, moved or removed; True if anything changed."""
        try:
            name = path.relative_to(self.memory_dir).as_posix()
        except ValueError:
            return False
        if path.suffix != ".md" or path.name.startswith("."):
            return False
        folder, _, file = name.rpartition("/")
        if folder not in LIVE:
            return name.split("/")[0] not in ("archived", "summaries", "journal") and self.scan()  # one misplaced
        if any(f"{other}/{file}" in self._stamps for other in LIVE if other != folder):
            return self.scan()  # an id there twice, or no longer
        known = name in self._stamps
        item: Found | None = None
        try:
            files.inside(self._anchor, path)
            item = stat_file(self.memory_dir, name)
        except NotFoundError:
            pass
        except LerimError:
            return self.scan()  # a link, or a folder that cannot be listed: the scan says so
        if item is not None and self._stamps.get(name) == item.stamp:
            return False
        touched = self._drop(name)
        if item is not None:
            touched |= self._read(item)
        self._rebuild(touched)
        return known or item is not None

    def _read(self, item: Found) -> set[Reference]:
        self._stamps[item.name] = item.stamp
        try:
            stored, problems = read_file(item)
        except NotFoundError:
            del self._stamps[item.name]
            return set()
        except MemoryError_ as error:
            self._file_problems[item.name] = (unreadable(str(item.path), error),)
            return set()
        if problems:
            self._file_problems[item.name] = tuple(problems)
        if stored.status != "active":
            return set()
        entry = _entry(stored, item)
        self._entries[item.name] = entry
        return set(entry.references)

    def _drop(self, name: str) -> set[Reference]:
        self._stamps.pop(name, None)
        self._file_problems.pop(name, None)
        entry = self._entries.pop(name, None)
        return set(entry.references) if entry else set()

    def _rebuild(self, touched: set[Reference]) -> None:
        """Make the lists of the touched references anew, from the entries that name them."""
        if not touched:
            return
        wanted = {reference.path for reference in touched}
        by_file: dict[str, list[Entry]] = {path: [] for path in wanted}
        by_symbol: dict[tuple[str, str], list[Entry]] = {key: [] for key in _keys(touched)}
        for entry in self._entries.values():
            for path in {reference.path for reference in entry.references} & wanted:
                by_file[path].append(entry)
            for key in _keys(reference for reference in entry.references if reference.path in wanted):
                by_symbol.setdefault(key, []).append(entry)
        for path, entries in by_file.items():
            _put(self._by_file, path, entries)
        for key, entries in by_symbol.items():
            _put(self._by_symbol, key, entries)


_Key = TypeVar("_Key")


def _put(places: dict[_Key, tuple[Entry, ...]], key: _Key, entries: list[Entry]) -> None:
    if entries:
        places[key] = tuple(sorted(entries, key=lambda entry: (entry.created, entry.name), reverse=True))
    else:
        places.pop(key, None)


def _keys(references: Iterable[Reference]) -> set[tuple[str, str]]:
    """The places a symbol is found at: by its whole name and by its last part."""
    names = [(one.path, one.symbol) for one in references if one.symbol]
    return {(path, name) for path, whole in names for name in (whole, sys.intern(whole.rpartition(".")[2])) if name}


def _entry(stored: Stored, found: Found) -> Entry:
    record = stored.record
    references = dict.fromkeys(filter(None, map(normalise, record.references)))
    return Entry(
        folder=found.folder,
        name=found.name,
        primitive=record.primitive,
        kind=record.kind,
        title=record.title,
        created=record.created,
        confidence=record.confidence,
        references=tuple(references),
        verified=sys.intern(record.verified),
    )
