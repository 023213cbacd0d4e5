"""Which memories others end: what says `supersedes` or `resolves` is the truth, wherever the other file still lies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

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
    ends: dict[str, set[str]] = defaultdict(set)
    for link in sorted(links, key=lambda one: (one.updated, one.ender), reverse=True):
        if not _reaches(ends, link.target, link.ender):
            ends[link.ender].add(link.target)
            if found.get(link.target) != "superseded":
                found[link.target] = link.how
    return found


def _reaches(ends: Mapping[str, set[str]], start: str, goal: str) -> bool:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        here = waiting.pop()
        if here == goal:
            return True
        if here not in seen:
            seen.add(here)
            waiting += ends.get(here, ())
    return False
