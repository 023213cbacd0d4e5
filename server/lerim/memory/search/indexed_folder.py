"""One folder of memories and its index, kept up to date with the files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from msgspec import structs

from lerim.errors import LerimError, MemoryError_, NotFoundError, Problem
from lerim.memory.lifecycle import Status
from lerim.memory.links import MemoryLinks
from lerim.memory.record import Scope
from lerim.memory.reference import DriftState
from lerim.memory.search.filters import MemoryFilters
from lerim.memory.search.index import IndexFilter, MemoryIndex
from lerim.memory.search.index_location import IndexLocation
from lerim.memory.search.index_rows import ReadMemory, RecordParts, read_links, read_records, stored_records
from lerim.memory.search.matching import match_rows
from lerim.memory.search.ranking import RankedMemory
from lerim.memory.store import (
    ARCHIVED_FOLDERS,
    LIVE_FOLDERS,
    FileStamp,
    MemoryFile,
    Store,
    StoredMemory,
    stat_memory_file,
    status_of,
    unreadable_problem,
)
from lerim.memory.uses import Uses

ACTIVE_MEMORIES: MemoryFilters = MemoryFilters()
_MAX_TRIES = 3
_MAX_RANKED_SIMILAR = 3_000
R = TypeVar("R")


class IndexedFolder:
    """A store and its index; the index moves into memory if it cannot be used on disk."""

    def __init__(self, scope: Scope, store: Store, location: IndexLocation | None) -> None:
        self.scope: Scope = scope
        self.store = store
        self.uses = Uses(store.quotes.private)
        self._file_problems: list[Problem] = []
        self._index_problems: list[Problem] = []
        self._dropped_index: list[Problem] = []
        self._location = location
        self._index: MemoryIndex | None = None
        self._seen_folder_times: tuple[int, ...] = ()

    def close(self) -> None:
        if self._index is not None:
            self._index.close()

    @property
    def problems(self) -> list[Problem]:
        return list(dict.fromkeys((*self._file_problems, *self._index_problems, *self._dropped_index)))

    @property
    def version(self) -> int:
        """Differs whenever the index was changed."""
        return -1 if self._index is None else self._index.version

    def refresh_if_changed(self) -> None:
        if self._seen_folder_times != self._folder_times():
            self.refresh()

    def _folder_times(self) -> tuple[int, ...]:
        return tuple(_changed_at(self.store.memory_dir / name) for name in (*LIVE_FOLDERS, *ARCHIVED_FOLDERS))

    def refresh(self) -> None:
        self._seen_folder_times = self._folder_times()
        found, self._file_problems = self._find_files()
        if not found and self._index is None:
            return  # nothing to index, so no index is created
        try:
            self._update_index(found)
        except LerimError as error:
            self._drop_index(error)
            self._update_index(found)

    def update_file(self, path: Path) -> None:
        try:
            name = self.store.relative_name(path)
            if name.rpartition("/")[0] not in (*LIVE_FOLDERS, *ARCHIVED_FOLDERS) or path.suffix != ".md":
                return
            found = self._with_quotes([stat_memory_file(self.store.memory_dir, name)])
            if self._index is not None and self._index.update(self._read_files(found)):
                self._index_problems = self._index.problems()
                return
        except LerimError:
            pass  # gone, a link, or a damaged index: `refresh` finds out which
        self.refresh()

    def find(
        self, query: str, limit: int, filters: MemoryFilters, states: Mapping[str, DriftState]
    ) -> list[RankedMemory]:
        """Returns the matches, best first, and those equal in rank to the last; for an empty query, the newest
        memories."""
        return self.query_index(lambda index: _find_ranked(index, query, limit, filters, states), [])

    def count(self, filters: MemoryFilters, states: Mapping[str, DriftState]) -> int:
        """Returns how many memories pass the filters."""
        return self.query_index(lambda index: index.count_rows(_make_row_filter(index, filters, states)), 0)

    def rows_present(self, ranked: list[RankedMemory]) -> set[int]:
        """Returns the rows of another scope whose memories are in this one, too."""
        return self.query_index(lambda index: index.rows_present(ranked), set()) if ranked else set()

    def find_sharing_words(self, text: str, limit: int, filters: MemoryFilters = ACTIVE_MEMORIES) -> list[StoredMemory]:
        """Returns the memories that share some words with a text."""

        def find_rows(index: MemoryIndex) -> list[RankedMemory]:
            row_filter = index.make_filter(filters)
            matches = match_rows(index, text, limit, row_filter, _MAX_RANKED_SIMILAR, any_word=True)[:limit]
            return index.ranked_memories([one.row for one in matches])

        return list(self.load(self.query_index(find_rows, [])).values())

    def load_indexed_links(self) -> list[MemoryLinks]:
        """Returns what `load_links` does, from the index as it is."""
        return self.query_index(lambda index: index.run_query(read_links), [])

    def load_active(self, ids: Sequence[str]) -> list[StoredMemory]:
        """Returns the active memories with these ids, without unreadable ones."""

        def find_rows(index: MemoryIndex) -> list[RankedMemory]:
            return index.ranked_memories(index.newest(index.make_filter(ACTIVE_MEMORIES, ids), len(ids)))

        return list(self.load(self.query_index(find_rows, [])).values()) if ids else []

    def load_links(self) -> list[MemoryLinks] | None:
        """Returns the links of every memory that has a link or is linked to, from an index on disk that is first
        brought up to date; None if there cannot be one."""
        found, self._file_problems = self._find_files()
        if self._location is None or not found:
            return None if found else []
        try:
            self._update_index(found)
            return self._index.run_query(read_links) if self._index is not None else None
        except LerimError:
            return None  # a search reports it

    def load_all(self, raise_if_cancelled: Callable[[], None]) -> tuple[list[StoredMemory], list[Problem]]:
        """Returns every readable memory, and the problems found. Opens a file only if the index on disk does not have
        its current version, by stat; neither creates nor changes the index. Calls `raise_if_cancelled` between two
        memories."""
        found, problems = self.store.find_files(archived=True)
        marked = {item.name: item.stamp for item in self._with_quotes(found)}
        known: dict[str, RecordParts] = {}
        for name, parts in stored_records(self._location, self.store.memory_dir, marked):
            raise_if_cancelled()
            known[name] = parts
        memories: list[StoredMemory] = []
        for item in found:
            raise_if_cancelled()
            one = known.get(item.name)
            for read in self._read_files([item]) if one is None else (ReadMemory(item, *one),):
                problems += read.problems
                if read.record is not None:
                    status = status_of(read.record, item.is_archived)
                    memories.append(StoredMemory(read.record, item.path, item.stamp, read.text_hash, status))
        return memories, problems

    def load(self, ranked: Sequence[RankedMemory]) -> dict[str, StoredMemory]:
        """Returns found memories by file name, without unreadable ones; one that another memory ends shows as ended. A
        file is read only if its stamp is no longer that of the index."""
        names = [one.name for one in ranked]
        nothing: dict[str, tuple[FileStamp, RecordParts]] = {}
        indexed = self.query_index(lambda index: index.run_query(lambda sql: read_records(sql, names)), nothing)
        loaded: dict[str, StoredMemory] = {}
        for one in ranked:
            with suppress(NotFoundError):
                stored, problems = self._load_file(one.name, indexed.get(one.name))
                self.note_problems(problems)
                if stored is not None:
                    loaded[one.name] = _with_shown_status(stored, one.status)
        return loaded

    def _load_file(
        self, name: str, indexed: tuple[FileStamp, RecordParts] | None
    ) -> tuple[StoredMemory | None, Sequence[Problem]]:
        """Returns the memory in a file, None if it is unreadable, and the problems found. Raises NotFoundError."""
        try:
            found = stat_memory_file(self.store.memory_dir, name)
            stamp = _stamp_with_quotes(found, self.store.quotes.change_time(_stem(name)))
            if indexed is not None and indexed[0] == stamp:
                record, text_hash, problems = indexed[1]
                status = status_of(record, found.is_archived)
                return StoredMemory(record, found.path, found.stamp, text_hash, status), problems
            return self.store.load_file(found)
        except MemoryError_ as error:
            return None, [unreadable_problem(error.where, error)]

    def note_problems(self, problems: Iterable[Problem]) -> None:
        """Adds what went wrong to `problems`, once."""
        self._file_problems += [problem for problem in problems if problem not in self._file_problems]

    def with_shown_status(self, stored: StoredMemory) -> StoredMemory:
        """Returns a memory as ended if another one ends it, even if its own file does not say so."""
        name = self.store.relative_name(stored.path)
        status = self.query_index(lambda index: index.shown_status(name), None)
        return stored if status is None else _with_shown_status(stored, status)

    def query_index(self, ask: Callable[[MemoryIndex], R], nothing: R) -> R:
        """Queries the index, or a new one in memory if it turns out to be unusable."""
        if self._index is None:
            return nothing
        try:
            return ask(self._index)
        except LerimError as error:
            self._drop_index(error)
            self._update_index(self._find_files()[0])
            return nothing if self._index is None else ask(self._index)

    def _find_files(self) -> tuple[list[MemoryFile], list[Problem]]:
        found, problems = self.store.find_files(archived=True)
        return self._with_quotes(found), problems

    def _with_quotes(self, found: list[MemoryFile]) -> list[MemoryFile]:
        kept = self.store.quotes.change_times()
        return [
            replace(item, stamp=_stamp_with_quotes(item, kept[stem])) if (stem := _stem(item.name)) in kept else item
            for item in found
        ]

    def _update_index(self, found: list[MemoryFile]) -> None:
        if self._index is None:
            self._index = MemoryIndex(self.store.memory_dir, self._location)
        for _ in range(_MAX_TRIES):
            changed, gone = self._index.find_outdated(found)
            if not (changed or gone) or self._index.update(
                self._read_files(sorted(changed, key=_name_without_folder)), gone
            ):
                self._index_problems = self._index.problems()
                return
        raise MemoryError_("The index keeps changing.", where=str(self.store.memory_dir), todo="Try again.")

    def _read_files(self, found: Iterable[MemoryFile]) -> Iterator[ReadMemory]:
        for item in found:
            try:
                stored, problems = self.store.load_file(item)
            except NotFoundError:
                continue
            except MemoryError_ as error:
                yield ReadMemory(item, None, problems=(unreadable_problem(str(item.path), error),))
                continue
            yield ReadMemory(item, stored.record, stored.text_hash, tuple(problems))

    def _drop_index(self, error: LerimError) -> None:
        message = f"{error.explanation} Memories were searched without the index."
        self._dropped_index.append(Problem("index", error.where, message))
        self.close()
        self._index = None
        self._location = None


def _stem(name: str) -> str:
    return name.rpartition("/")[2].removesuffix(".md")


def _stamp_with_quotes(found: MemoryFile, quotes_changed: int) -> FileStamp:
    return (found.stamp[0] + quotes_changed, *found.stamp[1:])


def _name_without_folder(found: MemoryFile) -> str:
    """Sorts the newest files last, so that they are indexed last: names begin with the day."""
    return found.name.rpartition("/")[2]


def _changed_at(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0


def _make_row_filter(index: MemoryIndex, filters: MemoryFilters, states: Mapping[str, DriftState]) -> IndexFilter:
    only: list[str] | None = None
    but: list[str] = []
    if "fresh" in filters.drift_states:
        but = [memory for memory, state in states.items() if state not in filters.drift_states]
    elif filters.drift_states:
        only = [memory for memory, state in states.items() if state in filters.drift_states]
    return index.make_filter(filters, only, but)


def _find_ranked(
    index: MemoryIndex, query: str, limit: int, filters: MemoryFilters, states: Mapping[str, DriftState]
) -> list[RankedMemory]:
    row_filter = _make_row_filter(index, filters, states)
    if not query.strip():
        return index.ranked_memories(index.newest(row_filter, limit))
    matches = {one.row: one for one in match_rows(index, query, limit, row_filter)}
    return [
        structs.replace(one, has_every_word=matches[one.row].has_every_word, relevance=matches[one.row].relevance)
        for one in index.ranked_memories(list(matches))
    ]


def _with_shown_status(stored: StoredMemory, status: Status) -> StoredMemory:
    return replace(stored, status=status) if stored.status == "active" else stored
