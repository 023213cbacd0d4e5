"""Whether a claim is one that was met before, in nearly the same words, by what the ledger keeps of that."""

from __future__ import annotations

import re

from lerim.extraction.candidate import Candidate
from lerim.memory.claim import apart
from lerim.memory.substance import differ
from lerim.review.fingerprints import Fingerprint, alike
from lerim.review.ledger import Known, Ledger

REWORDED_FROM = 0.75
_EACH = re.compile(r"\b(?:every|each)\b")


def reworded(known: Known, mark: Fingerprint) -> bool:
    """Whether this is a rejected claim again: the same title, or nearly the same words about the same things."""
    old = known.print
    if old.title and old.title == mark.title:
        return True
    return near(old, mark, REWORDED_FROM) and old.hard <= mark.words and mark.hard <= old.words


def otherwise(book: Ledger, known: Known, candidate: Candidate) -> bool:
    """Whether a claim says something else in nearly the same words as a rejected one: `may` for `must`; not `every
    commit` for `a commit`."""
    told = book.told(known.id)
    if told is None:
        return False
    was, now = ((_EACH.sub("a", one.title), _EACH.sub("a", one.body)) for one in (told, candidate))
    return differ(was, now)


def near(one: Fingerprint, other: Fingerprint, least: float) -> bool:
    """Alike, and not two rules side by side that share most of their words."""
    return alike(one, other) >= least and not apart(one.title, other.title)
