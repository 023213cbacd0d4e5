"""Finds the memories most similar to a claim: the full-text index returns those that share its rarest words, and the
best of these are compared word by word (`similarity.py`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Mapping
from functools import partial
from heapq import nlargest

from lerim.memory.search.index import MemoryIndex
from lerim.memory.search.indexed_folder import IndexedFolder
from lerim.memory.similarity import (
    MIN_SIMILARITY,
    Neighbour,
    claim_vector,
    cosine,
    stored_words,
    text_words,
    word_rarity,
)
from lerim.words import stem

MAX_ROWS = 1_000
"""About how many rows are taken from the index for a claim, starting with its rarest words."""
MAX_WORDS = 16
"""How many words of a claim are searched for."""
MAX_COMPARED = 12
"""How many memories are compared word by word: those that share the most weight with the claim."""


StoredText = tuple[str, str, str]
"""The id, title and body of a memory, as the index stores them."""


class NeighbourFinder:
    """Finds neighbours in an open index; caches how rare words are until the index changes."""

    def __init__(self, folder: IndexedFolder) -> None:
        self._folder = folder
        self._rarities = _Rarities(folder)

    def nearest(self, title: str, body: str, most: int, skip: Container[str]) -> list[Neighbour]:
        """Returns the active memories most similar to a claim, best first: see `MemorySearch.nearest`."""
        if self._rarities.version != self._folder.version:
            self._rarities = _Rarities(self._folder)
        idf = self._rarities.__getitem__
        titled, said = text_words(title), text_words(body)
        wanted = claim_vector(titled, said, idf)
        words = {stem(word): word for word in reversed((*titled, *said))}
        rarest = [words[root] for root in nlargest(MAX_WORDS, wanted, key=lambda root: idf(words[root]))]
        weights = {word: wanted[stem(word)] ** 2 for word in rarest}
        best: dict[str, float] = {}
        for memory, its_title, its_body in _find_candidates(self._folder, weights, skip):
            found = cosine(wanted, claim_vector(stored_words(its_title), stored_words(its_body), idf))
            best[memory] = max(found, best.get(memory, 0.0))
        near = [
            Neighbour(memory, round(similarity, 4))
            for memory, similarity in best.items()
            if similarity >= MIN_SIMILARITY
        ]
        return sorted(near, key=lambda one: (-one.similarity, one.id))[:most]


class _Rarities(dict[str, float]):
    """The idf of each word in this index, looked up once."""

    def __init__(self, folder: IndexedFolder) -> None:
        super().__init__()
        self.version = folder.version
        self._folder = folder
        self._memory_count = folder.query_index(MemoryIndex.total, 0)

    def __missing__(self, word: str) -> float:
        match_count = self._folder.query_index(lambda index: index.count(f'"{word}"'), 0)
        self[word] = found = word_rarity(self._memory_count, match_count)
        return found


def _find_candidates(folder: IndexedFolder, weights: Mapping[str, float], skip: Container[str]) -> list[StoredText]:
    """Returns the id, title and body of the memories that share the most weight with a claim. `weights` are those of
    its words, the rarest first."""
    shared: defaultdict[int, float] = defaultdict(float)
    room = MAX_ROWS
    for word, weight in weights.items():
        rows: list[int] = folder.query_index(partial(MemoryIndex.active_rows, query=f'"{word}"', limit=MAX_ROWS), [])
        for row in rows:
            shared[row] += weight
        room -= len(rows)
        if room < 0:
            break
    ranked = sorted(shared, key=shared.__getitem__, reverse=True)
    found: list[StoredText] = []
    for start in range(0, len(ranked), MAX_COMPARED):
        texts: list[StoredText] = folder.query_index(
            partial(MemoryIndex.stored_texts, rows=ranked[start : start + MAX_COMPARED]), []
        )
        found += [one for one in texts if one[0] not in skip]
        if len(found) >= MAX_COMPARED:
            break
    return found
