"""What an earlier claim says besides the later one that stands for both is said with that, whichever was read first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from lerim.extraction.candidate import Candidate
from lerim.memory.kept import joined
from lerim.review import actions
from lerim.review.ground import Heard
from lerim.review.ledger import Ledger
from lerim.review.place import Place


def with_what_gave_way(candidate: Candidate, outdated: Iterable[Heard]) -> Candidate:
    """A candidate with the sentences of the waiting ones it renews that it does not say itself, the latest first."""
    for one in sorted(outdated, key=lambda one: (one.said, one.id), reverse=True):
        if one.renews and one.proposal is not None:
            candidate = replace(candidate, body=_both(one.proposal.record.body, candidate.title, candidate.body))
    return candidate


def with_the_rest(place: Place, book: Ledger, candidate: Candidate, by: Heard) -> Candidate | None:
    """What is left of a candidate that a later claim renews. Where that waits, it says the rest from now on; where it
    is a memory that Lerim alone wrote, its words and the rest are a candidate. None where nothing is left."""
    if not by.renews:
        return None
    if by.proposal is not None:
        memory = by.proposal.record
        body = _both(candidate.body, memory.title, memory.body)
        if not by.proposal.edited and body != memory.body:
            actions.rewrite(place, book, by.proposal, {}, body)
    elif by.stored is not None and book.is_ours(by.stored.hash):
        memory = by.stored.record
        body = _both(candidate.body, memory.title, memory.body)
        return replace(candidate, title=memory.title, body=body) if body != memory.body else None
    return None


def _both(old: str, title: str, body: str) -> str:
    return joined(old, title, body, lambda _: True)
