"""Turns the words of a query into full-text queries: first for all of them, then for some, the rarer first.

A word that no memory has stands for the words that memories have and that differ from it by one typing error.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

import msgspec

from lerim.memory.search.index import COMMON_WORD_COUNT, MAX_RANKED, IndexFilter, MemoryIndex
from lerim.memory.search.ranking import best_attainable_score, bm25_rarity, relevance_band
from lerim.memory.search.synonyms import MAX_NAME_WORDS
from lerim.words import STOP_WORDS, is_unspaced, letter_pairs, split_unspaced, split_words

_MAX_TERMS = 32
_MAX_SYNONYMS = 3
_MIN_QUESTION_TERMS = 4
_TITLE_COLUMNS = "{title tags}"
_NAME_TERM = re.compile(r'\(("[^"]+") OR \(("[^()]+")\)\)')
"""A term for a word with parts: the word, and its parts joined with AND."""
_MIN_CORRECTED_LETTERS = 4
"""In shorter words an error leaves too little to recognise."""
_MAX_CORRECTIONS = 4
_MAX_ENDING = 3
"""How many letters a query's word may have after the stem that the index has."""
MAX_TIES = 50
"""How many more memories than wanted are fetched, to include those that rank equal to the last."""


class IndexMatch(msgspec.Struct, frozen=True, gc=False):
    """A row of the index; `has_every_word` says whether it has all the words."""

    row: int
    has_every_word: bool
    relevance: float


def match_rows(
    index: MemoryIndex,
    query: str,
    limit: int,
    row_filter: IndexFilter,
    most: int = MAX_RANKED,
    *,
    any_word: bool = False,
) -> list[IndexMatch]:
    """Returns the `limit` rows that best match any text, and those that rank equal to the last of them, best first:
    rows with every word before rows with some. About `most` rows are ranked. With `any_word`, as for a question, rows
    with every word have no precedence. A query without words returns none."""
    terms, unfinished, is_question = _parse_terms(query)
    any_word = any_word or is_question
    if not terms:
        return []
    terms = _add_synonyms(index, terms)
    total = index.total()
    best = best_attainable_score(bm25_rarity(total, min(index.count(term), total)) for term in terms)
    found = [] if any_word else _match_all(index, terms, unfinished, row_filter, limit + MAX_TIES)
    if not found and (corrected := [_correct_term(index, term) for term in terms]) != terms:
        found = index.match(" AND ".join(corrected), (), row_filter, limit + MAX_TIES)
    every = _best_with_ties(found, limit, True, best)
    if len(found) >= limit or not (any_word or len(terms) > 1):
        return every
    have = {row for row, _ in found}
    more = [one for one in _match_some(index, terms, row_filter, limit + MAX_TIES, most) if one[0] not in have]
    return every + _best_with_ties(more, limit - len(found), False, best)


def _best_with_ties(found: Sequence[tuple[int, float]], limit: int, every: bool, best: float) -> list[IndexMatch]:
    matches = [IndexMatch(row, every, score / best) for row, score in found]
    first, others = matches[:limit], matches[limit:]
    if not others:
        return first
    last_band = relevance_band(every, first[-1].relevance)
    return [*first, *takewhile(lambda one: relevance_band(every, one.relevance) == last_band, others)]


def _add_synonyms(index: MemoryIndex, terms: Sequence[str]) -> list[str]:
    if not index.has_synonyms():
        return list(terms)
    words = [term.strip('"') for term in terms]
    spans = [
        (start, end)
        for start in range(len(words))
        for end in range(start + 1, min(start + MAX_NAME_WORDS, len(words)) + 1)
        if all(word.isalnum() for word in words[start:end])
    ]
    known = index.find_synonyms([" ".join(words[start:end]) for start, end in spans])
    expanded: list[str] = []
    at = 0
    while at < len(terms):
        ends = [end for start, end in spans if start == at and " ".join(words[start:end]) in known]
        end = max(ends, default=at + 1)
        names = [terms[at:end], *_quote_names(known.get(" ".join(words[at:end]), ()))]
        forms = [" AND ".join(name) for name in names]
        expanded.append(f"({' OR '.join(f'({form})' for form in forms)})" if len(forms) > 1 else forms[0])
        at = end
    return expanded


def _quote_names(names: Sequence[str]) -> list[list[str]]:
    return [[f'"{word}"' for word in name.split(" ")] for name in names[:_MAX_SYNONYMS]]


def _parse_terms(text: str) -> tuple[list[str], str, bool]:
    """Returns FTS5 terms for the content words of a text; the word at its end, which may be unfinished, if the last
    term stands for it, else ""; and whether the text is a question, whose answer need not have all of the terms.

    A word with parts matches as a whole or by its parts.
    """
    words = list(split_words(text))
    found = list(dict.fromkeys(words))[:_MAX_TERMS]
    content = [word for word in found if word[0] not in STOP_WORDS] or found
    terms = list(dict.fromkeys(term for whole, parts in content for term in _terms_of_word(whole, parts)))[:_MAX_TERMS]
    asks = len(content) < len(found) or len(terms) > _MIN_QUESTION_TERMS or text.rstrip().endswith(("?", "？"))
    last = re.search(r"\w{3,}\Z", text)
    is_last_term = last is not None and bool(words) and terms[-1] == _terms_of_word(*words[-1])[-1]
    return terms, last.group().lower() if last is not None and is_last_term else "", asks


def _terms_of_word(whole: str, parts: tuple[str, ...]) -> list[str]:
    return [_piece_term(one) for one in split_unspaced(whole)] or [_term(whole, parts)]


def _piece_term(piece: str) -> str:
    if not is_unspaced(piece):
        return f'"{piece}"'
    if len(piece) == 1:
        return f'"{piece}"*'
    return "(" + " AND ".join(f'"{pair}"' for pair in letter_pairs(piece)) + ")"


def _match_all(
    index: MemoryIndex, terms: Sequence[str], unfinished: str, row_filter: IndexFilter, limit: int
) -> list[tuple[int, float]]:
    """Returns the best rows with all of the terms; words that begin with the `unfinished` one, if any, stand for the
    last term, unless it is already common."""
    if unfinished and index.count(terms[-1]) < COMMON_WORD_COUNT:
        terms = [*terms[:-1], f'({terms[-1]} OR "{unfinished}"*)']
    return index.match(" AND ".join(terms), _likely_queries(terms), row_filter, limit)


def _likely_queries(terms: Sequence[str]) -> tuple[str, ...]:
    """Returns queries for the rows with every term that score best: those with each name as it is written or, if there
    is none, with every term in the title; then those with a term, or a part of a name, in the title."""
    every = " AND ".join(terms)
    as_written = _NAME_TERM.sub(r"\1", every)
    some = " OR ".join(_NAME_TERM.sub(lambda name: name[2].replace(" AND ", " OR "), term) for term in terms)
    in_title = f"{_TITLE_COLUMNS} : ({every})"
    if some == every:
        return (in_title,)
    return (as_written if as_written != every else in_title, f"({every}) AND {_TITLE_COLUMNS} : ({some})")


def _match_some(
    index: MemoryIndex, terms: Sequence[str], row_filter: IndexFilter, limit: int, most: int
) -> list[tuple[int, float]]:
    """Returns the best rows with any of the terms. Words that most memories have only rank what a rarer word found."""
    terms = sorted(terms, key=index.count)
    rare = [term for term in terms if index.count(term) < COMMON_WORD_COUNT] or terms
    query = " OR ".join(rare)
    if common := " OR ".join(terms[len(rare) :]):
        query = f"({query}) OR (({query}) AND ({common}))"
    room, kept = most, 0
    while kept < len(rare) and (room := room - index.count(rare[kept])) >= 0:
        kept += 1
    telling = [*rare[:kept], *([f"{_TITLE_COLUMNS} : ({' OR '.join(rare[kept:])})"] if kept < len(rare) else [])]
    rarest = rare[:2]
    likely = (*_likely_queries(rarest), " AND ".join(rarest), " OR ".join(telling))
    return index.match(query, likely, row_filter, limit, most)


def _term(whole: str, parts: tuple[str, ...]) -> str:
    if not parts:
        return f'"{whole}"'
    split = " AND ".join(f'"{part}"' for part in parts)
    return f'("{whole}" OR ({split}))'


def _correct_term(index: MemoryIndex, term: str) -> str:
    word = term.strip('"')
    if len(word) < _MIN_CORRECTED_LETTERS or not word.isalpha() or index.count(term):
        return term
    similar = [
        stem
        for stem in index.list_stems(word[0], len(word) - _MAX_ENDING, len(word) + 1)
        if len(stem) >= _MIN_CORRECTED_LETTERS and _is_similar(word, stem)
    ]
    similar.sort(key=lambda stem: abs(len(stem) - len(word)))
    corrections = " OR ".join('"' + stem + '"' for stem in similar[:_MAX_CORRECTIONS])
    return f"({corrections})" if similar else term


def _is_similar(word: str, stem: str) -> bool:
    """Returns whether a word, or its beginning, differs from a stem by at most one typing error: a letter too many, too
    few or wrong, or two neighbours in the wrong order. Stems end in `i` instead of `y`."""
    forms = (word, f"{word[:-1]}i") if word.endswith("y") else (word,)
    lengths = range(max(len(stem) - 1, len(word) - _MAX_ENDING), len(stem) + 2)
    return any(_is_one_error_apart(form[:length], stem) for form in forms for length in lengths)


def _is_one_error_apart(first: str, second: str) -> bool:
    if abs(len(first) - len(second)) > 1:
        return False
    at = 0
    while at < min(len(first), len(second)) and first[at] == second[at]:
        at += 1
    left, right = first[at:], second[at:]
    swapped = len(left) > 1 and len(right) > 1 and left[:2] == right[1::-1] and left[2:] == right[2:]
    return left[1:] == right[1:] or left[1:] == right or left == right[1:] or swapped
