"""A cache of the texts that were found to contain no secret, so that they are not searched again."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

_SHORT_CHARACTERS = 100
TextKey = str | bytes


def make_key(text: str) -> TextKey:
    """Returns the key of a text in the cache: the text itself or, for a longer text, its digest."""
    if len(text) <= _SHORT_CHARACTERS:
        return text
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


@dataclass(slots=True)
class CleanTexts:
    """The keys of at most `most` texts. If there would be more, all of them are forgotten.

    The same texts are redacted repeatedly: tool names, paths and lines recur, an agent reads the same files again
    and again, and a summary redacts what was redacted when the turns of its session were extracted.
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
