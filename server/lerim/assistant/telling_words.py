"""Which words of a question tell what it is about: the rarer a word is in what is known, the more it tells. A passage
speaks of the question if it holds enough of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lerim.sessions import QueryTerm, SearchQuery, tokenize_text
from lerim.words import STOP_WORDS, is_unspaced, stem

SHARE = 0.35
"""Of the weight of all words a passage must hold at least so much,"""
ALONE = 0.5
"""and where it holds but one of several words, so much;"""
RARE, OF_RARE = 3.0, 0.2
"""of a word that one text of twenty has, or fewer, this share is enough."""
PIECE = 0.5
"""What a pair of letters that stands nowhere counts for: its letters may be of two words."""


@dataclass(frozen=True, slots=True)
class WordWeights:
    """A question's words and what each of them weighs."""

    query: SearchQuery
    weights: tuple[float, ...]

    def speaks(self, text: str) -> bool:
        """Whether enough of the question stands in a text."""
        found = find_held_words(self.query, text)
        weight = sum(one for one, holds in zip(self.weights, found, strict=True) if holds)
        least = SHARE
        if sum(found) == 1 and len(found) > 1:
            least = OF_RARE if weight >= RARE else ALONE
        return any(found) and weight >= least * sum(self.weights)


def drop_filler_words(query: SearchQuery) -> SearchQuery:
    """A question without words such as `the`, where it has others."""
    return replace(query, terms=tuple(term for term in query.terms if term.joined not in STOP_WORDS) or query.terms)


def weigh_words(query: SearchQuery, number: int, holding: Sequence[int]) -> WordWeights:
    """What the words of a query weigh where `holding` of `number` texts have each."""
    return WordWeights(
        query, tuple(_weight(term, many, number) for term, many in zip(query.terms, holding, strict=True))
    )


def find_held_words(query: SearchQuery, text: str) -> list[bool]:
    """Which words of a query stand in a text."""
    lowered = text.lower()
    words = {stem(word) for word in tokenize_text(lowered)}
    return [_holds(term, words, lowered) for term in query.terms]


def _holds(term: QueryTerm, words: set[str], lowered: str) -> bool:
    if is_unspaced(term.joined):
        return term.joined in lowered
    return all(one in words for one in term.stems) or all(one in words for one in term.unsplit_stems)


def _weight(term: QueryTerm, many: int, number: int) -> float:
    if many:
        return math.log(1 + max(number, many) / many)
    return math.log(1 + 2 * max(number, 1)) * (PIECE if is_unspaced(term.joined) and len(term.joined) == 2 else 1.0)
