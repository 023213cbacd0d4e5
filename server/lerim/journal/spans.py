"""The entries of several days: between two dates, of a week, or between two tags."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

import msgspec

from lerim.errors import NotFoundError
from lerim.journal.build import JournalScope, collect_material, list_days, make_entry_by_rules
from lerim.journal.days import DaySpan, day_span, split_days
from lerim.journal.entry import JournalEntry
from lerim.project import History, Tag

_SECOND = timedelta(seconds=1)
"""The precision of git's times. The last tag is part of the span, the first is not."""


class JournalSpan(msgspec.Struct, frozen=True):
    """The entries of several days, oldest first, without days that have no entry."""

    title: str
    entries: list[JournalEntry]


@dataclass(frozen=True, slots=True)
class Release:
    """The work between two tags: a span of time, and the hashes of the commits."""

    since: datetime
    until: datetime
    commits: frozenset[str]


def list_span(scope: JournalScope, first: date, last: date, now: datetime) -> list[DaySpan]:
    """Returns the days from `first` to `last` that have an entry, oldest first, as far as they have passed.

    Raises CatalogError, and ValueError for days far outside the calendar.
    """
    since, until = day_span(first, scope.zone).since, day_span(last, scope.zone).until
    return list_parts(scope, since, min(until, now))


def list_parts(scope: JournalScope, since: datetime, until: datetime) -> list[DaySpan]:
    """Returns the days between two moments that have an entry, oldest first; the first and last one may be
    parts of days. Raises CatalogError."""
    known = {day.day for day in list_days(scope)}
    return [span for span in split_days(since, until, scope.zone) if span.day.isoformat() in known]


def build_entries(
    scope: JournalScope, spans: Collection[DaySpan], only: Collection[str] | None = None
) -> Iterator[JournalEntry]:
    """Yields the entry of each of these days.

    With `only`, the entries are for a release of the commits with these hashes. Raises CatalogError, MemoryError_.
    """
    for span in spans:
        yield make_entry_by_rules(collect_material(scope, span, only))


def find_release(scope: JournalScope, tags: str, now: datetime) -> Release:
    """Returns the release between two tags, written as `v1.0..v1.1`, or the work that is not released yet:
    `v1.1..HEAD`. The span begins after the first tag's commit and ends with the last tag, or now. Raises
    NotFoundError if there is no such tag, or if the last one is not after the first."""
    first_name, dots, last_name = tags.partition("..")
    history = History(Path(scope.project.root), scope.environ)
    known = {tag.name: tag for tag in history.list_tags() or ()}
    where = str(scope.project.root)
    if not dots or not first_name or not last_name:
        raise NotFoundError("A release is named by two tags.", where=tags, todo="Write them as `v1.0..v1.1`.")
    first = _find_tag(known, first_name, where)
    last = Tag("HEAD", "", now) if last_name == "HEAD" else _find_tag(known, last_name, where)
    commits = history.list_release(first.name, last.name)
    if not commits:
        message = f"There is no commit between {first.name} and {last.name}."
        raise NotFoundError(message, where=where, todo="Name the older tag first.")
    return Release(first.time + _SECOND, max(first.time, last.time) + _SECOND, frozenset(commits))


def _find_tag(known: dict[str, Tag], name: str, where: str) -> Tag:
    if name not in known:
        raise NotFoundError(f"There is no tag {name[:80]!r}.", where=where, todo="See `git tag`.")
    return known[name]
