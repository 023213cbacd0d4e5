"""Ranks the memories of a folder by what they mean, with a sentence model (`lerim.memory.meaning`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from lerim.memory.meaning import MODEL_SHA256, MemoryVectors, SentenceModel, StoredVectors
from lerim.memory.search.filters import SEARCHED_PRIMITIVES, STATUSES, MemoryFilters
from lerim.memory.search.index_rows import hash_text
from lerim.memory.search.indexed_folder import IndexedFolder
from lerim.memory.search.ranking import RankedMemory
from lerim.memory.store import StoredMemory

EVERY_MEMORY = MemoryFilters(primitives=SEARCHED_PRIMITIVES, statuses=STATUSES)
MOST_MEMORIES = 1_000_000
_BATCH_SIZE = 32

ReportProgress = Callable[[int, int], None]
"""Called with how many memories were read for their meaning, and of how many."""


def find_similarities(
    folder: IndexedFolder, ranked: Sequence[RankedMemory], vector: bytes, model: SentenceModel, report: ReportProgress
) -> dict[str, float]:
    """Returns how near the meaning of each of these memories is to a vector, by text hash: the better of its title and
    its text. The vectors of new memories are made and stored first, in about 35 ms of processor time for each."""
    stored = StoredVectors(folder.store.quotes.private, MODEL_SHA256)
    vectors = stored.load()
    is_outdated = bool(vectors.keys() - {one.text_hash for one in ranked})
    missing = [one for one in ranked if one.text_hash not in vectors]
    for start in range(0, len(missing), _BATCH_SIZE):
        report(start, len(missing))
        made = _embed(folder.load(missing[start : start + _BATCH_SIZE]).values(), model)
        vectors |= made
        stored.save(made)
    if missing or is_outdated:
        stored.drop_all_but({one.text_hash for one in folder.find("", MOST_MEMORIES, EVERY_MEMORY, {})})
    folder.note_problems(stored.problems)
    if not vectors:
        return {}
    titles = model.similarities(vector, [one.title for one in vectors.values()])
    bodies = model.similarities(vector, [one.body for one in vectors.values()])
    return {name: max(title, body) for name, title, body in zip(vectors, titles, bodies, strict=True)}


def _embed(memories: Iterable[StoredMemory], model: SentenceModel) -> dict[str, MemoryVectors]:
    texts = {hash_text(one.record): (one.record.title, one.record.body.strip() or one.record.title) for one in memories}
    unique = list(dict.fromkeys(text for pair in texts.values() for text in pair))
    vectors = dict(zip(unique, model.embed(unique), strict=True))
    return {name: MemoryVectors(vectors[title], vectors[body]) for name, (title, body) in texts.items()}
