"""Whether what must be exact in a model's words stands in what it was shown: code, numbers, paths and names."""

from __future__ import annotations

import re

_HARD = re.compile(r"`[^`\n]{1,120}`|[\w@~][\w./@#+-]*")
_EXACT = re.compile(r"\d|[/_#@]|\w\.\w|[a-z][A-Z]")


def has_exact_parts(said: str, low: str) -> bool:
    """Whether all that must be exact in a sentence stands in a text in lower case: code, numbers, paths and names."""
    for match in _HARD.finditer(said):
        word = match.group().strip("`").lower().rstrip(".-/")
        if (match.group().startswith("`") or _EXACT.search(match.group())) and not _has(low, word):
            return False
    return True


def _has(low: str, word: str) -> bool:
    """A number is there only as a whole: 5 does not stand in 15 or in 1.5."""
    before = r"(?<!\d)(?<!\d[.,])" if word[:1].isdigit() else ""
    after = r"(?!\d)(?![.,]\d)" if word[-1:].isdigit() else ""
    return re.search(before + re.escape(word) + after, low) is not None if before or after else word in low
