"""Accepted memories for the editor: read from their files, as hovers and as `MemoryView`s."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from lerim.errors import MemoryError_, NotFoundError
from lerim.lsp.handles import MemoryHandle, TurnHandle
from lerim.lsp.hovers import Shown
from lerim.lsp.protocol import FileParams, SearchParams, ShowParams
from lerim.lsp.repos import Repo
from lerim.lsp.sidecar import Sidecar
from lerim.memory.record import MemoryRecord, Scope
from lerim.memory.store import Store, Stored
from lerim.memory.views import MemoryView, memory_view, source_parts

if TYPE_CHECKING:
    from lerim.memory.search import Hit

MAX_RESULTS = 200
MAX_QUERY = 1000
Message = dict[str, object]


async def search(sidecar: Sidecar, params: SearchParams) -> Message:
    """The memories that match a query, best first; of every repository of the window where no root is given."""
    limit = max(1, min(params.limit, MAX_RESULTS))
    repos = [await sidecar.repo(params.root)] if params.root is not None else await sidecar.repos.load()
    found: dict[Path, tuple[Repo, Hit]] = {}
    for repo in repos:
        for hit in await sidecar.run(_search, sidecar, repo, params.query[:MAX_QUERY], limit):
            found.setdefault(hit.stored.path, (repo, hit))
    hits = list(found.values())
    if len(repos) > 1:
        hits.sort(key=lambda one: one[1].score)
    return {"memories": [view(sidecar, repo, hit.stored, hit.scope) for repo, hit in hits[:limit]]}


async def show(sidecar: Sidecar, params: ShowParams) -> MemoryView:
    """One memory by its handle. Raises NotFoundError."""
    meant = sidecar.handles.memory(params.id)
    if meant.root == sidecar.home.root:
        stored = await sidecar.run(_global(sidecar).read, meant.id)
        return view(sidecar, None, stored, "global")
    repo = next((repo for repo in sidecar.repos.known if repo.project.root == meant.root), None)
    if repo is None:
        raise NotFoundError("This memory's repository is no longer open.", where=str(meant.root))
    return view(sidecar, repo, await sidecar.run(repo.store.read, meant.id))


async def for_file(sidecar: Sidecar, params: FileParams) -> Message:
    """Every memory that refers to a file."""
    place = await sidecar.repos.place(params.uri)
    if place is None:
        return {"memories": []}
    paths = [entry.path for entry in place.repo.references.for_file(place.path)][:MAX_RESULTS]
    stored = await sidecar.run(load, place.repo, paths)
    return {"memories": [view(sidecar, place.repo, one) for one in stored]}


def load(repo: Repo, paths: Iterable[Path]) -> list[Stored]:
    """The memories in these files; one that is gone or broken since is left out (diagnostics show it)."""
    found: list[Stored] = []
    for path in paths:
        kept = repo.cache.get(path)
        if kept is None:
            try:
                kept = repo.store.load(path)[0]
            except MemoryError_:
                continue
            repo.keep(path, kept)
        found.append(kept)
    return found


def shown(sidecar: Sidecar, repo: Repo, stored: Sequence[Stored]) -> list[Shown]:
    """The memories with the handles a hover's links need."""
    return [
        Shown(one.record, handle(sidecar, repo, one.record), turn_handle(sidecar, repo, one.record)) for one in stored
    ]


def handle(sidecar: Sidecar, repo: Repo, record: MemoryRecord) -> str:
    """The opaque handle of a memory."""
    return sidecar.handles.give(MemoryHandle(repo.project.root, record.id))


def turn_handle(sidecar: Sidecar, repo: Repo, record: MemoryRecord) -> str:
    """The opaque handle of the turn a memory rests on; "" for one made by hand."""
    _, session, turn = source_parts(record.source)
    turn = next((evidence.turn for evidence in record.evidence if evidence.quote), turn)
    return sidecar.handles.give(TurnHandle(repo.project.root, session, turn)) if session and turn else ""


def view(sidecar: Sidecar, repo: Repo | None, stored: Stored, scope: Scope = "project") -> MemoryView:
    """A memory for the editor, with a handle of this process; `repo` matters for one of a project."""
    root = sidecar.home.root if repo is None or scope == "global" else repo.project.root
    given = sidecar.handles.give(MemoryHandle(root, stored.record.id))
    return msgspec.structs.replace(memory_view(stored, scope), handle=given)


def _search(sidecar: Sidecar, repo: Repo, query: str, limit: int) -> list[Hit]:
    from lerim.memory.search import MemorySearch

    scans = not sidecar.options.trusted  # nothing is written for a repository that is not trusted
    with repo.lock:
        if repo.index is None or repo.scans != scans:
            repo.index, repo.scans = MemorySearch(repo.project, sidecar.home, scan=scans), scans
        return repo.index.search(query, limit)


def _global(sidecar: Sidecar) -> Store:
    from lerim.memory.search import GLOBAL_KEY

    return Store(sidecar.home.memory, sidecar.home.project(GLOBAL_KEY), sidecar.home.root)
