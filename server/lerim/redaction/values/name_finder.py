"""Finds which of several hundred names occur in a text. Each text is searched once for all modules, and the results of
each run of letters are cached."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from functools import cached_property

_MOST_CACHED_CHARACTERS, _MOST_CACHED_RUNS = 60, 40_000
_DISTINCTIVE_WORDS = frozenset(("key", "token", "secret", "password", "passphrase", "keys"))
_NO_PARTS: frozenset[str] = frozenset()
_LETTERS = b"abcdefghijklmnopqrstuvwxyz"
_TO_RUNS = bytes(code if code in _LETTERS else ord(" ") for code in range(256))


class NameFinder:
    """Finds names in lower-case text. Of a name of several words, only the most distinctive word (its part) is
    searched.

    A part can only be in a text that contains its longest run of the letters a to z, and most of the runs in a text
    were met before. So a text is split into those, and a part that has other characters too is looked for only after
    its letters were found.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(names)
        self._cache: dict[bytes, frozenset[str]] = {}

    @cached_property
    def _parts_by_letters(self) -> dict[str, set[str]]:
        """The name parts by their longest run of letters; computed on first use."""
        parts: dict[str, set[str]] = {}
        for part in self._parts - self._other_parts:
            runs = [run.decode() for run in _split_into_runs(part)]
            parts.setdefault(_choose_part(" ".join(runs)), set()).add(part)
        return parts

    @cached_property
    def _parts(self) -> frozenset[str]:
        return frozenset(map(_choose_part, self._names))

    @cached_property
    def _other_parts(self) -> frozenset[str]:
        """The name parts that are searched in every text: with letters of other alphabets, or without letters."""
        return frozenset(part for part in self._parts if not part.isascii() or not _split_into_runs(part))

    @cached_property
    def _letters_pattern(self) -> re.Pattern[str]:
        return re.compile(_build_pattern(self._parts_by_letters.keys()))

    @cached_property
    def _other_pattern(self) -> re.Pattern[str]:
        """Matches the parts without letters, and one letter of each that has some of other alphabets."""
        return re.compile(_build_pattern({part if part.isascii() else max(part) for part in self._other_parts}))

    def find_parts(self, lowered: str) -> Set[str]:
        """Returns the name parts that occur in a text."""
        runs = set(_split_into_runs(lowered))
        found = set(map(self._cache.get, runs))  # most runs are known: no loop in Python over those
        if None in found:
            found |= {self._search_run(run) for run in runs.difference(self._cache)}
        possible_parts = _NO_PARTS.union(*filter(None, found))
        parts = {part for part in possible_parts if part in self._parts_by_letters or part in lowered}
        if self._other_pattern.search(lowered):
            parts |= {part for part in self._other_parts if part in lowered}
        return parts

    def _search_run(self, run: bytes) -> frozenset[str]:
        """Returns the name parts whose letters occur in a run of letters, and caches them if the run is short."""
        letters, parts = run.decode(), _NO_PARTS
        if self._letters_pattern.search(letters):
            parts = parts.union(*[found for one, found in self._parts_by_letters.items() if one in letters])
        if len(run) < _MOST_CACHED_CHARACTERS:
            if len(self._cache) >= _MOST_CACHED_RUNS:
                self._cache.clear()
            self._cache[run] = parts
        return parts


def _split_into_runs(lowered: str) -> list[bytes]:
    """Returns the runs of the letters a to z in a text."""
    return lowered.encode("utf-8", "replace").translate(_TO_RUNS).split()


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
