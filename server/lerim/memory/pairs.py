"""Which of many memories say nearly the same: every pair of claims at least so similar, found without comparing all.

An exact set-similarity join. The similarity (`claim.similarity`, denials left out) is the mean of two overlaps, of the
titles and of the whole texts: where it is at least `least`, one of them is, and the other is 2·least - 1. Sets that
overlap by so much share one of their rarest words (prefix filter): only what is listed under such a word is compared.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from lerim.memory.claim import Claim, bare, overlap

_SLACK = 1e-9
"""What rounding may do to a bound; the similarity itself is compared as it is."""
_NOTHING = frozenset({""})
"""What stands for a title without words: two of these are alike, and like no other."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two claims by their place in the sequence (`first` < `second`), and how similar they are, in 0..1."""

    first: int
    second: int
    similarity: float


def near(claims: Sequence[Claim], least: float, cancelled: Callable[[], bool] = lambda: False) -> Iterator[Pair]:
    """Every pair at least `least` similar (above 0.5) without regard to what is denied; ends early when cancelled.

    Raises ValueError for a smaller `least`: below it two claims need not share a word of their titles.
    """
    if not 0.5 < least <= 1:
        raise ValueError("least must lie above 0.5, and at most be 1")
    plain = [bare(one) for one in claims]
    titles = [one.title or _NOTHING for one in plain]
    words = [one.words or _NOTHING for one in plain]
    share = 2 * least - 1 - _SLACK
    by_title, by_words, by_part = _Lists(titles, least), _Lists(words, least), _Lists(titles, share)
    for number in range(len(plain)):
        if cancelled():
            return
        others = by_words.near(number)
        others &= by_part.near(number)
        others |= by_title.near(number)
        for lists in (by_title, by_words, by_part):
            lists.add(number)
        title, text = titles[number], words[number]
        for other in others:
            most = _most(text, words[other])
            if most < share or (alike := overlap(title, titles[other])) < share or alike + most < share + 1:
                continue
            similarity = (alike + overlap(text, words[other])) / 2
            if similarity >= least:
                yield Pair(other, number, similarity)


class _Lists:
    """Under each word of a prefix, the sets met so far that have it there: of two that overlap by `share`, the one is
    in a list of the other's."""

    def __init__(self, sets: Sequence[AbstractSet[str]], share: float) -> None:
        often = Counter(word for one in sets for word in one)
        rarest = {word: rank for rank, word in enumerate(sorted(often, key=lambda word: (often[word], word)))}
        self._prefixes = [sorted(one, key=rarest.__getitem__)[: _prefix(len(one), share)] for one in sets]
        self._under: dict[str, list[int]] = {}

    def near(self, number: int) -> set[int]:
        """Those met so far that may overlap by so much with this one."""
        return set().union(*(found for word in self._prefixes[number] if (found := self._under.get(word))))

    def add(self, number: int) -> None:
        for word in self._prefixes[number]:
            self._under.setdefault(word, []).append(number)


def _prefix(size: int, share: float) -> int:
    """How many of its rarest words a set must be looked up by: all but so many as an overlap may do without.

    With Dice's coefficient `share`, whatever the other's size: common ≥ size·share / (2 - share).
    """
    return size - max(1, math.ceil(size * share / (2 - share) - _SLACK)) + 1


def _most(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    """The most two sets of these sizes can overlap."""
    a, b = len(one), len(other)
    return 2 * min(a, b) / (a + b)
