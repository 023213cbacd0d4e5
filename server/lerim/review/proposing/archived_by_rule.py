"""A memory that a rule archived (nobody used it, it was beyond the bound, or its theme was over) comes back when it is
said again.

What a person archived by hand, called wrong or outdated, or rejected stays away.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lerim.errors import BoundaryError, MemoryError_
from lerim.memory import Store, StoredMemory, Uses, find_unwanted_reason
from lerim.review.ledger import Ledger, LedgerClaim
from lerim.review.proposing.suggestions import SUGGESTION_PREFIX
from lerim.review.review_paths import ReviewPaths

_ARCHIVE = f"{SUGGESTION_PREFIX}archive:"


def find_archived_by_rule(
    paths: ReviewPaths, ledger: Ledger, store: Store, claims: Sequence[LedgerClaim], said: datetime
) -> StoredMemory | None:
    """The memory that a rule archived and that a claim of this time says again; `claims` are those with its text."""
    for known in claims:
        try:
            stored = store.load_by_id(known.memory)
        except (MemoryError_, BoundaryError):
            continue
        later = max(stored.record.updated, known.last_said) < said
        if later and stored.status == "archived" and _by_rule(ledger, stored) and not _unwanted(paths, known.memory):
            return stored
    return None


def _by_rule(ledger: Ledger, stored: StoredMemory) -> bool:
    """Whether what put a memory where it is was a suggestion of maintaining, and no person of their own accord."""
    for step in ledger.list_actions("done"):
        if any(one.path == str(stored.path) and one.before is None for one in step.changes):
            known = ledger.find_claim(step.candidate)
            return known is not None and known.source.startswith(_ARCHIVE)
    return False


def _unwanted(paths: ReviewPaths, memory_id: str) -> bool:
    uses = Uses(paths.private)
    said = uses.last_feedback().get(memory_id)
    return said is not None and find_unwanted_reason(*said, uses.last_kept().get(memory_id)) is not None
