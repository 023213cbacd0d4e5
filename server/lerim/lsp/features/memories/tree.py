"""The Memories view: candidates, then memories by primitive, file or freshness, one page of rows per answer.

Rows come from the reference map. Only ended memories are read from their files, one page at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, get_args

import msgspec

from lerim.errors import LerimError, Problem
from lerim.lsp.features.memories import loading
from lerim.lsp.protocol import MemoryGrouping, TreeParams
from lerim.lsp.window import HandleTarget, Repo, Sidecar, candidate_counts, uses
from lerim.memory import MemoryEntry, Primitive, Scope
from lerim.project import PERSONAL_KEY
from lerim.redaction import redact_secrets
from lerim.times import format_utc

if TYPE_CHECKING:
    from lerim.memory import Drift, MemoryFile, Store

PAGE_ROWS = 200
"""Rows per answer: ten thousand memories must not make the view slow or delay a hover."""
DRIFT_ORDER = ("gone", "drifted", "unknown", "fresh")
GROUP_KINDS = ("primitive", "drift", "file", "loose")
GroupKind = Literal["primitive", "drift", "file", "loose"]
TreeGroupKey = tuple[GroupKind, str]
ScopedEntry = tuple[Scope, MemoryEntry]


class TreeGroup(msgspec.Struct, frozen=True):
    """A row with children: `node` identifies it in the next request, `name` is its file path, primitive and so on."""

    node: str
    kind: Literal["waiting", "problems", "primitive", "file", "loose", "drift", "ended"]
    name: str
    count: int


class TreeProposal(msgspec.Struct, frozen=True):
    """A candidate as a row shows it."""

    id: str
    action: str
    primitive: Primitive
    kind: str | None
    title: str
    reason: str
    scope: Scope


class TreeMemory(msgspec.Struct, frozen=True):
    """A memory as a row shows it. `drift` is "fresh", "drifted", "gone" or "unknown"; `detail` explains it. `called` is
    "wrong" or "outdated" if the person has called it so and did nothing to keep it since, else ""."""

    id: str
    handle: str
    primitive: Primitive
    kind: str | None
    title: str
    confidence: float
    created: str
    scope: Scope
    status: str
    drift: str
    detail: str
    path: str
    called: str


class TreeView(msgspec.Struct, frozen=True):
    """One page of rows of the Memories view, in this order; `total` counts all rows of the node."""

    groups: list[TreeGroup]
    proposals: list[TreeProposal]
    memories: list[TreeMemory]
    problems: list[Problem]
    total: int


async def list_tree_rows(sidecar: Sidecar, params: TreeParams) -> TreeView:
    """Lists the rows below one node. Candidates are not listed in Restricted Mode."""
    repo = None if params.root is None else await sidecar.find_repo(params.root)
    return await sidecar.run_in_thread(_list_rows, sidecar, repo, params.by, params.node, max(0, params.start))


def _list_rows(sidecar: Sidecar, repo: Repo | None, by: MemoryGrouping, node: str, start: int) -> TreeView:
    if node == "":
        groups = list(_list_groups(sidecar, repo, by))
        return TreeView(groups[start : start + PAGE_ROWS], [], [], [], len(groups))
    if node == "waiting":
        proposals = _list_proposals(sidecar, repo)
        return TreeView([], proposals[start : start + PAGE_ROWS], [], [], len(proposals))
    if node == "problems":
        problems = _list_problems(repo) if repo is not None else []
        return TreeView([], [], [], problems[start : start + PAGE_ROWS], len(problems))
    if node == "ended":
        ended = _list_ended(sidecar, repo)
        shown = [_make_ended_row(sidecar, repo, *one) for one in ended[start : start + PAGE_ROWS]]
        return TreeView([], [], [row for row in shown if row is not None], [], len(ended))
    drift_by_id = repo.drift.by_id if repo is not None else {}
    kind, _, name = node.partition(":")
    group_entries = [
        scoped_entry
        for scoped_entry in _list_entries(sidecar, repo)
        if (kind, name) in _find_groups(by, scoped_entry, drift_by_id)
    ]
    group_entries.sort(key=lambda scoped_entry: (scoped_entry[1].created, scoped_entry[1].name), reverse=True)
    unwanted = _find_unwanted(sidecar, repo)
    rows = [
        _make_row(sidecar, repo, scope, entry, drift_by_id, unwanted.get((scope, entry.id), ""))
        for scope, entry in group_entries[start : start + PAGE_ROWS]
    ]
    return TreeView([], [], rows, [], len(group_entries))


def _list_groups(sidecar: Sidecar, repo: Repo | None, by: MemoryGrouping) -> Iterator[TreeGroup]:
    waiting = candidate_counts.count_candidates(sidecar, repo) if repo is not None else 0
    if waiting:
        yield TreeGroup("waiting", "waiting", "", waiting)
    if repo is not None and (problems := _list_problems(repo)):
        yield TreeGroup("problems", "problems", "", len(problems))
    drift_by_id = repo.drift.by_id if repo is not None else {}
    counts = Counter(
        group for scoped_entry in _list_entries(sidecar, repo) for group in _find_groups(by, scoped_entry, drift_by_id)
    )
    for kind, name in sorted(counts, key=_group_order):
        yield TreeGroup(f"{kind}:{name}", kind, name, counts[kind, name])
    if ended := len(_list_ended(sidecar, repo)):
        yield TreeGroup("ended", "ended", "", ended)


def _list_problems(repo: Repo) -> list[Problem]:
    """Returns what is wrong with the repository's memory files, and after that the references that lead nowhere."""
    gone = [(memory, one) for memory, drifts in repo.drift.all_by_id.items() for one in drifts if one.state == "gone"]
    paths = {entry.id: str(entry.path) for entry in repo.references.entries} if gone else {}
    missing = [
        Problem("reference-gone", paths[memory], redact_secrets(f"{_show_missing(drift.reference)}.").text)
        for memory, drift in gone
        if memory in paths
    ]
    return [*repo.references.problems, *sorted(missing, key=lambda one: one.path, reverse=True)]


def _show_missing(reference: str) -> str:
    path, _, symbol = reference.partition("#")
    return f"{symbol} was not found in {path}" if symbol else f"{path} was not found"


def _group_order(group: TreeGroupKey) -> tuple[int, int, str]:
    kind, name = group
    order: Sequence[str] = get_args(Primitive) if kind == "primitive" else DRIFT_ORDER if kind == "drift" else ()
    return GROUP_KINDS.index(kind), order.index(name) if name in order else 0, name


def _list_entries(sidecar: Sidecar, repo: Repo | None) -> list[ScopedEntry]:
    entries: list[ScopedEntry] = [("project", entry) for entry in (repo.references.entries if repo else ())]
    return [*entries, *(("global", entry) for entry in sidecar.repos.list_personal_memories())]


def _find_groups(by: MemoryGrouping, scoped_entry: ScopedEntry, drift_by_id: Mapping[str, Drift]) -> set[TreeGroupKey]:
    scope, entry = scoped_entry
    if by == "primitive":
        return {("primitive", entry.primitive)}
    if scope == "global" or not entry.references:
        return {("loose", "")}
    if by == "file":
        return {("file", reference.path) for reference in entry.references}
    return {("drift", _drift_state(entry, drift_by_id.get(entry.id)))}


def _find_unwanted(sidecar: Sidecar, repo: Repo | None) -> dict[tuple[Scope, str], str]:
    """Returns what the person has called wrong or outdated, by scope and id."""
    keys: list[tuple[Scope, str]] = [("global", PERSONAL_KEY)]
    keys += [("project", repo.project.key)] if repo is not None else []
    found = ((scope, uses.find_unwanted(sidecar, key)) for scope, key in keys)
    return {(scope, memory): called for scope, some in found for memory, called in some.items()}


def _drift_state(entry: MemoryEntry, drift: Drift | None) -> str:
    """Returns the drift of a memory. Only drift that is not fresh is kept; a memory never checked has no `verified`
    date."""
    return drift.state if drift is not None else "fresh" if entry.verified else "unknown"


def _make_row(
    sidecar: Sidecar, repo: Repo | None, scope: Scope, entry: MemoryEntry, drift_by_id: Mapping[str, Drift], called: str
) -> TreeMemory:
    handles = sidecar.handles
    if repo is not None and scope == "project":
        handle, drift = handles.make_handle(HandleTarget(repo.project.root, entry.id)), drift_by_id.get(entry.id)
    else:
        handle, drift = handles.remember(HandleTarget(sidecar.home.root, entry.id)), None
    compared = scope == "project" and entry.references
    return TreeMemory(
        id=entry.id,
        handle=handle,
        primitive=entry.primitive,
        kind=entry.kind,
        title=redact_secrets(entry.title).text,
        confidence=entry.confidence,
        created=format_utc(entry.created),
        scope=scope,
        status="active",
        drift=_drift_state(entry, drift) if compared else "",
        detail=redact_secrets(_describe_drift(drift)).text if drift else "",
        path=str(entry.path),
        called=called,
    )


def _describe_drift(drift: Drift) -> str:
    what = drift.detail or drift.reference
    return f"{what} → {drift.moved_to}" if drift.moved_to else what


def _list_proposals(sidecar: Sidecar, repo: Repo | None) -> list[TreeProposal]:
    if repo is None or not sidecar.options.trusted:
        return []
    from lerim.memory import redact_record
    from lerim.review import queue

    places = candidate_counts.find_shown_review_paths(sidecar, repo)
    found = [(where, proposal) for where in places for proposal in queue.list_pending(where)[0]]
    found.sort(key=lambda one: one[1].review_rank)  # as in the review panel
    return [
        TreeProposal(
            id=proposal.id,
            action=proposal.action,
            primitive=proposal.record.primitive,
            kind=proposal.record.kind,
            title=redact_record(proposal.record).title,
            reason=redact_secrets(proposal.reason).text,
            scope="global" if where.project.is_personal else "project",
        )
        for where, proposal in found
    ]


def _list_ended(sidecar: Sidecar, repo: Repo | None) -> list[tuple[Store, MemoryFile]]:
    """Returns the files of ended memories, newest first."""
    stores = [*([repo.store] if repo is not None else []), loading.personal_store(sidecar)]
    ended = [(store, found) for store in stores for found in store.find_files(archived=True)[0] if found.is_archived]
    return sorted(ended, key=lambda one: one[1].path.name, reverse=True)


def _make_ended_row(sidecar: Sidecar, repo: Repo | None, store: Store, found: MemoryFile) -> TreeMemory | None:
    try:
        stored = store.load_file(found)[0]
    except LerimError:
        return None
    view = loading.make_memory_view(sidecar, repo if repo is not None and store is repo.store else None, stored)
    return TreeMemory(
        id=view.id,
        handle=view.handle,
        primitive=view.primitive,
        kind=view.kind,
        title=view.title,
        confidence=view.confidence,
        created=view.created,
        scope=view.scope,
        status=view.status,
        drift="",
        detail=stored.record.superseded_by or stored.record.resolved_by,
        path=view.path,
        called="",
    )
