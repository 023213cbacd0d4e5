"""The passages of one exchange with their features: what the ranker is given, in training and in a sync alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lerim.extraction.ranking.features import features
from lerim.extraction.ranking.passages import Passage, passages_of
from lerim.facts.draft import Exchange
from lerim.sessions.model import Turn


class Measured(NamedTuple):
    """A passage, the turn it stands in, and its features in the order of `features.NAMES`."""

    passage: Passage
    turn: Turn
    features: list[float]


def measured(before: Exchange, now: Exchange, after: Turn | None, number: int) -> Iterator[Measured]:
    """What was said in `now`, passage by passage. `before` is the exchange before it, `after` the person's next words,
    `number` how many prompts came before this exchange's."""
    for turn in (now.prompt, *now.replies):
        if turn is not None:
            for passage in passages_of(turn):
                yield Measured(passage, turn, features(passage, turn, before, now, after, number))
