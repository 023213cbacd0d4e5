"""In an ordinary store merging finds what comparing all memories with all finds."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from lerim.maintenance.merges import are_different_rules, find_merges
from lerim.maintenance.pairs import MERGE_SIMILARITY
from lerim.memory.claims.claim_words import mean_overlap
from lerim.memory.record import MemoryRecord
from many_memories import claims, memories

TEXTS = (
    ("Retry uploads 3 times", "With a pause."),
    ("Retry uploads 5 times", "With a pause."),
    ("Retry uploads 5 times", "With a pause between them."),
    ("Never retry uploads", "With a pause."),
    ("Retry uploads", "With a pause."),
    ("Retry uploads with a pause", ""),
    ("Use uv", "For everything."),
    ("Use uv", "For everything, in CI too."),
    ("Use uv, not pip", "For everything."),
    ("Use pip, not uv", "For everything."),
    ("The", "Retry in the pool"),
    ("", "Retry in the pool"),
)


def compared_with_all(records: list[MemoryRecord]) -> list[tuple[int, ...]]:
    """The merges as they are defined: the oldest memory that is free with each later one that is near it and every
    other of the merge."""
    plain = claims(records)

    def alike(one: int, other: int) -> bool:
        near = mean_overlap(plain[one], plain[other]) >= MERGE_SIMILARITY
        return near and not are_different_rules(plain[one].title, plain[other].title)

    gone: set[int] = set()
    found: list[tuple[int, ...]] = []
    for first in range(len(records)):
        members = [first] if first not in gone else []
        for other in range(first + 1, len(records)) if members else ():
            if other not in gone and all(alike(one, other) for one in members):
                members.append(other)
        if len(members) > 1:
            gone.update(members)
            found.append(tuple(members))
    return found


@given(st.lists(st.sampled_from(TEXTS), max_size=24))
def test_the_merges_of_an_ordinary_store_are_those_of_comparing_all_with_all(texts: list[tuple[str, str]]) -> None:
    records = [
        replace(one, title=title, body=body)
        for one, (title, body) in zip(memories(len(texts), "equal"), texts, strict=True)
    ]
    found = find_merges(records, claims(records), lambda: False, [])
    assert [one.members for one in found] == compared_with_all(records)
