"""Finds the memories most similar to a claim: the full-text index names those that share its rarest words, and the
nearest of these are compared word by word (`similarity.py`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Sequence
from functools import lru_cache

from lerim.memory.shelf import Shelf
from lerim.memory.similarity import FLOOR, Neighbour, cosine, rarity, stored_words, text_words, vector
from lerim.memory.terms import stem

ROWS = 2_000
"""About so many rows are taken from the index for a claim, those of its rarest words first."""
WORDS = 40
"""The words of a claim that are looked for."""
COMPARED = 30
"""So many memories are compared word by word: those with the most of the claim's weight."""


def nearest(shelves: Sequence[Shelf], title: str, body: str, most: int, skip: Container[str]) -> list[Neighbour]:
    """The active memories of these folders most similar to a claim, best first: see `MemorySearch.nearest`."""
    total = sum(shelf.total() for shelf in shelves)
    counted = lru_cache(maxsize=None)(lambda word: sum(shelf.count(f'"{word}"') for shelf in shelves))

    def idf(word: str) -> float:
        return rarity(total, counted(word))

    titled, said = text_words(title), text_words(body)
    wanted = vector(titled, said, idf)
    words = {stem(word): word for word in reversed((*titled, *said))}
    telling = sorted((root for root in wanted if counted(words[root])), key=lambda root: (counted(words[root]), root))
    best: dict[str, float] = {}
    for shelf in shelves:
        shared: defaultdict[int, float] = defaultdict(float)
        room = ROWS
        for root in telling[:WORDS]:
            rows = shelf.having(f'"{words[root]}"', ROWS)
            for row in rows:
                shared[row] += wanted[root] ** 2
            if (room := room - len(rows)) < 0:
                break
        compared = sorted(shared, key=lambda row: (-shared[row], -row))[:COMPARED]
        for memory, its_title, its_body in shelf.texts(compared):
            if memory not in skip:
                found = cosine(wanted, vector(stored_words(its_title), stored_words(its_body), idf))
                best[memory] = max(found, best.get(memory, 0.0))
    near = [Neighbour(memory, round(similarity, 4)) for memory, similarity in best.items() if similarity >= FLOOR]
    return sorted(near, key=lambda one: (-one.similarity, one.id))[:most]
