"""What a later claim probably is to an earlier one that it does not repeat word by word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lerim.memory.contrast import read
from lerim.memory.stance import CUES, cues, on_one_ground, restated, stance
from lerim.memory.stance_weights import BIAS, WEIGHTS

TEXTS = st.text(max_size=120)


def test_each_cue_has_a_weight_for_each_of_the_four() -> None:
    assert len(BIAS) == len(WEIGHTS) == 4
    assert {len(line) for line in WEIGHTS} == {len(CUES)} == {len(cues(read("Use uv", ""), read("Use pip", "")))}


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_any_two_texts_have_probabilities_that_sum_to_one(title: str, body: str, later: str, more: str) -> None:
    found = stance(read(title, body), read(later, more))
    assert sum(found) == pytest.approx(1)
    assert min(found) >= 0


def test_what_is_called_off_is_rather_ended_than_what_goes_on() -> None:
    rule = read("The nightly job retries the upload three times", "")
    off = stance(rule, read("No retries of the upload in the nightly job any more", "It fails now at once."))
    on = stance(rule, read("The nightly job retries the upload, as before, and also the download", ""))
    assert off.ended > on.ended
    assert on.changed > off.changed


def test_claims_of_other_things_stand_apart() -> None:
    found = stance(
        read("Icons are PNG", ""), read("The cache is flushed before each deploy", "Stale pages were served.")
    )
    assert found.apart == max(found)
    assert not on_one_ground(read("Icons are PNG", ""), read("The cache is flushed", ""))


def test_sentences_lerim_puts_around_a_claim_are_no_cue() -> None:
    rule, bare = read("`seal` locks the store", ""), read("`seal` unlocks the store on exit", "")
    framed = read("`seal` unlocks the store on exit", "The person accepted the change.")
    assert cues(rule, framed)[CUES.index("was_below")] == cues(rule, bare)[CUES.index("was_below")] == 0


def test_only_a_claim_that_says_the_rule_again_is_a_change_of_it() -> None:
    rule = read("Run the linter before each commit", "")
    assert restated(rule, read("Run the linter before each commit and each push", ""))
    assert not restated(rule, read("The linter is ruff", ""))
