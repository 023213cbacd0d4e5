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
        ("Which port does the proxy use?", "The proxy uses port 8443, not 9443"),
        ("Should we drop Python 3.10?", "Do not drop Python 3.10"),
        ("Do we retry failed uploads?", "Failed uploads are retried, with a pause of 2 seconds"),
        ("Should tests run in parallel on CI?", "Tests run in parallel on CI"),
        ("Which database do we use for tests?", "The database for tests is SQLite"),
        ("Which database do we use for tests?", "Use SQLite as the database for tests"),
        ("Which Node version do we pin in Docker?", "Pin Node version 20 in Docker"),
        ("How long are sessions stored?", "Sessions are stored for 14 days"),
        ("Should we drop Python 3.10?", "Drop Python 3.10"),
        ("Do we retry failed uploads?", "Never retry failed uploads"),
        ("Should we use Redis or Memcached for the cache?", "Use Redis for the cache"),
        ("Soll der Server TLS nutzen?", "Der Server soll TLS nutzen"),
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
        ("Which port does the proxy use?", "The proxy does not use port 8443"),
        ("Which port does the proxy use?", "The proxy of `billing` uses port 8443"),
        ("Which database do we use for tests?", "The database for tests must use TLS"),
        ("Which database do we use for tests?", "The database for tests on CI is slow"),
        ("Which database do we use for tests?", "Use PostgreSQL as the database for production"),
        ("Which Node version do we pin in Docker?", "Pin Node 20 in CI"),
        ("Where do the logs of the worker go?", "The logs of the server go to `/var/log/app`"),
        ("Where do the logs of the worker go?", "The logs of the worker are JSON"),
        ("Should we drop Python 3.10?", "Should we drop Python 3.11 too"),
        ("Should we drop Python 3.10?", "Drop Python 3.11"),
        ("Should we drop Python 3.10?", "Drop Python 3.10 if Berta agrees"),
        ("Should we drop Python 3.10?", "Maybe drop Python 3.10"),
        ("Do we need a cache in front of the API?", "We need no cache in front of the API yet, decide after a test"),
        ("Should the API keep version 2 or version 3?", "Whether the API keeps version 2 or 3 is still open"),
        ("Should the API keep version 2 or version 3?", "The API keeps version 4"),
        ("Should we use Redis or Memcached for the cache?", "Use Redis for the queue, not Memcached"),
        ("Should we use Redis or Memcached for the cache?", "The cache in Redis is lost at each start"),
        ("Do we retry failed uploads?", "Retry failed downloads twice"),
        ("Do we retry failed uploads?", "We retried failed uploads"),
        ("Should tests run in parallel on CI?", "Tests run in parallel on CI hang at times"),
        ("Should tests run in parallel on CI?", "The tests ran in parallel on CI"),
        ("Is the billing job safe to run twice?", "The billing job ran twice in March"),
        ("Should only admins delete posts?", "Admins delete posts"),
        ("Should users delete posts?", "Users delete their own posts"),
        ("Should users be able to delete posts?", "Users may delete posts"),
        ("Do we support Windows?", "We do not support Windows for now"),
        ("Should we pin Node 20?", "Pin Node 20 in CI"),
        ("Should uploads be limited to 5 MB?", "Uploads are limited to 10 MB"),
        ("Does the server call the client?", "The client calls the server"),
        ("Should failed uploads be kept on disk?", "Keep uploads on disk"),
        ("Which port does the proxy use?", "The proxy does not use port 8443"),
        ("Do we need a cache in front of the API?", "We need no cache in front of the API yet"),
        ("Do we need a cache in front of the API?", "Decide on a cache in front of the API after the load test"),
        ("Should the API keep version 2?", "Whether the API keeps version 2 is still open"),
        ("Should we drop Python 3.10?", "Should we drop Python 3.10 on Windows too"),
        ("Should we drop Python 3.10?", "Drop Python 3.11"),
        ("Do we retry failed uploads?", "Retry failed downloads twice"),
        ("Should tests run in parallel on CI?", "Tests run in parallel on CI hang at times"),
        ("Is the billing job safe to run twice?", "The billing job ran twice in March"),
    ],
)  # fmt: skip
def test_one_that_speaks_of_the_same_things_without_settling_it_does_not(asked: str, said: str) -> None:
    assert not answers(record(asked), said, "")


@pytest.mark.parametrize(
    "body", ["Not decided yet.", "Decide after the load test.", "Only if Berta agrees.", "And 3.11 as well?"]
)
def test_what_its_own_text_leaves_open_answers_nothing(body: str) -> None:
    assert answers(record("Should we drop Python 3.10?"), "Drop Python 3.10", "It is out of support.")
    assert not answers(record("Should we drop Python 3.10?"), "Drop Python 3.10", body)


def test_of_many_claims_the_first_later_one_answers_and_an_earlier_one_never_does() -> None:
    asked = record("Should sessions be stored in Redis or Postgres?")
    early = record("Sessions are stored in Postgres", "decision", -1, 1)
    theme = record("Sessions are stored in Redis", "theme", 1, 2)
    late, later = (record("Sessions are stored in Redis", "decision", at, at) for at in (3, 4))
    assert list(answered([asked], [later, early, late, theme])) == [(asked, late)]
    assert list(answered([asked], [early, theme])) == []


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Which installer do we use, uv or pip?", "Use uv, not pip"),
        ("Where do migrations live?", "Migrations live in `db/migrations`"),
        ("Do we keep Python 3.10?", "Drop Python 3.10"),
    ],
)
def test_a_question_of_few_and_short_words_is_found_among_many(asked: str, said: str) -> None:
    question, answer = record(asked), record(said, "decision", 1)
    others = [record(f"The importer writes table {number}", "decision", 1, number) for number in range(1, 50)]
    assert list(answered([question], [*others, answer])) == [(question, answer)]
