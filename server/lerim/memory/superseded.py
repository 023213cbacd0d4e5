"""Which memories others end: what says `supersedes` or `resolves` is the truth, wherever the other file still lies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from lerim.memory.lifecycle import ended_status
from lerim.memory.record import MemoryRecord
from lerim.memory.store import Stored

EndKind = Literal["superseded", "resolved"]


@dataclass(frozen=True, slots=True)
class EndingLink:
    """`ender`, last changed at `updated` (any number that grows with time), says that it ends `target`."""

    ender: str
    updated: int
    target: str
    how: EndKind


def find_ended(links: Iterable[EndingLink]) -> dict[str, EndKind]:
    """What ended each memory that is ended. Of those that end each other, directly or round about, the one changed
    later ends the other; one that is superseded and resolved counts as superseded."""
    found: dict[str, EndKind] = {}
    chains = Chains()
    for link in sorted(links, key=lambda one: (one.updated, one.ender), reverse=True):
        if chains.add(link.ender, link.target) and found.get(link.target) != "superseded":
            found[link.target] = link.how
    return found


def with_current_status(stored: Sequence[Stored]) -> list[Stored]:
    """All the memories of a store, each in the status it is in by what the others say of it, too."""
    over = find_ended(
        EndingLink(one.record.id, int(one.record.updated.timestamp()), target, how)
        for one in stored
        for how, targets in ending_links(one.record)
        for target in targets
    )
    return [
        replace(one, status=ended_status(over[one.record.id], one.record.primitive))
        if one.status == "active" and one.record.id in over
        else one
        for one in stored
    ]


def find_ender(memory_id: str, stored: Sequence[Stored]) -> Stored | None:
    """The memory that says it ended this one, the latest where several do; None where it is over for none of them."""
    if not any(one.record.id == memory_id and one.status in get_args(EndKind) for one in with_current_status(stored)):
        return None
    named = [one for one in stored if any(memory_id in targets for _, targets in ending_links(one.record))]
    return max(named, key=lambda one: (one.record.updated, one.record.id), default=None)


def ending_links(record: MemoryRecord) -> tuple[tuple[EndKind, tuple[str, ...]], ...]:
    """What a memory says it ends."""
    return ("superseded", record.supersedes), ("resolved", record.resolves)


class Chains:
    """What ends what, without circles."""

    def __init__(self) -> None:
        self._ends: dict[str, set[str]] = defaultdict(set)
        self._ended: set[str] = set()

    def add(self, ender: str, target: str) -> bool:
        """Takes over that one memory ends another; False, and nothing changes, where that would close a circle."""
        # where nothing ends the ender, no chain leads back to it: most need no walk along a chain
        if ender == target or (ender in self._ended and self._leads(target, ender)):
            return False
        self._ends[ender].add(target)
        self._ended.add(target)
        return True

    def _leads(self, start: str, goal: str) -> bool:
        """Whether what one memory ends, and what that ends, leads to another."""
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
