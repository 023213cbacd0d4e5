"""The filters of a memory search as words of the full-text index that no text can contain, so that a filter costs as
little as another word in the query."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from functools import lru_cache

from lerim.memory.lifecycle import Status
from lerim.memory.record import MemoryRecord
from lerim.memory.reference import parse_reference, reference_text
from lerim.memory.search.filters import STATUSES, MemoryFilters

_FACET_MARK = "\ue000"
"""A private-use character: the index treats it as a letter, and no word of a text or query contains it."""


def facet_words(record: MemoryRecord, status: Status) -> str:
    """Returns the facets of a memory, each once: its status, primitive, kind, tags, and the places it refers to."""
    return " ".join(dict.fromkeys((_facet_word("status", status), *_record_facets(record))))


def change_status_facet(told: str, before: Status, after: Status) -> str:
    """Returns the facets of a memory after its status changed."""
    return told.replace(_facet_word("status", before), _facet_word("status", after), 1)


def facet_expressions(filters: MemoryFilters) -> list[str]:
    """Returns FTS5 expressions that must all match; an empty one matches nothing. There is none for active memories,
    which are found by their row numbers."""
    groups = []
    if set(filters.statuses) != set(STATUSES) and filters.statuses != ("active",):
        groups.append([_facet_word("status", status) for status in filters.statuses])
    what = [_facet_word("kind", kind) for kind in filters.kinds]
    what += [_facet_word("primitive", one) for one in filters.primitives if not (what and one == "learning")]
    if what:
        groups.append(what)
    groups += [[_facet_word("tag", tag.casefold())] for tag in filters.tags]
    if filters.files:
        named = filter(None, map(parse_reference, filters.files))
        groups.append([_facet_word("place", reference_text(reference)) for reference in named])
    return [" OR ".join(f'"{word}"' for word in group) for group in groups]


def referenced_places(record: MemoryRecord) -> Iterator[str]:
    """Yields each symbol and file a memory refers to, and the folders that contain them."""
    for reference in filter(None, map(parse_reference, record.references)):
        if reference.symbol:
            yield reference_text(reference)
        path = reference.path
        while path:
            yield path
            path = path.rpartition("/")[0]


def _record_facets(record: MemoryRecord) -> Iterable[str]:
    yield _facet_word("primitive", record.primitive)
    if record.kind and record.primitive == "learning":
        yield _facet_word("kind", record.kind)
    yield from (_facet_word("tag", tag.casefold()) for tag in record.tags)
    yield from (_facet_word("place", place) for place in referenced_places(record))


@lru_cache(maxsize=1024)  # many memories share the same few
def _facet_word(name: str, value: str) -> str:
    """Returns a facet as a word: a mark and digits, so that the index's stemmer does not shorten it."""
    digest = hashlib.blake2b(f"{name}\0{value}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return f"{_FACET_MARK}{int.from_bytes(digest, 'big')}"
