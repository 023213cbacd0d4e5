"""Ranks the turns the index returned, by reading them.

The score of a turn depends on the words that it and its neighbours contain, the rest of its session, how close
together the words are, who speaks, and whether it is a question. The weights were tuned on one half of a corpus of
chats and checked on the other (benchmarks/session_search.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lerim.sessions.search.query import QueryTerm, SearchQuery, tokenize_text
from lerim.sessions.tables import DAYS, MONTHS, date_to_words, make_index_text
from lerim.words import beginnings_of_words, stem

MOST_CHARACTERS = 4_000
"""How many characters of a turn's text, and of its tool calls, are read."""
TOOL_WEIGHT = 0.4
"""The weight of a word in a tool's command or path."""
BM25_SATURATION, BM25_LENGTH = 0.9, 0.3
"""The parameters k1 and b of BM25: how soon repetitions of a word stop adding to the score, and how much the length
of a turn reduces it."""
NEIGHBOUR_WEIGHTS = {-1: 0.8, -2: 0.6, -3: 0.2, 1: 0.3, 2: 0.2}
"""The weight of a word in a turn of prose this many turns away, because a question says what its answer is about."""
SMALLER_COUNT_WEIGHT = 0.2
"""The weight with which the smaller of two counts, a turn's own and its neighbours', is added to the larger one."""
SESSION_WEIGHT = 0.2
"""The weight of the best counts in the turn's session."""
INDEX_WEIGHT = 1.2
"""The weight of the index's own score."""
COVERAGE_EXPONENT = 0.4
"""The exponent applied to the share of query words found."""
RELATED_WEIGHT, ROOT_CHARACTERS, RELATED_SHARE = 0.5, 4, 0.6
"""The weight of a word related to a query word (`allergic`, `allergies`), the least number of first letters that
must be equal, and the share of the longer word that these letters must cover."""
WITHOUT_SIGNS_WEIGHT = 0.2
"""The weight of `C` for `C++`."""
PAIR_BONUS = 1.0
"""The bonus for two words that are next to each other as in the query."""
FURTHER_TURN_WEIGHT = 0.5
"""The weight of each further turn of a session, relative to the one before it."""
COPY_CHARACTERS = 60
"""The number of characters from which equal texts count as copies rather than as the same short answer."""
PERSON_FACTOR = 1.05
"""Factor for what a person said: of two equally good turns, theirs says what was wanted or decided."""
SPEAKER_FACTOR, TIME_FACTOR, QUESTION_FACTOR = 1.3, 1.3, 0.7
"""The factors for a turn whose speaker the query names (`Ana: …`), for a turn that gives a time if the query asks
when, and for a turn that is a question."""
SPEAKER_CHARACTERS = 40
"""How many characters at the beginning of a turn are searched for the name of its speaker."""

_TIME_WORDS = frozenset(
    map(
        stem,
        (
            *("yesterday", "today", "tomorrow", "tonight", "morning", "ago", "last", "next", "recently", "soon"),
            *("day", "week", "weekend", "month", "year", *DAYS, *MONTHS),
        ),
    )
)
_DATE_WORDS = frozenset(map(stem, (*DAYS, *MONTHS)))


@dataclass(slots=True)
class TurnMatch:
    """A turn the index returned; `score` is that of the index until the turn is ranked. Ranking fills in the rest:
    `term_weights` are the weights of the query words in this turn, `adjacent_pairs` counts words that are next to
    each other as in the query, `names_time`: the turn gives a time, and the query asks for one."""

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


def rank_turns(
    query: SearchQuery, found: Sequence[TurnMatch], turns_with_term: Sequence[int], turn_count: int
) -> list[TurnMatch]:
    """Returns the turns best first, each with its score. `turns_with_term` says how many of
    `turn_count` turns contain each word."""
    words = _QueryWords(query.terms, query.asks_for_time)
    for one in found:
        words.count_words(one)
    mean_length = sum(one.length for one in found) / max(1, len(found)) or 1.0
    rarities = [_weigh_rarity(term, many, turn_count) for term, many in zip(query.terms, turns_with_term, strict=True)]
    for one in found:
        saturation = BM25_SATURATION * (1 - BM25_LENGTH + BM25_LENGTH * one.length / mean_length)
        one.term_weights = [
            times and weight * times * (BM25_SATURATION + 1) / (times + saturation)
            for times, weight in zip(one.term_weights, rarities, strict=True)
        ]
    best: dict[int, list[float]] = {}
    for one in found:
        best[one.transcript] = list(map(max, one.term_weights, best.get(one.transcript, one.term_weights)))
    prose = {(one.transcript, one.ordinal): one.term_weights for one in found if one.is_prose}
    for one in found:
        one.score = _score_turn(one, query, _weigh_neighbours(one, prose), sum(best[one.transcript]), words)
    return sorted(found, key=lambda one: (-one.score, one.row))


def demote_copies(found: Sequence[TurnMatch]) -> list[TurnMatch]:
    """Moves ranked turns that repeat a better one to the end (agents copy sessions under new ids)."""
    first: dict[tuple[str, str], TurnMatch] = {}

    def is_copy(one: TurnMatch) -> bool:
        is_first = first.setdefault((one.text, one.tools), one) is one
        return not is_first and len(one.text) + len(one.tools) >= COPY_CHARACTERS

    return sorted(found, key=is_copy)


def rank_sessions(found: Sequence[TurnMatch]) -> list[tuple[TurnMatch, float]]:
    """Returns the best turn of each session with the session's score, best first. If two sessions have equally good
    best turns, the one with more matching turns wins. `found` must be ranked."""
    sessions: dict[int, tuple[TurnMatch, float, float]] = {}
    for one in found:
        best, score, share = sessions.get(one.transcript, (one, 0.0, 1.0))
        sessions[one.transcript] = best, score + share * one.score, share * FURTHER_TURN_WEIGHT
    return sorted(((best, score) for best, score, _ in sessions.values()), key=lambda pair: -pair[1])


def _weigh_rarity(term: QueryTerm, turns_with_term: int, turn_count: int) -> float:
    """Returns the weight of a query word by its rarity; higher for a path or name with several parts."""
    rarity = math.log((max(turn_count, turns_with_term) - turns_with_term + 0.5) / (turns_with_term + 0.5))
    return max(0.01, rarity) * math.sqrt(len(term.stems))


def _weigh_neighbours(one: TurnMatch, prose: Mapping[tuple[int, int], list[float]]) -> list[float]:
    """Returns the weight of each query word in the turns of prose around this one."""
    near = [0.0] * len(one.term_weights)
    if one.is_prose:
        for away, share in NEIGHBOUR_WEIGHTS.items():
            other = prose.get((one.transcript, one.ordinal + away))
            if other is not None:
                near = [max(weight, share * its) for weight, its in zip(near, other, strict=True)]
    return near


def _score_turn(one: TurnMatch, query: SearchQuery, near: Sequence[float], session: float, words: _QueryWords) -> float:
    found, word_score = 0, 0.0
    for own, around in zip(one.term_weights, near, strict=True):
        found += own > 0 or around > 0
        word_score += own + SMALLER_COUNT_WEIGHT * around if own > around else around + SMALLER_COUNT_WEIGHT * own
    score = word_score + SESSION_WEIGHT * session + INDEX_WEIGHT * one.score
    score *= math.pow(found / len(query.terms), COVERAGE_EXPONENT)
    if one.is_by_person:
        score *= PERSON_FACTOR
    if one.is_prose:
        if words.begins_with_speaker(one.text[:SPEAKER_CHARACTERS]):
            score *= SPEAKER_FACTOR
        if query.asks_for_time and one.names_time:
            score *= TIME_FACTOR
        if one.text.rstrip().endswith("?"):
            score *= QUESTION_FACTOR
    return score + PAIR_BONUS * one.adjacent_pairs


class _QueryWords:
    """A search for the words of a query in texts. The results for each word of a text are cached for the next text."""

    def __init__(self, terms: Sequence[QueryTerm], asks_for_time: bool) -> None:
        self._terms = terms
        self._terms_by_first_stem: dict[str, list[int]] = {}
        for at, term in enumerate(terms):
            for first in dict.fromkeys((term.stems[0], term.unsplit_stems[0])):
                self._terms_by_first_stem.setdefault(first, []).append(at)
        self._terms_by_joined = {term.joined: at for at, term in enumerate(terms) if len(term.stems) > 1}
        self._terms_by_root: dict[str, list[int]] = {}
        for at, term in enumerate(terms):
            if len(term.stems) == 1 and len(term.stems[0]) >= ROOT_CHARACTERS and term.stems[0].isalpha():
                self._terms_by_root.setdefault(term.stems[0][:ROOT_CHARACTERS], []).append(at)
        roots = (*self._terms_by_first_stem, *self._terms_by_joined, *(_TIME_WORDS if asks_for_time else ()))
        self._beginnings = frozenset().union(*map(beginnings_of_words, roots))
        """Words that begin otherwise are neither the query's nor related to them."""
        self._name_dates = any(root.isdigit() or root in _DATE_WORDS for root in self._terms_by_first_stem)
        self._related: dict[str, int] = {}
        self._known_words: set[str] = set()
        self._terms_by_word: dict[str, tuple[int, ...]] = {}
        self._time_words: set[str] = set()

    def count_words(self, one: TurnMatch) -> None:
        """Fills in which words of the query a turn contains: the fields of `TurnMatch` that ranking needs."""
        one.term_weights = [0.0] * len(self._terms)
        words = tokenize_text(make_index_text(one.text[:MOST_CHARACTERS]))
        one.length = len(words)
        own_words = self._classify(words)
        one.names_time = not own_words.isdisjoint(self._time_words)
        for word in own_words & self._related.keys():
            one.term_weights[self._related[word]] += RELATED_WEIGHT * words.count(word)
        last_index, last_at = -2, -3
        for at, term_index in self._find_occurrences(words):
            one.term_weights[term_index] += 1
            one.adjacent_pairs += term_index == last_index + 1 and 0 < at - last_at <= 2
            last_index, last_at = term_index, at
        for text, share in (
            (date_to_words(one.time) if one.is_prose and self._name_dates else "", 0.5),
            (one.tools[:MOST_CHARACTERS], TOOL_WEIGHT),
        ):
            if text:
                tokens = tokenize_text(make_index_text(text))
                self._classify(tokens)
                for _, term_index in self._find_occurrences(tokens):
                    one.term_weights[term_index] += share
        for at, term in enumerate(self._terms):
            if term.with_signs and one.term_weights[at] and term.with_signs not in f"{one.text}\n{one.tools}".lower():
                one.term_weights[at] *= WITHOUT_SIGNS_WEIGHT

    def begins_with_speaker(self, head: str) -> bool:
        """Returns whether a turn begins with a name and a colon, and the query contains the name."""
        name, colon, _ = head.partition(":")
        return bool(colon) and any(stem(word) in self._terms_by_first_stem for word in tokenize_text(name))

    def _classify(self, tokens: Sequence[str]) -> set[str]:
        """Determines which words of the query the words not seen before belong to. Returns the set of those that begin
        like a word of the query."""
        beginnings = self._beginnings
        words = {word for word in tokens if word[:2] in beginnings}
        for word in words - self._known_words:
            root = stem(word)
            term_indexes = dict.fromkeys(self._terms_by_first_stem.get(root, ()))
            if word in self._terms_by_joined:
                term_indexes[self._terms_by_joined[word]] = None
            if term_indexes:
                self._terms_by_word[word] = tuple(term_indexes)
            elif (related := self._find_related_term(root)) is not None:
                self._related[word] = related
            if root in _TIME_WORDS:
                self._time_words.add(word)
        self._known_words |= words
        return words

    def _find_related_term(self, root: str) -> int | None:
        """Returns the index of the query word this stem is related to, or None."""
        for at in self._terms_by_root.get(root[:ROOT_CHARACTERS], ()):
            other = self._terms[at].stems[0]
            alike = math.ceil(RELATED_SHARE * max(len(root), len(other)))
            if root[:alike] == other[:alike]:
                return at
        return None

    def _find_occurrences(self, words: Sequence[str]) -> list[tuple[int, int]]:
        """Returns where words of the query occur, and which word occurs there."""
        terms_by_word = self._terms_by_word
        return [
            (at, term_index)
            for at, word in enumerate(words)
            if word in terms_by_word
            for term_index in terms_by_word[word]
            if self._is_whole(words, at, term_index)
        ]

    def _is_whole(self, words: Sequence[str], at: int, term_index: int) -> bool:
        """Returns whether all parts of a query word occur here, with its names whole or split, or joined into one word.

        `make_index_text` appends the parts of `getUserName.ts` to the end of the text, away from `ts`.
        """
        term = self._terms[term_index]
        if len(term.stems) == 1 or words[at] == term.joined:
            return True
        return any(
            tuple(stem(word) for word in words[at : at + len(wanted)]) == wanted
            for wanted in dict.fromkeys((term.stems, term.unsplit_stems))
        )
