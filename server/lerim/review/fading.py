"""What a rule put away comes back when it is said again: what nobody used, was beyond the bound, or over as a theme.

What a person archived by hand, called wrong or outdated, or rejected stays away.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lerim.errors import BoundaryError, MemoryError_
from lerim.memory.lifecycle import unwanted
from lerim.memory.store import Store, Stored
from lerim.memory.uses import Uses
from lerim.review.ground import Heard
from lerim.review.ledger import Known, Ledger
from lerim.review.place import Place
from lerim.review.suggestions import SUGGESTION

_ARCHIVE = f"{SUGGESTION}archive:"


def faded(
    place: Place, book: Ledger, store: Store, claims: Sequence[Known], over: Sequence[Heard], said: datetime
) -> Stored | None:
    """The memory that a rule put away and that a claim of this time says again; None where there is none.

    `claims` are those that say the same, `over` what said it and is over.
    """
    if not claims and not over:
        return None
    known = {one.id: one for one in book.claims("accepted", "known")}
    about = [*claims, *(known[one.id] for one in over if one.id in known)]
    names = dict.fromkeys([*(one.memory for one in about), *(one.id for one in over if one.id not in known)])
    latest = max((one.said for one in known.values() if one.memory in names), default=said)
    for name in names:
        try:
            stored = store.read(name)
        except (MemoryError_, BoundaryError):
            continue
        later = max(stored.record.updated, latest) < said
        if later and stored.status == "archived" and _by_rule(book, stored) and not _unwanted(place, name):
            return stored
    return None


def _by_rule(book: Ledger, stored: Stored) -> bool:
    """Whether what put a memory where it is was a suggestion of maintaining, and no person of their own accord."""
    for step in book.steps("done"):
        if any(one.path == str(stored.path) and one.before is None for one in step.changes):
            known = book.known(step.candidate)
            return known is not None and known.source.startswith(_ARCHIVE)
    return False


def _unwanted(place: Place, memory_id: str) -> bool:
    uses = Uses(place.private)
    said = uses.said().get(memory_id)
    return said is not None and unwanted(*said, uses.kept().get(memory_id)) is not None
