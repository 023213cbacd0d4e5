"""Which memories are merged, and that finding them takes work in proportion to their number."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

import pytest

from lerim.maintenance.merges import MAX_MERGED, Merge, find_merges
from lerim.maintenance.pairs import MAX_LISTED_ENTRIES, PairTally, find_near_pairs
from lerim.memory.record import MemoryRecord
from many_memories import TITLES, claims, memories


def merge(records: list[MemoryRecord], kept_apart: Collection[frozenset[str]] = ()) -> tuple[list[Merge], PairTally]:
    tallies: list[PairTally] = []
    found = list(find_merges(records, claims(records), lambda: False, tallies, kept_apart))
    return found, tallies[0]


@pytest.mark.parametrize("alike", TITLES)
def test_twice_as_many_memories_take_at_most_about_twice_the_comparisons(alike: str) -> None:
    counts = (100, 200, 400)
    for less, more in pairwise(merge(memories(count, alike))[1].compared_count for count in counts):
        assert more <= 2.2 * less + 100


def test_memories_of_one_text_are_merged_without_comparing_them_fifty_at_a_time() -> None:
    found, tally = merge(memories(120, "equal"))
    assert [len(one.members) for one in found] == [MAX_MERGED, MAX_MERGED, 20]
    assert sorted(at for one in found for at in one.members) == list(range(120))
    assert {(one.same_text, one.similarity) for one in found} == {(True, 1.0)}
    assert not tally.truncated_claims


def test_only_memories_with_the_same_text_are_the_same_and_what_a_person_keeps_apart_is_not_merged() -> None:
    records = memories(2, "a number")
    [found] = merge(records)[0]
    assert not found.same_text
    assert merge(records, {frozenset(one.id for one in records)})[0] == []


def test_the_entries_a_join_looks_at_are_bounded_whatever_the_claims_share() -> None:
    tally = PairTally()
    count = 3_000
    list(find_near_pairs(claims(memories(count, "a number")), lambda: False, 4, tally))
    assert tally.compared_count <= 2 * MAX_LISTED_ENTRIES
    assert tally.compared_count <= 5 * count


def test_a_search_that_is_cancelled_asks_often_and_finds_nothing_more() -> None:
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked > 50

    records = memories(500, "a number")
    assert list(find_merges(records, claims(records), cancelled, [])) == []
