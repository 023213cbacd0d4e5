"""Checks whether the exact parts of a model's words (code, numbers, paths, names) occur in what it was shown."""

from __future__ import annotations

import re

_HARD = re.compile(r"`[^`\n]{1,120}`|[\w@~][\w./@#+-]*")
_EXACT = re.compile(r"\d|[/_#@]|\w\.\w|[a-z][A-Z]")


def has_exact_parts(sentence: str, text: str) -> bool:
    """Returns whether all code, numbers, paths and names of a sentence occur in a text, which must be in lower case."""
    for match in _HARD.finditer(sentence):
        word = match.group().strip("`").lower().rstrip(".-/")
        if (match.group().startswith("`") or _EXACT.search(match.group())) and not _has(text, word):
            return False
    return True


def _has(low: str, word: str) -> bool:
    """Returns whether the text contains the word. A number must be a whole one: 5 is not in 15 or in 1.5."""
    before = r"(?<!\d)(?<!\d[.,])" if word[:1].isdigit() else ""
    after = r"(?!\d)(?![.,]\d)" if word[-1:].isdigit() else ""
    return re.search(before + re.escape(word) + after, low) is not None if before or after else word in low
