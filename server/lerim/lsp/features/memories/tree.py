"""The Memories view: what waits, then the memories by primitive, by file or by freshness, some rows an answer.

Rows come from what the sidecar holds; only memories that are over are read from their files, a page at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, get_args

from lerim.errors import LerimError, Problem
from lerim.lsp.features.memories.memory_rows import TreeGroup, TreeMemory, TreeProposal, TreeView
from lerim.lsp.protocol import By, TreeParams
from lerim.lsp.window import HandleTarget, Repo, Sidecar, pending
from lerim.memory import MemoryEntry, Primitive, Scope, format_time
from lerim.redaction import redact_secrets

if TYPE_CHECKING:
    from lerim.memory import Drift, MemoryFile, Store

PAGE = 200
"""Rows in one answer: ten thousand memories must not make the view stutter, nor a hover wait."""
STANDINGS = ("gone", "drifted", "unknown", "fresh")
KINDS = ("primitive", "standing", "file", "loose")
GroupKind = Literal["primitive", "standing", "file", "loose"]
TreeGroupKey = tuple[GroupKind, str]
ScopedEntry = tuple[Scope, MemoryEntry]


async def list_tree_rows(sidecar: Sidecar, params: TreeParams) -> TreeView:
    """The rows below one node. Nothing of what waits is shown in Restricted Mode."""
    repo = None if params.root is None else await sidecar.repo(params.root)
    return await sidecar.run(_below, sidecar, repo, params.by, params.node, max(0, params.start))


def _below(sidecar: Sidecar, repo: Repo | None, by: By, node: str, start: int) -> TreeView:
    if node == "":
        groups = list(_top(sidecar, repo, by))
        return TreeView(groups[start : start + PAGE], [], [], [], len(groups))
    if node == "waiting":
        proposals = _proposals(sidecar, repo)
        return TreeView([], proposals[start : start + PAGE], [], [], len(proposals))
    if node == "problems":
        problems = _problems(repo)
        return TreeView([], [], [], problems[start : start + PAGE], len(problems))
    if node == "ended":
        over = _ended(sidecar, repo)
        shown = [row for store, found in over[start : start + PAGE] for row in _over(sidecar, repo, store, found)]
        return TreeView([], [], shown, [], len(over))
    states = repo.standings.by_id if repo is not None else {}
    kind, _, name = node.partition(":")
    within = [one for one in _own(sidecar, repo) if (kind, name) in _groups_of(by, one, states)]
    within.sort(key=lambda one: (one[1].created, one[1].name), reverse=True)
    rows = [_row(sidecar, repo, scope, entry, states) for scope, entry in within[start : start + PAGE]]
    return TreeView([], [], rows, [], len(within))


def _top(sidecar: Sidecar, repo: Repo | None, by: By) -> Iterator[TreeGroup]:
    waiting = pending.count_candidates(sidecar, repo) if repo is not None else 0
    if waiting:
        yield TreeGroup("waiting", "waiting", "", waiting)
    if problems := _problems(repo):
        yield TreeGroup("problems", "problems", "", len(problems))
    states = repo.standings.by_id if repo is not None else {}
    counts = Counter(group for one in _own(sidecar, repo) for group in _groups_of(by, one, states))
    for kind, name in sorted(counts, key=_place):
        yield TreeGroup(f"{kind}:{name}", kind, name, counts[kind, name])
    if over := len(_ended(sidecar, repo)):
        yield TreeGroup("ended", "ended", "", over)


def _place(group: TreeGroupKey) -> tuple[int, int, str]:
    kind, name = group
    order: Sequence[str] = get_args(Primitive) if kind == "primitive" else STANDINGS if kind == "standing" else ()
    return KINDS.index(kind), order.index(name) if name in order else 0, name


def _own(sidecar: Sidecar, repo: Repo | None) -> list[ScopedEntry]:
    own: list[ScopedEntry] = [("project", entry) for entry in (repo.references.entries if repo else ())]
    return [*own, *(("global", entry) for entry in sidecar.repos.personal())]


def _groups_of(by: By, one: ScopedEntry, states: Mapping[str, Drift]) -> set[TreeGroupKey]:
    scope, entry = one
    if by == "primitive":
        return {("primitive", entry.primitive)}
    if scope == "global" or not entry.references:
        return {("loose", "")}
    if by == "file":
        return {("file", reference.path) for reference in entry.references}
    return {("standing", _state(entry, states.get(entry.id)))}


def _state(entry: MemoryEntry, standing: Drift | None) -> str:
    """Of what is held only that which is not fresh; what was never compared has no date."""
    return standing.state if standing is not None else "fresh" if entry.verified else "unknown"


def _row(
    sidecar: Sidecar, repo: Repo | None, scope: Scope, entry: MemoryEntry, states: Mapping[str, Drift]
) -> TreeMemory:
    handles = sidecar.handles
    if repo is not None and scope == "project":
        handle, standing = handles.name(HandleTarget(repo.project.root, entry.id)), states.get(entry.id)
    else:
        handle, standing = handles.remember(HandleTarget(sidecar.home.root, entry.id)), None
    compared = scope == "project" and entry.references
    return TreeMemory(
        id=entry.id,
        handle=handle,
        primitive=entry.primitive,
        kind=entry.kind,
        title=redact_secrets(entry.title).text,
        confidence=entry.confidence,
        created=format_time(entry.created),
        scope=scope,
        status="active",
        standing=_state(entry, standing) if compared else "",
        detail=redact_secrets(_told(standing)).text if standing else "",
        path=str(entry.path),
    )


def _told(standing: Drift) -> str:
    what = standing.detail or standing.reference
    return f"{what} → {standing.moved_to}" if standing.moved_to else what


def _problems(repo: Repo | None) -> list[Problem]:
    return repo.references.problems if repo is not None else []


def _proposals(sidecar: Sidecar, repo: Repo | None) -> list[TreeProposal]:
    if repo is None or not sidecar.options.trusted:
        return []
    from lerim.memory import redact_record
    from lerim.review import queue

    return [
        TreeProposal(
            id=one.id,
            action=one.action,
            primitive=one.record.primitive,
            kind=one.record.kind,
            title=redact_record(one.record).title,
            reason=redact_secrets(one.reason).text,
            scope="global" if where.project.is_personal else "project",
        )
        for where in pending.find_shown_review_paths(sidecar, repo)
        for one in queue.list_pending(where)[0]
    ]


def _ended(sidecar: Sidecar, repo: Repo | None) -> list[tuple[Store, MemoryFile]]:
    """The files of memories that are over, newest first."""
    from lerim.lsp.features.memories.views import personal_store

    stores = [*([repo.store] if repo is not None else []), personal_store(sidecar)]
    over = [(store, found) for store in stores for found in store.find_files(archived=True)[0] if found.is_archived]
    return sorted(over, key=lambda one: one[1].path.name, reverse=True)


def _over(sidecar: Sidecar, repo: Repo | None, store: Store, found: MemoryFile) -> Iterable[TreeMemory]:
    """The row of a memory that is over; none of one that is gone or cannot be read."""
    from lerim.memory import memory_view

    try:
        stored = store.load_file(found)[0]
    except LerimError:
        return
    own = repo is not None and store is repo.store
    view = memory_view(stored, "project" if own else "global")
    root = repo.project.root if repo is not None and own else sidecar.home.root
    yield TreeMemory(
        id=view.id,
        handle=sidecar.handles.remember(HandleTarget(root, view.id)),
        primitive=view.primitive,
        kind=view.kind,
        title=view.title,
        confidence=view.confidence,
        created=view.created,
        scope=view.scope,
        status=view.status,
        standing="",
        detail=stored.record.superseded_by or stored.record.resolved_by,
        path=view.path,
    )
