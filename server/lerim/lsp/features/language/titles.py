"""Titles of memories as completion and the workspace's symbols show them: found by words, and redacted."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence

from lerim.lsp.boundary import show_hidden_characters
from lerim.lsp.protocol import redact_text
from lerim.memory import MemoryEntry


def find_by_words(query: str, *sources: Iterable[MemoryEntry]) -> Iterator[MemoryEntry]:
    """Yields the memories whose id or title contains all words of a query, newest first, as each source has them."""
    words = query.casefold().split()
    for entry in heapq.merge(*sources, key=lambda entry: (entry.created, entry.name), reverse=True):
        text = f"{entry.id} {entry.title}".casefold() if words else ""
        if all(word in text for word in words):
            yield entry


def show_titles(entries: Sequence[MemoryEntry]) -> list[str]:
    """The titles as they may be shown, each on one line. They are redacted together, which is faster."""
    titles = [" ".join(entry.title.split()) for entry in entries]
    together = redact_text("\n".join(titles)).split("\n")
    redacted = together if len(together) == len(titles) else map(redact_text, titles)
    return [show_hidden_characters(title) for title in redacted]
