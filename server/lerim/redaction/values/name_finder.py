"""Finds which of several hundred names occur in a text. Each text is searched once for all modules, and the results of
each run of letters are cached."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from functools import cached_property

_MOST_CACHED_CHARACTERS, _MOST_CACHED_RUNS = 60, 40_000
_DISTINCTIVE_WORDS = frozenset(("key", "token", "secret", "password", "passphrase", "keys"))
_LETTERS = b"abcdefghijklmnopqrstuvwxyz"
_TO_RUNS = bytes(code if code in _LETTERS else ord(" ") for code in range(256))


class NameFinder:
    """A search for names in lower-case text. Of a name with several words, only the most distinctive word (its part) is
    searched for.

    A text can contain a part only if it contains the part's most distinctive run of the letters a to z. So a text is
    split into its runs, most of which were met before. A part that also has other characters is searched for only
    after its letters were found.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(names)
        self._cache: dict[bytes, list[str]] = {}
        self._other_runs: set[bytes] = set()
        """Runs of letters that do not contain the letters of any part."""

    @cached_property
    def _parts_by_start(self) -> dict[str, list[tuple[str, str]]]:
        """The most distinctive run of letters of each name part, with the part, by the first two letters of the run;
        computed on first use."""
        parts: dict[str, list[tuple[str, str]]] = {}
        for part in self._parts - self._other_parts:
            letters = _choose_run(part)
            parts.setdefault(letters[:2], []).append((letters, part))
        return parts

    @cached_property
    def _parts(self) -> frozenset[str]:
        return frozenset(map(_choose_part, self._names))

    @cached_property
    def _other_parts(self) -> frozenset[str]:
        """The name parts that are searched for in every text: those with letters of other alphabets, and those
        without two letters in a row."""
        return frozenset(part for part in self._parts if not part.isascii() or len(_choose_run(part)) < 2)

    @cached_property
    def _signs_pattern(self) -> re.Pattern[str]:
        """Matches the parts without two letters in a row."""
        return re.compile("|".join(re.escape(part) for part in self._other_parts if part.isascii()))

    @cached_property
    def _other_letters(self) -> str:
        """One letter of another alphabet from each part that has any."""
        return "".join({max(part) for part in self._other_parts if not part.isascii()})

    @cached_property
    def _other_bytes(self) -> bytes:
        """All bytes except those with which one of these letters begins in UTF-8. The first bytes of arrows, dashes
        and quotation marks are among them."""
        return bytes(set(range(256)) - {letter.encode()[0] for letter in self._other_letters})

    def find_parts(self, lowered: str) -> Set[str]:
        """Returns the name parts that occur in a text."""
        encoded = lowered.encode("utf-8", "replace")
        runs = set(encoded.translate(_TO_RUNS).split()) - self._other_runs  # so that the loop below is over few
        possible_parts = {part for run in runs for part in self._cache.get(run) or self._search_run(run)}
        parts = {part for part in possible_parts if part.isalpha() or part in lowered}
        if self._signs_pattern.search(lowered) or encoded.translate(None, self._other_bytes):
            parts |= {part for part in self._other_parts if part in lowered}
        return parts

    def _search_run(self, run: bytes) -> list[str]:
        """Returns the name parts whose letters occur in a run of letters, and remembers them if the run is short."""
        letters, starts = run.decode(), self._parts_by_start
        if len(run) >= _MOST_CACHED_CHARACTERS:
            return [part for pairs in starts.values() for one, part in pairs if one in letters]
        parts = [
            part
            for at in range(len(letters) - 1)
            for one, part in starts.get(letters[at : at + 2], ())
            if letters.startswith(one, at)
        ]
        if len(self._cache) + len(self._other_runs) >= _MOST_CACHED_RUNS:
            self._cache.clear()
            self._other_runs.clear()
        if parts:
            self._cache[run] = parts
        else:
            self._other_runs.add(run)
        return parts


def _choose_run(part: str) -> str:
    """Returns the most distinctive run of the letters a to z in a name part, "" if there is none."""
    runs = part.encode().translate(_TO_RUNS).decode()
    return _choose_part(runs) if runs.strip() else ""


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
    if not found_parts or names.parts.isdisjoint(found_parts):
        return []
    parts = names.parts & found_parts
    return [name for _, name in sorted([named for part in parts for named in names.by_part[part]])]


def _choose_part(name: str) -> str:
    """Returns the word of a name to search for: one such as `key` or `token` if there is one, else the longest."""
    return max(name.lower().split(), key=lambda word: (word in _DISTINCTIVE_WORDS, len(word)))


def find_places(text: str, literal: str) -> Iterable[int]:
    """Returns the positions of a literal in a text."""
    return _iterate_places(text, literal) if literal in text else ()


def _iterate_places(text: str, literal: str) -> Iterator[int]:
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + len(literal))
