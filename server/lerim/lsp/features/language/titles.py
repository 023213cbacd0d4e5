"""Titles of memories as completion and the workspace's symbols show them: found by words, redacted, newest first."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

from lerim.lsp.boundary import show_hidden_characters
from lerim.lsp.protocol import redact_text
from lerim.memory import MemoryEntry


def find_by_words(entries: Iterable[MemoryEntry], query: str, limit: int) -> list[MemoryEntry]:
    """The newest memories whose id or title contains all words of a query."""
    words = query.casefold().split()
    found = (
        entry for entry in entries if not words or all(word in f"{entry.id} {entry.title}".casefold() for word in words)
    )
    return heapq.nlargest(limit, found, key=lambda entry: (entry.created, entry.name))


def show_titles(entries: Sequence[MemoryEntry]) -> list[str]:
    """The titles as they may be shown, each on one line. They are redacted together, which is faster."""
    titles = [" ".join(entry.title.split()) for entry in entries]
    together = redact_text("\n".join(titles)).split("\n")
    redacted = together if len(together) == len(titles) else map(redact_text, titles)
    return [show_hidden_characters(title) for title in redacted]
