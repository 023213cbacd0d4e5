"""The learned ranker, in plain Python: how likely a passage states something worth keeping, and of which type.

`ranker.json` contains several hundred small decision trees (gradient boosting) and linear weights for the types.
`make train` creates it from the labels in `evals/ranker`.

Nothing of a session is proposed unless one passage is worth reviewing by itself (`first`); the passages after it may
score lower (`further`). So a session with nothing to keep stays empty, and one with something is not cut short.
`train.py` chose both figures on projects that the ranker had not seen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Final, Literal

import msgspec

from lerim.errors import RankerError
from lerim.extraction.ranking.features import FEATURE_NAMES

PassageType = Literal["decision", "rule", "pitfall", "fact", "procedure", "question"]
RANKER_FILE: Final = Path(__file__).with_name("ranker.json")
PROMPTS_PER_PROPOSAL: Final = 2
MIN_PROPOSALS: Final = 3


class DecisionTree(msgspec.Struct, frozen=True):
    """A decision tree. Node `i` tests whether feature `feature[i]` is at most `at[i]`; `yes[i]` and `no[i]` are the
    next nodes. A negative number `n` means leaf `-n - 1`."""

    feature: list[int]
    at: list[float]
    yes: list[int]
    no: list[int]
    leaf: list[float]


class RankerModel(msgspec.Struct, frozen=True):
    """The trained model. `first` and `further` define the cut. `types` has, for each type, a bias and one
    weight per feature."""

    names: list[str]
    first: float
    further: float
    trees: list[DecisionTree]
    types: dict[PassageType, list[float]]


@cache
def load_ranker() -> RankerModel:
    """Loads the ranker of this package. Raises RankerError if it is missing or was trained on other features."""
    try:
        learned = msgspec.json.decode(RANKER_FILE.read_bytes(), type=RankerModel)
    except (OSError, msgspec.MsgspecError) as error:
        message = "The ranker cannot be read, so nothing can be proposed without a model."
        raise RankerError(message, where=str(RANKER_FILE), todo="Install Lerim again.") from error
    if tuple(learned.names) != FEATURE_NAMES:
        message = "The ranker was made for another version of Lerim, so nothing can be proposed without a model."
        raise RankerError(message, where=str(RANKER_FILE), todo="Install Lerim again.")
    return learned


def score_passage(features: Sequence[float]) -> float:
    """Returns the log odds that a passage states something worth keeping. Raises RankerError."""
    total = 0.0
    for nodes, leaf in _flatten_trees():
        node = 0
        while node >= 0:
            feature, at, yes, no = nodes[node]
            node = yes if features[feature] <= at else no
        total += leaf[~node]
    return total


@cache
def _flatten_trees() -> tuple[tuple[list[tuple[int, float, int, int]], list[float]], ...]:
    """Returns the trees in the form that is fastest to walk: one tuple per node."""
    return tuple(
        (list(zip(tree.feature, tree.at, tree.yes, tree.no, strict=True)), tree.leaf) for tree in load_ranker().trees
    )


def score_to_chance(score: float) -> float:
    """Converts a score to a chance between 0 and 1."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


def predict_type(features: Sequence[float]) -> PassageType:
    """Returns the type of what a passage most likely states. Raises RankerError."""
    types = load_ranker().types

    def fit(name: PassageType) -> float:
        bias, *weights = types[name]
        return bias + sum(weight * value for weight, value in zip(weights, features, strict=True) if value)

    return max(types, key=fit)


def max_proposals(prompts: int) -> int:
    """Returns the maximum number of proposals for a session with this many prompts."""
    return MIN_PROPOSALS + prompts // PROMPTS_PER_PROPOSAL


def select_above_cut(scores: Iterable[float], prompts: int, first: float, further: float) -> frozenset[int]:
    """Returns the indexes of the scores to propose, given the scores of all passages of the session so far."""
    ranked = sorted(enumerate(scores), key=lambda one: (-one[1], one[0]))
    if not ranked or ranked[0][1] < first:
        return frozenset()
    return frozenset(place for place, score in ranked[: max_proposals(prompts)] if score >= further)
