"""How similar memories are."""

from __future__ import annotations

import re
from dataclasses import dataclass

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory near a text. `similarity` is from 0 to 1."""

    id: str
    similarity: float


def similarity(one: str, other: str) -> float:
    """The share of words two texts have in common, from 0 to 1."""
    mine, theirs = (frozenset(_WORD.findall(text.casefold())) for text in (one, other))
    return 2 * len(mine & theirs) / (len(mine) + len(theirs)) if mine or theirs else 1.0
