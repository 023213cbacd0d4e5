"""Which memories are merged, and that finding them takes work in proportion to their number."""

from __future__ import annotations

from itertools import pairwise

import pytest

from lerim.maintenance.merges import MAX_MERGED, MERGE_SIMILARITY, MergeEffort, find_merges, max_near_texts
from lerim.maintenance.pairs import MAX_LISTED_ENTRIES, PairTally, find_near_pairs
from many_memories import TITLES, claims, memories


def effort_of(count: int, alike: str) -> MergeEffort:
    effort = MergeEffort()
    records = memories(count, alike)
    list(find_merges(records, claims(records), lambda: False, effort))
    return effort


@pytest.mark.parametrize("alike", TITLES)
def test_twice_as_many_memories_take_at_most_about_twice_the_comparisons(alike: str) -> None:
    counts = (100, 200, 400)
    efforts = [effort_of(count, alike) for count in counts]
    for less, more in pairwise(one.tallies[0].compared_count for one in efforts):
        assert more <= 2.2 * less + 100


def test_a_large_store_is_compared_with_fewer_near_ones_each() -> None:
    assert [max_near_texts(count) for count in (0, 1, 1_000, 3_000, 10_000, 100_000, 10_000_000)] == [
        *(32, 32, 32, 32),
        *(10, 4, 4),
    ]


def test_memories_of_one_text_are_merged_without_comparing_them_fifty_at_a_time() -> None:
    records = memories(120, "equal")
    effort = MergeEffort()
    found = list(find_merges(records, claims(records), lambda: False, effort))
    assert [len(one.members) for one in found] == [MAX_MERGED, MAX_MERGED, 20]
    assert sorted(at for one in found for at in one.members) == list(range(120))
    assert {(one.same_text, one.similarity) for one in found} == {(True, 1.0)}
    assert effort.truncated_count == 0


def test_only_memories_with_the_same_text_are_the_same_and_what_a_person_keeps_apart_is_not_merged() -> None:
    records = memories(2, "a number")
    [found] = find_merges(records, claims(records), lambda: False, MergeEffort())
    assert not found.same_text
    kept_apart = {frozenset(one.id for one in records)}
    assert list(find_merges(records, claims(records), lambda: False, MergeEffort(), kept_apart)) == []


def test_near_equal_memories_are_all_in_one_merge_or_another_and_what_was_not_compared_is_counted() -> None:
    records = memories(200, "a number")
    effort = MergeEffort()
    found = list(find_merges(records, claims(records), lambda: False, effort))
    members = [at for one in found for at in one.members]
    assert len(members) == len(set(members)) >= 190
    assert max(len(one.members) for one in found) <= MAX_MERGED
    assert effort.truncated_count > 0


def test_nothing_is_cut_in_an_ordinary_store() -> None:
    assert effort_of(30, "a number").truncated_count == 0
    assert effort_of(2_000, "one word").truncated_count == 0


def test_the_entries_a_join_looks_at_are_bounded_whatever_the_claims_share() -> None:
    tally = PairTally()
    count = 3_000
    list(find_near_pairs(claims(memories(count, "a number")), MERGE_SIMILARITY, max_pairs=4, tally=tally))
    assert tally.compared_count <= 2 * MAX_LISTED_ENTRIES
    assert tally.compared_count <= 5 * count


def test_a_search_that_is_cancelled_asks_often_and_finds_nothing_more() -> None:
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked > 50

    records = memories(500, "a number")
    assert list(find_merges(records, claims(records), cancelled, MergeEffort())) == []
