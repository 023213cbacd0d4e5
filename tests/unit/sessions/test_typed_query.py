"""Queries as people type them, and what is shown of a match."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lerim.sessions.display import make_snippet
from lerim.sessions.search.query import NO_FILTERS, SessionFilters
from lerim.sessions.search.typed_query import parse_session_query

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def test_words_and_filters_are_told_apart() -> None:
    asked = parse_session_query(
        'agent:CODEX fix branch:main file:"src/my file.py" model:gpt-5 the cart failed: since:7d', NOW
    )
    assert asked.words == "fix the cart"
    assert asked.filters == SessionFilters(
        agent="codex",
        branch="main",
        file="src/my file.py",
        model="gpt-5",
        failed=True,
        since=datetime(2026, 11, 14, 12, tzinfo=UTC),
    )
    assert asked.problems == ()


@pytest.mark.parametrize(
    "text", ["std::vector", "http://agent:x@host", "C++ OR", '"', "xagent:codex", "note: this", ""]
)
def test_what_is_no_filter_of_ours_is_words(text: str) -> None:
    asked = parse_session_query(text, NOW)
    assert (asked.words, asked.filters, asked.problems) == (text, NO_FILTERS, ())


def test_a_filter_that_cannot_be_is_told_and_not_searched_for() -> None:
    asked = parse_session_query("agent:emacs since:soon branch: x", NOW)
    assert [problem.partition(":")[0] for problem in asked.problems] == ["agent", "since", "branch"]
    assert "claude, codex" in asked.problems[0]
    assert asked.words == "x"


def test_a_snippet_shows_the_words_in_their_place_on_one_line() -> None:
    text = "intro " * 50 + "the Cart\nis mended" + " outro" * 100
    shown = make_snippet(text, "cart")
    assert "the Cart is mended" in shown
    assert shown.startswith("…") and shown.endswith("…")
    assert len(shown) < 220
    assert set(shown.strip("…").split()) <= set(text.split()), "it begins and ends with a whole word"
    assert make_snippet("a discarted one " * 9 + "then carts", "cart").endswith("then carts"), "a word that begins so"
    assert make_snippet(text, "is the cart in it?") == shown
    assert make_snippet("nothing of it", "cart") == ""
    assert make_snippet("how it begins", "") == "how it begins"


def test_a_snippet_shows_no_secret_also_where_it_began_long_before_the_match() -> None:
    assert SECRET not in make_snippet(f"the key {SECRET} is for the cart", "cart")
    private = f"<private>{'hidden words ' * 500} cart and more </private> open"
    assert "hidden" not in make_snippet(private, "cart")
