from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lerim.times import format_day, format_moment, parse_time

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


def test_a_time_is_shown_to_people_where_they_are_and_as_the_editor_shows_it(in_tokyo: None):
    assert format_moment("2026-03-02T15:01:30Z") == "3 Mar 2026, 00:01"
    assert format_moment(datetime(2026, 9, 2, 3, 1)) == "2 Sept 2026, 12:01"  # without a zone it is UTC
    assert (format_day("2026-03-02T15:01:30Z"), format_moment("")) == ("3 Mar 2026", "at an unknown time")
