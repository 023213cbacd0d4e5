"""The words of a claim, for a rough estimate of how much two claims have in common.

Words are lower-cased and stripped of filler words and English endings; negation and word order are lost. They never
decide whether two texts say the same: `claim_text` does.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeVar

from lerim.memory.claims.boilerplate import strip_boilerplate
from lerim.memory.similarity import normalise_claim
from lerim.words import STOP_WORDS, is_unspaced, letter_pairs, split_words, stem

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class ClaimWords:
    """The words of a title, and of title and body together."""

    title: frozenset[str]
    words: frozenset[str]


def claim_words(title: str, body: str) -> ClaimWords:
    """Returns the words of a memory or candidate, without the sentences Lerim adds (`boilerplate.py`)."""
    head = word_stems(title)
    return ClaimWords(head, head | word_stems(strip_boilerplate(body)))


def claim_text(title: str, body: str) -> str:
    """Returns a memory's or candidate's text without differences in form and without the sentences Lerim adds. Two with
    equal results say the same."""
    return normalise_claim(title, strip_boilerplate(body))


def word_stems(text: str) -> frozenset[str]:
    """Returns the word stems of any text; for scripts without spaces, pairs of adjacent letters."""
    found: set[str] = set()
    for word, parts in split_words(text):
        if is_unspaced(word):
            found.update(parts or letter_pairs(word))
        elif word not in STOP_WORDS:
            found.add(stem(word))
    return frozenset(found)


def dice_overlap(one: AbstractSet[_T], other: AbstractSet[_T]) -> float:
    """Returns Dice's coefficient: 2·|common| / (|one| + |other|), 1.0 for two empty sets."""
    if not one and not other:
        return 1.0
    return 2 * len(one & other) / (len(one) + len(other))


def mean_overlap(one: ClaimWords, other: ClaimWords) -> float:
    """Returns the mean of the overlap of the titles and that of the whole texts, from 0 to 1."""
    return (dice_overlap(one.title, other.title) + dice_overlap(one.words, other.words)) / 2
