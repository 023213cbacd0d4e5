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

from lerim import files
from lerim.errors import BoundaryError, MemoryError_, NotFoundError
from lerim.memory.header_lines import HeaderValue
from lerim.memory.lifecycle import ended_status
from lerim.memory.record import MAX_FILE_BYTES, MemoryRecord
from lerim.memory.store import Store, StoredMemory

LinkKind = Literal["supersedes", "resolves"]
_LINK_KINDS: tuple[LinkKind, ...] = ("supersedes", "resolves")
_BACK_LINK_KEYS: dict[LinkKind, str] = {"supersedes": "superseded_by", "resolves": "resolved_by"}
_LINK_KEYS = (*_LINK_KINDS, *_BACK_LINK_KEYS.values())
EndKind = Literal["superseded", "resolved"]


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
    updated: float
    archived: bool
    supersedes: tuple[str, ...]
    resolves: tuple[str, ...]
    superseded_by: str
    resolved_by: str


def find_memories_to_repair(linked: Sequence[MemoryLinks]) -> set[str]:
    """Returns the ids of the memories that `plan_link_repairs` would change."""
    return set(_find_repairs(_unique_by_id(linked)))


def plan_link_repairs(stored: Sequence[StoredMemory]) -> list[LinkRepair]:
    """Returns the repairs that make the links of these memories agree.

    If memories end each other, directly or in a circle, the one changed later wins. A back link to a memory that is not
    among these stays: that memory may be on another branch, or unreadable at present. An id that two files share is
    left alone until they are merged.
    """
    by_id = {one.record.id: one for one in stored}
    wrong = _find_repairs(_unique_by_id([_links_of(one) for one in stored]))
    return [LinkRepair(by_id[name], changes, archive) for name, (changes, archive) in wrong.items()]


def find_linked_memories(store: Store) -> list[StoredMemory]:
    """Returns every memory that has a link, and the memories it links to. Unreadable files are skipped."""
    found: dict[str, StoredMemory] = {}
    for item in store.find_files(archived=True)[0]:
        try:
            text = files.read_text(item.path, MAX_FILE_BYTES, store.anchor)
            if any(word in text for word in _LINK_KEYS):
                found[item.name] = store.load_file(item)[0]
        except (MemoryError_, BoundaryError):
            continue
    for memory_id in _linked_ids(one.record for one in found.values()):
        for path in store.paths_of(memory_id):
            try:
                found.setdefault(store.relative_name(path), store.load(path)[0])
            except (MemoryError_, BoundaryError, NotFoundError):
                continue
    return list(found.values())


def find_enders(stored: Iterable[StoredMemory], memory_id: str) -> list[StoredMemory]:
    """Returns the memories that say they end this one."""
    return [one for one in stored if any(memory_id in _targets(one.record, link) for link in _LINK_KINDS)]


def changes_without_link(record: MemoryRecord, memory_id: str) -> dict[str, HeaderValue]:
    """Returns the header changes that remove a record's links to a memory."""
    changes: dict[str, HeaderValue] = {}
    for link in _LINK_KINDS:
        if memory_id in _targets(record, link):
            changes[link] = tuple(one for one in _targets(record, link) if one != memory_id) or None
    return changes


def _links_of(one: StoredMemory) -> MemoryLinks:
    record = one.record
    archived = one.path.parent.parent.name == "archived"
    ends = (record.supersedes, record.resolves)
    return MemoryLinks(record.id, record.updated.timestamp(), archived, *ends, record.superseded_by, record.resolved_by)


def _unique_by_id(linked: Sequence[MemoryLinks]) -> dict[str, MemoryLinks]:
    """Returns the links by id, without ids that two files share."""
    count = Counter(one.id for one in linked)
    return {one.id: one for one in linked if count[one.id] == 1}


def _find_repairs(known: Mapping[str, MemoryLinks]) -> dict[str, tuple[dict[str, HeaderValue], bool]]:
    """Returns by id, for memories whose links disagree, the changes to the header and whether to archive the file."""
    enders, circular = _find_enders_by_target(known)
    found: dict[str, tuple[dict[str, HeaderValue], bool]] = {}
    for memory_id, one in known.items():
        changes: dict[str, HeaderValue] = {}
        for link in _LINK_KINDS:
            if wrong := circular.get((memory_id, link)):
                changes[link] = tuple(item for item in _targets(one, link) if item not in wrong) or None
            back_link = _back_link(one, link)
            enders_here = enders[link].get(memory_id, [])
            if enders_here and back_link not in enders_here:
                changes[_BACK_LINK_KEYS[link]] = enders_here[0]
            elif back_link in known and not enders_here:
                changes[_BACK_LINK_KEYS[link]] = None
        ended = any(memory_id in enders[link] for link in _LINK_KINDS)
        archive = ended and not one.archived
        if changes or archive:
            found[memory_id] = (changes, archive)
    return found


def _find_enders_by_target(
    known: Mapping[str, MemoryLinks],
) -> tuple[dict[LinkKind, dict[str, list[str]]], dict[tuple[str, LinkKind], set[str]]]:
    """Returns the memories that end each target, by link, latest first; and the false links, which close a circle."""
    enders: dict[LinkKind, dict[str, list[str]]] = {link: {} for link in _LINK_KINDS}
    circular: dict[tuple[str, LinkKind], set[str]] = defaultdict(set)
    chains = EndingGraph()
    for memory_id in sorted(known, key=lambda name: (known[name].updated, name), reverse=True):
        for link in _LINK_KINDS:
            for target in _targets(known[memory_id], link):
                if target not in known:
                    continue
                if not chains.add(memory_id, target):
                    circular[memory_id, link].add(target)
                    continue
                enders[link].setdefault(target, []).append(memory_id)
    return enders, circular


def _targets(record: MemoryRecord | MemoryLinks, link: LinkKind) -> tuple[str, ...]:
    return record.supersedes if link == "supersedes" else record.resolves


def _back_link(record: MemoryLinks, link: LinkKind) -> str:
    return record.superseded_by if link == "supersedes" else record.resolved_by


def _linked_ids(records: Iterable[MemoryRecord]) -> set[str]:
    return {
        name
        for record in records
        for name in (*record.supersedes, *record.resolves, record.superseded_by, record.resolved_by)
        if name
    }


@dataclass(frozen=True, slots=True)
class EndingLink:
    """Says that `ender`, last changed at `updated` (any number that grows with time), ends `target`."""

    ender: str
    updated: int
    target: str
    kind: EndKind


def find_ended(links: Iterable[EndingLink]) -> dict[str, EndKind]:
    """Returns how each ended memory ended, by id. If memories end each other, directly or in a circle, the one changed
    later wins; a memory that is both superseded and resolved counts as superseded."""
    found: dict[str, EndKind] = {}
    chains = EndingGraph()
    for link in sorted(links, key=lambda one: (one.updated, one.ender), reverse=True):
        if chains.add(link.ender, link.target) and found.get(link.target) != "superseded":
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
    enders = [one for one in stored if any(link.target == memory_id for link in ending_links(one.record))]
    return max(enders, key=lambda one: (one.record.updated, one.record.id), default=None)


def ending_links(record: MemoryRecord) -> tuple[EndingLink, ...]:
    """Returns the links by which a memory says it ends others."""
    updated = int(record.updated.timestamp())
    targets: tuple[tuple[EndKind, tuple[str, ...]], ...] = (
        ("superseded", record.supersedes),
        ("resolved", record.resolves),
    )
    return tuple(EndingLink(record.id, updated, target, kind) for kind, ids in targets for target in ids)


class EndingGraph:
    """Records which memory ends which, without circles."""

    def __init__(self) -> None:
        self._ends: dict[str, set[str]] = defaultdict(set)
        self._targets: set[str] = set()

    def add(self, ender: str, target: str) -> bool:
        """Records that one memory ends another; returns False, and changes nothing, if that would close a circle."""
        # if nothing ends the ender, no chain leads back to it: this saves most walks
        if ender == target or (ender in self._targets and self._is_reachable(target, ender)):
            return False
        self._ends[ender].add(target)
        self._targets.add(target)
        return True

    def _is_reachable(self, start: str, goal: str) -> bool:
        """Returns whether `goal` is reached by following what `start` ends, what that ends, and so on."""
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            here = waiting.pop()
            if here == goal:
                return True
            if here not in seen:
                seen.add(here)
                waiting += self._ends.get(here, ())
        return False
