"""The filters of a memory search, and the words a person types for them: `kind:pitfall tag:x is:archived`.

In the full-text index, filters are words that no text can contain, so that a filter costs as little as another word in
the query.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import get_args

from lerim.errors import Problem
from lerim.memory.lifecycle import Status
from lerim.memory.record import KINDS, LearningKind, MemoryRecord, Primitive
from lerim.memory.reference import DRIFT_STATES, DriftState, parse_reference, reference_text
from lerim.memory.views import source_parts
from lerim.times import TIME_EXAMPLES, parse_time

SEARCHED_PRIMITIVES: tuple[Primitive, ...] = tuple(one for one in get_args(Primitive) if one != "summary")
STATUSES: tuple[Status, ...] = get_args(Status)
_FACET_MARK = "\ue000"
"""A private-use character: the index treats it as a letter, and no word of a text or query contains it."""


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
        narrowed = _narrow(filters, found, now)
        if narrowed is not None:
            left.append(text[end : found.start()].strip())
            end = found.end()
            filters = narrowed
    left.append(text[end:].strip())
    return " ".join(filter(None, left)), replace(filters, statuses=filters.statuses or ("active",))


def find_wrong_filters(text: str) -> list[Problem]:
    """Returns a problem for each part of a query that looks like a filter but has a value that does not exist, with
    those that do."""
    now = datetime.now(UTC)
    return [
        Problem("usage", found[0], f"Unknown value: `{found['prefix']}:` takes {_FILTER_VALUES[found['prefix']]}.")
        for found in _FILTER_TERM.finditer(text)
        if found["prefix"] in _FILTER_VALUES and _value_of(found) and _narrow(EVERY_STATUS, found, now) is None
    ]


def _narrow(filters: MemoryFilters, found: re.Match[str], now: datetime) -> MemoryFilters | None:
    read, value = _FILTER_PARSERS.get(found["prefix"]), _value_of(found)
    try:
        return read(filters, value, now) if read and value else None
    except ValueError:  # not a time
        return None


def _value_of(found: re.Match[str]) -> str:
    value: str = found["plain"] if found["quoted"] is None else found["quoted"]
    return value.strip()


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


_FILTER_PARSERS: dict[str, Callable[[MemoryFilters, str, datetime], MemoryFilters | None]] = {
    "kind": _parse_kind,
    "tag": lambda filters, value, _: replace(filters, tags=(*filters.tags, value)),
    "file": lambda filters, value, _: replace(filters, files=(*filters.files, value)),
    "is": _parse_status,
    "since": lambda filters, value, now: replace(filters, since=parse_time(value, now)),
    "until": lambda filters, value, now: replace(filters, until=parse_time(value, now)),
    "by": lambda filters, value, _: replace(filters, session_prefix=value),
}

_FILTER_VALUES = {
    "kind": ", ".join((*SEARCHED_PRIMITIVES, *KINDS)),
    "is": ", ".join((*STATUSES, *DRIFT_STATES, "any")),
    "since": TIME_EXAMPLES,
    "until": TIME_EXAMPLES,
}


def facet_words(record: MemoryRecord, status: Status) -> str:
    """Returns the facets of a memory, each once: its status, primitive, kind, tags, and the places it refers to."""
    return " ".join(dict.fromkeys((_facet_word("status", status), *_record_facets(record))))


def change_status_facet(told: str, before: Status, after: Status) -> str:
    """Returns the facets of a memory after its status changed."""
    return told.replace(_facet_word("status", before), _facet_word("status", after), 1)


def facet_expressions(filters: MemoryFilters) -> list[str]:
    """Returns FTS5 expressions that must all match; an empty one matches nothing. There is none for active memories,
    which are found by their row numbers."""
    groups = []
    if set(filters.statuses) != set(STATUSES) and filters.statuses != ("active",):
        groups.append([_facet_word("status", status) for status in filters.statuses])
    what = [_facet_word("kind", kind) for kind in filters.kinds]
    what += [_facet_word("primitive", one) for one in filters.primitives if not (what and one == "learning")]
    if what:
        groups.append(what)
    groups += [[_facet_word("tag", tag.casefold())] for tag in filters.tags]
    if filters.files:
        named = filter(None, map(parse_reference, filters.files))
        groups.append([_facet_word("place", reference_text(reference)) for reference in named])
    return [" OR ".join(f'"{word}"' for word in group) for group in groups]


def referenced_places(record: MemoryRecord) -> Iterator[str]:
    """Yields each symbol and file a memory refers to, and the folders that contain them."""
    for reference in filter(None, map(parse_reference, record.references)):
        if reference.symbol:
            yield reference_text(reference)
        path = reference.path
        while path:
            yield path
            path = path.rpartition("/")[0]


def _record_facets(record: MemoryRecord) -> Iterable[str]:
    yield _facet_word("primitive", record.primitive)
    if record.kind and record.primitive == "learning":
        yield _facet_word("kind", record.kind)
    yield from (_facet_word("tag", tag.casefold()) for tag in record.tags)
    yield from (_facet_word("place", place) for place in referenced_places(record))


@lru_cache(maxsize=1024)  # many memories share the same few
def _facet_word(name: str, value: str) -> str:
    """Returns a facet as a word: a mark and digits, so that the index's stemmer does not shorten it."""
    digest = hashlib.blake2b(f"{name}\0{value}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return f"{_FACET_MARK}{int.from_bytes(digest, 'big')}"
