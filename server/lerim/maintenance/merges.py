"""Finds memories that say nearly the same and may be merged into one.

Memories with equal texts are grouped without comparing them. Distinct texts are compared only if they are similar
(`maintenance/pairs.py`), each with a limited number of others (`max_near_texts`), and a merge has at most MAX_MERGED
memories. So the work is proportional to the number of memories, however similar they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from heapq import merge, nlargest

from lerim.maintenance.pairs import PairTally, find_near_pairs
from lerim.memory import ClaimWords, MemoryRecord, claim_text

MAX_MERGED = 50
"""How many memories one merge may join; the rest are joined in another merge."""
_MAX_COMPARED_PAIRS = 100_000
"""How many pairs of texts are compared in a large store, shared evenly among its texts."""


def max_near_texts(texts: int) -> int:
    """Returns with how many similar texts each text is compared: 32 in an ordinary store, fewer if there are more than
    about 3,000 texts."""
    return min(32, max(4, _MAX_COMPARED_PAIRS // max(1, texts)))


@dataclass(frozen=True, slots=True)
class Merge:
    """Memories to merge, by index, oldest first.

    `same_text`: all have the same normalised text. `similarity`: that of the member least similar to the oldest.
    """

    members: tuple[int, ...]
    same_text: bool
    similarity: float


def find_merges(
    memories: Sequence[MemoryRecord],
    claims: Sequence[ClaimWords],
    cancelled: Callable[[], bool],
    tallies: list[PairTally],
    kept_apart: Collection[frozenset[str]] = (),
) -> Iterator[Merge]:
    """Yields the merges among memories of one primitive, which are given oldest first; stops early when cancelled.

    Within a merge every two memories are similar: a short text may be part of two that have nothing in common. No
    memory is in two merges, and no merge contains a pair of ids in `kept_apart`. The tally of the
    join of similar texts is added to `tallies`.
    """
    merged: set[int] = set()
    texts = _DistinctTexts(memories, claims, merged, cancelled)
    tallies.append(texts.tally)
    for first in range(len(memories)):
        if cancelled():
            return
        if first in merged:
            continue
        members = [first]
        for other in texts.later_candidates(first):
            if not all(texts.may_merge(one, other) for one in members):
                continue
            if any(frozenset((memories[one].id, memories[other].id)) in kept_apart for one in members):
                continue
            members.append(other)
            if len(members) == MAX_MERGED:
                break
        if len(members) > 1:
            merged.update(members)
            same_text = len({claim_text(memories[one].title, memories[one].body) for one in members}) == 1
            yield Merge(tuple(members), same_text, min(texts.similarity(first, other) for other in members[1:]))


class _DistinctTexts:
    """The distinct texts of the memories and their similarities. `merged` grows: these memories are in a merge."""

    def __init__(
        self,
        memories: Sequence[MemoryRecord],
        claims: Sequence[ClaimWords],
        merged: AbstractSet[int],
        cancelled: Callable[[], bool],
    ) -> None:
        numbers: dict[tuple[str, str], int] = {}
        self._text_of = [numbers.setdefault((one.title, one.body), len(numbers)) for one in memories]
        self._members: list[list[int]] = [[] for _ in numbers]
        for at, text in enumerate(self._text_of):
            self._members[text].append(at)
        self._first_remaining = [0] * len(numbers)
        self._near_similarities: list[dict[int, float]] = [{} for _ in numbers]
        self._max_near = max_near_texts(len(numbers))
        self._merged = merged
        self.tally = PairTally()
        self._titles = [claims[members[0]].title for members in self._members]
        firsts = [claims[members[0]] for members in self._members]
        for first, second, similarity in find_near_pairs(firsts, cancelled, self._max_near, self.tally):
            self._near_similarities[first][second] = self._near_similarities[second][first] = similarity

    def later_candidates(self, memory: int) -> Iterator[int]:
        """Yields the later memories, in order, that have this one's text or one of those most similar to it, and are in
        no merge yet."""
        text = self._text_of[memory]
        similarities = self._near_similarities[text]
        nearest = [other for other in similarities if self._members[other][-1] > memory]
        if len(nearest) > self._max_near:
            self.tally.truncated_claims.add(text)
            nearest = nlargest(self._max_near, nearest, key=lambda other: (similarities[other], -other))
        return merge(*(self._remaining(candidate, memory) for candidate in (text, *nearest)))

    def _remaining(self, text: int, memory: int) -> Iterator[int]:
        """Yields the memories with this text after the given one that are in no merge yet. Those before the first of
        them are never looked at again."""
        members = self._members[text]
        at = self._first_remaining[text]
        while at < len(members) and (members[at] <= memory or members[at] in self._merged):
            at += 1
        self._first_remaining[text] = at
        return (members[place] for place in range(at, len(members)) if members[place] not in self._merged)

    def may_merge(self, earlier: int, later: int) -> bool:
        """Returns whether two memories may be in one merge."""
        first, second = self._text_of[earlier], self._text_of[later]
        if first == second:
            return True
        is_near = second in self._near_similarities[first]
        return is_near and not are_different_rules(self._titles[first], self._titles[second])

    def similarity(self, one: int, other: int) -> float:
        """Returns the similarity of two memories that may be merged, from 0 to 1."""
        first, second = self._text_of[one], self._text_of[other]
        return 1.0 if first == second else self._near_similarities[first][second]


def are_different_rules(one: AbstractSet[str], other: AbstractSet[str]) -> bool:
    """Returns whether two titles, as sets of words, state different rules: each has a word that the other lacks, and
    these are not all numbers."""
    only_one, only_other = one - other, other - one
    return bool(only_one and only_other) and not all(map(str.isdecimal, only_one | only_other))
