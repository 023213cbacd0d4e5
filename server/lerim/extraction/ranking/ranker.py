"""The learned ranker, in plain Python: how likely a passage states something worth keeping, and of which type.

`ranker.json` holds some hundred small decision trees (gradient boosting) and, for the types, linear weights.
`make train` makes it from the labels in `evals/ranker`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final, Literal

import msgspec

from lerim.errors import RankerError
from lerim.extraction.ranking.features import FEATURE_NAMES

PassageType = Literal["decision", "rule", "pitfall", "fact", "procedure", "question"]
FILE: Final = Path(__file__).with_name("ranker.json")


class DecisionTree(msgspec.Struct, frozen=True):
    """A decision tree. Node `i` asks whether feature `feature[i]` is at most `at[i]`; `yes[i]` and `no[i]` are the next
    nodes, or leaves where they are negative: leaf `-n - 1`."""

    feature: list[int]
    at: list[float]
    yes: list[int]
    no: list[int]
    leaf: list[float]


class RankerModel(msgspec.Struct, frozen=True):
    """What was learned. `first` and `further` are the cut (`cut.py`); `types` has for each type a bias and a weight for
    each feature."""

    names: list[str]
    first: float
    further: float
    trees: list[DecisionTree]
    types: dict[PassageType, list[float]]


@cache
def load_ranker() -> RankerModel:
    """The model of the package. Raises RankerError where it is missing, or was trained on other features than these."""
    try:
        learned = msgspec.json.decode(FILE.read_bytes(), type=RankerModel)
    except (OSError, msgspec.MsgspecError) as error:
        message = "The ranker cannot be read, so nothing can be proposed without a model."
        raise RankerError(message, where=str(FILE), todo="Install Lerim again.") from error
    if tuple(learned.names) != FEATURE_NAMES:
        message = "The ranker was made for another version of Lerim, so nothing can be proposed without a model."
        raise RankerError(message, where=str(FILE), todo="Install Lerim again.")
    return learned


def score_passage(features: Sequence[float]) -> float:
    """How a passage ranks: the log odds that it states something worth keeping. Raises RankerError."""
    total = 0.0
    for nodes, leaf in _walked():
        node = 0
        while node >= 0:
            feature, at, yes, no = nodes[node]
            node = yes if features[feature] <= at else no
        total += leaf[~node]
    return total


@cache
def _walked() -> tuple[tuple[list[tuple[int, float, int, int]], list[float]], ...]:
    """The trees as they are walked fastest: a node is one tuple."""
    return tuple(
        (list(zip(tree.feature, tree.at, tree.yes, tree.no, strict=True)), tree.leaf) for tree in load_ranker().trees
    )


def score_to_chance(score: float) -> float:
    """A score as a chance between 0 and 1."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


def predict_type(features: Sequence[float]) -> PassageType:
    """What kind of thing a passage most likely states. Raises RankerError."""
    types = load_ranker().types

    def fit(name: PassageType) -> float:
        bias, *weights = types[name]
        return bias + sum(weight * value for weight, value in zip(weights, features, strict=True) if value)

    return max(types, key=fit)
