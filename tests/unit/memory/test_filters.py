"""What a person types for a search becomes words and filters; nothing typed is lost."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lerim.memory.filters import STATUSES, Filters, parsed

NOW = datetime(2026, 8, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "words", "filters"),
    [
        ("retry uploads", "retry uploads", Filters()),
        ("kind:pitfall retry", "retry", Filters(kinds=("pitfall",))),
        ("kind:decisions kind:pitfalls", "", Filters(primitives=("decision",), kinds=("pitfall",))),
        ("a tag:x b tag:y", "a b", Filters(tags=("x", "y"))),
        ('file:"src/my app.py" why', "why", Filters(files=("src/my app.py",))),
        ("is:archived", "", Filters(statuses=("archived",))),
        ("is:any is:drifted", "", Filters(statuses=STATUSES, standings=("drifted",))),
        ("since:30d", "", Filters(since=NOW - timedelta(days=30))),
        ("until:2026-07-01T00:00:00+00:00", "", Filters(until=datetime(2026, 7, 1, tzinfo=UTC))),
        ("by:5e1f", "", Filters(by_session="5e1f")),
        ("a::b http://x a:b kind:odd since:whenever", "a::b http://x a:b kind:odd since:whenever", Filters()),
        ('tag: kind:"" say "tag: x"', 'tag: kind:"" say "tag: x"', Filters()),
    ],
)
def test_filters_are_taken_out_and_the_rest_stays_words(text: str, words: str, filters: Filters) -> None:
    assert parsed(text, NOW) == (words, filters)


@given(st.text(st.sampled_from('kindtagfileisby: "x0d\u00e9'), max_size=40))
def test_any_text_is_read_and_nothing_but_filters_is_taken_out(text: str) -> None:
    words, filters = parsed(text, NOW)
    assert set("".join(words.split())) <= set(text)
    if filters == Filters():
        assert words == text.strip()
