"""Local days: every moment belongs to one, whatever the clocks do."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lerim.journal.days import day_span, local_day, parse_day, split_days, week_of

ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/Sao_Paulo",
    "Asia/Kolkata",
    "Pacific/Apia",
    "Australia/Lord_Howe",
    "Asia/Beirut",
)
MOMENTS = st.datetimes(datetime(1975, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC))


@given(MOMENTS, st.floats(0, 40), st.sampled_from(ZONES))
def test_the_days_of_a_span_follow_one_another_and_hold_all_of_it(since: datetime, days: float, name: str) -> None:
    zone, until = ZoneInfo(name), since + timedelta(days=days)
    spans = list(split_days(since, until, zone))
    if since == until:
        assert spans == []
        return
    assert (spans[0].since, spans[-1].until) == (since, until)
    assert all(one.until == after.since for one, after in pairwise(spans))
    assert all(local_day(one.since, zone) == one.day for one in spans)
    assert all(local_day(one.until - timedelta(microseconds=1), zone) == one.day for one in spans)


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Berlin", date(2026, 3, 29), 23),
        ("Europe/Berlin", date(2026, 10, 25), 25),
        ("America/Sao_Paulo", date(2018, 11, 4), 23),  # its midnight did not exist
        ("UTC", date(2026, 3, 29), 24),
    ],
)
def test_a_day_is_as_long_as_its_clock_says(zone: str, day: date, hours: int) -> None:
    span = day_span(day, ZoneInfo(zone))
    assert span.until - span.since == timedelta(hours=hours)


def test_days_are_typed_as_dates_or_by_their_distance_and_weeks_begin_on_monday() -> None:
    now = datetime(2026, 3, 2, 23, 30, tzinfo=UTC)
    berlin = ZoneInfo("Europe/Berlin")
    assert parse_day("today", now, UTC) == date(2026, 3, 2)
    assert parse_day(" Yesterday ", now, berlin) == date(2026, 3, 2)
    assert parse_day("3d", now, UTC) == date(2026, 2, 27)
    assert parse_day("2024-02-29", now, UTC) == date(2024, 2, 29)
    assert week_of(date(2026, 3, 8)) == (date(2026, 3, 2), date(2026, 3, 8))
    for wrong in ("", "soon", "2026-02-30", "99999999d", "0001-01-01", "9999-12-31", "²d"):
        with pytest.raises(ValueError, match="is not a day"):
            parse_day(wrong, now, UTC)
