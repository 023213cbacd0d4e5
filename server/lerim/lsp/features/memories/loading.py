"""Reads memories from their files, for hovers and as `MemoryView`s, and their titles from the reference map. Those that
mean something similar to a query are found by the process that holds the sentence model."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from lerim.errors import LerimError, NotFoundError
from lerim.lsp.boundary import uri_to_path
from lerim.lsp.features.memories.hovers import HoverMemory
from lerim.lsp.protocol import SearchParams, ShowParams, TitlesParams
from lerim.lsp.window import HandleTarget, Repo, Sidecar, index_repo, uses
from lerim.memory import (
    DriftState,
    MemoryEntry,
    MemoryRecord,
    MemoryView,
    Primitive,
    Reference,
    Scope,
    Store,
    StoredMemory,
    memory_view,
    parse_reference,
    source_parts,
)
from lerim.redaction import redact_secrets
from lerim.times import format_utc

if TYPE_CHECKING:
    from lerim.memory import Hit, MeaningAnswer

MAX_RESULTS = 200
MAX_QUERY = 1000
TITLES_PER_PAGE = 1000
"""Few enough that a hover never waits for a long answer."""


class MemoryList(msgspec.Struct, frozen=True):
    """Memories, best match first."""

    memories: list[MemoryView]


class TitleView(msgspec.Struct, frozen=True):
    """A memory as shown in a list of thousands."""

    id: str
    primitive: Primitive
    kind: str | None
    title: str
    confidence: float
    created: str
    references: list[str]
    path: str
    scope: Scope


class TitlesView(msgspec.Struct, frozen=True):
    """One page of titles, newest first; `total` counts all of them."""

    memories: list[TitleView]
    total: int


class FoundMemories(MemoryList, frozen=True):
    """What a search found.

    `by_meaning` has the handles of those that only mean something similar. `is_weak`: none has every word of the query.
    `note` is for the person: what the search by meaning has not read yet, or why it failed.
    """

    by_meaning: list[str] = []
    is_weak: bool = False
    note: str = ""


async def search_memories(sidecar: Sidecar, params: SearchParams) -> FoundMemories:
    """Searches the memories of a root, or of all repositories of the window, and the personal ones, which a window
    without a repository has, too. Results come best first.

    The query may contain filters (docs/PROTOCOL.md).
    """
    limit = max(1, min(params.limit, MAX_RESULTS))
    from lerim.memory import insert_by_meaning, parse_memory_query

    own = [await sidecar.find_repo(params.root)] if params.root is not None else await sidecar.repos.load()
    repos: list[Repo | None] = [*own] or [None]
    query = params.query[:MAX_QUERY]
    found: dict[Path, tuple[Repo | None, Hit]] = {}
    for repo in repos:
        for hit in await sidecar.run_in_thread(_search_repo, sidecar, repo, query, limit):
            found.setdefault(hit.stored.path, (repo, hit))
    hits = list(found.values())
    if len(repos) > 1:
        hits.sort(key=lambda row: row[1].rank)
    words = parse_memory_query(query, sidecar.clock())[0]
    is_weak = words != "" and not any(hit.has_every_word for _, hit in hits)
    note = ""
    if params.meaning and words and sidecar.options.trusted and sidecar.options.settings.meaning_python:
        sure = [hit.record.id for _, hit in hits if hit.has_every_word]
        near, note = await find_similar(sidecar, repos, query, sure, personal_store(sidecar))
        repo_of = {hit.stored.path: repo for repo, hit in (*hits, *near)}
        merged = insert_by_meaning([hit for _, hit in hits], [hit for _, hit in near])
        hits = [(repo_of[hit.stored.path], hit) for hit in merged]
    views = await sidecar.run_in_thread(_make_hit_views, sidecar, hits[:limit])
    by_meaning = [view.handle for view, (_, hit) in zip(views, hits, strict=False) if hit.by_meaning]
    return FoundMemories(views, by_meaning, is_weak, note)


async def show_memory(sidecar: Sidecar, params: ShowParams) -> MemoryView:
    """Returns one memory by its handle, or by its file's URI. Raises NotFoundError, MemoryError_."""
    repo, stored = await (_find_memory_in_file if params.id.startswith("file:") else find_memory)(sidecar, params.id)
    await sidecar.run_in_thread(uses.note_opened, sidecar, repo, stored.record.id)
    return await sidecar.run_in_thread(make_memory_view, sidecar, repo, stored)


async def find_memory(sidecar: Sidecar, handle: str) -> tuple[Repo | None, StoredMemory]:
    """Returns the memory of a handle and its repository (None for a personal memory). Raises NotFoundError."""
    target = await sidecar.run_in_thread(_find_target, sidecar, handle)
    if target is not None and target.root == sidecar.home.root:
        return None, await sidecar.run_in_thread(personal_store(sidecar).load_by_id, target.id)
    repo = next((repo for repo in sidecar.repos.known if target and repo.project.root == target.root), None)
    if target is None or repo is None:
        raise NotFoundError("This link is no longer valid.", todo="Hover again, or use Lerim: Search Memories.")
    return repo, await sidecar.run_in_thread(repo.store.load_by_id, target.id)


async def _find_memory_in_file(sidecar: Sidecar, uri: str) -> tuple[Repo | None, StoredMemory]:
    """Returns the memory in a file, if it is personal or belongs to a repository of this window. Raises
    NotFoundError."""
    path = await sidecar.run_in_thread(_resolve_uri, uri)
    if path.is_relative_to(sidecar.home.memory):
        return None, (await sidecar.run_in_thread(personal_store(sidecar).load, path))[0]
    await sidecar.repos.load()
    repo = sidecar.repos.find_by_memory(path)
    if repo is None:
        raise NotFoundError("This file is not a memory.", where=path.name[:80], todo="Use Lerim: Search Memories.")
    return repo, (await sidecar.run_in_thread(repo.store.load, path))[0]


def _resolve_uri(uri: str) -> Path:
    path = uri_to_path(uri)
    return Path(os.path.realpath(path)) if path is not None else Path()


def load_memories(repo: Repo, paths: Iterable[Path]) -> Iterator[StoredMemory]:
    """Yields the memories in these files. Missing and invalid files are skipped (diagnostics show them)."""
    generation = repo.generation
    for path in paths:
        cached = repo.cache.get(path)
        if cached is None:
            try:
                cached = repo.store.load(path)[0]
            except LerimError:
                continue
            repo.cache_memory(path, cached, generation)
        yield cached


def make_hover_memory(
    sidecar: Sidecar, repo: Repo, record: MemoryRecord, place: Reference | None = None
) -> HoverMemory:
    """Adds to a memory what a hover needs: its handle, whether it names a turn, its drift at a place in the code, and
    what the person called it, and whether it was made on this machine."""
    handle = sidecar.handles.make_handle(HandleTarget(repo.project.root, record.id))
    turn = find_quoted_turn(record)[1] != ""
    drift, called = repo.drift.by_id.get(record.id), repo.unwanted.get(record.id, "")
    missing: tuple[str, ...] = ()
    if place is not None and drift is not None and drift.state == "gone":
        references = filter(None, map(parse_reference, record.references))
        drift = repo.drift.find_drift(record.id, references, place)
        if drift is None or drift.state != "gone":
            missing = tuple(one.reference for one in repo.drift.all_by_id.get(record.id, ()) if one.state == "gone")
    return HoverMemory(record, handle, turn, drift, called, is_own=record.id in repo.own_memories, missing=missing)


def find_quoted_turn(record: MemoryRecord) -> tuple[str, str]:
    """Returns the (session, turn) of a memory's first quote; empty for a memory written by hand or found in a file."""
    platform, session, turn = source_parts(record.source)
    if platform == "file":
        return "", ""
    return session, next((evidence.turn for evidence in record.evidence if evidence.quote), turn) if session else ""


def make_memory_view(
    sidecar: Sidecar, repo: Repo | None, stored: StoredMemory, drift: DriftState = "unknown"
) -> MemoryView:
    """Makes the view of a memory with a handle of this process. `repo` is None for a personal memory.

    Blocking, since the whole memory is searched for secrets.
    """
    root = sidecar.home.root if repo is None else repo.project.root
    handle = sidecar.handles.remember(HandleTarget(root, stored.record.id))
    return msgspec.structs.replace(memory_view(stored, "project" if repo else "global", drift), handle=handle)


def _make_hit_views(sidecar: Sidecar, hits: Iterable[tuple[Repo | None, Hit]]) -> list[MemoryView]:
    return [
        make_memory_view(sidecar, repo if hit.scope == "project" else None, hit.stored, hit.drift) for repo, hit in hits
    ]


def _find_target(sidecar: Sidecar, handle: str) -> HandleTarget | None:
    return sidecar.handles.find(handle, _list_targets(sidecar))


def _list_targets(sidecar: Sidecar) -> Iterator[HandleTarget]:
    """Yields every memory, live ones first, since they need no file access."""
    for repo in sidecar.repos.known:
        with repo.lock:  # without the lock, a memory being reread could be missing
            ids = [entry.id for entry in repo.references.entries]
        yield from (HandleTarget(repo.project.root, memory_id) for memory_id in ids)
    yield from (HandleTarget(sidecar.home.root, entry.id) for entry in sidecar.repos.list_personal_memories())
    stores = [(repo.project.root, repo.store) for repo in sidecar.repos.known]
    for root, store in [*stores, (sidecar.home.root, personal_store(sidecar))]:
        yield from (
            HandleTarget(root, found.path.stem) for found in store.find_files(archived=True)[0] if found.is_archived
        )


def _search_repo(sidecar: Sidecar, repo: Repo | None, query: str, limit: int) -> list[Hit]:
    """Returns the memories of a repository and the personal ones, or only those (None)."""
    from lerim.memory import MemorySearch, parse_memory_query

    words, filters = parse_memory_query(query, sidecar.clock())
    searches_by_scan = not sidecar.options.trusted  # write no index for an untrusted repository
    if repo is None:
        with MemorySearch(None, sidecar.home, scan=searches_by_scan) as personal:
            return personal.search(words, limit, filters, sidecar.clock())
    with repo.lock:
        if repo.index is None or repo.searches_by_scan != searches_by_scan:
            repo.index, repo.searches_by_scan = (
                MemorySearch(repo.project, sidecar.home, scan=searches_by_scan),
                searches_by_scan,
            )
        index_repo(repo)
        return repo.index.search(words, limit, filters, sidecar.clock())


def personal_store(sidecar: Sidecar) -> Store:
    """Returns the store of the memories that belong to no repository, in Lerim's home folder."""
    from lerim.memory import GLOBAL_KEY

    return Store(sidecar.home.memory, sidecar.home.project(GLOBAL_KEY), sidecar.home.root)


async def list_titles(sidecar: Sidecar, params: TitlesParams) -> TitlesView:
    """Returns one page of the personal memories and those of a root, or of all repositories of the window; newest
    first."""
    repos = [await sidecar.find_repo(params.root)] if params.root is not None else await sidecar.repos.load()
    return await sidecar.run_in_thread(_load_title_page, sidecar, repos, max(0, params.start))


def _load_title_page(sidecar: Sidecar, repos: Iterable[Repo], start: int) -> TitlesView:
    found: list[tuple[Scope, MemoryEntry]] = [("project", entry) for repo in repos for entry in repo.references.entries]
    found += [("global", entry) for entry in sidecar.repos.list_personal_memories()]
    found.sort(key=lambda one: (one[1].created, one[1].name), reverse=True)
    return TitlesView(
        [_make_title_view(scope, entry) for scope, entry in found[start : start + TITLES_PER_PAGE]], len(found)
    )


def _make_title_view(scope: Scope, entry: MemoryEntry) -> TitleView:
    return TitleView(
        id=entry.id,
        primitive=entry.primitive,
        kind=entry.kind,
        title=redact_secrets(entry.title).text,
        confidence=entry.confidence,
        created=format_utc(entry.created),
        references=[f"{one.path}#{one.symbol}" if one.symbol else one.path for one in entry.references],
        path=str(entry.path),
        scope=scope,
    )


async def find_similar(
    sidecar: Sidecar, repos: Iterable[Repo | None], query: str, skip: Iterable[str], personal: Store
) -> tuple[list[tuple[Repo | None, Hit]], str]:
    """Returns the memories of these repositories that are nearest in meaning, and what the person should know: how many
    are still to be read, or why none were found. `personal` is the store of the memories of no repository, which are
    searched with each repository, and alone for None."""
    from lerim.memory import MeaningQuery

    found: dict[Path, tuple[Repo | None, Hit]] = {}
    unread, ids = 0, tuple(skip)
    for repo in repos:
        question = MeaningQuery(str(repo.project.root) if repo is not None else "", query, ids)
        try:
            python = sidecar.options.settings.meaning_python
            answer = await sidecar.run_in_thread(sidecar.meaning_search.ask, python, question)
        except LerimError as error:
            return list(found.values()), str(error)
        unread += answer.unread
        own = repo.store if repo is not None else personal
        for hit in await sidecar.run_in_thread(_load_hits, own, personal, answer):
            found.setdefault(hit.stored.path, (repo, hit))
    note = f"{unread:,} more memories are still being read for their meaning." if unread else ""
    return list(found.values()), note


def _load_hits(own: Store, personal: Store, answer: MeaningAnswer) -> list[Hit]:
    from lerim.memory import Hit

    hits: list[Hit] = []
    for near in answer.memories:
        store = own if near.scope == "project" else personal
        try:
            stored = store.load(Path(near.path))[0]
        except LerimError:
            continue  # gone since, or no longer readable: its diagnostics say why
        hits.append(Hit(stored, near.scope, near.drift, ((1, 0), 0, 0, 0.0, stored.record.id), by_meaning=True))
    return hits
