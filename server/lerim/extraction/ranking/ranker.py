"""The learned ranker, in plain Python: how likely a passage states something worth keeping, and of which type.

`ranker.json` contains several hundred small decision trees (gradient boosting) and linear weights for the types.
`make train` creates it from the labels in `evals/ranker`.

Nothing of a session is proposed unless one passage is worth reviewing by itself (`first`); the passages after it may
score lower (`further`). So a session with nothing to keep stays empty, and one with something is not cut short.
`train.py` chose both figures on projects that the ranker had not seen.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cache, reduce
from operator import add, getitem
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec

from lerim.errors import RankerError
from lerim.extraction.ranking.features import FEATURE_NAMES

PassageType = Literal["decision", "rule", "pitfall", "fact", "procedure", "question"]
RANKER_FILE: Final = Path(__file__).with_name("ranker.json")
PROMPTS_PER_PROPOSAL: Final = 2
MIN_PROPOSALS: Final = 3
_LEAF_BITS: Final = 16
"""Maximum number of leaves of a tree; `train.py` makes trees of 15."""


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
    index = _index_trees()
    reachable = index.all_leaves
    for feature, thresholds, masks in index.by_feature:
        value = features[feature]
        if value > thresholds[0]:
            reachable &= masks[bisect_left(thresholds, value)]
    # No 16 bits are all zero, so adding 1 to each carries nothing into the next.
    first_leaves = reachable & ((reachable ^ index.all_leaves) + index.lowest_bits)
    bits = memoryview(first_leaves.to_bytes(index.size, "little")).cast("H")
    return reduce(add, map(getitem, index.leaves, bits), 0.0)


class _TreeIndex(NamedTuple):
    """All trees as one number with a bit for each leaf: 16 bits per tree, its leaves from left to right.

    A node whose answer is "no" rules out the leaves below its "yes" branch. The answers to all nodes that test one
    feature therefore rule out a set of leaves, which depends only on how many of their thresholds the value exceeds;
    this set is the mask. The first leaf of a tree that remains is the leaf that walking the tree would reach
    (Lucchese et al., "QuickScorer", SIGIR 2015), at a tenth of the cost.
    """

    by_feature: list[tuple[int, list[float], list[int]]]
    """For each feature, its thresholds in ascending order, and the masks for a value above the first 0, 1, 2 … of
    them."""
    leaves: list[dict[int, float]]
    """For each tree, the value of each leaf by its bit."""
    all_leaves: int
    lowest_bits: int
    size: int


@cache
def _index_trees() -> _TreeIndex:
    """Builds the index of the trees. Raises RankerError."""
    trees = load_ranker().trees
    ruled_out: dict[int, dict[float, int]] = {}
    leaves: list[dict[int, float]] = []
    for number, tree in enumerate(trees):
        in_order: list[float] = []

        def walk(node: int, tree: DecisionTree, in_order: list[float], first_bit: int) -> int:
            """Returns the bits of the leaves below a node."""
            if node < 0:
                in_order.append(tree.leaf[~node])
                return 1 << (first_bit + len(in_order) - 1)
            below_yes = walk(tree.yes[node], tree, in_order, first_bit)
            by_threshold = ruled_out.setdefault(tree.feature[node], {})
            by_threshold[tree.at[node]] = by_threshold.get(tree.at[node], 0) | below_yes
            return below_yes | walk(tree.no[node], tree, in_order, first_bit)

        walk(0, tree, in_order, _LEAF_BITS * number)
        leaves.append({1 << at: value for at, value in enumerate(in_order)})
    all_leaves = (1 << (_LEAF_BITS * len(trees))) - 1
    by_feature: list[tuple[int, list[float], list[int]]] = []
    for feature, by_threshold in ruled_out.items():
        thresholds, masks = sorted(by_threshold), [all_leaves]
        for threshold in thresholds:
            masks.append(masks[-1] & ~by_threshold[threshold])
        by_feature.append((feature, thresholds, masks))
    lowest_bits = all_leaves // ((1 << _LEAF_BITS) - 1)
    return _TreeIndex(by_feature, leaves, all_leaves, lowest_bits, _LEAF_BITS // 8 * len(trees))


def score_to_chance(score: float) -> float:
    """Converts a score to a chance between 0 and 1."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


def predict_type(features: Sequence[float]) -> PassageType:
    """Returns the most likely type of the statement in a passage. Raises RankerError."""
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
