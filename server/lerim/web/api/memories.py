"""Memories: lists, search, one memory."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

import msgspec

from lerim.errors import UsageError
from lerim.memory import STATUSES, LearningKind, MemoryFilters, parse_reference
from lerim.review import ReviewPaths
from lerim.times import end_of_day, parse_time
from lerim.views import (
    MemoryListOutput,
    ShownMemoryOutput,
    find_memories,
    list_memories,
    list_memory_page,
    load_memory,
    match_referenced_files,
)
from lerim.web.api.operations import Call, Limit, Offset, Operation

PrimitiveName = Literal["decision", "learning", "question", "theme"]
StatusName = Literal["active", "superseded", "resolved", "archived", "any"]
ShortText = Annotated[str, msgspec.Meta(max_length=1000)]


class MemoryFilterQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The same filters as of `lerim memory list`. `since` and `until` are times such as `30d` or `2026-07-01`."""

    primitive: list[PrimitiveName] = []
    kind: list[LearningKind] = []
    tag: list[ShortText] = []
    file: ShortText = ""
    status: list[StatusName] = []
    since: ShortText = ""
    until: ShortText = ""


class MemoryQuery(MemoryFilterQuery, frozen=True, kw_only=True):
    """Which memories to list. `all` is all of them at once, read from their files. `as_of` is a day such as
    `2026-07-01`: all memories as they were at its end. `brief` leaves bodies, quotes and tags out of a list of all."""

    limit: Limit = 100
    offset: Offset = 0
    all: bool = False
    as_of: ShortText = ""
    brief: bool = False


class MemorySearchQuery(MemoryFilterQuery, frozen=True, kw_only=True):
    """What to search for: words, which may contain filters such as `kind:pitfall`, and the filters of the list."""

    q: ShortText
    limit: Limit | None = None


def list_project_memories(call: Call, query: MemoryQuery) -> MemoryListOutput:
    """Returns the memories of a project, most recently changed first."""
    paths = call.review_paths()
    filters = _make_filters(paths, query)
    moment = parse_query_time(query.as_of, "as_of")
    if moment or query.all:
        return list_memories(paths, filters, as_of=end_of_day(moment) if moment else None, with_text=not query.brief)
    with call.use_search(paths) as search:
        return list_memory_page(paths, search, filters, query.limit, query.offset)


def search_project_memories(call: Call, query: MemorySearchQuery) -> MemoryListOutput:
    """Returns the project's and your personal memories that match, best first."""
    context = call.context()
    paths = context.review_paths
    filters = _make_filters(paths, query)
    with call.use_search(paths) as search:
        return find_memories(
            context,
            query.q,
            filters,
            query.limit,
            has_statuses=bool(query.status),
            resolve_file=lambda name: resolve_file(paths, name),
            search=search,
        )


def show_memory(call: Call) -> ShownMemoryOutput:
    """Returns one memory. Opening it counts as a use."""
    paths = call.review_paths()
    with call.use_search(paths) as search:
        return load_memory(paths, call.path["memory"], search)


def _make_filters(paths: ReviewPaths, query: MemoryFilterQuery) -> MemoryFilters:
    return MemoryFilters(
        primitives=tuple(query.primitive),
        kinds=tuple(query.kind),
        tags=tuple(query.tag),
        files=resolve_file(paths, query.file) if query.file else (),
        statuses=STATUSES
        if "any" in query.status
        else tuple(one for one in STATUSES if one in query.status) or ("active",),
        since=parse_query_time(query.since, "since"),
        until=parse_query_time(query.until, "until"),
    )


def resolve_file(paths: ReviewPaths, name: str) -> tuple[str, ...]:
    """Returns what a file filter selects. Raises UsageError for a path outside the repository."""
    reference = parse_reference(name)
    if paths.project.is_personal or reference is None:
        todo = "Name a file or folder of the repository, the end of its path, or its name."
        raise UsageError("This is not a file of a repository.", where="file", todo=todo)
    return match_referenced_files(paths, reference)


def parse_query_time(text: str, name: str) -> datetime | None:
    """Parses a time of a query; None if it is empty. Raises UsageError."""
    if not text:
        return None
    try:
        return parse_time(text, datetime.now(UTC))
    except ValueError as error:
        raise UsageError(f"{error}.", where=name) from error


operations = [
    Operation("GET", "/projects/{project}/memories", "List memories", list_project_memories),
    Operation("GET", "/projects/{project}/memories/search", "Search memories", search_project_memories),
    Operation("GET", "/projects/{project}/memories/{memory}", "Show a memory", show_memory),
]
