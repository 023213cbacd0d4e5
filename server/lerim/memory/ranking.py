"""In what order memories that were found are shown: relevance first, then what decides between equals
(docs/MEMORY_FORMAT.md, "Search")."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from lerim.memory.lifecycle import Status, effective
from lerim.memory.record import Scope
from lerim.memory.reference import State
from lerim.setting import Rules

STEP = 0.05
"""Relevances that differ by less than about so much of themselves are equal ground."""
SATURATED = 2.2
"""What bm25 gives at most for a word, in units of its rarity: k1 + 1."""
HALF_LIFE_DAYS = 90
HANDICAP = 0.5
"""What the relevance of the person's own memories counts for beside the project's: one comes first where it is more
than twice as relevant."""
SURE = 0.7
"""The share of confidence in what decides between equals; the rest is how recent a memory is."""
_RARITY_FLOOR = 1e-6
_LAST: dict[State, int] = {"fresh": 0, "unknown": 0, "drifted": 1, "gone": 2}
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A memory an index found. `every`: it has all the words asked for; `fades`: disuse takes of its confidence.

    `said` is the same for two files that say the same; `updated` in seconds since the year 1.
    """

    row: int
    name: str
    memory: str
    said: str
    shown: Status
    updated: int
    confidence: float
    fades: bool
    every: bool = True
    relevance: float = 1.0

    @property
    def ground(self) -> tuple[int, int]:
        return ground(self.every, self.relevance)


Key = tuple[tuple[int, int], int, int, float, str]


def ground(every: bool, relevance: float) -> tuple[int, int]:
    """What is on equal ground has the same; smaller is better."""
    return (0 if every else 1, math.floor(-math.log(max(relevance, 1e-300)) / STEP))


def rarity(memories: int, having: int) -> float:
    """How much a word tells that `having` of the memories have, as bm25 counts it."""
    return max(math.log((memories - having + 0.5) / (having + 0.5)) if memories > having else 0.0, _RARITY_FLOOR)


def attainable(rarities: Iterable[float]) -> float:
    """The best score (smaller is better) a memory could have for words of these rarities. A score's share of it is
    its relevance, which is comparable between stores."""
    return -SATURATED * sum(rarities)


def key(found: Ranked, scope: Scope, state: State, last_use: datetime | None, now: datetime, rules: Rules) -> Key:
    """Sorts what was found: the better ground, what is not out of date, the project's own, then the worthier."""
    worth = _worth(found, last_use, now, rules)
    own = scope == "project"
    better = ground(found.every, found.relevance * (1 if own else HANDICAP))
    return (better, _LAST[state], 0 if own else 1, -worth, found.memory)


def _worth(found: Ranked, last_use: datetime | None, now: datetime, rules: Rules) -> float:
    updated = datetime(1, 1, 1, tzinfo=UTC) + timedelta(seconds=found.updated)
    last = max(updated, last_use or updated)
    sure = effective(found.confidence, last, now, rules) if found.fades else found.confidence
    recent: float = 0.5 ** (max(0.0, (now - last) / _DAY) / HALF_LIFE_DAYS)
    return SURE * sure + (1 - SURE) * recent
