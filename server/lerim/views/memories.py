"""Memories as lists, search results and one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from lerim.errors import Problem, UsageError
from lerim.memory import (
    Drift,
    MemoryFilters,
    MemorySearch,
    MemoryView,
    ReportProgress,
    Scope,
    SentenceModel,
    StoredMemory,
    Uses,
    combine_filters,
    find_wrong_filters,
    is_match,
    load_all,
    memory_view,
    parse_memory_query,
    search_memories,
    with_current_status,
)
from lerim.review import FILE_PREFIX, ReviewPaths, ReviewResult, find_ending, load_memories_as_of
from lerim.sessions import agent_name
from lerim.views.drift import find_drifts
from lerim.views.projects import ProjectContext


class ShownMemoryOutput(MemoryView, frozen=True):
    """What `memory show --json` prints. For a memory that is no longer active, `ended` and `why` say when and why it
    ended; "" if this installation did not record it. `drifted_since` and `drift_detail` say how the code that it refers
    to has changed."""

    ended: str = ""
    why: str = ""
    drifted_since: str = ""
    drift_detail: str = ""
    problems: list[Problem] = msgspec.field(default_factory=list)


class AddedMemoryOutput(MemoryView, frozen=True):
    """What `memory add --json` prints: the memory, what was done, and the `action` that undoes it, which is null if a
    memory with the same words existed already."""

    message: str = ""
    action: str | None = None


class MemoryListOutput(msgspec.Struct, frozen=True):
    """What `memory list` and `memory search` print with `--json`. `by_meaning` has the ids of the memories that a
    search found by their meaning, `by_some_words` of those that lack some of its words."""

    memories: list[MemoryView]
    problems: list[Problem]
    by_meaning: list[str] = []
    by_some_words: list[str] = []


def list_memories(
    paths: ReviewPaths,
    filters: MemoryFilters,
    *,
    as_of: datetime | None = None,
    with_text: bool = True,
) -> MemoryListOutput:
    """Returns the memories that match, most recently changed first.

    With `as_of`, the memories are those of that moment, and their drift is left out. Without `with_text` the bodies,
    quotes and tags are left out, which saves searching them for secrets.
    """
    if as_of is None:
        stored, problems = load_all(paths.project, paths.home, paths.store())
        stored = with_current_status(stored)
    else:
        stored, problems = load_memories_as_of(paths.project, paths.home, as_of)
    memories = [memory for memory in stored if is_match(memory.record, memory.status, filters)]
    memories.sort(key=lambda memory: (memory.record.updated, memory.record.id), reverse=True)
    drifts = find_drifts(paths, memories, problems) if as_of is None else {}
    if not with_text:
        memories = [
            replace(memory, record=replace(memory.record, body="", evidence=(), tags=())) for memory in memories
        ]
    return MemoryListOutput(_make_views(paths, memories, drifts), problems)


def list_memory_page(
    paths: ReviewPaths, search: MemorySearch, filters: MemoryFilters, limit: int, offset: int
) -> MemoryListOutput:
    """Returns a page of the memories that match, most recently changed first: up to `limit` after the first `offset`.
    `search` is an open search of the project; memories changed in the same second may be in another order than in
    `list_memories`."""
    memories = search.list_newest(limit, filters, offset)
    problems = search.own_problems
    drifts = find_drifts(paths, memories, problems)
    return MemoryListOutput(_make_views(paths, memories, drifts), problems)


def find_memories(
    context: ProjectContext,
    words: str,
    filters: MemoryFilters,
    limit: int | None,
    *,
    has_statuses: bool,
    scan: bool = False,
    resolve_file: Callable[[str], tuple[str, ...]] = lambda name: (name,),
    search: MemorySearch | None = None,
    model: SentenceModel | None = None,
    report: ReportProgress = lambda done, total: None,
) -> MemoryListOutput:
    """Searches the project's memories and the personal ones, best match first.

    `words` may contain the editor's filters, such as `kind:pitfall`. `has_statuses` says that `filters` names statuses,
    which then count instead of those in `words`. `limit` None is the setting search.limit. `resolve_file` returns what
    a `file:` filter stands for. `search` is an open search of the project; by default, one is opened, which also takes
    a `model` to find more memories by meaning, and a `report` of reading new ones for it. Raises UsageError for a
    filter with a value that does not exist.
    """
    if wrong := find_wrong_filters(words):
        todo = "Correct it, or put a space after the colon to search for the words."
        raise UsageError(wrong[0].message, where=wrong[0].path, todo=todo)
    problems: list[Problem] = []
    query, query_filters = parse_memory_query(words)
    needs_all_drifts = bool(query_filters.drift_states)  # the filter only finds memories that were compared
    drifts = find_drifts(
        context.review_paths,
        with_current_status(context.review_paths.store().load_all()[0]) if needs_all_drifts else (),
        problems,
    )
    files = tuple(name for one in query_filters.files for name in resolve_file(one))
    query_filters = replace(query_filters, files=files)
    combined = combine_filters(query_filters, filters, statuses=has_statuses)
    most = limit or context.settings.search_limit
    if search is None:
        hits = search_memories(
            None if context.project.is_personal else context.project,
            context.home,
            query,
            most,
            filters=combined,
            scan=scan,
            problems=problems,
            rules=context.settings.maintenance_rules,
            model=model,
            report=report,
        )
    else:
        hits = search.search(query, most, combined)
        problems += search.problems
    if not needs_all_drifts:
        drifts |= find_drifts(context.review_paths, [hit.stored for hit in hits if hit.scope == "project"], problems)
    views = [make_memory_view(hit.stored, hit.scope, drifts) for hit in hits]
    by_meaning = [hit.record.id for hit in hits if hit.by_meaning]
    by_some_words = [hit.record.id for hit in hits if not (hit.by_meaning or hit.has_every_word)]
    return MemoryListOutput(views, problems, by_meaning, by_some_words)


def load_memory(paths: ReviewPaths, name: str, search: MemorySearch | None = None) -> ShownMemoryOutput:
    """Returns a memory by its id. Opening it counts as a use. `search` is an open search of the project; with it,
    the other memories need not be read.

    Raises NotFoundError and MemoryError_.
    """
    stored = paths.store().load_by_id(name)
    if stored.status == "active":  # other memories may supersede or resolve it
        if search is None:
            all_memories = with_current_status(load_all(paths.project, paths.home, paths.store())[0])
            stored = next((one for one in all_memories if one.path == stored.path), stored)
        else:
            stored = search.with_shown_status(stored)
    problems: list[Problem] = []
    drifts = find_drifts(paths, [stored], problems)
    view = make_memory_view(stored, "global" if paths.project.is_personal else "project", drifts)
    drift = drifts.get(stored.record.id) if view.drift else None
    ending = find_ending(paths, stored)
    uses = Uses(paths.private)
    uses.record_use([stored.record.id], "opened", datetime.now(UTC))
    return ShownMemoryOutput(
        **msgspec.structs.asdict(view),
        ended=ending.time,
        why=ending.why,
        drifted_since=drift.since if drift else "",
        drift_detail=drift.detail if drift else "",
        problems=[*problems, *uses.problems],
    )


def load_added_memory(paths: ReviewPaths, result: ReviewResult) -> AddedMemoryOutput:
    """Returns the memory that a person wrote with this `result`. Raises MemoryError_."""
    stored = paths.store().load(Path(result.path or ""))[0]
    view = memory_view(stored, "global" if paths.project.is_personal else "project")
    return AddedMemoryOutput(**msgspec.structs.asdict(view), message=result.message, action=result.action)


def _make_views(paths: ReviewPaths, memories: Sequence[StoredMemory], drifts: Mapping[str, Drift]) -> list[MemoryView]:
    scope: Scope = "global" if paths.project.is_personal else "project"
    return [make_memory_view(memory, scope, drifts) for memory in memories]


def make_memory_view(stored: StoredMemory, scope: Scope, drifts: Mapping[str, Drift]) -> MemoryView:
    """Returns a memory for display, with its drift if `drifts` has it."""
    drift = drifts.get(stored.record.id) if scope == "project" and stored.status == "active" else None
    return memory_view(stored, scope, drift.state if drift else "unknown")


def describe_source(memory: MemoryView) -> str:
    """Returns where a memory comes from: a session, a file, an agent that proposed it, or a person's hand."""
    match memory.platform:
        case "":
            return "written by hand"
        case "agent":
            return f"proposed by {memory.session}"
        case "file":
            return f"found in {memory.source.removeprefix(FILE_PREFIX).replace('#L', ', line ')}"
        case platform:
            return f"{agent_name(platform)} session {memory.session}"
