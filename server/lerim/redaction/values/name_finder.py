"""Finds which of several hundred names occur in a text: searched once per text, with remembered results for each
word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from functools import cached_property

_LONGEST, _REMEMBERED = 60, 40_000
_HUGE = 2_000
_TELLING = frozenset(("key", "token", "secret", "password", "passphrase", "keys"))
_NOTHING: frozenset[str] = frozenset()


class NameFinder:
    """Finds names in lower-case text. Of a name of several words, only the most telling word is searched."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(names)
        self._held: dict[str, frozenset[str]] = {}

    @cached_property
    def _longer(self) -> dict[str, tuple[str, ...]]:
        """The name parts that contain no other part, each with the parts that contain it; computed on first use."""
        parts = {_part(name) for name in self._names}
        least = [part for part in parts if not any(other != part and other in part for other in parts)]
        return {one: tuple(part for part in parts if one in part) for one in least}

    @cached_property
    def _any(self) -> re.Pattern[str]:
        return re.compile(_tree(self._longer.keys()))

    @cached_property
    def _least(self) -> re.Pattern[str]:
        return re.compile(f"(?=({self._any.pattern}))")

    def find_parts(self, lowered: str) -> Set[str]:
        """Returns the name parts that occur in a text."""
        out: set[str] = set()
        known = self._held
        for word in set(lowered.split()):
            held = known.get(word)
            if held is None:
                held = self._look(word)
            if held:
                out |= held
        return out

    def _look(self, word: str) -> frozenset[str]:
        held = _NOTHING
        if self._any.search(word):
            least = (
                set(self._least.findall(word)) if len(word) < _HUGE else {one for one in self._longer if one in word}
            )
            held = frozenset(part for one in least for part in self._longer[one] if part in word)
        if len(word) < _LONGEST:
            if len(self._held) >= _REMEMBERED:
                self._held.clear()
            self._held[word] = held
        return held


class NameGroup(tuple[str, ...]):
    """The names that one module looks for."""

    @cached_property
    def by_part(self) -> dict[str, list[tuple[int, str]]]:
        """The names by the part that `NameFinder` searches for, each with its index."""
        out: dict[str, list[tuple[int, str]]] = {}
        for number, name in enumerate(self):
            out.setdefault(_part(name), []).append((number, name))
        return out


def select_found_names(names: NameGroup, found_parts: Set[str]) -> list[str]:
    """Returns the names that may occur in a text in which these parts were found, in their order."""
    if not found_parts or not (parts := found_parts & names.by_part.keys()):
        return []
    return [name for _, name in sorted([named for part in parts for named in names.by_part[part]])]


def _part(name: str) -> str:
    """Returns the word of a name to search for: one such as `key` or `token` if there is one, else the longest."""
    return max(name.lower().split(), key=lambda word: (word in _TELLING, len(word)))


def _tree(names: Set[str]) -> str:
    """Returns a regular expression in which names with the same beginning share it, so each letter of a text is
    tried once."""
    branches: dict[str, set[str]] = {}
    for name in names:
        branches.setdefault(name[:1], set()).add(name[1:])
    parts = [re.escape(first) + ("" if "" in rest else _tree(rest)) for first, rest in sorted(branches.items())]
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


def find_places(text: str, literal: str) -> Iterable[int]:
    """Returns the positions of a literal in a text."""
    return _each_place(text, literal) if literal in text else ()


def _each_place(text: str, literal: str) -> Iterator[int]:
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + len(literal))
