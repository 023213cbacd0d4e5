"""Ranks the turns the index returned, by reading them.

The score of a turn depends on the words it contains and those of its neighbours, the rest of its session, how close
together the words are, who speaks, and whether it is a question. The weights were tuned on one half of a corpus of
chats and checked on the other (benchmarks/search.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lerim.sessions.search.query import QueryTerm, SearchQuery, tokenize_text
from lerim.sessions.tables import DAYS, MONTHS, date_words, make_index_text
from lerim.words import stem

CHARACTERS = 4_000
"""How many characters of a turn's text, and of its tools, are read."""
TOOLS = 0.4
"""The weight of a word in a tool's command or path."""
FULL, LENGTH = 0.9, 0.3
"""BM25: how soon repeating a word gains nothing more, and how much long turns lose."""
AROUND = {-1: 0.8, -2: 0.6, -3: 0.2, 1: 0.3, 2: 0.2}
"""The weight of a word in a turn of prose this many turns away: a question says what its answer is about."""
BOTH = 0.2
"""The weight of the smaller of a turn's own count and its neighbours', added to the larger."""
SESSION = 0.2
"""The weight of the best counts in the turn's session."""
INDEX = 1.2
"""The weight of the index's own score."""
COVERED = 0.4
"""The exponent applied to the share of query words found."""
KIN, ROOT, ALIKE = 0.5, 4, 0.6
"""The weight of a word related to a query word (`allergic`, `allergies`), how many first letters must at least be
equal, and which share of the longer word they must cover."""
UNSIGNED = 0.2
"""The weight of `C` for `C++`."""
PAIR = 1.0
"""The bonus for two words that are next to each other as in the query."""
FURTHER = 0.5
"""The weight of each further turn of a session, relative to the one before it."""
COPIED = 60
"""Characters from which equal texts are copies rather than the same short answer."""
PERSON = 1.05
"""Factor for what a person said: of two equally good turns, theirs says what was wanted or decided."""
SPEAKER, DATED, ASKS = 1.3, 1.3, 0.7
"""Factors: the query names who speaks (`Ana: …`); it asks when, and the turn gives a time; the turn is a question."""
HEAD = 40
"""Characters at the beginning in which a speaker is named."""

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
class TurnMatch:
    """A turn the index returned; `score` is the index's until the turn is ranked. Ranking fills in the rest:
    `term_weights` are the weights of the query words in this turn, `adjacent_pairs` counts words that are next to each
    other as in the query, `names_time`: the turn gives a time."""

    row: int
    transcript: int
    ordinal: int
    is_by_person: bool
    is_prose: bool
    time: float | None
    text: str
    tools: str
    score: float
    term_weights: list[float] = field(default_factory=list)
    length: int = 0
    adjacent_pairs: int = 0
    names_time: bool = False


def rank_turns(query: SearchQuery, found: Sequence[TurnMatch], held: Sequence[int], number: int) -> list[TurnMatch]:
    """Returns the turns best first, each with its score. `held` says how many of `number` turns contain each word."""
    words = _Words(query.terms)
    for one in found:
        words.count(one)
    mean = sum(one.length for one in found) / max(1, len(found)) or 1.0
    rare = [_weight(term, many, number) for term, many in zip(query.terms, held, strict=True)]
    for one in found:
        worn = FULL * (1 - LENGTH + LENGTH * one.length / mean)
        one.term_weights = [
            times and weight * times * (FULL + 1) / (times + worn)
            for times, weight in zip(one.term_weights, rare, strict=True)
        ]
    best: dict[int, list[float]] = {}
    for one in found:
        best[one.transcript] = list(map(max, one.term_weights, best.get(one.transcript, one.term_weights)))
    prose = {(one.transcript, one.ordinal): one.term_weights for one in found if one.is_prose}
    for one in found:
        one.score = _score(one, query, _near(one, prose), sum(best[one.transcript]), words)
    return sorted(found, key=lambda one: (-one.score, one.row))


def demote_copies(found: Sequence[TurnMatch]) -> list[TurnMatch]:
    """Moves ranked turns that repeat a better one to the end (agents copy sessions under new ids)."""
    first: dict[tuple[str, str], TurnMatch] = {}
    copies = []
    for one in found:
        if first.setdefault((one.text, one.tools), one) is not one and len(one.text) + len(one.tools) >= COPIED:
            copies.append(one)
    behind = {id(one) for one in copies}
    return [*(one for one in found if id(one) not in behind), *copies]


def best_by_session(found: Sequence[TurnMatch]) -> list[tuple[TurnMatch, float]]:
    """Returns the best turn of each session with the session's score, best first. If two sessions have equally good
    best turns, the one with more matching turns wins. `found` must be ranked."""
    sessions: dict[int, tuple[TurnMatch, float, float]] = {}
    for one in found:
        best, score, share = sessions.get(one.transcript, (one, 0.0, 1.0))
        sessions[one.transcript] = best, score + share * one.score, share * FURTHER
    return sorted(((best, score) for best, score, _ in sessions.values()), key=lambda pair: -pair[1])


def _weight(term: QueryTerm, many: int, number: int) -> float:
    """Returns the weight of a query word by its rarity; higher for a path or name with several parts."""
    rare = math.log((max(number, many) - many + 0.5) / (many + 0.5))
    return max(0.01, rare) * math.sqrt(len(term.stems))


def _near(one: TurnMatch, prose: Mapping[tuple[int, int], list[float]]) -> list[float]:
    """Returns what each word counts in the turns of prose around this one."""
    near = [0.0] * len(one.term_weights)
    if one.is_prose:
        for away, share in AROUND.items():
            other = prose.get((one.transcript, one.ordinal + away))
            if other is not None:
                near = [max(weight, share * its) for weight, its in zip(near, other, strict=True)]
    return near


def _score(one: TurnMatch, query: SearchQuery, near: Sequence[float], session: float, words: _Words) -> float:
    found, both = 0, 0.0
    for own, around in zip(one.term_weights, near, strict=True):
        found += own > 0 or around > 0
        both += own + BOTH * around if own > around else around + BOTH * own
    score = both + SESSION * session + INDEX * one.score
    score *= math.pow(found / len(query.terms), COVERED)
    if one.is_by_person:
        score *= PERSON
    if one.is_prose:
        if words.named(one.text[:HEAD]):
            score *= SPEAKER
        if query.asks_for_time and one.names_time:
            score *= DATED
        if one.text.rstrip().endswith("?"):
            score *= ASKS
    return score + PAIR * one.adjacent_pairs


class _Words:
    """Looks for the words of a query in texts. What was found out about a word is cached for the next text."""

    def __init__(self, terms: Sequence[QueryTerm]) -> None:
        self._terms = terms
        self._first: dict[str, list[int]] = {}
        for at, term in enumerate(terms):
            for first in dict.fromkeys((term.stems[0], term.unsplit_stems[0])):
                self._first.setdefault(first, []).append(at)
        self._joined = {term.joined: at for at, term in enumerate(terms) if len(term.stems) > 1}
        self._roots: dict[str, list[int]] = {}
        for at, term in enumerate(terms):
            if len(term.stems) == 1 and len(term.stems[0]) >= ROOT and term.stems[0].isalpha():
                self._roots.setdefault(term.stems[0][:ROOT], []).append(at)
        self._akin: dict[str, int] = {}
        self._seen: set[str] = set()
        self._telling: dict[str, tuple[int, ...]] = {}
        self._times: set[str] = set()

    def count(self, one: TurnMatch) -> None:
        """Fills in what the turn contains."""
        one.term_weights = [0.0] * len(self._terms)
        said = tokenize_text(make_index_text(one.text[:CHARACTERS]))
        one.length = len(said)
        one.names_time = not self._learn(said).isdisjoint(self._times)
        for word in said if self._akin else ():
            if word in self._akin:
                one.term_weights[self._akin[word]] += KIN
        last, behind = -2, -3
        for at, which in self._hits(said):
            one.term_weights[which] += 1
            one.adjacent_pairs += which == last + 1 and 0 < at - behind <= 2
            last, behind = which, at
        for text, share in ((date_words(one.time) if one.is_prose else "", 0.5), (one.tools[:CHARACTERS], TOOLS)):
            if text:
                known = tokenize_text(make_index_text(text))
                self._learn(known)
                for _, which in self._hits(known):
                    one.term_weights[which] += share
        for at, term in enumerate(self._terms):
            if term.with_signs and one.term_weights[at] and term.with_signs not in f"{one.text}\n{one.tools}".lower():
                one.term_weights[at] *= UNSIGNED

    def named(self, head: str) -> bool:
        """Returns whether a turn begins with a name and a colon, and the query contains the name."""
        name, colon, _ = head.partition(":")
        return bool(colon) and any(stem(word) in self._first for word in tokenize_text(name))

    def _learn(self, said: Sequence[str]) -> set[str]:
        """Classifies the words not seen before; returns the set of all the words."""
        words = set(said)
        for word in words - self._seen:
            root = stem(word)
            begun = dict.fromkeys(self._first.get(root, ()))
            if word in self._joined:
                begun[self._joined[word]] = None
            if begun:
                self._telling[word] = tuple(begun)
            elif (near := self._nearest(root)) is not None:
                self._akin[word] = near
            if root in _TIMES:
                self._times.add(word)
        self._seen |= words
        return words

    def _nearest(self, root: str) -> int | None:
        """Returns the index of the query word this stem is related to, or None."""
        for at in self._roots.get(root[:ROOT], ()):
            other = self._terms[at].stems[0]
            alike = math.ceil(ALIKE * max(len(root), len(other)))
            if root[:alike] == other[:alike]:
                return at
        return None

    def _hits(self, said: Sequence[str]) -> list[tuple[int, int]]:
        """Returns where words of the query occur, and which."""
        telling = self._telling
        return [
            (at, which)
            for at, word in enumerate(said)
            if word in telling
            for which in telling[word]
            if self._whole(said, at, which)
        ]

    def _whole(self, said: Sequence[str], at: int, which: int) -> bool:
        """Returns whether all parts of a query word occur here, with its names whole or split, or joined into one word.

        `make_index_text` appends the parts of `getUserName.ts` to the end of the text, away from `ts`.
        """
        term = self._terms[which]
        if len(term.stems) == 1 or said[at] == term.joined:
            return True
        return any(
            tuple(stem(word) for word in said[at : at + len(wanted)]) == wanted
            for wanted in dict.fromkeys((term.stems, term.unsplit_stems))
        )
