"""What a person decided about candidates moves the ranking for that person: a small, bounded correction of the score.

The learned score `s` of a passage is a log odds. The correction adds a shift to it:

    corrected = s + max(-MOST, min(MOST, sum of w[a] over the passage's aspects a / sqrt(number of aspects)))

An aspect is a plain property of the passage: where it stands, what kind of memory it would be, a cue it has. The
weights `w` are those of a logistic regression with `s` as the offset and a ridge penalty (le Cessie and van
Houwelingen, "Ridge estimators in logistic regression", Applied Statistics 41, 1992): they minimize

    sum over the decisions of log(1 + exp(-y * (s + shift)))  +  PULL / 2 * sum of w[a] squared        y = 1 or -1

So the shift is zero without decisions, a decision that the score expected moves little, the order of the decisions
does not matter, and rejections alone raise nothing: no weight can be above zero then. The minimum is found one weight
at a time, with the bound 1/4 on the curvature of the logistic loss, which never overshoots (Böhning and Lindsay,
"Monotonicity of quadratic-approximation algorithms", 1988).

Two limits keep anything from being silenced for good. The shift is at most `MAX_SHIFT` either way. And what the learned
ranker alone would propose by itself (`s >= first`; everything a person says outright is scored so) has a floor: it
stays at `first` until the decisions are clear (a shift below `-CLEAR`: about seven rejections of its kind), and never
falls below `further`. So it may no longer start the list of a session, but still comes where the session has something
else to show. See `cut.py` for `first` and `further`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from lerim.extraction.ranking.features import FEATURE_NAMES
from lerim.extraction.ranking.ranker import load_ranker, score_to_chance

MAX_SHIFT: Final = 1.5
"""How far a score is moved at most, in log odds."""
CLEAR: Final = 0.75
"""How far decisions must move a score down before what would be proposed by itself no longer is."""
PULL: Final = 2.0
"""How strongly weights are pulled to zero: as much as that many decisions hold against one."""
MAX_JUDGMENTS: Final = 1_000
"""So many decisions count, the latest."""
_SWEEPS: Final = 30
_CLOSE: Final = 1e-4
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
"""The aspects that features show, each with the features of which one must be above zero."""


@dataclass(frozen=True, slots=True)
class Judgment:
    """A person's decision about one ranked candidate: its `aspects`, its learned `score`, and whether it was
    wanted (accepted, edited, proposed anyway) or rejected."""

    aspects: tuple[str, ...]
    score: float
    wanted: bool


@dataclass(frozen=True, slots=True)
class Correction:
    """The weight of each aspect; none without decisions."""

    weights: Mapping[str, float] = field(default_factory=dict)


NO_CORRECTION: Final = Correction()


def named_features(features: Sequence[float]) -> dict[str, float]:
    """The features above zero by their names; empty where another version measured them."""
    if len(features) != len(FEATURE_NAMES):
        return {}
    return {name: value for name, value in zip(FEATURE_NAMES, features, strict=True) if value > 0}


def passage_aspects(features: Mapping[str, float], primitive: str, kind: str | None) -> tuple[str, ...]:
    """The aspects of a passage with these named features that would be remembered as this; none without features."""
    if not features:
        return ()
    shown = [name for name, needed in _ASPECTS.items() if any(features.get(one, 0.0) > 0 for one in needed)]
    return (f"type {primitive}/{kind}" if kind else f"type {primitive}", *shown)


def learn_correction(judgments: Iterable[Judgment]) -> Correction:
    """The correction that these decisions ask for."""
    known = [one for one in judgments if one.aspects]
    rows = [1 / math.sqrt(len(one.aspects)) for one in known]
    with_aspect: dict[str, list[int]] = {}
    for at, one in enumerate(known):
        for name in one.aspects:
            with_aspect.setdefault(name, []).append(at)
    weights = dict.fromkeys(sorted(with_aspect), 0.0)
    moved = [one.score for one in known]
    for _ in range(_SWEEPS):
        largest = 0.0
        for name, weight in weights.items():
            slope, bend = -PULL * weight, PULL
            for at in with_aspect[name]:
                slope += rows[at] * (known[at].wanted - score_to_chance(moved[at]))
                bend += rows[at] ** 2 / 4
            step = slope / bend
            weights[name] = weight + step
            for at in with_aspect[name]:
                moved[at] += step * rows[at]
            largest = max(largest, abs(step))
        if largest < _CLOSE:
            break
    return Correction(weights)


def score_shift(correction: Correction, aspects: Sequence[str]) -> float:
    """How far the score of a passage with these aspects is moved: at most `MAX_SHIFT` either way."""
    if not aspects or not correction.weights:
        return 0.0
    total = sum(correction.weights.get(name, 0.0) for name in aspects) / math.sqrt(len(aspects))
    return max(-MAX_SHIFT, min(MAX_SHIFT, total))


def personal_score(correction: Correction, score: float, aspects: Sequence[str]) -> float:
    """The score that a passage ranks by for this person. Raises RankerError."""
    moved = score + (by := score_shift(correction, aspects))
    if score < load_ranker().first:
        return moved
    return max(moved, load_ranker().further if by < -CLEAR else load_ranker().first)
