"""Which memories say nearly the same and may be merged into one.

Memories of one text are the same and are never compared with each other. Of different texts only near ones are
compared (`maintenance/pairs.py`), each with a few (`max_near_texts`), and one merge takes at most MOST_MERGED memories:
however alike the memories of a store are, the work grows with their number alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from heapq import merge, nlargest

from lerim.maintenance.pairs import PairTally, find_near_pairs
from lerim.memory import ClaimWords, MemoryRecord, normalise_claim, strip_boilerplate

MOST_MERGED = 50
"""So many memories become one in one merge; the rest of them become one in another."""
ALIKE_FROM = 0.72
"""The similarity (`claim.similarity`) from which memories say nearly the same."""
_COMPARED = 100_000
"""Pairs of texts that are judged of a large store, shared among its texts."""


def max_near_texts(texts: int) -> int:
    """With how many near texts each of so many is compared: 32 in an ordinary store, fewer from 3,000 texts on."""
    return min(32, max(4, _COMPARED // max(1, texts)))


@dataclass(frozen=True, slots=True)
class Merge:
    """Memories to merge, by their place in the sequence, the oldest first. `same` where all have the same text, once
    normalised; `similarity` is that of the one least like the oldest."""

    members: tuple[int, ...]
    same: bool
    similarity: float


@dataclass(slots=True)
class MergeEffort:
    """What the join of near texts did."""

    joins: list[PairTally] = field(default_factory=list)

    @property
    def cut(self) -> int:
        """How many different texts were not compared with all that are near them."""
        return sum(len(one.cut) for one in self.joins)


def find_merges(
    memories: Sequence[MemoryRecord],
    claims: Sequence[ClaimWords],
    cancelled: Callable[[], bool],
    effort: MergeEffort,
    apart: Collection[frozenset[str]] = (),
) -> Iterator[Merge]:
    """The memories to merge, of these of one primitive, the oldest first. Each of a merge says nearly the same as
    every other of it: a short one may be a part of two that have nothing to do with one another. No memory is in two,
    and none is merged with one it is kept `apart` from, as pairs of ids. Ends early when cancelled."""
    gone: set[int] = set()
    texts = _Texts(memories, claims, gone, cancelled, effort)
    for first in range(len(memories)):
        if cancelled():
            return
        if first in gone:
            continue
        members = [first]
        for other in texts.near_later(first):
            if not all(texts.alike(one, other) for one in members):
                continue
            if any(frozenset((memories[one].id, memories[other].id)) in apart for one in members):
                continue
            members.append(other)
            if len(members) == MOST_MERGED:
                break
        if len(members) > 1:
            gone.update(members)
            same = len({_plain(memories[one]) for one in members}) == 1
            yield Merge(tuple(members), same, min(texts.similarity(first, other) for other in members[1:]))


class _Texts:
    """The different texts of the memories, and how they stand to each other. `gone` grows: these are spoken for."""

    def __init__(
        self,
        memories: Sequence[MemoryRecord],
        claims: Sequence[ClaimWords],
        gone: AbstractSet[int],
        cancelled: Callable[[], bool],
        effort: MergeEffort,
    ) -> None:
        numbers: dict[tuple[str, str], int] = {}
        self._text_of = [numbers.setdefault((one.title, one.body), len(numbers)) for one in memories]
        self._members: list[list[int]] = [[] for _ in numbers]
        for at, text in enumerate(self._text_of):
            self._members[text].append(at)
        self._passed = [0] * len(numbers)
        self._near: list[dict[int, float]] = [{} for _ in numbers]
        self._most = max_near_texts(len(numbers))
        self._gone = gone
        self._tally = PairTally()
        effort.joins.append(self._tally)
        self._titles = [claims[members[0]].title for members in self._members]
        firsts = [claims[members[0]] for members in self._members]
        for pair in find_near_pairs(firsts, ALIKE_FROM, cancelled, self._most, self._tally):
            self._near[pair.first][pair.second] = self._near[pair.second][pair.first] = pair.similarity

    def near_later(self, memory: int) -> Iterator[int]:
        """The memories after this one that have its text, or one of those most like it, and are not gone; in their
        order."""
        text = self._text_of[memory]
        nearest = [other for other in self._near[text] if self._members[other][-1] > memory]
        if len(nearest) > self._most:
            self._tally.cut.add(text)
            nearest = nlargest(self._most, nearest, key=lambda other: (self._near[text][other], -other))
        return merge(*(self._left(one, memory) for one in (text, *nearest)))

    def _left(self, text: int, memory: int) -> Iterator[int]:
        """The memories with this text after this one that are not gone. Those before the first of them are never
        looked at again."""
        members = self._members[text]
        at = self._passed[text]
        while at < len(members) and (members[at] <= memory or members[at] in self._gone):
            at += 1
        self._passed[text] = at
        return (members[place] for place in range(at, len(members)) if members[place] not in self._gone)

    def alike(self, one: int, later: int) -> bool:
        """Whether a later memory belongs into one merge with an earlier one."""
        first, second = self._text_of[one], self._text_of[later]
        if first == second:
            return True
        return second in self._near[first] and not apart(self._titles[first], self._titles[second])

    def similarity(self, one: int, other: int) -> float:
        """How similar two near memories are, in 0..1."""
        first, second = self._text_of[one], self._text_of[other]
        return 1.0 if first == second else self._near[first][second]


def apart(one: AbstractSet[str], other: AbstractSet[str]) -> bool:
    """Whether two titles are of two rules side by side: each has a word the other lacks, and not only numbers."""
    mine, theirs = one - other, other - one
    return bool(mine and theirs) and not all(map(str.isdecimal, mine | theirs))


def _plain(memory: MemoryRecord) -> str:
    return normalise_claim(memory.title, strip_boilerplate(memory.body))
