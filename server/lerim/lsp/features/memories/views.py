"""Accepted memories for the editor: read from their files, as hovers and as `MemoryView`s."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from lerim.errors import LerimError, NotFoundError
from lerim.lsp.boundary import to_path
from lerim.lsp.features.memories.hovers import HoverMemory
from lerim.lsp.protocol import FileParams, SearchParams, ShowParams
from lerim.lsp.window import HandleTarget, Repo, Sidecar, index_repo, uses
from lerim.memory import MemoryRecord, MemoryView, Store, Stored, memory_view, source_parts

if TYPE_CHECKING:
    from lerim.memory import Hit

MAX_RESULTS = 200
MAX_QUERY = 1000


class MemoryList(msgspec.Struct, frozen=True):
    """Memories, best match first."""

    memories: list[MemoryView]


async def search_memories(sidecar: Sidecar, params: SearchParams) -> MemoryList:
    """The memories that match a query, best first; of every repository of the window where no root is given.

    The query may hold filters (docs/PROTOCOL.md).
    """
    limit = max(1, min(params.limit, MAX_RESULTS))
    repos = [await sidecar.repo(params.root)] if params.root is not None else await sidecar.repos.load()
    found: dict[Path, tuple[Repo, Hit]] = {}
    for repo in repos:
        for hit in await sidecar.run(_search, sidecar, repo, params.query[:MAX_QUERY], limit):
            found.setdefault(hit.stored.path, (repo, hit))
    hits = list(found.values())
    if len(repos) > 1:
        hits.sort(key=lambda one: one[1].rank)
    return MemoryList(await sidecar.run(_found, sidecar, hits[:limit]))


async def show_memory(sidecar: Sidecar, params: ShowParams) -> MemoryView:
    """One memory by its handle, or by its file's URI. Raises NotFoundError, MemoryError_."""
    repo, stored = await (_at if params.id.startswith("file:") else find_memory)(sidecar, params.id)
    await sidecar.run(uses.note_opened, sidecar, repo, stored.record.id)
    return await sidecar.run(make_memory_view, sidecar, repo, stored)


async def find_memory(sidecar: Sidecar, handle: str) -> tuple[Repo | None, Stored]:
    """The memory a handle names and its repository (None for a global one). Raises NotFoundError."""
    meant = await sidecar.run(_meant, sidecar, handle)
    if meant is not None and meant.root == sidecar.home.root:
        return None, await sidecar.run(personal_store(sidecar).load_by_id, meant.id)
    repo = next((repo for repo in sidecar.repos.known if meant and repo.project.root == meant.root), None)
    if meant is None or repo is None:
        raise NotFoundError("This link is no longer valid.", todo="Hover again, or use Lerim: Search Memories.")
    return repo, await sidecar.run(repo.store.load_by_id, meant.id)


async def _at(sidecar: Sidecar, uri: str) -> tuple[Repo | None, Stored]:
    """The memory in a file, where it is one of the person's own or of a repository of this window."""
    path = await sidecar.run(_real, uri)
    if path.is_relative_to(sidecar.home.memory):
        return None, (await sidecar.run(personal_store(sidecar).load, path))[0]
    await sidecar.repos.load()
    repo = sidecar.repos.of_memory(path)
    if repo is None:
        raise NotFoundError("This file is not a memory.", where=path.name[:80], todo="Use Lerim: Search Memories.")
    return repo, (await sidecar.run(repo.store.load, path))[0]


def _real(uri: str) -> Path:
    path = to_path(uri)
    return Path(os.path.realpath(path)) if path is not None else Path()


async def list_file_memories(sidecar: Sidecar, params: FileParams) -> MemoryList:
    """Every memory that refers to a file."""
    place = await sidecar.repos.place(params.uri)
    if place is None:
        return MemoryList([])
    paths = [entry.path for entry in place.repo.references.for_file(place.path)][:MAX_RESULTS]
    stored = await sidecar.run(load_memories, place.repo, paths)
    return MemoryList(await sidecar.run(_views, sidecar, [(place.repo, one) for one in stored]))


def load_memories(repo: Repo, paths: Iterable[Path]) -> list[Stored]:
    """The memories in these files; one that is gone or broken since is left out (diagnostics show it)."""
    found: list[Stored] = []
    generation = repo.generation
    for path in paths:
        kept = repo.cache.get(path)
        if kept is None:
            try:
                kept = repo.store.load(path)[0]
            except LerimError:
                continue
            repo.keep(path, kept, generation)
        found.append(kept)
    return found


def make_hover_memories(sidecar: Sidecar, repo: Repo, stored: Sequence[Stored]) -> list[HoverMemory]:
    """The memories with the handle a hover's links need."""
    names = [sidecar.handles.name(HandleTarget(repo.project.root, one.record.id)) for one in stored]
    standings = repo.standings.by_id
    return [
        HoverMemory(one.record, name, find_quoted_turn(one.record)[1] != "", standings.get(one.record.id))
        for one, name in zip(stored, names, strict=True)
    ]


def find_quoted_turn(record: MemoryRecord) -> tuple[str, str]:
    """(session, turn) a memory rests on: of the first quote that is shown; empty for one made by hand."""
    _, session, turn = source_parts(record.source)
    return session, next((evidence.turn for evidence in record.evidence if evidence.quote), turn) if session else ""


def make_memory_view(sidecar: Sidecar, repo: Repo | None, stored: Stored) -> MemoryView:
    """A memory for the editor, with a handle of this process; `repo` is None for a global one (in the executor: its
    secrets are looked for in all of it)."""
    root = sidecar.home.root if repo is None else repo.project.root
    handle = sidecar.handles.remember(HandleTarget(root, stored.record.id))
    return msgspec.structs.replace(memory_view(stored, "project" if repo else "global"), handle=handle)


def _views(sidecar: Sidecar, owned: Iterable[tuple[Repo | None, Stored]]) -> list[MemoryView]:
    return [make_memory_view(sidecar, repo, stored) for repo, stored in owned]


def _found(sidecar: Sidecar, hits: Iterable[tuple[Repo, Hit]]) -> list[MemoryView]:
    views: list[MemoryView] = []
    for repo, hit in hits:
        own = make_memory_view(sidecar, repo if hit.scope == "project" else None, hit.stored)
        views.append(msgspec.structs.replace(own, standing=hit.drift if hit.drift in ("drifted", "gone") else ""))
    return views


def _meant(sidecar: Sidecar, handle: str) -> HandleTarget | None:
    return sidecar.handles.find(handle, _named(sidecar))


def _named(sidecar: Sidecar) -> Iterator[HandleTarget]:
    """Every memory there is: the live ones first, which are at hand."""
    for repo in sidecar.repos.known:
        with repo.lock:  # a memory that is being read again is missing for a moment
            ids = [entry.id for entry in repo.references.entries]
        yield from (HandleTarget(repo.project.root, memory_id) for memory_id in ids)
    yield from (HandleTarget(sidecar.home.root, entry.id) for entry in sidecar.repos.personal())
    stores = [(repo.project.root, repo.store) for repo in sidecar.repos.known]
    for root, store in [*stores, (sidecar.home.root, personal_store(sidecar))]:
        yield from (
            HandleTarget(root, found.path.stem) for found in store.find_files(archived=True)[0] if found.is_archived
        )


def _search(sidecar: Sidecar, repo: Repo, query: str, limit: int) -> list[Hit]:
    from lerim.memory import MemorySearch, parse_memory_query

    words, filters = parse_memory_query(query, sidecar.clock())
    scans = not sidecar.options.trusted  # nothing is written for a repository that is not trusted
    with repo.lock:
        if repo.index is None or repo.scans != scans:
            repo.index, repo.scans = MemorySearch(repo.project, sidecar.home, scan=scans), scans
        index_repo(repo)
        return repo.index.search(words, limit, filters, sidecar.clock())


def personal_store(sidecar: Sidecar) -> Store:
    """The person's own memories, of no repository."""
    from lerim.memory import GLOBAL_KEY

    return Store(sidecar.home.memory, sidecar.home.project(GLOBAL_KEY), sidecar.home.root)
