"""Parses times as people type them (`36h`, `14d`, `2026-07-01`, `2026-07-01T12:30`), and formats times for people
and programs."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

_DURATION = re.compile(r"([0-9]{1,6})([smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}

TIME_EXAMPLES = "a duration such as 90m, 36h or 14d, or a date such as 2026-07-01 or 2026-07-01T12:30"


def parse_time(text: str, now: datetime) -> datetime:
    """Returns the time in UTC: a duration before `now`, or an ISO date or time (local time unless it has a zone).

    Raises ValueError, whose message lists the accepted formats.
    """
    text = text.strip()
    if found := _DURATION.fullmatch(text):
        try:
            return now.astimezone(UTC) - timedelta(**{_UNITS[found[2]]: int(found[1])})
        except OverflowError:
            raise ValueError(f"{text!r} is too far in the past; use {TIME_EXAMPLES}") from None
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise ValueError(f"{text!r} is not a valid time; use {TIME_EXAMPLES}") from None


def end_of_day(moment: datetime) -> datetime:
    """Returns the end of the local day of a moment, which is the first instant of the next day, in UTC."""
    next_day = moment.astimezone().date() + timedelta(days=1)
    return datetime.combine(next_day, time()).astimezone(UTC)


def format_utc(time: datetime | None) -> str:
    """Formats a time in the form used in memory files and answers to programs: UTC, `2026-08-01T10:20:30Z`; "" for
    None. A time without a zone counts as UTC."""
    if time is None:
        return ""
    utc = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    return utc.isoformat().replace("+00:00", "Z")


def format_moment(time: datetime | str) -> str:
    """Formats a time, or an ISO time, for people: `2 Mar 2026, 12:01` in local time, as the editor shows it."""
    return f"{format_day(time)}, {format_clock(time)}" if time else "at an unknown time"


def format_clock(time: datetime | str) -> str:
    """Formats the local time of day of a time, or of an ISO time: `12:01`."""
    return f"{_to_local_time(time):%H:%M}"


def format_day(time: datetime | str) -> str:
    """Formats the local date of a time, or of an ISO time, for people: `2 Mar 2026`."""
    return format_date(_to_local_time(time).date())


def format_date(day: date) -> str:
    """Formats a date for people: `2 Mar 2026`."""
    return f"{day.day} {'Sept' if day.month == 9 else f'{day:%b}'} {day.year}"


def _to_local_time(time: datetime | str) -> datetime:
    known = datetime.fromisoformat(time) if isinstance(time, str) else time
    return (known if known.tzinfo else known.replace(tzinfo=UTC)).astimezone()
