"""Compares claims: whether two of them say the same, or make opposite choices."""

from __future__ import annotations

import re

from lerim.extraction.contradictions import is_sense_turned
from lerim.extraction.state import ProposedClaim

_MIN_TITLE_OVERLAP = 0.72  # word overlap from which two titles make the same claim
_REJECTING = re.compile(r"\b(?:instead of|rather than|over|not|never)\b", re.IGNORECASE)
"""The words after this are rejected in favor of the words before it."""

_FILLER_LIST = """
    a an the in of to for on and or not is are be with as by it use do no over from at
"""
_FILLER_WORDS = frozenset(_FILLER_LIST.split())


def content_words(title: str) -> tuple[str, ...]:
    """Returns the words that carry a title's meaning, sorted."""
    words = re.findall(r"[\w.@/+-]{1,60}", title.lower())
    return tuple(sorted({word.strip(".") for word in words} - _FILLER_WORDS))


def is_same_claim(first: ProposedClaim, second: ProposedClaim) -> bool:
    """Returns whether two claims say the same: one has hardly a word more than the other. Claims with the sides
    swapped, with another name or number, or with a "not" are different."""
    a, b = set(first.words), set(second.words)
    same = bool(a) and (a <= b or b <= a) and len(a & b) >= _MIN_TITLE_OVERLAP * len(a | b)
    if not same or is_opposed_claim(first, second):
        return False
    return not is_sense_turned(first.title, second.title) and not is_sense_turned(second.title, first.title)


def is_opposed_claim(first: ProposedClaim, second: ProposedClaim) -> bool:
    """Returns whether each of two claims proposes what the other replaces."""
    return (_replaces_claim(first, second) and _replaces_claim(second, first)) or _has_swapped_sides(
        first.title, second.title
    )


def _replaces_claim(claim: ProposedClaim, other: ProposedClaim) -> bool:
    """Returns whether a claim is about something that the other replaces, without replacing it itself."""
    title = claim.title.lower()
    return any(name in title and name not in claim.replaces for name in other.replaces)


def _has_swapped_sides(first: str, second: str) -> bool:
    """Returns whether two titles make opposite choices between the same two things: "redis instead of sqlite"."""
    (wanted, left), (other_wanted, other_left) = _split_sides(first), _split_sides(second)
    return bool((wanted - left) & (other_left - other_wanted) and (left - wanted) & (other_wanted - other_left))


def _split_sides(title: str) -> tuple[set[str], set[str]]:
    chosen, _, rest = _REJECTING.sub("\0", title, count=1).partition("\0")
    return set(content_words(chosen)), set(content_words(rest))
