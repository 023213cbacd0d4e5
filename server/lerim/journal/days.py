"""A person's local days as spans of time. A day is as long as the clock says: 23 or 25 hours when the clocks change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo

FIRST_DAY, LAST_DAY = date(1970, 1, 2), date(9998, 12, 30)
"""The days that can have a journal: they are inside the calendar in every time zone."""
_DAY = timedelta(days=1)
WEEK_DAYS = 7


@dataclass(frozen=True, slots=True)
class DaySpan:
    """A local day, or the part of it from `since` up to, but not including, `until` (both UTC)."""

    day: date
    since: datetime
    until: datetime


def local_day(moment: datetime, zone: tzinfo | None = None) -> date:
    """Returns the local date of a moment; `zone` None is the time zone of this machine."""
    return moment.astimezone(zone).date()


def start_of_day(day: date, zone: tzinfo | None = None) -> datetime:
    """Returns when a local day begins, in UTC. If a change of clocks skips midnight, the day begins with that
    change; if midnight comes twice, it begins at the first one."""
    midnight = datetime(day.year, day.month, day.day, tzinfo=zone)
    return midnight.astimezone(UTC)


def day_span(day: date, zone: tzinfo | None = None) -> DaySpan:
    """Returns a whole local day. Raises ValueError outside `FIRST_DAY` to `LAST_DAY`."""
    if not FIRST_DAY <= day <= LAST_DAY:
        raise ValueError(f"{day} is not a day that a journal can have")
    return DaySpan(day, start_of_day(day, zone), start_of_day(day + _DAY, zone))


def split_days(since: datetime, until: datetime, zone: tzinfo | None = None) -> Iterator[DaySpan]:
    """Yields the local days between two moments, oldest first; the first and last one may be parts of days."""
    day = max(FIRST_DAY, local_day(since, zone))
    while day <= LAST_DAY and (span := day_span(day, zone)).since < until:
        part = DaySpan(day, max(since, span.since), min(until, span.until))
        if part.since < part.until:
            yield part
        day += _DAY


def week_of(day: date) -> tuple[date, date]:
    """Returns the first and last day, Monday and Sunday, of the week of a day."""
    monday = day - timedelta(days=day.weekday())
    return monday, monday + timedelta(days=WEEK_DAYS - 1)


def parse_day(text: str, now: datetime, zone: tzinfo | None = None) -> date:
    """Parses a day in the forms that people type: `2026-03-02`, `today`, `yesterday`, or a number of days ago such as
    `3d`.

    Raises ValueError, whose message lists the accepted forms.
    """
    word, today = text.strip().lower(), local_day(now, zone)
    known = {"today": today, "yesterday": today - _DAY}
    try:
        if word in known:
            day = known[word]
        elif word.endswith("d") and word[:-1].isascii() and word[:-1].isdigit():
            day = today - int(word[:-1]) * _DAY
        else:
            day = date.fromisoformat(word)
    except (ValueError, OverflowError):
        day = date.min
    if not FIRST_DAY <= day <= LAST_DAY:
        raise ValueError(f"{text!r} is not a day; use a date such as 2026-03-02, or today, yesterday or 3d")
    return day
