"""Finds which of several hundred names occur in a text. Each text is searched once for all modules, and the results of
each word are cached."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from functools import cached_property

_MOST_CACHED_CHARACTERS, _MOST_CACHED_WORDS = 60, 40_000
_HUGE_WORD_CHARACTERS = 2_000
_DISTINCTIVE_WORDS = frozenset(("key", "token", "secret", "password", "passphrase", "keys"))
_NO_PARTS: frozenset[str] = frozenset()


class NameFinder:
    """Finds names in lower-case text. Of a name of several words, only the most distinctive word (its part) is
    searched."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(names)
        self._cache: dict[str, frozenset[str]] = {}

    @cached_property
    def _containing_parts(self) -> dict[str, tuple[str, ...]]:
        """The name parts that contain no other part, each with the parts that contain it; computed on first use."""
        parts = {_choose_part(name) for name in self._names}
        shortest_parts = [part for part in parts if not any(other != part and other in part for other in parts)]
        return {one: tuple(part for part in parts if one in part) for one in shortest_parts}

    @cached_property
    def _any_part_pattern(self) -> re.Pattern[str]:
        return re.compile(_build_pattern(self._containing_parts.keys()))

    @cached_property
    def _overlapping_pattern(self) -> re.Pattern[str]:
        return re.compile(f"(?=({self._any_part_pattern.pattern}))")

    def find_parts(self, lowered: str) -> Set[str]:
        """Returns the name parts that occur in a text."""
        words = set(lowered.split())
        found = set(map(self._cache.get, words))  # most words are known: no loop in Python over those
        if None in found:
            found |= {self._search_word(word) for word in words if word not in self._cache}
        return _NO_PARTS.union(*filter(None, found))

    def _search_word(self, word: str) -> frozenset[str]:
        """Returns the name parts that occur in a word, and caches them if the word is short."""
        word_parts = _NO_PARTS
        if self._any_part_pattern.search(word):
            shortest_parts = (
                set(self._overlapping_pattern.findall(word))
                if len(word) < _HUGE_WORD_CHARACTERS
                else {one for one in self._containing_parts if one in word}
            )
            word_parts = frozenset(
                part for one in shortest_parts for part in self._containing_parts[one] if part in word
            )
        if len(word) < _MOST_CACHED_CHARACTERS:
            if len(self._cache) >= _MOST_CACHED_WORDS:
                self._cache.clear()
            self._cache[word] = word_parts
        return word_parts


class NameGroup(tuple[str, ...]):
    """The names that one module searches for."""

    @cached_property
    def parts(self) -> frozenset[str]:
        """The parts that `NameFinder` searches for."""
        return frozenset(self.by_part)

    @cached_property
    def by_part(self) -> dict[str, list[tuple[int, str]]]:
        """The names by the part that `NameFinder` searches for, each with its index."""
        names: dict[str, list[tuple[int, str]]] = {}
        for number, name in enumerate(self):
            names.setdefault(_choose_part(name), []).append((number, name))
        return names


def select_found_names(names: NameGroup, found_parts: Set[str]) -> list[str]:
    """Returns the names that may occur in a text in which these parts were found, in their order."""
    if names.parts.isdisjoint(found_parts):
        return []
    parts = names.parts & found_parts
    return [name for _, name in sorted([named for part in parts for named in names.by_part[part]])]


def _choose_part(name: str) -> str:
    """Returns the word of a name to search for: one such as `key` or `token` if there is one, else the longest."""
    return max(name.lower().split(), key=lambda word: (word in _DISTINCTIVE_WORDS, len(word)))


def _build_pattern(names: Set[str]) -> str:
    """Returns a regular expression in which names with the same beginning share it, so each letter of a text is
    tried once."""
    branches: dict[str, set[str]] = {}
    for name in names:
        branches.setdefault(name[:1], set()).add(name[1:])
    parts = [
        re.escape(first) + ("" if "" in rest else _build_pattern(rest)) for first, rest in sorted(branches.items())
    ]
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


def find_places(text: str, literal: str) -> Iterable[int]:
    """Returns the positions of a literal in a text."""
    return _iterate_places(text, literal) if literal in text else ()


def _iterate_places(text: str, literal: str) -> Iterator[int]:
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + len(literal))
