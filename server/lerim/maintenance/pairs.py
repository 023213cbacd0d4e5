"""Finds the pairs of claims that say nearly the same, without comparing every claim with every other.

This is a set-similarity join with prefix filtering. The similarity (`claim_words.mean_overlap`) is the mean of two
overlaps, that of the titles and that of the whole texts. If it is at least MERGE_SIMILARITY, so is one of the two
overlaps, and the other is at least 2 · MERGE_SIMILARITY - 1. Two sets with such an overlap share one of their rarest
words, so only claims that are indexed under a common rare word are compared.

The join is exact for ordinary stores, and its cost is bounded: each claim looks at its share of MAX_LISTED_ENTRIES
index entries, those of its rarest words first, and stops at `max_pairs` similar claims. Claims whose search was
truncated are recorded, so that the caller can report them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain

from lerim.memory import ClaimWords, dice_overlap

MERGE_SIMILARITY = 0.72
"""The least similarity (`claim_words.mean_overlap`) of memories that say nearly the same. It must be above 0.5: below
that, two similar claims need not share a word of their titles."""
MAX_LISTED_ENTRIES = 10_000_000
"""How many entries of the title index, and as many of the text index, are looked at for all claims together: for
10,000 claims, 1,000 each."""
MIN_ENTRIES_PER_CLAIM = 100
"""The least number of index entries that are looked at for each claim, however many claims there are."""
_ROUNDING_MARGIN = 1e-9
"""A margin for rounding errors in the bounds; the similarity itself is compared exactly."""
_NO_WORDS = frozenset({""})
"""Stands for a title without words: two such titles are equal to each other, and similar to no other."""


@dataclass(slots=True)
class PairTally:
    """What a join did: how many pairs of claims it compared, and the claims whose search was truncated, by index."""

    compared_count: int = 0
    truncated_claims: set[int] = field(default_factory=set)


def find_near_pairs(
    claims: Sequence[ClaimWords],
    cancelled: Callable[[], bool],
    max_pairs: int,
    tally: PairTally,
) -> Iterator[tuple[int, int, float]]:
    """Yields the pairs with at least MERGE_SIMILARITY: the indexes of two claims, the lower first, and their
    similarity, from 0 to 1. Each claim is paired with at most `max_pairs` earlier claims, the latest first. Stops
    early when cancelled."""
    titles = [one.title or _NO_WORDS for one in claims]
    words = [one.words or _NO_WORDS for one in claims]
    by_title, by_words = _PrefixIndex(titles, MERGE_SIMILARITY), _PrefixIndex(words, MERGE_SIMILARITY)
    min_smaller_overlap = 2 * MERGE_SIMILARITY - 1 - _ROUNDING_MARGIN
    for number, (title, text) in enumerate(zip(titles, words, strict=True)):
        if cancelled():
            return
        pair_count = 0
        seen: set[int] = set()
        for other in chain(by_title.find_candidates(number, tally), by_words.find_candidates(number, tally)):
            if other in seen:
                continue
            seen.add(other)
            tally.compared_count += 1
            if title.isdisjoint(titles[other]):
                continue  # the quickest test, and it rules out most candidates
            title_overlap = dice_overlap(title, titles[other])
            if (
                title_overlap < min_smaller_overlap
                or title_overlap + _largest_overlap(text, words[other]) < min_smaller_overlap + 1
            ):
                continue
            similarity = (title_overlap + dice_overlap(text, words[other])) / 2
            if similarity < MERGE_SIMILARITY:
                continue
            if pair_count == max_pairs:
                tally.truncated_claims.add(number)
                break
            pair_count += 1
            yield other, number, similarity
        by_title.add(number)
        by_words.add(number)


class _PrefixIndex:
    """An inverted index of the sets added so far, by the words of their prefixes.

    A set's prefix is its rarest words. If two sets overlap by at least `min_overlap`, they share a word of their
    prefixes, so each finds the other under it.
    """

    def __init__(self, sets: Sequence[AbstractSet[str]], min_overlap: float) -> None:
        frequencies = Counter(word for one in sets for word in one)
        ranks = {
            word: rank for rank, word in enumerate(sorted(frequencies, key=lambda word: (frequencies[word], word)))
        }
        self._prefixes = [sorted(one, key=ranks.__getitem__)[: _prefix_length(len(one), min_overlap)] for one in sets]
        self._sets_by_word: dict[str, list[int]] = {}
        self._entries_per_set = max(MIN_ENTRIES_PER_CLAIM, MAX_LISTED_ENTRIES // max(1, len(sets)))

    def find_candidates(self, number: int, tally: PairTally) -> Iterator[int]:
        """Yields the sets added so far that may overlap enough with this one, those that share its rarest word first,
        and for each word the latest first. A set may come more than once."""
        entries_left = self._entries_per_set
        for word in self._prefixes[number]:
            listed = self._sets_by_word.get(word, [])
            yield from listed[: -entries_left - 1 : -1]
            if len(listed) > entries_left:
                tally.truncated_claims.add(number)
                return
            entries_left -= len(listed)

    def add(self, number: int) -> None:
        for word in self._prefixes[number]:
            self._sets_by_word.setdefault(word, []).append(number)


def _prefix_length(size: int, min_overlap: float) -> int:
    """Returns how many of its rarest words a set of this size is indexed by.

    Two sets whose Dice coefficient is at least `min_overlap` have at least size · min_overlap / (2 - min_overlap)
    words in common, whatever the size of the other. A prefix with all but one fewer words than that contains one of
    the common words.
    """
    return size - max(1, math.ceil(size * min_overlap / (2 - min_overlap) - _ROUNDING_MARGIN)) + 1


def _largest_overlap(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    """Returns the largest overlap that two sets of these sizes can have."""
    a, b = len(one), len(other)
    return 2 * min(a, b) / (a + b)
