"""Adjusts the ranking by the person's decisions about candidates: a small, bounded adjustment of the score.

The learned score `s` of a passage is a log odds. The adjustment adds a shift to it:

    corrected = s + max(-MAX_SHIFT, min(MAX_SHIFT, sum of w[a] over the passage's aspects a / sqrt(number of aspects)))

An aspect is a simple property of the passage: its source, the kind of memory it would be, a cue it contains. The
weights `w` are those of a logistic regression with `s` as the offset and a ridge penalty (le Cessie and van
Houwelingen, "Ridge estimators in logistic regression", Applied Statistics 41, 1992): they minimize

    sum over the decisions of log(1 + exp(-y * (s + shift))) + RIDGE_PENALTY / 2 * sum of w[a] squared,  y = 1 or -1

So the shift is zero without decisions, a decision that agrees with the score moves little, the order of the decisions
does not matter, and rejections alone never raise a score: no weight can then be above zero. The minimum is found one
weight at a time, using the bound 1/4 on the curvature of the logistic loss, which never overshoots (Böhning and
Lindsay, "Monotonicity of quadratic-approximation algorithms", 1988).

Two limits keep anything from being silenced for good. The shift is at most `MAX_SHIFT` in either direction. And a
passage that the learned ranker would propose by itself (`s >= first`, which includes everything a person says outright)
has a floor: it stays at `first` until the decisions are clear (a shift below `-CLEAR_SHIFT`, about seven rejections of
similar candidates), and never falls below `further`. It then no longer opens the list of a session, but still appears
if the session has something else to show. See `ranker.py` for `first` and `further`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from lerim.extraction.ranking.features import FEATURE_NAMES
from lerim.extraction.ranking.ranker import load_ranker, score_to_chance

MAX_SHIFT: Final = 1.5
"""Maximum shift of a score, in log odds."""
CLEAR_SHIFT: Final = 0.75
"""How far decisions must lower the score of a passage that would be proposed by itself before it no longer is."""
RIDGE_PENALTY: Final = 2.0
"""Strength of the ridge penalty, which pulls the weights towards zero."""
MAX_JUDGMENTS: Final = 1_000
"""Maximum number of decisions that count, the latest ones."""
_MAX_SWEEPS: Final = 30
_MIN_STEP: Final = 1e-4
_CUES: Final = (
    *("obliges", "generalizes", "forbids", "gives a reason", "prefers", "remembers", "narrates", "reports", "defers"),
    *("hedges", "tells trouble", "decides", "warns", "asks for work", "names a place of work"),
)
_ASPECTS: Final[Mapping[str, tuple[str, ...]]] = {
    **{f"source {name}": (f"source {name}",) for name in ("prompt", "answer", "feedback", "plan", "reply")},
    "in a list": ("line bullet", "line number"),
    "names code": ("cue code", "cue path", "cue identifier"),
    "first prompt": ("first prompt",),
    "puts right": ("objects",),
    **{f"cue {name}": (f"cue {name}",) for name in _CUES},
}
"""The aspects that are derived from features, each with its features; a passage has the aspect if at least one of
them is above zero."""


@dataclass(frozen=True, slots=True)
class Judgment:
    """A person's decision about one ranked candidate: its `aspects`, its learned `score`, and whether it was wanted
    (accepted, edited, proposed anyway) or rejected."""

    aspects: tuple[str, ...]
    score: float
    wanted: bool


@dataclass(frozen=True, slots=True)
class PersonalAdjustment:
    """The weight of each aspect; empty without decisions."""

    weights: Mapping[str, float] = field(default_factory=dict)


NO_ADJUSTMENT: Final = PersonalAdjustment()


def named_features(features: Sequence[float]) -> dict[str, float]:
    """Returns the features above zero by name; empty if they were computed by another version."""
    if len(features) != len(FEATURE_NAMES):
        return {}
    return {name: value for name, value in zip(FEATURE_NAMES, features, strict=True) if value > 0}


def passage_aspects(features: Mapping[str, float], primitive: str, kind: str | None) -> tuple[str, ...]:
    """Returns the aspects of a passage that has these features and would become a memory of this type and kind; none
    without features."""
    if not features:
        return ()
    shown = [name for name, needed in _ASPECTS.items() if any(features.get(one, 0.0) > 0 for one in needed)]
    return (f"type {primitive}/{kind}" if kind else f"type {primitive}", *shown)


def learn_adjustment(judgments: Iterable[Judgment]) -> PersonalAdjustment:
    """Fits the adjustment to these decisions."""
    usable = [one for one in judgments if one.aspects]
    rows = [1 / math.sqrt(len(one.aspects)) for one in usable]
    with_aspect: dict[str, list[int]] = {}
    for at, one in enumerate(usable):
        for name in one.aspects:
            with_aspect.setdefault(name, []).append(at)
    weights = dict.fromkeys(sorted(with_aspect), 0.0)
    shifted_scores = [one.score for one in usable]
    for _ in range(_MAX_SWEEPS):
        largest = 0.0
        for name, weight in weights.items():
            slope, bend = -RIDGE_PENALTY * weight, RIDGE_PENALTY
            for at in with_aspect[name]:
                slope += rows[at] * (usable[at].wanted - score_to_chance(shifted_scores[at]))
                bend += rows[at] ** 2 / 4
            step = slope / bend
            weights[name] = weight + step
            for at in with_aspect[name]:
                shifted_scores[at] += step * rows[at]
            largest = max(largest, abs(step))
        if largest < _MIN_STEP:
            break
    return PersonalAdjustment(weights)


def score_shift(adjustment: PersonalAdjustment, aspects: Sequence[str]) -> float:
    """Returns the shift of the score of a passage with these aspects, at most `MAX_SHIFT` in either direction."""
    if not aspects or not adjustment.weights:
        return 0.0
    total = sum(adjustment.weights.get(name, 0.0) for name in aspects) / math.sqrt(len(aspects))
    return max(-MAX_SHIFT, min(MAX_SHIFT, total))


def personal_score(adjustment: PersonalAdjustment, score: float, aspects: Sequence[str]) -> float:
    """Returns the score by which a passage is ranked for this person. Raises RankerError."""
    moved = score + (by := score_shift(adjustment, aspects))
    if score < load_ranker().first:
        return moved
    return max(moved, load_ranker().further if by < -CLEAR_SHIFT else load_ranker().first)
