"""Words of a text as search and comparison see them: identifiers whole and in parts, languages with symbols in their
names, scripts without spaces."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

_FILLER = """
    a about after again all also always am an and any are as at be because been before being but by can could did
    do does doing done during each ever every few for from further had has have having he her here hers him his
    how i if in into is it its itself just let like may me might more most must my need of off on once only or
    other our ours out own please same shall she should so some such than that the their them then there these
    they this those through to too under until up us very via was we were what when where which while who whom why
    will with would yes you your yours
"""
STOP = frozenset(_FILLER.split())
_NAMED = {"c++": "cplusplus", "c#": "csharp", "f#": "fsharp", ".net": "dotnet", "node.js": "nodejs"}
_NAMED_PATTERN = re.compile(r"(?<![\w.])(?:c\+\+|[cf]#|\.net|node\.js)(?!\w)", re.IGNORECASE)
_WORD = re.compile(r"[\w\u0300-\u036f]+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_A-Za-z]+")
# Scripts written without spaces: a search for a part of such a run must find it.
_RUN = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_MAX_WORD = 80


def words(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each word in lower case with its parts (`getUserName`: get, user, name; a plain word has none)."""
    return map(_taken_apart, _found(text))


def _found(text: str) -> list[str]:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    # a part of each of the names, whatever its case: most texts have none, and need no look at every letter
    if "#" in text or "++" in text or ".n" in text or ".N" in text or ".j" in text or ".J" in text:
        text = _NAMED_PATTERN.sub(lambda found: f" {_NAMED[found.group().lower()]} ", text)
    return _WORD.findall(text)


def _taken_apart(word: str) -> tuple[str, tuple[str, ...]]:
    word = word[:_MAX_WORD]
    whole = word.lower()
    if not whole.isascii() and _RUN.search(word):
        return whole, tuple(grams(whole))
    parts = tuple(part.lower() for part in _PART.findall(word)) if _splits(word) else ()
    return whole, parts if len(parts) > 1 else ()


def grams(run: str) -> list[str]:
    """Pairs of neighbouring letters; one letter stands for itself."""
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _splits(word: str) -> bool:
    return "_" in word or not (word.islower() or word[1:].islower() or word.isupper() or word.isdigit())


def indexed(text: str) -> str:
    """The text as the index stores it: every word, and its parts after it."""
    return " ".join([_stored(word if len(word) <= _MAX_WORD else word[:_MAX_WORD]) for word in _found(text)])


@lru_cache(maxsize=4096)  # a store's words are the same few thousand
def _stored(word: str) -> str:
    whole, parts = _taken_apart(word)
    return " ".join((whole, *parts)) if parts else whole
