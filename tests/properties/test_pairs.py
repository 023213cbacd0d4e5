"""The join of near pairs finds what comparing all with all finds, no more and no less."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lerim.maintenance.pairs import find_near_pairs
from lerim.memory.claims.claim_words import claim_words, mean_overlap

WORDS = (
    "uv",
    "pip",
    "not",
    "retry",
    "`make ci`",
    "30",
    "pool",
    "src/db.py",
    "timeout",
    "never",
    "the",
    "migrate",
    "CI",
)
TEXT = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
MEMORIES = st.lists(st.tuples(TEXT, TEXT), max_size=24)


@given(MEMORIES, st.sampled_from((0.51, 0.6, 0.72, 0.9, 1.0)))
def test_every_pair_of_memories_at_least_so_alike_is_found_and_no_other(
    memories: list[tuple[str, str]], least: float
) -> None:
    claims = [claim_words(title, body) for title, body in memories]
    all_pairs = {
        (one, other): mean_overlap(claims[one], claims[other]) for one, other in combinations(range(len(claims)), 2)
    }
    found = list(find_near_pairs(claims, least))
    assert {(pair.first, pair.second): pair.similarity for pair in found} == {
        pair: alike for pair, alike in all_pairs.items() if alike >= least
    }
    assert len(found) == len({(pair.first, pair.second) for pair in found})


def test_two_memories_without_a_word_in_their_titles_are_alike_only_to_each_other() -> None:
    claims = [
        claim_words("The", "Retry in the pool"),
        claim_words("", "Retry in the pool"),
        claim_words("Retry pool", "Retry in the pool"),
    ]
    assert [(pair.first, pair.second) for pair in find_near_pairs(claims, 0.72)] == [(0, 1)]


def test_a_join_that_is_cancelled_ends() -> None:
    claims = [claim_words("Use uv", "")] * 50
    assert list(find_near_pairs(claims, 0.72, cancelled=lambda: True)) == []


def test_a_threshold_at_which_titles_may_share_nothing_is_refused() -> None:
    with pytest.raises(ValueError):
        list(find_near_pairs([], 0.5))
