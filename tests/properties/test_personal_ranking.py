"""What a person decides moves the ranking within bounds, in any order, and nothing moves it without decisions."""

from __future__ import annotations

import math
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from lerim.extraction.ranking.features import FEATURE_NAMES
from lerim.extraction.ranking.personal import (
    CLEAR_SHIFT,
    MAX_SHIFT,
    NO_ADJUSTMENT,
    Judgment,
    learn_adjustment,
    named_features,
    passage_aspects,
    personal_score,
    score_shift,
)
from lerim.extraction.ranking.ranker import load_ranker

ASPECTS = st.lists(st.sampled_from([f"a{number}" for number in range(8)]), min_size=1, max_size=6, unique=True)
SCORES = st.floats(-6, 6)
JUDGMENTS = st.builds(Judgment, ASPECTS.map(tuple), SCORES, st.booleans())
MANY = st.lists(JUDGMENTS, max_size=40)
ROUNDING = 0.03  # how far apart the weights may end that were looked for in another order


@given(MANY, ASPECTS, SCORES)
def test_a_score_moves_within_the_bound_and_what_would_be_proposed_never_falls_below_what_comes_along(
    decisions: list[Judgment], seen: list[str], score: float
) -> None:
    correction = learn_adjustment(decisions)
    moved = personal_score(correction, score, seen)
    assert abs(moved - score) <= MAX_SHIFT + 1e-9
    if score >= load_ranker().first:
        assert moved >= load_ranker().further
    if score >= load_ranker().first + MAX_SHIFT or (
        score >= load_ranker().first and score_shift(correction, seen) >= -CLEAR_SHIFT
    ):
        assert moved >= load_ranker().first


@given(st.lists(st.tuples(ASPECTS.map(tuple), SCORES), max_size=40), ASPECTS, st.booleans())
def test_rejections_raise_nothing_and_what_is_wanted_lowers_nothing(
    decided: list[tuple[tuple[str, ...], float]], seen: list[str], wanted: bool
) -> None:
    shift = score_shift(learn_adjustment(Judgment(aspects, score, wanted) for aspects, score in decided), seen)
    assert shift >= 0 if wanted else shift <= 0


@given(ASPECTS, st.floats(-0.4, 2))
def test_ten_rejections_of_a_kind_lower_it_clearly_and_one_little(seen: list[str], score: float) -> None:
    rejection = Judgment(tuple(seen), score, False)
    assert score_shift(learn_adjustment([rejection] * 10), seen) < -CLEAR_SHIFT
    assert -0.45 < score_shift(learn_adjustment([rejection]), seen) < 0


@given(ASPECTS, SCORES)
def test_what_shares_no_aspect_is_not_moved(seen: list[str], score: float) -> None:
    correction = learn_adjustment([Judgment(tuple(seen), score, False)] * 10)
    assert score_shift(correction, ["of another kind"]) == 0


@given(st.lists(JUDGMENTS, min_size=2, max_size=40), ASPECTS, st.integers(0, 1_000))
def test_the_order_of_decisions_barely_matters(decisions: list[Judgment], seen: list[str], seed: int) -> None:
    shuffled = Random(seed).sample(decisions, len(decisions))
    assert math.isclose(
        score_shift(learn_adjustment(decisions), seen), score_shift(learn_adjustment(shuffled), seen), abs_tol=ROUNDING
    )


@given(ASPECTS, SCORES)
def test_without_decisions_the_score_is_the_learned_one_exactly(seen: list[str], score: float) -> None:
    for correction in (NO_ADJUSTMENT, learn_adjustment([]), learn_adjustment([Judgment((), 1.0, False)])):
        assert personal_score(correction, score, seen) == score


@given(st.lists(st.floats(0, 5), min_size=len(FEATURE_NAMES), max_size=len(FEATURE_NAMES)))
def test_features_are_named_and_those_of_another_version_say_nothing(measured: list[float]) -> None:
    found = named_features(measured)
    assert all(value > 0 for value in found.values())
    assert ("source prompt" in found) == ("source prompt" in passage_aspects(found, "decision", None))
    assert named_features(measured[1:]) == {}
    assert passage_aspects({}, "decision", None) == ()
