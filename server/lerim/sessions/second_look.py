"""Ranks the turns the index named, by reading them.

Of each turn it weighs the words it holds and those its neighbours hold, what else its session holds, how near to each
other the words stand, who speaks, and whether it answers or asks. The weights were set on one half of a corpus of chats
and hold on the other (benchmarks/search.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lerim.sessions.query import Query, Term, stem, tokens
from lerim.sessions.turn_words import DAYS, MONTHS, date_words, index_text

CHARACTERS = 4_000
"""Of what a turn says, and of its tools, that are read."""
TOOLS = 0.4
"""What a word counts in a tool's command or path."""
FULL, LENGTH = 0.9, 0.3
"""BM25: how soon repeating a word gains nothing more, and how much long turns lose."""
AROUND = {-1: 0.8, -2: 0.6, -3: 0.2, 1: 0.3, 2: 0.2}
"""What a word counts that a turn of prose so many turns away holds: a question tells what its answer is about."""
BOTH = 0.2
"""What the lesser of a turn's own and its neighbours' counts beside the greater."""
SESSION = 0.2
"""What the best of its session counts."""
INDEX = 1.2
"""What the index's own score counts."""
COVERED = 0.4
"""The power of the share of words found."""
PAIR = 1.0
"""What two words count that stand together as in the query."""
SPEAKER, DATED, ASKS = 1.3, 1.3, 0.7
"""Factors: the query names who speaks (`Ana: …`); it asks when, and the turn tells a time; the turn is a question."""
HEAD = 40
"""Characters in which a speaker is named."""

_TIMES = frozenset(
    map(
        stem,
        (
            *("yesterday", "today", "tomorrow", "tonight", "morning", "ago", "last", "next", "recently", "soon"),
            *("day", "week", "weekend", "month", "year", *DAYS, *MONTHS),
        ),
    )
)


@dataclass(slots=True)
class Candidate:
    """A turn the index named; `score` is the index's. The second look fills in the rest: `held` is what each word of
    the query counts in it."""

    row: int
    transcript: int
    ordinal: int
    person: bool
    prose: bool
    time: float | None
    text: str
    tools: str
    score: float
    held: list[float] = field(default_factory=list)
    length: int = 0
    pairs: int = 0
    dated: bool = False


def ranked(query: Query, found: Sequence[Candidate], held: Sequence[int], number: int) -> list[tuple[int, float]]:
    """The rows of `found`, best first, with a score. `held` says how many turns hold each word, of `number`."""
    words = _Words(query.terms)
    for one in found:
        words.count(one)
    mean = sum(one.length for one in found) / max(1, len(found)) or 1.0
    rare = [max(0.01, math.log((max(number, many) - many + 0.5) / (many + 0.5))) for many in held]
    for one in found:
        worn = FULL * (1 - LENGTH + LENGTH * one.length / mean)
        one.held = [
            times and weight * times * (FULL + 1) / (times + worn) for times, weight in zip(one.held, rare, strict=True)
        ]
    best: dict[int, list[float]] = {}
    for one in found:
        best[one.transcript] = list(map(max, one.held, best.get(one.transcript, one.held)))
    prose = {(one.transcript, one.ordinal): one.held for one in found if one.prose}
    scores = [(-_score(one, query, _near(one, prose), sum(best[one.transcript]), words), one.row) for one in found]
    return [(row, -score) for score, row in sorted(scores)]


def _near(one: Candidate, prose: Mapping[tuple[int, int], list[float]]) -> list[float]:
    """What each word counts for the turns of prose around one."""
    near = [0.0] * len(one.held)
    if one.prose:
        for away, share in AROUND.items():
            other = prose.get((one.transcript, one.ordinal + away))
            if other is not None:
                near = [max(weight, share * its) for weight, its in zip(near, other, strict=True)]
    return near


def _score(one: Candidate, query: Query, near: Sequence[float], session: float, words: _Words) -> float:
    found, both = 0, 0.0
    for own, around in zip(one.held, near, strict=True):
        found += own > 0 or around > 0
        both += own + BOTH * around if own > around else around + BOTH * own
    score = both + SESSION * session + INDEX * one.score
    score *= math.pow(found / len(query.terms), COVERED)
    if one.prose:
        if words.named(one.text[:HEAD]):
            score *= SPEAKER
        if query.dated and one.dated:
            score *= DATED
        if one.text.rstrip().endswith("?"):
            score *= ASKS
    return score + PAIR * one.pairs


class _Words:
    """The words of a query as they are looked for in texts. What is known of a text's word is kept for the next."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self._terms = terms
        self._first: dict[str, list[int]] = {}
        for at, term in enumerate(terms):
            self._first.setdefault(term.stems[0], []).append(at)
        self._joined = {term.joined: at for at, term in enumerate(terms) if len(term.stems) > 1}
        self._seen: set[str] = set()
        self._telling: dict[str, tuple[int, ...]] = {}
        self._times: set[str] = set()

    def count(self, one: Candidate) -> None:
        """Fills in what a turn holds."""
        one.held = [0.0] * len(self._terms)
        said = tokens(index_text(one.text[:CHARACTERS]))
        one.length = len(said)
        one.dated = not self._learn(said).isdisjoint(self._times)
        last, behind = -2, -3
        for at, which in self._hits(said):
            one.held[which] += 1
            one.pairs += which == last + 1 and 0 < at - behind <= 2
            last, behind = which, at
        for text, share in ((date_words(one.time) if one.prose else "", 0.5), (one.tools[:CHARACTERS], TOOLS)):
            if text:
                known = tokens(index_text(text))
                self._learn(known)
                for _, which in self._hits(known):
                    one.held[which] += share

    def named(self, head: str) -> bool:
        """Whether a turn begins with a name and a colon, and the query has the name."""
        name, colon, _ = head.partition(":")
        return bool(colon) and any(stem(word) in self._first for word in tokens(name))

    def _learn(self, said: Sequence[str]) -> set[str]:
        """Looks at the words not met before; all of these."""
        words = set(said)
        for word in words - self._seen:
            root = stem(word)
            if root in self._first:
                self._telling[word] = tuple(self._first[root])
            elif word in self._joined:
                self._telling[word] = (self._joined[word],)
            if root in _TIMES:
                self._times.add(word)
        self._seen |= words
        return words

    def _hits(self, said: Sequence[str]) -> list[tuple[int, int]]:
        """Where words of the query stand, and which."""
        telling = self._telling
        return [
            (at, which)
            for at, word in enumerate(said)
            if word in telling
            for which in telling[word]
            if self._whole(said, at, which)
        ]

    def _whole(self, said: Sequence[str], at: int, which: int) -> bool:
        """Whether all parts of a word of the query stand here, or the word in one piece."""
        stems = self._terms[which].stems
        if len(stems) == 1 or said[at] == self._terms[which].joined:
            return True
        return [stem(word) for word in said[at : at + len(stems)]] == list(stems)
