"""A project's own synonyms, learned from its memories: an abbreviation and the words it stands for, as in
`continuous integration (CI)`, and two names of one thing, as in `the ledger, also called the journal`.

Abbreviations are found by their initials, a simple form of Schwartz and Hearst, "A simple algorithm for identifying
abbreviation definitions in biomedical text" (2003).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lerim.words import STOP_WORDS

MAX_NAME_WORDS = 6
"""The longest name that has a synonym, in words without stop words."""
MAX_PAIRS = 20
_LOOKED_BACK = 200
_IN_BRACKETS = re.compile(r"\(([^()\n]{2,80})\)")
_SHORT = re.compile(r"[A-Z][A-Za-z0-9]{1,9}")
_WORD = re.compile(r"\w+")
_ALSO_CALLED = re.compile(
    r"\b(?:the|an?|our) [`'\"“]?(\w[\w -]{1,60}?)[`'\"”]?,? \(?(?:also called|also known as|aka|a\.k\.a\.)"
    r" (?:the |an? )?[`'\"“]?(\w+)",
    re.IGNORECASE,
)
_ALSO_CALLED_MARKS = ("also called", "also known as", "aka", "a.k.a.")
"""Each match of `_ALSO_CALLED` has one of these. Most texts have none, so the slow pattern is skipped."""
Pair = tuple[str, str]
"""Two names of one thing, each as words in lower case, joined with spaces, without stop words."""


def find_synonyms(text: str) -> list[Pair]:
    """Returns the pairs of names that a text says are one thing, at most MAX_PAIRS."""
    found = dict.fromkeys(_find_abbreviations(text)) if "(" in text else {}
    folded = text.casefold()
    if any(mark in folded for mark in _ALSO_CALLED_MARKS):
        found |= dict.fromkeys(_find_other_names(text))
    return [pair for pair in found if pair[0] != pair[1]][:MAX_PAIRS]


def _find_abbreviations(text: str) -> Iterator[Pair]:
    for bracket in _IN_BRACKETS.finditer(text):
        # only the last words: copying all that precedes each of many brackets would take the square of the length
        before, inside = text[max(0, bracket.start() - _LOOKED_BACK) : bracket.start()].rstrip(), bracket[1].strip()
        if _is_abbreviation(inside):
            name = _match_end(inside, _WORD.findall(before))
            yield from _pair(inside, name)
        elif (last := before.rpartition(" ")[2]) and _is_abbreviation(last):
            words = _WORD.findall(inside)
            yield from _pair(last, words if _match_end(last, words) == words else [])


def _is_abbreviation(word: str) -> bool:
    return bool(_SHORT.fullmatch(word)) and sum(letter.isupper() for letter in word) > 1


def _match_end(short: str, words: Sequence[str]) -> list[str]:
    """Returns the last of these words whose initials are the abbreviation; stop words may be left out of it."""
    letters, at = list(short.lower()), len(words)
    while letters and at:
        at -= 1
        word = words[at].lower()
        if word[0] == letters[-1]:
            letters.pop()
        elif word not in STOP_WORDS:
            return []
    return [] if letters else list(words[at:])


def _pair(short: str, words: Sequence[str]) -> Iterator[Pair]:
    name = _join_words(words)
    if " " in name and name.count(" ") < MAX_NAME_WORDS:
        yield short.lower(), name


def _find_other_names(text: str) -> Iterator[Pair]:
    for found in _ALSO_CALLED.finditer(text):
        first, second = (_join_words(_WORD.findall(name)) for name in found.groups())
        if first and second and first.count(" ") < MAX_NAME_WORDS:
            yield first, second


def _join_words(words: Sequence[str]) -> str:
    return " ".join(word.lower() for word in words if word.lower() not in STOP_WORDS)
