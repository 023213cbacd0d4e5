"""Which of many claims say nearly the same, found without comparing every claim with every other.

A set-similarity join. The similarity (`claim.similarity`) is the mean of two overlaps, of the titles
and of the whole texts: where it is at least `least`, one of them is, and the other is 2·least - 1. Two sets that
overlap by so much share one of their rarest words (prefix filter), so that only claims listed under such a word are
compared.

The join is exact for ordinary stores. What it costs is bounded: each claim looks at a share of LISTED entries, those of
its rarest words first, and ends with `most` near claims. A claim whose look ended early is counted, so that the caller
can say so.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain

from lerim.memory import ClaimWords, overlap

LISTED = 10_000_000
"""So many entries of the lists of titles, and as many of the lists of whole texts, are looked at for all claims: 1,000
for each of 10,000."""
LEAST_LISTED = 100
"""Entries that are looked at for each claim, however many claims there are."""
_SLACK = 1e-9
"""What rounding may do to a bound; the similarity itself is compared as it is."""
_NOTHING = frozenset({""})
"""What stands for a title without words: two of these are alike, and like no other."""


@dataclass(frozen=True, slots=True)
class SimilarPair:
    """Two claims by their place in the sequence (`first` < `second`), and how similar they are, in 0..1."""

    first: int
    second: int
    similarity: float


@dataclass(slots=True)
class PairTally:
    """What a join did: how many pairs of claims it `compared`, and the claims whose look ended early (`cut`)."""

    compared: int = 0
    cut: set[int] = field(default_factory=set)


def find_near_pairs(
    claims: Sequence[ClaimWords],
    least: float,
    cancelled: Callable[[], bool] = lambda: False,
    most: int = sys.maxsize,
    tally: PairTally | None = None,
) -> Iterator[SimilarPair]:
    """The pairs at least `least` similar (above 0.5); ends early when cancelled.

    Of each claim at most `most` pairs with claims before it, the latest first. Raises ValueError for a smaller `least`:
    below it two claims need not share a word of their titles.
    """
    if not 0.5 < least <= 1:
        raise ValueError("least must lie above 0.5, and at most be 1")
    tally = tally if tally is not None else PairTally()
    titles = [one.title or _NOTHING for one in claims]
    words = [one.words or _NOTHING for one in claims]
    by_title, by_words = _Lists(titles, least), _Lists(words, least)
    share = 2 * least - 1 - _SLACK
    for number, (title, text) in enumerate(zip(titles, words, strict=True)):
        if cancelled():
            return
        found = 0
        seen: set[int] = set()
        for other in chain(by_title.listed(number, tally), by_words.listed(number, tally)):
            if other in seen:
                continue
            seen.add(other)
            tally.compared += 1
            if title.isdisjoint(titles[other]):
                continue  # most are, and this is the quickest test
            alike = overlap(title, titles[other])
            if alike < share or alike + _largest_overlap(text, words[other]) < share + 1:
                continue
            similarity = (alike + overlap(text, words[other])) / 2
            if similarity < least:
                continue
            if found == most:
                tally.cut.add(number)
                break
            found += 1
            yield SimilarPair(other, number, similarity)
        by_title.add(number)
        by_words.add(number)


class _Lists:
    """Under each word of a prefix, the sets met so far that have it there: of two that overlap by `share`, the one is
    in a list of the other's."""

    def __init__(self, sets: Sequence[AbstractSet[str]], share: float) -> None:
        often = Counter(word for one in sets for word in one)
        rarest = {word: rank for rank, word in enumerate(sorted(often, key=lambda word: (often[word], word)))}
        self._prefixes = [sorted(one, key=rarest.__getitem__)[: _prefix(len(one), share)] for one in sets]
        self._under: dict[str, list[int]] = {}
        self._most = max(LEAST_LISTED, LISTED // max(1, len(sets)))

    def listed(self, number: int, tally: PairTally) -> Iterator[int]:
        """The sets met so far that may overlap by so much with this one: those under its rarest word first, of each
        word the latest first. A set may come more than once."""
        left = self._most
        for word in self._prefixes[number]:
            under = self._under.get(word, [])
            yield from under[: -left - 1 : -1]
            if len(under) > left:
                tally.cut.add(number)
                return
            left -= len(under)

    def add(self, number: int) -> None:
        for word in self._prefixes[number]:
            self._under.setdefault(word, []).append(number)


def _prefix(size: int, share: float) -> int:
    """How many of its rarest words a set must be looked up by: all but so many as an overlap may do without.

    With Dice's coefficient `share`, whatever the other's size: common ≥ size·share / (2 - share).
    """
    return size - max(1, math.ceil(size * share / (2 - share) - _SLACK)) + 1


def _largest_overlap(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    """The most two sets of these sizes can overlap."""
    a, b = len(one), len(other)
    return 2 * min(a, b) / (a + b)
