"""The part of a live memory that hovers and code lenses need, and where its references are found."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from lerim.memory.claims import claim_text
from lerim.memory.links import linked_ids
from lerim.memory.record import LearningKind, Primitive
from lerim.memory.reference import Reference, parse_reference
from lerim.memory.store import LIVE_FOLDERS, MemoryFile, StoredMemory

ReferenceMoves = Mapping[str, Mapping[str, str]]
"""By memory: each moved reference and where it is now, both as written."""


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """What a hover's headline and a code lens need of a memory; the rest is read from `path` when it is shown."""

    folder: Path
    name: str
    primitive: Primitive
    kind: LearningKind | None
    title: str
    created: datetime
    confidence: float
    references: tuple[Reference, ...]
    verified: str = ""
    tags: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    """The ids of the memories that this one names: what it ends, what ended it, and related ones."""
    title_bucket: int = 0
    """The result of `find_title_bucket` for the title."""

    @property
    def path(self) -> Path:
        """The memory's file."""
        return self.folder / self.name

    @property
    def id(self) -> str:
        """The memory's id."""
        return self.name.rpartition("/")[2].removesuffix(".md")

    @property
    def label(self) -> str:
        """The kind of a learning if it has one, else the primitive."""
        return self.kind or self.primitive


MovedReferences = Mapping[str, Sequence[tuple[Reference, MemoryEntry]]]
"""By file: the renamed or moved references that are there now, each with its memory."""


def moved_references(moves: ReferenceMoves, entries: Mapping[str, MemoryEntry]) -> MovedReferences:
    """Returns the memories by the files their references moved to."""
    found: dict[str, list[tuple[Reference, MemoryEntry]]] = {}
    for memory, moved in moves.items():
        entry = next(filter(None, (entries.get(f"{folder}/{memory}.md") for folder in LIVE_FOLDERS)), None)
        if entry is None:
            continue
        now = [parse_reference(new) for old, new in moved.items() if parse_reference(old) in entry.references]
        for reference in filter(None, now):
            found.setdefault(reference.path, []).append((reference, entry))
    return found


_SHARED_CONFIDENCES: dict[float, float] = {}
"""Confidences: at most 10,001 numbers, each stored once."""


def entry_of(stored: StoredMemory, found: MemoryFile) -> MemoryEntry:
    """Returns the entry of a memory that was read."""
    record = stored.record
    references = dict.fromkeys(filter(None, map(parse_reference, record.references)))
    return MemoryEntry(
        folder=found.folder,
        name=found.name,
        primitive=record.primitive,
        kind=record.kind,
        title=record.title,
        created=record.created,
        confidence=_SHARED_CONFIDENCES.setdefault(record.confidence, record.confidence),
        references=tuple(references),
        verified=sys.intern(record.verified),
        tags=tuple(map(sys.intern, record.tags)),
        links=linked_ids(record),
        title_bucket=find_title_bucket(record.title),
    )


_TITLE_BUCKETS = tuple(range(1024))
"""The numbers of all buckets, shared by all entries: a number for each would take 32 bytes."""


def find_title_bucket(title: str) -> int:
    """Returns a number below 1,024 that is equal, in one process, for titles that differ only in form."""
    return _TITLE_BUCKETS[hash(claim_text(title, "")) % len(_TITLE_BUCKETS)]


def newest_first(entries: Iterable[MemoryEntry]) -> tuple[MemoryEntry, ...]:
    """Sorts memories in the order in which they are shown."""
    return tuple(sorted(entries, key=lambda entry: (entry.created, entry.name), reverse=True))


def symbol_names(reference: Reference) -> tuple[str, ...]:
    """Returns the names a symbol is found by: the whole name and its last part."""
    return (reference.symbol, reference.symbol.rpartition(".")[2]) if reference.symbol else ()
