"""Weighs the words of a question: the rarer a word is in the memories and sessions, the more it says about the topic
(inverse document frequency). A passage is relevant if it contains enough of this weight."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lerim.sessions import QueryTerm, SearchQuery, tokenize_text
from lerim.words import STOP_WORDS, is_unspaced, stem

MIN_WEIGHT_SHARE = 0.35
"""Minimum share of the weight of all words that a relevant passage contains."""
MIN_SHARE_OF_ONE_WORD = 0.5
"""The same minimum for a passage that contains only one of several words."""
RARE_WEIGHT, MIN_SHARE_OF_RARE_WORD = 3.0, 0.2
"""If that word weighs at least RARE_WEIGHT (about one text in twenty contains it), this smaller share is enough."""
TELLING_WEIGHT = 1.6
"""A word that weighs at least this (about one text in four contains it) tells what a question is about."""
UNKNOWN_PAIR_FACTOR = 0.5
"""The factor for a pair of characters of an unspaced script that occurs in no text: the two may belong to different
words."""


@dataclass(frozen=True, slots=True)
class WordWeights:
    """The words of a question and their weights, in the same order."""

    query: SearchQuery
    weights: tuple[float, ...]

    def is_relevant(self, text: str) -> bool:
        """Returns whether a text contains enough of the question."""
        contained = self._contained_weights(text)
        weight = sum(contained)
        min_share = MIN_WEIGHT_SHARE
        if len(contained) == 1 and len(self.weights) > 1:
            min_share = MIN_SHARE_OF_RARE_WORD if weight >= RARE_WEIGHT else MIN_SHARE_OF_ONE_WORD
        return bool(contained) and weight >= min_share * sum(self.weights)

    def is_near(self, text: str) -> bool:
        """Returns whether a text contains a word that tells what the question is about."""
        return any(weight >= TELLING_WEIGHT for weight in self._contained_weights(text))

    def _contained_weights(self, text: str) -> list[float]:
        contained = find_contained_words(self.query, text)
        return [weight for weight, is_contained in zip(self.weights, contained, strict=True) if is_contained]


def drop_stop_words(query: SearchQuery) -> SearchQuery:
    """Returns a question without stop words such as `the`, unless it has no other words."""
    return replace(query, terms=tuple(term for term in query.terms if term.joined not in STOP_WORDS) or query.terms)


def weigh_words(query: SearchQuery, text_count: int, counts: Sequence[int]) -> WordWeights:
    """Returns the weights of a query's words, given how many of `text_count` texts contain each of them."""
    return WordWeights(
        query,
        tuple(_weight(term, count, text_count) for term, count in zip(query.terms, counts, strict=True)),
    )


def find_contained_words(query: SearchQuery, text: str) -> list[bool]:
    """Returns, for each word of a query, whether a text contains it."""
    lowered = text.lower()
    words = {stem(word) for word in tokenize_text(lowered)}
    return [_contains_term(term, words, lowered) for term in query.terms]


def _contains_term(term: QueryTerm, words: set[str], lowered: str) -> bool:
    if is_unspaced(term.joined):
        return term.joined in lowered
    return all(one in words for one in term.stems) or all(one in words for one in term.unsplit_stems)


def _weight(term: QueryTerm, count: int, text_count: int) -> float:
    if count:
        return math.log(1 + max(text_count, count) / count)
    return math.log(1 + 2 * max(text_count, 1)) * (
        UNKNOWN_PAIR_FACTOR if is_unspaced(term.joined) and len(term.joined) == 2 else 1.0
    )
