"""No two texts that differ in substance are the same claim."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lerim.memory.contrast import read
from lerim.memory.kept import joined
from lerim.memory.reconcile import relation

PAIRS = [
    ("Turn the cache on in tests", "Turn the cache off in tests"),
    ("Keep at least 3 backups", "Keep at most 3 backups"),
    ("Keep fewer than 3 backups", "Keep more than 3 backups"),
    ("Show less than 5 rows", "Show more than 5 rows"),
    ("Services must use TLS", "Services may use TLS"),
    ("All endpoints need a token", "Some endpoints need a token"),
    ("Fail if the file exists", "Fail unless the file exists"),
    ("Use globals", "Hardly ever use globals"),
    ("The owner may delete", "Only the owner may delete"),
    ("Users can delete posts", "Users can delete their own posts"),
    ("Retry failed uploads", "Retry failed uploads only once"),
    ("Send the mail once", "Send the mail again"),
    ("Keep exactly 3 backups", "Keep about 3 backups"),
    ("Amount <= 10 is fine", "Amount >= 10 is fine"),
    ("Use version ~1.2", "Use version ^1.2"),
    ("The table is named `users`", "The table is named `user`"),
    ("Call `make test` before a push", "Call `make tests` before a push"),
    ("Docs live in docs/", "Docs live in doc/"),
    ("The env var is `PORT`", "The env var is `port`"),
    ("Nutze nicht pip", "Nutze pip"),
    ("Nutze keinen Cache in Tests", "Nutze Cache in Tests"),
    ("Не использовать pip", "Использовать pip"),
    ("N'utilise pas pip dans ce projet", "Utilise pip dans ce projet"),
    ("No usar pip en el proyecto", "Usar pip en el proyecto"),
    ("不要使用pip", "要使用pip"),
    ("没有缓存", "有缓存"),
]
WORDS = """
    all some most few every no only must may should can never always once twice again on off up down before after
    if unless least more fewer own even both admins owners guests clients servers uploads downloads retry delete
    GET POST `users` `user` `PORT` `port` docs/ doc/ 3 4 <= >= fast slow public private
""".split()  # noqa: SIM905
SENTENCES = ["Services {} retry uploads in CI", "Show {} rows of the table to guests", "The job deletes {} files"]


def said(earlier: tuple[str, str], later: tuple[str, str]) -> str:
    return relation(read(*earlier), read(*later))[0]


@pytest.mark.parametrize("echoed", [False, True])
@pytest.mark.parametrize("pair", PAIRS)
def test_claims_that_differ_in_a_word_of_substance_are_not_the_same(pair: tuple[str, str], echoed: bool) -> None:
    one, other = ((text, f"{text}." if echoed else "") for text in pair)
    assert said(one, other) != "same"
    assert said(other, one) != "same"


@given(st.sampled_from(SENTENCES), st.sampled_from(WORDS), st.sampled_from(WORDS), st.booleans())
@settings(max_examples=300, deadline=None)
def test_one_word_in_the_place_of_another_is_never_the_same(sentence: str, one: str, other: str, body: bool) -> None:
    first, second = sentence.format(one), sentence.format(other)
    if one == other or {one, other} in ({"all", "every"}, {"no", "never"}):
        return
    texts = (("The rule", first), ("The rule", second)) if body else ((first, ""), (second, ""))
    assert said(*texts) != "same"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Commit the lock file", "Do commit the lock file"),
        ("Run the tests first", "Please run tests first"),
        ("Use `uv` for installs.", "Use uv for the installs"),
    ],
)
def test_articles_please_and_backticks_make_no_difference(one: str, other: str) -> None:
    assert said((one, ""), (other, "")) == "same" == said((other, ""), (one, ""))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Error 137 means the container was killed", "Error 139 means the container was killed"),
        ("PR 120 must be reverted", "PR 121 must be reverted"),
        ("Test 3 is flaky", "Test 7 is flaky"),
        ("Port 8080 is for tests", "Port 8081 is for tests"),
        ("Do not retry POST requests", "Retry GET requests"),
        ("Use the newest Node in CI", "Use the oldest supported Node in CI too"),
    ],
)
def test_another_thing_of_a_kind_is_another_rule(one: str, other: str) -> None:
    assert said((one, ""), (other, "")) == "apart"


def test_a_sentence_that_says_must_is_kept_beside_one_that_says_may() -> None:
    assert "must use TLS 1.3" in joined("Services must use TLS 1.3.", "Services and TLS", "Services may use TLS 1.3.")
    assert "`users`" in joined("Keep 3 backups of `users`.", "Backups", "Keep 3 backups of `user`.")
