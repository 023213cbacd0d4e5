"""Ranks the memories of a folder by what they mean, with a sentence model (`lerim.memory.meaning`)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lerim.memory.claims import without_replied_to
from lerim.memory.meaning import MODEL_SHA256, FindNearest, MemoryVectors, SentenceModel, StoredVectors
from lerim.memory.reference import DriftState
from lerim.memory.search.filters import EVERY_STATUS, MemoryFilters
from lerim.memory.search.index_rows import hash_claim
from lerim.memory.search.indexed_folder import IndexedFolder
from lerim.memory.search.ranking import RankedMemory
from lerim.memory.store import StoredMemory

MOST_MEMORIES = 1_000_000

ReportProgress = Callable[[int, int], None]
"""Called with the number of memories that were read for their meaning, and the total."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How a search reads memories for their meaning that it has not read before: until `deadline` (as
    `time.monotonic`), `batch_size` of them at once, calling `report` before each batch."""

    report: ReportProgress = lambda done, total: None
    deadline: float = math.inf
    batch_size: int = 32


READ_ALL = Reading()


class FolderMeanings:
    """The vectors of one folder's memories, kept in memory from one search to the next."""

    def __init__(self, folder: IndexedFolder, model: SentenceModel) -> None:
        self._folder = folder
        self._model = model
        self._stored = StoredVectors(folder.store.quotes.private, MODEL_SHA256)
        self._vectors = self._stored.load()
        self._unreadable: set[str] = set()
        self._ranked: list[RankedMemory] = []
        self._ranked_for: tuple[object, ...] = ()
        self._cleaned_version = -1
        self._compared: list[RankedMemory] = []
        self._find_nearest: FindNearest | None = None
        self.unread_count = 0
        """How many memories the last search could not compare, because they are still to be read."""

    def find_nearest(
        self,
        vector: bytes,
        most: int,
        filters: MemoryFilters,
        states: Mapping[str, DriftState],
        without_copies: Callable[[list[RankedMemory]], list[RankedMemory]],
        reading: Reading,
        versions: Sequence[int],
    ) -> list[tuple[float, RankedMemory]]:
        """Returns the memories that pass the filters whose meaning is nearest to a vector, at most `most`, best first,
        with how near: the better of its title and its text. Vectors of new memories are made and stored first, in about
        35 ms of processor time for each. `versions` are those of all folders: what is a copy depends on each."""
        wanted = (versions, filters, tuple(states.items()))
        if wanted != self._ranked_for:
            self._ranked = without_copies(self._folder.find("", MOST_MEMORIES, filters, states))
            self._ranked_for, self._find_nearest = wanted, None
        if self._find_nearest is None or self.unread_count:
            self._read_new(reading)
            self._compared = [one for one in self._ranked if one.text_hash in self._vectors]
            pairs = [self._vectors[one.text_hash] for one in self._compared]
            self._find_nearest = self._model.prepare_comparison(
                [one.title for one in pairs], [one.body for one in pairs]
            )
        return [(value, self._compared[at]) for at, value in self._find_nearest(vector, most)]

    def _read_new(self, reading: Reading) -> None:
        wanted = {one.text_hash for one in self._ranked}
        known = self._vectors.keys() | self._unreadable
        missing = [one for one in self._ranked if one.text_hash not in known]
        done = 0
        while done < len(missing) and time.monotonic() < reading.deadline:
            reading.report(done, len(missing))
            batch = missing[done : done + reading.batch_size]
            made = _embed(self._folder.load(batch).values(), self._model)
            self._unreadable |= {one.text_hash for one in batch} - made.keys()
            self._vectors |= made
            self._stored.save(made)
            done += len(batch)
        self.unread_count = len(missing) - done
        if self._cleaned_version != self._folder.version and self._vectors.keys() - wanted:
            every = {one.text_hash for one in self._folder.find("", MOST_MEMORIES, EVERY_STATUS, {})}
            self._stored.drop_old(every)
            self._vectors = {name: vectors for name, vectors in self._vectors.items() if name in every}
            self._cleaned_version = self._folder.version
        self._folder.note_problems(self._stored.problems)


def _embed(memories: Iterable[StoredMemory], model: SentenceModel) -> dict[str, MemoryVectors]:
    said = ((one.record, without_replied_to(one.record.body).strip()) for one in memories)
    texts = {hash_claim(record): (record.title, body or record.title) for record, body in said}
    unique = list(dict.fromkeys(text for pair in texts.values() for text in pair))
    vectors = dict(zip(unique, model.embed(unique), strict=True))
    return {name: MemoryVectors(vectors[title], vectors[body]) for name, (title, body) in texts.items()}
