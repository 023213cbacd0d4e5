"""What a person types for a search becomes words and filters; nothing typed is lost."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lerim.memory.search.filters import STATUSES, MemoryFilters, parse_memory_query

NOW = datetime(2026, 8, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "words", "filters"),
    [
        ("retry uploads", "retry uploads", MemoryFilters()),
        ("kind:pitfall retry", "retry", MemoryFilters(kinds=("pitfall",))),
        ("kind:decisions kind:pitfalls", "", MemoryFilters(primitives=("decision",), kinds=("pitfall",))),
        ("a tag:x b tag:y", "a b", MemoryFilters(tags=("x", "y"))),
        ('file:"src/my app.py" why', "why", MemoryFilters(files=("src/my app.py",))),
        ("is:archived", "", MemoryFilters(statuses=("archived",))),
        ("is:any is:drifted", "", MemoryFilters(statuses=STATUSES, drift_states=("drifted",))),
        ("since:30d", "", MemoryFilters(since=NOW - timedelta(days=30))),
        ("until:2026-07-01T00:00:00+00:00", "", MemoryFilters(until=datetime(2026, 7, 1, tzinfo=UTC))),
        ("by:5e1f", "", MemoryFilters(session_prefix="5e1f")),
        ("a::b http://x a:b kind:odd since:whenever", "a::b http://x a:b kind:odd since:whenever", MemoryFilters()),
        ('tag: kind:"" say "tag: x"', 'tag: kind:"" say "tag: x"', MemoryFilters()),
    ],
)
def test_filters_are_taken_out_and_the_rest_stays_words(text: str, words: str, filters: MemoryFilters) -> None:
    assert parse_memory_query(text, NOW) == (words, filters)


@given(st.text(st.sampled_from('kindtagfileisby: "x0d\u00e9'), max_size=40))
def test_any_text_is_read_and_nothing_but_filters_is_taken_out(text: str) -> None:
    words, filters = parse_memory_query(text, NOW)
    assert set("".join(words.split())) <= set(text)
    if filters == MemoryFilters():
        assert words == text.strip()
