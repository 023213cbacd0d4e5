"""Texts that were found to contain no secret, so that they are not searched again."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

_SHORT_CHARACTERS = 100
TextKey = str | bytes


def make_key(text: str) -> TextKey:
    """Returns what a text is known by: a longer one by its digest."""
    if len(text) <= _SHORT_CHARACTERS:
        return text
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


@dataclass(slots=True)
class CleanTexts:
    """The keys of at most so many texts; if there would be more, all are forgotten.

    Tool names, paths and lines repeat often, an agent reads the same files again and again, and a summary redacts what
    was redacted when the turns of its session were extracted.
    """

    most: int = 50_000
    keys: set[TextKey] = field(default_factory=set)

    def add(self, key: TextKey) -> None:
        """Remembers that a text contains no secret."""
        if len(self.keys) >= self.most:
            self.keys.clear()
        self.keys.add(key)


CLEAN_TEXTS = CleanTexts()


def limit_clean_texts(most: int) -> None:
    """Limits the cache to this many texts: a process that only shows memories rarely redacts the same text twice."""
    CLEAN_TEXTS.most = most
