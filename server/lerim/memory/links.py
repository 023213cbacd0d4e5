"""Links between memories that do not agree: what says `supersedes` or `resolves` is the truth, the other side follows.

After a merge of two branches, a move or an edit by hand one side of a link may be missing. What is repaired is the
back link of what ended (`superseded_by`, `resolved_by`) and its place under `archived/`; nothing else of a file.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lerim.errors import BoundaryError, MemoryError_, NotFoundError
from lerim.memory import files
from lerim.memory.ends import reaches
from lerim.memory.lines import Value
from lerim.memory.record import MAX_FILE, MemoryRecord
from lerim.memory.store import Store, Stored

Link = Literal["supersedes", "resolves"]
_LINKS: tuple[Link, ...] = ("supersedes", "resolves")
_BACK: dict[Link, str] = {"supersedes": "superseded_by", "resolves": "resolved_by"}
_WORDS = (*_LINKS, *_BACK.values())


@dataclass(frozen=True, slots=True)
class Repair:
    """What one memory needs: `changes` of its header (None removes the key), and, where `archive`, its place."""

    stored: Stored
    changes: Mapping[str, Value]
    archive: bool


def repairs(stored: Sequence[Stored]) -> list[Repair]:
    """What makes the links of these memories agree; nothing where they do.

    Of two that end each other, directly or round about, the one changed later ends the other. A back link to a memory
    that is not among these stays: it may be on another branch, or unreadable now. An id that two files have is left
    alone until they are merged.
    """
    count = Counter(one.record.id for one in stored)
    known = {one.record.id: one for one in stored if count[one.record.id] == 1}
    enders, false = _ended(known)
    found: list[Repair] = []
    for memory_id, one in known.items():
        changes: dict[str, Value] = {}
        for link in _LINKS:
            if wrong := false.get((memory_id, link)):
                changes[link] = tuple(item for item in _targets(one.record, link) if item not in wrong) or None
            said = _back(one.record, link)
            by = enders[link].get(memory_id, [])
            if by and said not in by:
                changes[_BACK[link]] = by[0]
            elif said in known and not by:
                changes[_BACK[link]] = None
        over = any(memory_id in enders[link] for link in _LINKS)
        archive = over and one.path.parent.parent.name != "archived"
        if changes or archive:
            found.append(Repair(one, changes, archive))
    return found


def linked(store: Store) -> list[Stored]:
    """Every memory that has a link, and those it leads to. Files that cannot be read are told where they are listed."""
    found: dict[str, Stored] = {}
    for item in store.find(archived=True)[0]:
        try:
            text = files.read_text(item.path, MAX_FILE)
            if any(word in text for word in _WORDS):
                found[item.name] = store.load_found(item)[0]
        except MemoryError_:
            continue
    for memory_id in _named(one.record for one in found.values()):
        for path in store.paths_of(memory_id):
            try:
                found.setdefault(store.name(path), store.load(path)[0])
            except (MemoryError_, BoundaryError, NotFoundError):
                continue
    return list(found.values())


def enders_of(stored: Iterable[Stored], memory_id: str) -> list[Stored]:
    """Those that say they end this memory."""
    return [one for one in stored if any(memory_id in _targets(one.record, link) for link in _LINKS)]


def without(record: MemoryRecord, memory_id: str) -> dict[str, Value]:
    """The changes of a header that take its links to a memory out."""
    changes: dict[str, Value] = {}
    for link in _LINKS:
        if memory_id in _targets(record, link):
            changes[link] = tuple(one for one in _targets(record, link) if one != memory_id) or None
    return changes


def _ended(known: Mapping[str, Stored]) -> tuple[dict[Link, dict[str, list[str]]], dict[tuple[str, Link], set[str]]]:
    """Who ends whom, by link, the latest first; and the links that are false, for they would close a circle."""
    enders: dict[Link, dict[str, list[str]]] = {link: {} for link in _LINKS}
    false: dict[tuple[str, Link], set[str]] = defaultdict(set)
    ends: dict[str, set[str]] = defaultdict(set)
    for memory_id in sorted(known, key=lambda name: (known[name].record.updated, name), reverse=True):
        for link in _LINKS:
            for target in _targets(known[memory_id].record, link):
                if target not in known:
                    continue
                if reaches(ends, target, memory_id):
                    false[memory_id, link].add(target)
                    continue
                ends[memory_id].add(target)
                enders[link].setdefault(target, []).append(memory_id)
    return enders, false


def _targets(record: MemoryRecord, link: Link) -> tuple[str, ...]:
    return record.supersedes if link == "supersedes" else record.resolves


def _back(record: MemoryRecord, link: Link) -> str:
    return record.superseded_by if link == "supersedes" else record.resolved_by


def _named(records: Iterable[MemoryRecord]) -> set[str]:
    return {
        name
        for record in records
        for name in (*record.supersedes, *record.resolves, record.superseded_by, record.resolved_by)
        if name
    }
