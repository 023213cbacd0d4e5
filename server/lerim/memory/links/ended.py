"""Finds the memories that others end: `supersedes` and `resolves` are authoritative, wherever the ended file is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from lerim.memory.lifecycle import ended_status
from lerim.memory.record import MemoryRecord
from lerim.memory.store import StoredMemory

EndKind = Literal["superseded", "resolved"]


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
