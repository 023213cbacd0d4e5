"""The passages of one exchange with their features: what the ranker is given, in training and in a sync alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lerim.extraction.ranking.features import passage_features
from lerim.extraction.ranking.passages import TurnPassage, split_passages
from lerim.extraction.signals import Exchange
from lerim.sessions import Turn


class MeasuredPassage(NamedTuple):
    """A passage, the turn it stands in, and its features in the order of `features.NAMES`."""

    passage: TurnPassage
    turn: Turn
    features: list[float]


def measure_passages(before: Exchange, now: Exchange, after: Turn | None, number: int) -> Iterator[MeasuredPassage]:
    """What was said in `now`, passage by passage. `before` is the exchange before it, `after` the person's next words,
    `number` how many prompts came before this exchange's."""
    for turn in (now.prompt, *now.replies):
        if turn is not None:
            for passage in split_passages(turn):
                yield MeasuredPassage(passage, turn, passage_features(passage, turn, before, now, after, number))
