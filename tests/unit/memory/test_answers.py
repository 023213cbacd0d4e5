"""Which open questions a claim answers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from lerim.memory.answers import answered, answers
from lerim.memory.record import MemoryRecord, Primitive

HELPERS = "Extract the concurrent-session check into shared helpers, or not?"
NOW = datetime(2026, 8, 1, tzinfo=UTC)


def record(title: str, primitive: Primitive = "question", days: int = 0, number: int = 0) -> MemoryRecord:
    when = NOW + timedelta(days=days)
    return MemoryRecord(f"20260801-{primitive}-{number}", primitive, title, when, when, "manual", 0.8, (), "")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Should sessions be stored in Redis or Postgres?", "Sessions are stored in Redis"),
        ("Should sessions be stored in Redis or Postgres?", "Store sessions in Postgres, not in Redis"),
        ("Undecided: should we cache lookups of `Project` in memory or on disk?", "Cache lookups of `Project` on disk"),
        (HELPERS, "The concurrent-session check is extracted into shared helpers"),
        (HELPERS, "Do not extract the concurrent-session check into helpers"),
        ("Which port does the board server listen on?", "The board server listens on port 7331"),
        ("Where do visual artifacts of `dogfood` go?", "Visual artifacts of `dogfood` go to the `evidence` branch"),
        ("In doubt: whether git hooks take the agent from `GetAgent`?", "Git hooks take the agent from `GetAgent`"),
        ("Tests of the streaming parser: put off, still to be done?", "The streaming parser has tests of its own now"),
    ],
)  # fmt: skip
def test_a_claim_that_settles_what_was_asked_answers_it(asked: str, said: str) -> None:
    assert answers(record(asked), said, "")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Should sessions be stored in Redis or Postgres?", "Redis needs a password"),
        ("Should sessions be stored in Redis or Postgres?", "Sessions are stored for 14 days"),
        ("Should sessions be stored in Redis or Postgres?", "Sessions are stored in Redis or Postgres"),
        ("Should sessions be stored in Redis or Postgres?", "Uploads are stored in Postgres"),
        (HELPERS, "The concurrent-session check reads the state file"),
        ("Which port does the board server listen on?", "The board server listens on loopback alone"),
        ("In doubt: whether git hooks take the agent from `GetAgent`?", "Git hooks take the lock from `flock`"),
        ("Should `max_size` be a setting?", "`min_size` is a setting"),
    ],
)  # fmt: skip
def test_one_that_speaks_of_the_same_things_without_settling_it_does_not(asked: str, said: str) -> None:
    assert not answers(record(asked), said, "")


def test_of_many_claims_the_first_later_one_answers_and_an_earlier_one_never_does() -> None:
    asked = record("Should sessions be stored in Redis or Postgres?")
    early = record("Sessions are stored in Postgres", "decision", -1, 1)
    theme = record("Sessions are stored in Redis", "theme", 1, 2)
    late, later = (record("Sessions are stored in Redis", "decision", at, at) for at in (3, 4))
    assert list(answered([asked], [later, early, late, theme])) == [(asked, late)]
    assert list(answered([asked], [early, theme])) == []
