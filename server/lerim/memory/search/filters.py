"""The filters of a memory search, and the words a person types for them: `kind:pitfall tag:x is:archived`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import get_args

from lerim.memory.lifecycle import Status
from lerim.memory.record import KINDS, LearningKind, MemoryRecord, Primitive
from lerim.memory.reference import DRIFT_STATES, DriftState, parse_reference
from lerim.memory.views import source_parts
from lerim.times import parse_time

SEARCHED_PRIMITIVES: tuple[Primitive, ...] = ("decision", "learning", "question", "theme")
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True, slots=True)
class MemoryFilters:
    """Which memories count. Several primitives, kinds, statuses or drift states widen the search; several tags
    narrow it.

    `kinds` narrow only the learnings: other `primitives` that are given stay. `files` are paths from the repository's
    root: memories match that refer to one of them, to a symbol in it, or to anything below it if it is a folder.
    `since` and `until` (excluded) bound when a memory was last changed, in whole seconds. `session_prefix` is the
    beginning of the id of its session. Without `drift_states`, the drift of its references does not matter.
    """

    primitives: tuple[Primitive, ...] = ()
    kinds: tuple[LearningKind, ...] = ()
    tags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    statuses: tuple[Status, ...] = ("active",)
    since: datetime | None = None
    until: datetime | None = None
    session_prefix: str = ""
    drift_states: tuple[DriftState, ...] = ()


def is_match(record: MemoryRecord, status: Status, filters: MemoryFilters) -> bool:
    """Returns whether a memory matches the filters, except for `drift_states`."""
    session = source_parts(record.source)[1]
    return (
        status in filters.statuses
        and _is_of_wanted_kind(record, filters)
        and {tag.casefold() for tag in filters.tags} <= {tag.casefold() for tag in record.tags}
        and (not filters.files or any(_refers_to(record, file) for file in filters.files))
        and (filters.since is None or record.updated >= filters.since.replace(microsecond=0))
        and (filters.until is None or record.updated < filters.until.replace(microsecond=0))
        and session.startswith(filters.session_prefix)
    )


def _is_of_wanted_kind(record: MemoryRecord, filters: MemoryFilters) -> bool:
    if not (filters.primitives or filters.kinds):
        return True
    if record.primitive == "learning" and filters.kinds:
        return record.kind in filters.kinds
    return record.primitive in filters.primitives


def _refers_to(record: MemoryRecord, file: str) -> bool:
    wanted = parse_reference(file)
    found = [reference for text in record.references if (reference := parse_reference(text))]
    if wanted is None or wanted.symbol:
        return wanted in found if wanted else False
    return any(one.path == wanted.path or one.path.startswith(f"{wanted.path}/") for one in found)


EVERY_STATUS = MemoryFilters(statuses=STATUSES)
_FILTER_TERM = re.compile(r'(?<!\S)(?P<prefix>[a-z]+):(?:"(?P<quoted>[^"]*)"|(?P<plain>\S+))(?!\S)')


def parse_memory_query(text: str, now: datetime | None = None) -> tuple[str, MemoryFilters]:
    """Splits a query into its words and its filters: `kind:`, `tag:`, `file:`, `is:`, `since:`, `until:` and `by:`.

    A value with spaces must be quoted. A filter with an unknown prefix or an invalid value stays among the words.
    `is:archived` and the other statuses replace the default, active; `is:any` stands for all statuses. `is:drifted` and
    the other drift states narrow the search within these statuses.
    """
    now = now or datetime.now(UTC)
    filters = MemoryFilters(statuses=())
    left: list[str] = []
    end = 0
    for found in _FILTER_TERM.finditer(text):
        value = found["plain"] if found["quoted"] is None else found["quoted"]
        read = _FILTER_PARSERS.get(found["prefix"])
        narrowed = read(filters, value.strip(), now) if read and value.strip() else None
        if narrowed is not None:
            left.append(text[end : found.start()].strip())
            end = found.end()
            filters = narrowed
    left.append(text[end:].strip())
    return " ".join(filter(None, left)), replace(filters, statuses=filters.statuses or ("active",))


def combine_filters(typed: MemoryFilters, given: MemoryFilters, *, statuses: bool) -> MemoryFilters:
    """Merges the filters typed in a query with those given as options: primitives, kinds and tags are joined. Options
    replace typed files and times, and typed statuses if `statuses` is set."""
    return replace(
        typed,
        primitives=(*typed.primitives, *given.primitives),
        kinds=(*typed.kinds, *given.kinds),
        tags=(*typed.tags, *given.tags),
        files=given.files or typed.files,
        statuses=given.statuses if statuses else typed.statuses,
        since=given.since or typed.since,
        until=given.until or typed.until,
    )


def _parse_kind(filters: MemoryFilters, value: str, _: datetime) -> MemoryFilters | None:
    for primitive in SEARCHED_PRIMITIVES:
        if value.lower() in (primitive, f"{primitive}s"):
            return replace(filters, primitives=(*filters.primitives, primitive))
    for kind in KINDS:
        if value.lower() in (kind, f"{kind}s"):
            return replace(filters, kinds=(*filters.kinds, kind))
    return None


def _parse_status(filters: MemoryFilters, value: str, _: datetime) -> MemoryFilters | None:
    if value.lower() in ("any", "all"):
        return replace(filters, statuses=STATUSES)
    for status in STATUSES:
        if value.lower() == status:
            return replace(filters, statuses=(*filters.statuses, status))
    for state in DRIFT_STATES:
        if value.lower() == state:
            return replace(filters, drift_states=(*filters.drift_states, state))
    return None


def _parse_since(filters: MemoryFilters, value: str, now: datetime) -> MemoryFilters | None:
    at = _parse_moment(value, now)
    return replace(filters, since=at) if at else None


def _parse_until(filters: MemoryFilters, value: str, now: datetime) -> MemoryFilters | None:
    at = _parse_moment(value, now)
    return replace(filters, until=at) if at else None


def _parse_moment(value: str, now: datetime) -> datetime | None:
    try:
        return parse_time(value, now)
    except ValueError:
        return None


_FILTER_PARSERS: dict[str, Callable[[MemoryFilters, str, datetime], MemoryFilters | None]] = {
    "kind": _parse_kind,
    "tag": lambda filters, value, _: replace(filters, tags=(*filters.tags, value)),
    "file": lambda filters, value, _: replace(filters, files=(*filters.files, value)),
    "is": _parse_status,
    "since": _parse_since,
    "until": _parse_until,
    "by": lambda filters, value, _: replace(filters, session_prefix=value),
}
