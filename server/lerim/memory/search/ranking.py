"""The order in which found memories are shown: by relevance, then by what decides between equals
(docs/MEMORY_FORMAT.md, "Search")."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import msgspec

from lerim.config import MaintenanceRules
from lerim.memory.lifecycle import Status, confidence_after_outcomes, effective_confidence
from lerim.memory.record import Scope
from lerim.memory.reference import DriftState
from lerim.memory.uses import RecordedUse

BAND_WIDTH = 0.05
"""Relevances that differ by less than about this share of themselves rank equal."""
MAX_WORD_SCORE = 2.2
"""The maximum that bm25 gives for a word, in units of its rarity: k1 + 1."""
HALF_LIFE_DAYS = 90
PERSONAL_FACTOR = 0.5
"""The factor for the relevance of the person's own memories among the project's: one comes first if it is more than
twice as relevant."""
CONFIDENCE_WEIGHT = 0.7
"""The weight of confidence in deciding between equals; the rest is how recent a memory is."""
_RARITY_FLOOR = 1e-6
_DRIFT_PENALTIES: dict[DriftState, int] = {"fresh": 0, "unknown": 0, "drifted": 1, "gone": 2}
_DAY = timedelta(days=1)
_EPOCH = datetime(1, 1, 1, tzinfo=UTC)


class RankedMemory(msgspec.Struct, frozen=True, gc=False):
    """A memory that an index found. `has_every_word`: of the query; `fades`: disuse lowers its confidence.

    `text_hash` is equal for two files with the same title and body; `updated` is in seconds since the year 1.
    """

    row: int
    name: str
    memory: str
    text_hash: str
    status: Status
    updated: int
    confidence: float
    fades: bool
    has_every_word: bool = True
    relevance: float = 1.0


RankKey = tuple[tuple[int, int], int, int, float, str]


def relevance_band(every: bool, relevance: float) -> tuple[int, int]:
    """Returns the band of a match: matches in the same band rank equal; smaller is better."""
    return (0 if every else 1, math.floor(-math.log(max(relevance, 1e-300)) / BAND_WIDTH))


def bm25_rarity(memories: int, match_count: int) -> float:
    """Returns how rare a word in `match_count` of the memories is, as computed by bm25."""
    return max(
        math.log((memories - match_count + 0.5) / (match_count + 0.5)) if memories > match_count else 0.0, _RARITY_FLOOR
    )


def best_attainable_score(rarities: Iterable[float]) -> float:
    """Returns the best score (smaller is better) that a memory could have in a search for words this rare. The
    relevance of a match is its score divided by this, so that it can be compared between stores."""
    return -MAX_WORD_SCORE * sum(rarities)


def rank_key(
    found: RankedMemory,
    scope: Scope,
    state: DriftState,
    use: RecordedUse | None,
    now: datetime,
    rules: MaintenanceRules,
) -> RankKey:
    """Returns the sort key of a found memory: relevance band, then drift, then the project's own before others, then
    worth."""
    worth = _value_among_equals(found, use, now, rules)
    own = scope == "project"
    better = relevance_band(found.has_every_word, found.relevance * (1 if own else PERSONAL_FACTOR))
    return (better, _DRIFT_PENALTIES[state], 0 if own else 1, -worth, found.memory)


def _value_among_equals(found: RankedMemory, use: RecordedUse | None, now: datetime, rules: MaintenanceRules) -> float:
    last, sure = _EPOCH + timedelta(seconds=found.updated), found.confidence
    if use:
        last = max(last, use.last) if found.fades else last
        sure = confidence_after_outcomes(sure, use.outcomes)
    if found.fades:
        sure = effective_confidence(sure, last, now, rules)
    recent: float = 0.5 ** (max(0.0, (now - last) / _DAY) / HALF_LIFE_DAYS)
    return CONFIDENCE_WEIGHT * sure + (1 - CONFIDENCE_WEIGHT) * recent
