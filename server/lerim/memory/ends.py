"""Which memories others end: what says `supersedes` or `resolves` is the truth, wherever the other file still lies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from lerim.memory.lifecycle import ended_as
from lerim.memory.record import MemoryRecord
from lerim.memory.store import Stored

Ended = Literal["superseded", "resolved"]


@dataclass(frozen=True, slots=True)
class Link:
    """`ender`, last changed at `updated` (any number that grows with time), says that it ends `target`."""

    ender: str
    updated: int
    target: str
    how: Ended


def ended(links: Iterable[Link]) -> dict[str, Ended]:
    """What ended each memory that is ended. Of those that end each other, directly or round about, the one changed
    later ends the other; one that is superseded and resolved counts as superseded."""
    found: dict[str, Ended] = {}
    chains = Chains()
    for link in sorted(links, key=lambda one: (one.updated, one.ender), reverse=True):
        if chains.add(link.ender, link.target) and found.get(link.target) != "superseded":
            found[link.target] = link.how
    return found


def current(stored: Sequence[Stored]) -> list[Stored]:
    """All the memories of a store, each in the status it is in by what the others say of it, too."""
    over = ended(
        Link(one.record.id, int(one.record.updated.timestamp()), target, how)
        for one in stored
        for how, targets in links(one.record)
        for target in targets
    )
    return [
        replace(one, status=ended_as(over[one.record.id], one.record.primitive))
        if one.status == "active" and one.record.id in over
        else one
        for one in stored
    ]


def ender(memory_id: str, stored: Sequence[Stored]) -> Stored | None:
    """The memory that says it ended this one, the latest where several do; None where it is over for none of them."""
    if not any(one.record.id == memory_id and one.status in get_args(Ended) for one in current(stored)):
        return None
    named = [one for one in stored if any(memory_id in targets for _, targets in links(one.record))]
    return max(named, key=lambda one: (one.record.updated, one.record.id), default=None)


def links(record: MemoryRecord) -> tuple[tuple[Ended, tuple[str, ...]], ...]:
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
