"""Corrects mistyped words of a query: a word that no memory has stands for the words that memories have and that differ
from it by one typing error."""

from __future__ import annotations

from collections.abc import Sequence

from lerim.memory.search.index import Index

MIN_LETTERS = 4
"""In shorter words an error leaves too little to recognise."""
MAX_CORRECTIONS = 4
MAX_ENDING = 3
"""How many letters a query's word may have after the stem that the index has."""


def correct_terms(index: Index, terms: Sequence[str]) -> list[str]:
    """Returns the FTS5 terms of a query with corrections for each plain word that no memory has. Raises
    MemoryError_."""
    return [_correct_term(index, term) for term in terms]


def _correct_term(index: Index, term: str) -> str:
    word = term.strip('"')
    if len(word) < MIN_LETTERS or not word.isalpha() or index.count(term):
        return term
    similar = [
        stem
        for stem in index.list_stems(word[0], len(word) - MAX_ENDING, len(word) + 1)
        if len(stem) >= MIN_LETTERS and is_similar(word, stem)
    ]
    similar.sort(key=lambda stem: abs(len(stem) - len(word)))
    corrections = " OR ".join('"' + stem + '"' for stem in similar[:MAX_CORRECTIONS])
    return f"({corrections})" if similar else term


def is_similar(word: str, stem: str) -> bool:
    """Returns whether a word, or its beginning, differs from a stem by at most one typing error: a letter too many, too
    few or wrong, or two neighbours in the wrong order. Stems end in `i` instead of `y`."""
    forms = (word, f"{word[:-1]}i") if word.endswith("y") else (word,)
    lengths = range(max(len(stem) - 1, len(word) - MAX_ENDING), len(stem) + 2)
    return any(is_one_error_apart(form[:length], stem) for form in forms for length in lengths)


def is_one_error_apart(first: str, second: str) -> bool:
    """Returns whether two words are equal or differ by one typing error."""
    if abs(len(first) - len(second)) > 1:
        return False
    at = 0
    while at < min(len(first), len(second)) and first[at] == second[at]:
        at += 1
    left, right = first[at:], second[at:]
    swapped = len(left) > 1 and len(right) > 1 and left[:2] == right[1::-1] and left[2:] == right[2:]
    return left[1:] == right[1:] or left[1:] == right or left == right[1:] or swapped
