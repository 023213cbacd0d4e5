"""The passages of one exchange with their features: the input of the ranker, both in training and in a sync."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lerim.extraction.ranking.features import passage_features
from lerim.extraction.ranking.passages import TurnPassage, split_passages
from lerim.extraction.signals import Exchange
from lerim.sessions import Turn


class MeasuredPassage(NamedTuple):
    """A passage, its turn, and its features in the order of `features.FEATURE_NAMES`."""

    passage: TurnPassage
    turn: Turn
    features: list[float]


def measure_passages(before: Exchange, now: Exchange, after: Turn | None, number: int) -> Iterator[MeasuredPassage]:
    """Yields the passages of `now` with their features. `before` is the exchange before it, `after` the person's next
    words, `number` the count of earlier prompts."""
    for turn in (now.prompt, *now.replies):
        if turn is not None:
            for passage in split_passages(turn):
                yield MeasuredPassage(passage, turn, passage_features(passage, turn, before, now, after, number))
