"""Finds memories that a rule archived and that are stated again, so that they can be restored.

A rule archives a memory that nobody used, that exceeds the limit, or whose theme is over. Memories that a person
archived by hand or rated wrong or outdated stay archived.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lerim.errors import BoundaryError, MemoryError_
from lerim.memory import Store, StoredMemory, Uses
from lerim.review.ledger import Ledger, LedgerClaim
from lerim.review.proposing.suggestions import SUGGESTION_PREFIX
from lerim.review.review_paths import ReviewPaths

_ARCHIVE_PREFIX = f"{SUGGESTION_PREFIX}archive:"


def find_archived_by_rule(
    paths: ReviewPaths, ledger: Ledger, store: Store, claims: Sequence[LedgerClaim], said_at: datetime
) -> StoredMemory | None:
    """Return the memory that a rule archived and that is now repeated by a claim stated at `said_at`, or None. `claims`
    are the known claims with the same text."""
    for claim in claims:
        try:
            stored = store.load_by_id(claim.memory)
        except (MemoryError_, BoundaryError):
            continue
        said_later = max(stored.record.updated, claim.last_said) < said_at
        if (
            said_later
            and stored.status == "archived"
            and _was_archived_by_rule(ledger, stored)
            and claim.memory not in Uses(paths.private).find_unwanted()
        ):
            return stored
    return None


def _was_archived_by_rule(ledger: Ledger, stored: StoredMemory) -> bool:
    for action in ledger.list_actions("done"):
        if any(one.path == str(stored.path) and one.before is None for one in action.changes):
            claim = ledger.find_claim(action.candidate)
            return claim is not None and claim.source.startswith(_ARCHIVE_PREFIX)
    return False
