"""Searches memories by words, or by meaning: ranked, over the project's memories and the person's own.

Any text is a safe query. With `scan`, or if no index can be written, every file is read and the same search runs on an
index in memory.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Collection, Container, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from heapq import nlargest
from pathlib import Path
from typing import TypeVar

from msgspec import structs

from lerim import files
from lerim.config import MaintenanceRules
from lerim.errors import Problem
from lerim.memory.freshness import baselines, read_worst_states
from lerim.memory.links import MemoryLinks
from lerim.memory.meaning import SentenceModel
from lerim.memory.record import MemoryRecord, Primitive, Scope
from lerim.memory.reference import DriftState
from lerim.memory.search import index_totals
from lerim.memory.search.by_meaning import READ_ALL, FolderMeanings, Reading, ReportProgress
from lerim.memory.search.filters import MemoryFilters
from lerim.memory.search.index_location import IndexLocation
from lerim.memory.search.indexed_folder import ACTIVE_MEMORIES, IndexedFolder
from lerim.memory.search.neighbours import NeighbourFinder
from lerim.memory.search.ranking import RankedMemory, RankKey, rank_key
from lerim.memory.similarity import Neighbour
from lerim.memory.store import Store, StoredMemory
from lerim.paths import Home
from lerim.project import Project

R = TypeVar("R")
FoundMemory = tuple[RankKey, IndexedFolder, RankedMemory, DriftState]
"""A memory that was found, and is not read yet."""
GLOBAL_KEY = "global"
PAGED_MATCHES = 200
"""How many matches of each folder are ranked for the pages of a search."""
MOST_BY_MEANING = 10
RULES = MaintenanceRules()


@dataclass(frozen=True, slots=True)
class Hit:
    """A found memory. `scope` says whose it is, `drift` its references' worst drift; a smaller `rank` comes first.
    `by_meaning` says that its meaning found it, whatever words it has."""

    stored: StoredMemory
    scope: Scope
    drift: DriftState
    rank: RankKey
    by_meaning: bool = False

    @property
    def record(self) -> MemoryRecord:
        return self.stored.record

    @property
    def has_every_word(self) -> bool:
        """Whether it has every significant word of the search."""
        return self.rank[0][0] == 0


def search_memories(
    project: Project | None,
    home: Home,
    query: str,
    limit: int = 20,
    *,
    filters: MemoryFilters = ACTIVE_MEMORIES,
    scan: bool = False,
    problems: list[Problem] | None = None,
    rules: MaintenanceRules = RULES,
    model: SentenceModel | None = None,
    report: ReportProgress = lambda done, total: None,
) -> list[Hit]:
    """Returns the memories that match any text, best first; the newest for an empty one. `scan` uses and writes no
    index on disk. With a `model`, up to MOST_BY_MEANING come before those that have only some of the words, nearest in
    meaning first; see `MemorySearch.search_by_meaning`.

    Adds to `problems` what could not be read, and why an index was not used.
    """
    with MemorySearch(project, home, scan=scan, rules=rules) as one:
        hits = one.search(query, limit, filters)
        if model is not None and query.strip():
            sure = {hit.record.id for hit in hits if hit.has_every_word}
            near = one.search_by_meaning(query, MOST_BY_MEANING, filters, model, skip=sure, reading=Reading(report))
            hits = insert_by_meaning(hits, near)[:limit]
        if problems is not None:
            problems += one.problems
        return hits


def insert_by_meaning(hits: Sequence[Hit], near: Sequence[Hit]) -> list[Hit]:
    """Returns the memories with every word of a query, those near it in meaning, then those with some of its words."""
    known = {hit.record.id for hit in near}
    sure = [hit for hit in hits if hit.has_every_word]
    return [*sure, *near, *(hit for hit in hits if not (hit.has_every_word or hit.record.id in known))]


def load_links(project: Project, home: Home) -> list[MemoryLinks] | None:
    """Returns the links between a project's memories from its index on disk, which is first brought up to date by stat;
    None if there cannot be one."""
    folder = IndexedFolder(
        "project", Store(project.memory_dir, home.project(project.key)), _project_index_location(project, home)
    )
    with closing(folder):
        return folder.load_links()


def load_all(
    project: Project, home: Home, store: Store, raise_if_cancelled: Callable[[], None] = lambda: None
) -> tuple[list[StoredMemory], list[Problem]]:
    """Returns every readable memory of a store, including archived ones, and the problems found. Memories whose files
    are unchanged, by stat, are taken from the index, which is neither created nor changed. `raise_if_cancelled` is
    called between two memories; an exception that it raises ends the reading."""
    folder = IndexedFolder("project", store, _project_index_location(project, home))
    with closing(folder):
        return folder.load_all(raise_if_cancelled)


class MemorySearch:
    """A search that stays open: after the first stat pass it answers from its index. `update_file` keeps that up to
    date."""

    def __init__(
        self, project: Project | None, home: Home, *, scan: bool = False, rules: MaintenanceRules = RULES
    ) -> None:
        self._project = project
        self._home = home
        self._rules = rules
        self._drift_cache: dict[str, DriftState] = {}
        self._drift_stamp: tuple[int, ...] = ()
        self._totals = index_totals.KeptTotals()
        self._scan = scan
        self._folders: list[IndexedFolder] = []
        self._meanings: dict[IndexedFolder, FolderMeanings] = {}
        if project is not None:
            location = None if scan else _project_index_location(project, home)
            self._folders.append(
                IndexedFolder("project", Store(project.memory_dir, home.project(project.key)), location)
            )
        self._neighbours = [NeighbourFinder(folder) for folder in self._folders]
        self.refresh()

    def __enter__(self) -> MemorySearch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def problems(self) -> list[Problem]:
        """What the last refresh could not read."""
        return [problem for folder in self._folders for problem in (*folder.problems, *folder.uses.problems)]

    @property
    def own_problems(self) -> list[Problem]:
        """What the last refresh could not read of the project's own memories; see `list_newest`."""
        return [problem for folder in self._folders[:1] for problem in folder.problems]

    def refresh(self) -> None:
        """Brings the indexes up to date with the files, by stat."""
        self._add_personal_folder()
        for scope in self._folders:
            scope.refresh()

    def refresh_if_changed(self) -> None:
        """Brings the indexes up to date if a memory was added, removed or renamed: eight stats per scope, not
        thousands.

        Misses a file edited in place until `refresh`; but the memories found are shown as their files are now.
        """
        self._add_personal_folder()
        for scope in self._folders:
            scope.refresh_if_changed()

    def _add_personal_folder(self) -> None:
        home = self._home
        is_project_personal = self._project is not None and self._project.is_personal
        has_them = any(scope.scope == "global" for scope in self._folders)
        if is_project_personal or has_them or files.is_absent(home.memory):
            return
        private = home.project(GLOBAL_KEY)
        location = None if self._scan else IndexLocation(home.root / "index" / "memories.sqlite3", home.root, private)
        self._folders.append(IndexedFolder("global", Store(home.memory, private, home.root), location))

    def find_sharing_words(self, text: str, limit: int, filters: MemoryFilters = ACTIVE_MEMORIES) -> list[StoredMemory]:
        """Returns the project's own memories that share the most words with a text, even if only some."""
        own = next((scope for scope in self._folders if scope.scope == "project"), None)
        return [] if own is None else own.find_sharing_words(text, limit, filters)

    def nearest(self, title: str, body: str, most: int = 3, skip: Container[str] = ()) -> list[Neighbour]:
        """Returns the project's own active memories most similar to a claim, best first: at most `most`.

        None is less similar than `similarity.MIN_SIMILARITY`; ids in `skip` are left out.
        """
        return [one for finder in self._neighbours for one in finder.nearest(title, body, most, skip)]

    def update_file(self, path: Path) -> None:
        """Updates the index for one file that was written or removed."""
        for scope in self._folders:
            if path.is_relative_to(scope.store.memory_dir):
                scope.update_file(path)

    def search(
        self,
        query: str,
        limit: int = 20,
        filters: MemoryFilters = ACTIVE_MEMORIES,
        now: datetime | None = None,
        *,
        start: int | None = None,
    ) -> list[Hit]:
        """Returns the memories that match any text, best first (docs/MEMORY_FORMAT.md, "Search"); for an empty one the
        newest. `start` is for pages: how many of the first are left out. Pages of one search have each memory once, up
        to PAGED_MATCHES."""
        now = now or datetime.now(UTC)
        newest = not query.strip()
        first = start or 0
        # The order within what an index finds depends on all of it, so each page of a search ranks the same matches.
        wanted = first + limit if newest or start is None else max(first + limit, PAGED_MATCHES)
        states = self._drift_states()
        matches: list[tuple[IndexedFolder, RankedMemory]] = []
        for scope in self._folders:
            ranked = scope.find(query, wanted, filters, states if scope.scope == "project" else {})
            ranked = self._without_copies(ranked) if scope.scope == "global" else ranked
            matches += [(scope, one) for one in ranked]
        page = slice(first, first + limit)
        if newest:  # equal times stay in the order of the index; only those of the page are ranked
            matches = sorted(matches, key=lambda match: -match[1].updated)[page]
        uses = {at: at.uses.of_memories(one.memory for scope, one in matches if scope is at) for at in self._folders}
        found: list[FoundMemory] = []
        for scope, one in matches:
            state = states.get(one.memory, "fresh") if scope.scope == "project" else "fresh"
            key = rank_key(one, scope.scope, state, uses[scope].get(one.memory), now, self._rules)
            found.append((key, scope, one, state))
        return _load_hits(found if newest else sorted(found, key=lambda one: one[0])[page])

    def search_by_meaning(
        self,
        query: str,
        limit: int,
        filters: MemoryFilters,
        model: SentenceModel,
        *,
        skip: Collection[str] = (),
        reading: Reading = READ_ALL,
    ) -> list[Hit]:
        """Returns the memories whose meaning is nearest to a text, best first, even if none is near. Those whose ids
        are in `skip` are left out. `reading` says how new memories are read first; see `unread_count`. The vectors of
        all are kept in memory for the next search, which has to be with the same model."""
        found = self.find_by_meaning(query, limit, filters, model, skip, reading)
        return [replace(hit, by_meaning=True) for hit in _load_hits(found)]

    def find_by_meaning(
        self,
        query: str,
        limit: int,
        filters: MemoryFilters,
        model: SentenceModel,
        skip: Collection[str] = (),
        reading: Reading = READ_ALL,
    ) -> list[FoundMemory]:
        """Returns the memories that `search_by_meaning` finds, without reading their files."""
        vector = model.embed([query])[0]
        versions = [folder.version for folder in self._folders]
        states = self._drift_states()
        now = datetime.now(UTC)
        near: list[tuple[float, IndexedFolder, RankedMemory]] = []
        for scope in self._folders:
            own = scope.scope == "project"
            meanings = self._meanings.get(scope) or FolderMeanings(scope, model)
            self._meanings[scope] = meanings
            without_copies = list if own else self._without_copies
            most = limit + len(skip)
            nearest = meanings.find_nearest(
                vector, most, filters, states if own else {}, without_copies, reading, versions
            )
            near += [(value, scope, one) for value, one in nearest if value > 0 and one.memory not in skip]
        found: list[FoundMemory] = []
        for similarity, scope, one in nlargest(limit, near, key=lambda candidate: candidate[0]):
            state = states.get(one.memory, "fresh") if scope.scope == "project" else "fresh"
            match = structs.replace(one, has_every_word=False, relevance=similarity)
            found.append((rank_key(match, scope.scope, state, None, now, self._rules), scope, match, state))
        return found

    @property
    def unread_count(self) -> int:
        """How many memories the last search by meaning left out, because their meaning is still to be read."""
        return sum(meanings.unread_count for meanings in self._meanings.values())

    def list_newest(self, limit: int, filters: MemoryFilters = ACTIVE_MEMORIES, start: int = 0) -> list[StoredMemory]:
        """Returns the project's own memories that pass the filters, most recently changed first: up to `limit` after
        the first `start`. Without a project, the person's own."""
        states = self._drift_states()
        found = {folder: folder.find("", start + limit, filters, states)[start:] for folder in self._folders[:1]}
        return [memory for folder, ranked in found.items() for memory in folder.load(ranked).values()]

    def with_shown_status(self, stored: StoredMemory) -> StoredMemory:
        """Returns one of the own memories with the status it has once the links of the others are considered."""
        return next((folder.with_shown_status(stored) for folder in self._folders[:1]), stored)

    def count(self, filters: MemoryFilters = ACTIVE_MEMORIES) -> int:
        """Returns how many of the project's own memories pass the filters; without a project, of the person's own."""
        return sum(folder.count(filters, self._drift_states()) for folder in self._folders[:1])

    def links(self) -> list[MemoryLinks]:
        """Returns the links of every own memory that has a link or is linked to; see `count`."""
        return [link for folder in self._folders[:1] for link in folder.load_indexed_links()]

    def count_by_primitive(self) -> dict[Primitive, int]:
        """Returns how many own memories there are of each primitive, without those in the archive; see `count`."""
        return self._query_own(index_totals.count_by_primitive, {})

    def comparison_keys(self) -> dict[str, str]:
        """Returns the `comparison_key` of each own active memory that refers to code, by id."""
        return self._query_own(index_totals.read_comparison_keys, {})

    def load_active(self, ids: Sequence[str]) -> list[StoredMemory]:
        """Returns the own active memories with these ids, without unreadable ones."""
        return [memory for folder in self._folders[:1] for memory in folder.load_active(ids)]

    def load_rival_answers(self) -> list[StoredMemory]:
        """Returns the own active memories that resolve a question which another one says it resolved, too."""
        return self.load_active(self._query_own(index_totals.find_rival_answers, []))

    def _query_own(self, query: Callable[[sqlite3.Connection], R], nothing: R) -> R:
        own = next(iter(self._folders), None)
        if own is None:
            return nothing
        return own.query_index(lambda index: index.run_query(lambda sql: self._totals.answer(query, sql)), nothing)

    def _without_copies(self, ranked: list[RankedMemory]) -> list[RankedMemory]:
        """Returns the person's own memories without copies of the project's, which are found in the project."""
        copies = {row for folder in self._folders if folder.scope == "project" for row in folder.rows_present(ranked)}
        return [one for one in ranked if one.row not in copies]

    def _drift_states(self) -> dict[str, DriftState]:
        """Returns the worst drift of each of the project's memories that is not fresh, by id; cached until the record
        changes."""
        if self._project is None:
            return {}
        private = self._home.project(self._project.key)
        stamp = baselines.baselines_stamp(private)
        if stamp != self._drift_stamp:
            self._drift_cache = read_worst_states(private, self._project.root) if stamp else {}
            self._drift_stamp = stamp
        return self._drift_cache

    def close(self) -> None:
        """Closes the indexes."""
        for scope in self._folders:
            scope.close()


def _load_hits(found: Sequence[FoundMemory]) -> list[Hit]:
    folders = dict.fromkeys(folder for _, folder, _, _ in found)
    loaded = {folder: folder.load([one for _, at, one, _ in found if at is folder]) for folder in folders}
    return [
        Hit(stored, folder.scope, state, rank)
        for rank, folder, one, state in found
        if (stored := loaded[folder].get(one.name)) is not None
    ]


def _project_index_location(project: Project, home: Home) -> IndexLocation | None:
    """Returns where the project's index is; None before Lerim has a folder there. Each worktree has one."""
    state = project.state_dir(home)
    private = home.project(project.key)
    if not state.is_dir():
        return None
    name = "memories.sqlite3"
    if project.main_worktree is not None and project.root != project.main_worktree:
        name = f"memories-{hashlib.sha256(str(project.root).encode('utf-8', 'replace')).hexdigest()[:8]}.sqlite3"
    return IndexLocation(state / "index" / name, state if state == private else state.parent, private)
