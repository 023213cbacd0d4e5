"""A day's entry as one page, with the days before and after it that have an entry."""

from __future__ import annotations

from datetime import date, datetime

from lerim.journal.build import JournalScope, build_entry, list_days
from lerim.journal.days import local_day
from lerim.journal.entry import JournalPage
from lerim.journal.render import render_markdown


def build_page(scope: JournalScope, day: date | None, now: datetime) -> JournalPage:
    """Builds the page of a day, of today for None. Raises CatalogError, MemoryError_, and ValueError for a day far
    outside the calendar."""
    shown = day or local_day(now, scope.zone)
    entry = build_entry(scope, shown, now)
    days = [one.day for one in list_days(scope)]  # the newest first
    return JournalPage(
        day=entry.day,
        title=entry.title,
        markdown=render_markdown(entry),
        previous=next((one for one in days if one < entry.day), ""),
        next=next((one for one in reversed(days) if one > entry.day), ""),
        problems=[problem.message for problem in entry.problems],
    )
