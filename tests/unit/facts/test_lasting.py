"""Faults that were mended as the rules they broke, and shouting in plain letters."""

import pytest
from lerim.facts.lasting import calm, past, rule


@pytest.mark.parametrize(
    ("fault", "left"),
    [
        ("`read_all()` was skipping every second row", "`read_all()` must not skip every second row"),
        ("Biome was formatting the generated files", "Biome must not format the generated files"),
        ("The importer was silently writing to `/tmp`", "The importer must not write to `/tmp`"),
        ("`Store` was not closing its files", "`Store` must close its files"),
        ("`read_all()` was returning the right rows", ""),
        ("`read_all()` was zzzing the rows", ""),
        ("`read_all()` drops the zone", ""),
    ],
)
def test_a_fault_that_was_mended_leaves_the_rule_it_broke(fault: str, left: str) -> None:
    assert rule(fault) == left


def test_what_is_told_of_the_past_is_known_from_what_is_so() -> None:
    assert past("`parse()` checked the flag and skipped the row")
    assert past("The cache was stale after a deploy")
    assert not past("`parse()` drops the zone of every date")
    assert not past("`feed` needs the `--all` flag")


@pytest.mark.parametrize(
    ("shouted", "plain"),
    [
        ("It skips ALL rows", "It skips all rows"),
        ("It names the WRONG CAUSE", "It names the wrong cause"),
        ("NEVER do so. ALL of it is read", "Never do so. All of it is read"),
        ("Use `SELECT ALL`, “NOT so”, a UNION ALL, NOT NULL and the PATH", ""),
        ("The `ALL` of JSON, README and IS_ALL", ""),
    ],
)
def test_words_that_only_stress_are_not_shouted(shouted: str, plain: str) -> None:
    assert calm(shouted) == (plain or shouted)
