"""Turns the words of a query into full-text queries: first for all of them, then for some, the rarer first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lerim.memory.search.index import COMMON, RANKED, Index, IndexFilter
from lerim.memory.search.ranking import best_attainable_score, relevance_band, word_rarity
from lerim.words import STOP_WORDS, is_unspaced, letter_pairs, split_unspaced, split_words

_MAX_TERMS = 32
_MANY = 4
_HEAD = "{title tags}"
EQUALS = 50
"""How many more memories than wanted are fetched, to include those that rank equal to the last."""


@dataclass(frozen=True, slots=True)
class IndexMatch:
    """A row of the index; `every` says whether it has all the words."""

    row: int
    has_every_word: bool
    relevance: float

    @property
    def band(self) -> tuple[int, int]:
        return relevance_band(self.has_every_word, self.relevance)


def match_rows(index: Index, query: str, limit: int, narrow: IndexFilter, most: int = RANKED) -> list[IndexMatch]:
    """Returns the `limit` rows that best match any text, and those that rank equal to the last of them, best first:
    rows with every word before rows with some. About `most` rows are ranked. A query without words returns none."""
    terms, question = _terms(query)
    if not terms:
        return []
    total = index.total()
    best = best_attainable_score(word_rarity(total, min(index.count(term), total)) for term in terms)
    found = [] if question else _match_all(index, terms, query, narrow, limit + EQUALS)
    every = _first(found, limit, True, best)
    if len(found) >= limit or not (question or len(terms) > 1):
        return every
    have = {row for row, _ in found}
    more = [one for one in _match_some(index, terms, narrow, limit + EQUALS, most) if one[0] not in have]
    return every + _first(more, limit - len(found), False, best)


def _first(found: Sequence[tuple[int, float]], limit: int, every: bool, best: float) -> list[IndexMatch]:
    first = [IndexMatch(row, every, score / best) for row, score in found[:limit]]
    for row, score in found[limit:]:
        one = IndexMatch(row, every, score / best)
        if one.band != first[-1].band:
            break
        first.append(one)
    return first


def _terms(text: str) -> tuple[list[str], bool]:
    """Returns FTS5 terms for the content words of a text, and whether it is a question, whose answer need not have all
    of them.

    A word with parts matches as a whole or by its parts.
    """
    found = list(dict.fromkeys(split_words(text)))[:_MAX_TERMS]
    content = [word for word in found if word[0] not in STOP_WORDS] or found
    terms = list(dict.fromkeys(term for whole, parts in content for term in _asked_by(whole, parts)))[:_MAX_TERMS]
    asks = len(content) < len(found) or len(terms) > _MANY or text.rstrip().endswith(("?", "？"))
    return terms, asks


def _asked_by(whole: str, parts: tuple[str, ...]) -> list[str]:
    """Returns a word's terms; in a script without spaces, those of its pieces."""
    return [_piece(one) for one in split_unspaced(whole)] or [_term(whole, parts)]


def _piece(piece: str) -> str:
    if not is_unspaced(piece):
        return f'"{piece}"'
    if len(piece) == 1:
        return f'"{piece}"*'
    return "(" + " AND ".join(f'"{pair}"' for pair in letter_pairs(piece)) + ")"


def _match_all(
    index: Index, terms: Sequence[str], text: str, narrow: IndexFilter, limit: int
) -> list[tuple[int, float]]:
    """Returns the best rows with all of the terms; the last word may be unfinished, unless it is already common."""
    last = re.search(r"\w{3,}\Z", text)
    if last is not None and index.count(terms[-1]) < COMMON:
        terms = [*terms[:-1], f'({terms[-1]} OR "{last.group().lower()}"*)']
    return index.match(" AND ".join(terms), _headed(terms), narrow, limit)


def _headed(terms: Sequence[str]) -> tuple[str, ...]:
    """Returns queries for rows with all of the terms: first with all of them in title or tags, then with any."""
    every, some = " AND ".join(terms), " OR ".join(terms)
    headed = f"{_HEAD} : ({every})"
    return (headed, f"({every}) AND {_HEAD} : ({some})") if len(terms) > 1 else (headed,)


def _match_some(
    index: Index, terms: Sequence[str], narrow: IndexFilter, limit: int, most: int
) -> list[tuple[int, float]]:
    """Returns the best rows with any of the terms. Words that most memories have only rank what a rarer word found."""
    terms = sorted(terms, key=index.count)
    rare = [term for term in terms if index.count(term) < COMMON] or terms
    query = " OR ".join(rare)
    if common := " OR ".join(terms[len(rare) :]):
        query = f"({query}) OR (({query}) AND ({common}))"
    room, kept = most, 0
    while kept < len(rare) and (room := room - index.count(rare[kept])) >= 0:
        kept += 1
    telling = [*rare[:kept], *([f"{_HEAD} : ({' OR '.join(rare[kept:])})"] if kept < len(rare) else [])]
    rarest = rare[:2]
    likely = (*_headed(rarest), " AND ".join(rarest), " OR ".join(telling))
    return index.match(query, likely, narrow, limit, most)


def _term(whole: str, parts: tuple[str, ...]) -> str:
    if not parts:
        return f'"{whole}"'
    split = " AND ".join(f'"{part}"' for part in parts)
    return f'("{whole}" OR ({split}))'
