"""Finds lines of rules files that say the opposite of a memory.

The rule, which looks at words alone and at English ones only: two sentences contradict each other if

1. all the words that matter of one are in the other, after stemming and without filler words, and their cosine
   (`memory/similarity.py`, with equal weights) is at least `MIN_SIMILARITY`, and
2. they differ in exactly one of these: whether they are negated (*never*, *avoid*, *do not* …), or one pair of
   opposites (*tabs* and *spaces*, *before* and *after* …).

What follows *instead of*, *rather than* or *, not* says what is not wanted, and is left out. Two sentences that both
say what is not wanted also contradict each other if each wants what the other does not: *uv, not pip* and *pip instead
of uv*. The rule prefers silence to a false alarm: on made-up pairs (`tests/unit/check/test_contradictions.py`) it finds
four of five contradictions and reports none of the pairs that only sound alike.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from lerim.memory import claim_vector, cosine, split_sentences
from lerim.rules_files import RulesLine
from lerim.words import stem

MIN_SIMILARITY = 0.6
MAX_SENTENCES = 40
"""Maximum number of sentences of one text that are compared."""
MAX_STATEMENTS = 5_000
_WORD = re.compile(r"[^\W_][\w+.'’/-]*")
_UNWANTED = re.compile(r",? (?:instead of|rather than)\b|,? and not\b|, (?:not|never)\b", re.IGNORECASE)
_NEGATION_WORDS = """
    not never no avoid without forbid forbids forbidden cannot nothing none neither disable disables disabled ban banned
    prohibit prohibited stop refuse reject skip nobody
"""
_NEGATIONS = frozenset(_NEGATION_WORDS.split())
_NEUTRAL_WORDS = """
    use uses used using prefer prefers preferred always enable enables enabled allow allows allowed need needs want
    wants make makes sure ensure ensures try longer anymore ever any every each all only please rule decision
"""
_NEUTRAL = frozenset(_NEUTRAL_WORDS.split())
_OPPOSITES = (
    *("tab space", "single double", "before after", "sync async", "synchronous asynchronous", "public private"),
    *("required optional", "mutable immutable", "camelcase snake_case", "merge rebase", "ascending descending"),
    *("uppercase lowercase", "relative absolute", "implicit explicit", "eager lazy", "minimum maximum", "local global"),
    *("named default", "static dynamic", "strict loose", "serial parallel", "manual automatic", "light dark"),
)
_AXES: Mapping[str, tuple[str, int]] = {
    stem(word): (stem(pair.split()[0]), side) for pair in _OPPOSITES for side, word in enumerate(pair.split())
}
_NO_AXES: Mapping[str, tuple[str, int]] = {}


@dataclass(frozen=True, slots=True)
class _Statement:
    """The words of a sentence as a vector of length 1, whether it is negated, and its side of each opposition. If
    `unwanted` is not empty, the words include the unwanted ones, and there are no sides."""

    words: Mapping[str, float]
    is_negated: bool
    sides: Mapping[str, int]
    unwanted: frozenset[str] = frozenset()

    def contradicts(self, other: _Statement) -> bool:
        """Returns whether the two differ in exactly one way. Their words are compared elsewhere."""
        if self.unwanted or other.unwanted:
            is_exchanged = self._wants_of(other.unwanted) and other._wants_of(self.unwanted)
            is_alike = self.unwanted == other.unwanted
            return is_alike if self.is_negated != other.is_negated else is_exchanged
        turned = sum(side != other.sides[axis] for axis, side in self.sides.items() if axis in other.sides)
        return (self.is_negated != other.is_negated) + turned == 1

    def _wants_of(self, words: frozenset[str]) -> bool:
        return any(word in self.words and word not in self.unwanted for word in words)


@dataclass(frozen=True, slots=True)
class RulesFileIndex:
    """The statements of rules files, indexed by each of their words and by the rarest of them."""

    statements: tuple[tuple[_Statement, RulesLine], ...]
    by_word: Mapping[str, list[int]]
    by_rarest_word: Mapping[str, list[int]]

    def find_contradiction(self, text: str) -> RulesLine | None:
        """Returns the nearest line that says the opposite of a sentence of this text; None if there is none."""
        best: tuple[float, RulesLine] | None = None
        for statement in _statements(text) if self.statements else ():
            for number in self._find_containing(statement.words):
                other, line = self.statements[number]
                similarity = cosine(statement.words, other.words) if statement.contradicts(other) else 0.0
                if similarity >= MIN_SIMILARITY and (best is None or similarity > best[0]):
                    best = (similarity, line)
        return best[1] if best else None

    def _find_containing(self, words: Mapping[str, float]) -> list[int]:
        """Returns the statements that contain all of these words, and the statements whose words are all among
        these. The former are looked up by the rarest of these words, the latter by their own rarest word."""
        larger = min((self.by_word.get(word, []) for word in words), key=len, default=[])
        smaller = [number for word in words for number in self.by_rarest_word.get(word, ())]
        kept = [number for number in larger if words.keys() <= self.statements[number][0].words.keys()]
        kept += [number for number in smaller if words.keys() >= self.statements[number][0].words.keys()]
        return sorted({*kept})


def index_rules_files(lines: Iterable[RulesLine]) -> RulesFileIndex:
    """Returns the index of the first `MAX_STATEMENTS` sentences of these lines."""
    found: list[tuple[_Statement, RulesLine]] = []
    by_word: dict[str, list[int]] = defaultdict(list)
    for line in lines:
        for statement in _statements(line.text):
            if len(found) == MAX_STATEMENTS:
                break
            for word in statement.words:
                by_word[word].append(len(found))
            found.append((statement, line))
    by_rarest_word: dict[str, list[int]] = defaultdict(list)
    for number, (statement, _) in enumerate(found):
        for word in sorted(statement.words, key=lambda word: len(by_word[word]))[:1]:
            by_rarest_word[word].append(number)
    return RulesFileIndex(tuple(found), by_word, by_rarest_word)


def _statements(text: str) -> Iterator[_Statement]:
    for sentence in split_sentences(text)[:MAX_SENTENCES]:
        wanted, *unwanted = _UNWANTED.split(sentence, maxsplit=1)
        statement = _parse(wanted)
        if len(statement.words) > 1 or statement.sides:
            yield statement
        if unwanted:
            kept = _parse(wanted, _NO_AXES)
            refused = _parse(unwanted[0], _NO_AXES).words.keys() - kept.words.keys()
            if refused:
                whole = _parse(f"{wanted} {unwanted[0]}", _NO_AXES)
                yield replace(whole, is_negated=kept.is_negated, unwanted=frozenset(refused))


def _parse(text: str, axes: Mapping[str, tuple[str, int]] = _AXES) -> _Statement:
    negations, sides, words = 0, dict[str, int](), list[str]()
    for found in _WORD.findall(text.casefold()):
        word = found.rstrip(".'’-/").replace("’", "'")
        axis = axes.get(stem(word))
        if word in _NEGATIONS or word.endswith("n't"):
            negations += 1
        elif axis is not None:
            sides[axis[0]] = axis[1]
            words.append(axis[0])
        elif word not in _NEUTRAL:
            words.append(word)
    return _Statement(claim_vector((), words, lambda _: 1.0), negations % 2 == 1, sides)
