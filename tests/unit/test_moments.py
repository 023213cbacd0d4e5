from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lerim.times import parse_time

NOW = datetime(2026, 7, 10, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "back"),
    [
        ("90s", timedelta(seconds=90)),
        ("90m", timedelta(minutes=90)),
        ("36h", timedelta(hours=36)),
        (" 14d ", timedelta(days=14)),
        ("0d", timedelta()),
    ],
)
def test_a_duration_counts_back_from_now(text: str, back: timedelta):
    assert parse_time(text, NOW) == NOW - back


def test_a_date_is_the_start_of_that_day_here_and_a_zone_is_kept():
    assert parse_time("2026-07-01", NOW) == datetime(2026, 7, 1).astimezone(UTC)
    assert parse_time("2026-07-01T12:30:00+02:00", NOW) == datetime(2026, 7, 1, 10, 30, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "soon", "3w", "-2d", "2026-13-01", "999999d", "1.5h"])
def test_anything_else_is_refused_with_examples(text: str):
    with pytest.raises(ValueError, match="use a duration such as"):
        parse_time(text, NOW)


@given(st.text(max_size=20))
def test_no_text_raises_anything_but_a_value_error(text: str):
    with suppress(ValueError):
        assert parse_time(text, NOW).tzinfo is UTC
