"""Finds the memories that others end, and repairs links between memories that disagree. `supersedes` and `resolves` are
authoritative, wherever the ended file is.

After a merge of two branches, a move or an edit by hand, one side of a link may be missing. A repair changes only links
in headers, mostly the back links of ended memories (`superseded_by`, `resolved_by`), and moves ended memories to
`archived/`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from lerim.memory.header_lines import HeaderValue
from lerim.memory.lifecycle import ended_status
from lerim.memory.record import MemoryRecord
from lerim.memory.store import StoredMemory

LinkKey = Literal["supersedes", "resolves"]
EndKind = Literal["superseded", "resolved"]
_KEYS: dict[EndKind, tuple[LinkKey, str]] = {
    "superseded": ("supersedes", "superseded_by"),
    "resolved": ("resolves", "resolved_by"),
}
"""The key by which a memory says it ends another, and that of the back link."""


@dataclass(frozen=True, slots=True)
class LinkRepair:
    """The repair of one memory: `changes` to its header (None removes the key), and whether its file should be
    archived.
    """

    stored: StoredMemory
    changes: Mapping[str, HeaderValue]
    should_archive: bool


@dataclass(frozen=True, slots=True)
class MemoryLinks:
    """The links of one memory, from its file or an index. `updated` is any number that grows with each change."""

    id: str
    updated: int
    archived: bool
    supersedes: tuple[str, ...]
    resolves: tuple[str, ...]
    superseded_by: str
    resolved_by: str


@dataclass(frozen=True, slots=True)
class EndingLink:
    """Says that `ender`, last changed at `updated` (any number that grows with time), ends `target`."""

    ender: str
    updated: int
    target: str
    kind: EndKind


def find_memories_to_repair(linked: Sequence[MemoryLinks]) -> set[str]:
    """Returns the ids of the memories that `plan_link_repairs` would change."""
    return set(_find_repairs(_unique_by_id(linked)))


def plan_link_repairs(stored: Sequence[StoredMemory]) -> list[LinkRepair]:
    """Returns the repairs that make the links of these memories agree.

    If memories end each other, directly or in a circle, none of them is ended by it, and one that is in the archive
    already still says what ended it: a person has to remove one of the links (the check reports `link-circle`). A back
    link to a memory that is not among these stays: that memory may be on another branch, or unreadable at present. An
    id that two files share is left alone until they are merged.
    """
    by_id = {one.record.id: one for one in stored}
    wrong = _find_repairs(_unique_by_id([_links_of(one) for one in stored]))
    return [LinkRepair(by_id[name], changes, archive) for name, (changes, archive) in wrong.items()]


def find_enders(stored: Iterable[StoredMemory], memory_id: str) -> list[StoredMemory]:
    """Returns the memories that say they end this one."""
    return [one for one in stored if any(link.target == memory_id for link in ending_links(one.record))]


def changes_without_link(record: MemoryRecord, memory_id: str) -> dict[str, HeaderValue]:
    """Returns the header changes that remove a record's links to a memory."""
    return {
        key: tuple(one for one in _targets(record, key) if one != memory_id) or None
        for key, _ in _KEYS.values()
        if memory_id in _targets(record, key)
    }


def _links_of(one: StoredMemory) -> MemoryLinks:
    record = one.record
    updated, archived = int(record.updated.timestamp()), one.path.parent.parent.name == "archived"
    ends = (record.supersedes, record.resolves, record.superseded_by, record.resolved_by)
    return MemoryLinks(record.id, updated, archived, *ends)


def _unique_by_id(linked: Sequence[MemoryLinks]) -> dict[str, MemoryLinks]:
    count = Counter(one.id for one in linked)
    return {one.id: one for one in linked if count[one.id] == 1}


def _find_repairs(known: Mapping[str, MemoryLinks]) -> dict[str, tuple[dict[str, HeaderValue], bool]]:
    """Returns by id, for memories whose links disagree, the changes to the header and whether to archive the file."""
    enders: dict[tuple[str, EndKind], list[str]] = defaultdict(list)  # of each target, the latest first
    links = {link for one in known.values() for link in ending_links(one) if link.target in known}
    circular = find_circular_links(links)
    ended_in_circle = {(link.ender, link.target) for link in circular}
    for link in sorted(links - circular, key=lambda one: (one.updated, one.ender), reverse=True):
        enders[link.target, link.kind].append(link.ender)
    found: dict[str, tuple[dict[str, HeaderValue], bool]] = {}
    for memory_id, one in known.items():
        changes: dict[str, HeaderValue] = {}
        for kind, (_, back_key) in _KEYS.items():
            back_link = one.superseded_by if kind == "superseded" else one.resolved_by
            enders_here = enders.get((memory_id, kind), [])
            if enders_here and back_link not in enders_here:
                changes[back_key] = enders_here[0]
            elif (
                back_link in known
                and not enders_here
                and not (one.archived and (back_link, memory_id) in ended_in_circle)
            ):
                changes[back_key] = None
        archive = not one.archived and any((memory_id, kind) in enders for kind in _KEYS)
        if changes or archive:
            found[memory_id] = (changes, archive)
    return found


def _targets(record: MemoryRecord | MemoryLinks, key: LinkKey) -> tuple[str, ...]:
    return record.supersedes if key == "supersedes" else record.resolves


def linked_ids(record: MemoryRecord) -> tuple[str, ...]:
    """Returns the ids that a memory names in its links, without duplicates."""
    named = (*record.supersedes, *record.resolves, record.superseded_by, record.resolved_by, *record.related)
    return tuple(dict.fromkeys(filter(None, named)))


def find_ended(links: Iterable[EndingLink]) -> dict[str, EndKind]:
    """Returns how each ended memory ended, by id. If memories end each other, directly or in a circle, none of them is
    ended by it; a memory that is both superseded and resolved counts as superseded."""
    known = set(links)
    found: dict[str, EndKind] = {}
    for link in known - find_circular_links(known):
        if found.get(link.target) != "superseded":
            found[link.target] = link.kind
    return found


def with_current_status(stored: Sequence[StoredMemory]) -> list[StoredMemory]:
    """Returns all the memories of a store, with the status they have once the links of the others are considered."""
    ended = find_ended(link for one in stored for link in ending_links(one.record))
    return [
        replace(one, status=ended_status(ended[one.record.id], one.record.primitive))
        if one.status == "active" and one.record.id in ended
        else one
        for one in stored
    ]


def find_ender(memory_id: str, stored: Sequence[StoredMemory]) -> StoredMemory | None:
    """Returns the memory that ended this one, the latest if there are several; None if no memory ended it."""
    if not any(one.record.id == memory_id and one.status in get_args(EndKind) for one in with_current_status(stored)):
        return None
    circular = find_circular_links(link for one in stored for link in ending_links(one.record))
    in_circle = {link.ender for link in circular if link.target == memory_id}
    enders = [one for one in find_enders(stored, memory_id) if one.record.id not in in_circle]
    return max(enders, key=lambda one: (one.record.updated, one.record.id), default=None)


def ending_links(record: MemoryRecord | MemoryLinks) -> tuple[EndingLink, ...]:
    """Returns the links by which a memory says it ends others."""
    updated = record.updated if isinstance(record, MemoryLinks) else int(record.updated.timestamp())
    return tuple(
        EndingLink(record.id, updated, target, kind)
        for kind, (key, _) in _KEYS.items()
        for target in _targets(record, key)
    )


def find_circular_links(links: Iterable[EndingLink]) -> set[EndingLink]:
    """Returns the links between memories that end each other, directly or in a circle."""
    known = set(links)
    ends: dict[str, list[str]] = defaultdict(list)
    ended_by: dict[str, list[str]] = defaultdict(list)
    for link in known:
        ends[link.ender].append(link.target)
        ended_by[link.target].append(link.ender)
    circles: dict[str, str] = {}  # of each memory, the first one found of its circle; Kosaraju's algorithm
    for start in reversed(_list_ended_first(ends)):
        waiting = [start]
        while waiting:
            here = waiting.pop()
            if here not in circles:
                circles[here] = start
                waiting += ended_by.get(here, ())
    return {link for link in known if circles[link.ender] == circles[link.target]}


def _list_ended_first(ends: Mapping[str, Sequence[str]]) -> list[str]:
    """Returns the memories, each after all that it ends, but for those that end each other in a circle."""
    found: list[str] = []
    seen: set[str] = set()
    waiting = [(start, False) for start in ends]
    while waiting:
        here, is_followed = waiting.pop()
        if is_followed:
            found.append(here)
        elif here not in seen:
            seen.add(here)
            waiting.append((here, True))
            waiting += [(target, False) for target in ends.get(here, ())]
    return found
