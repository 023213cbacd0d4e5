"""Judges whether a string looks random, as keys and tokens do, or written by a person, as names do."""

from __future__ import annotations

import math
import re
from collections import Counter

from lerim.redaction.values.letters import is_unlike_words
from lerim.redaction.values.rules import PLACEHOLDER

_HEX = re.compile(r"^[0-9a-f]{7,64}$")
_WORD = re.compile(r"^(?:[A-Za-z]?[a-z]{0,20}\d{0,3}|[A-Z]{1,20}\d{0,3}|\d{1,8}[a-z]?)$")


def looks_random(value: str) -> bool:
    """Returns whether a value looks random: letters and digits mixed, or only letters if they are a long mix of
    cases or form no words. Words joined by hyphens, dots or underscores do not look random."""
    if len(value) < 8 or PLACEHOLDER.search(value[:80]):
        return False
    digits = sum(ch.isdigit() for ch in value)
    letters = sum(ch.isalpha() for ch in value)
    if not digits or letters < 3:
        mixed = any(ch.islower() for ch in value) and any(ch.isupper() for ch in value)
        if mixed and len(value) >= 24 and _entropy(value) > 4.0:
            return True
        return letters * 10 >= len(value) * 9 and is_unlike_words(value)
    parts = re.split(r"[-_.]", value)
    if len(parts) > 2 and all(len(part) < 12 and _WORD.match(part) for part in parts):
        return False
    return _entropy(value) > (2.5 if _HEX.match(value) else 2.9)


def _entropy(value: str) -> float:
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values())
