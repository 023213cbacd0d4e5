"""Finds the memory that a new claim only repeats.

If an agent repeats a memory that Lerim gave it, that is not evidence for the memory; otherwise memories would confirm
themselves.

A memory that a rule archived, because nobody used it, because there were too many, or because its theme is over, can
be restored when it is stated again. Memories that a person archived by hand or rated wrong or outdated stay
archived.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lerim.errors import BoundaryError, MemoryError_
from lerim.extraction import MIN_COVERED_SHARE, Candidate, has_details_of
from lerim.memory import MemoryRecord, MemorySearch, Store, StoredMemory, Uses, word_stems
from lerim.review.ledger import Ledger, LedgerClaim
from lerim.review.proposing.suggestions import SUGGESTION_PREFIX
from lerim.review.review_paths import ReviewPaths

_MAX_COMPARED = 5


def find_echoed_memory(candidate: Candidate, memories: MemorySearch) -> MemoryRecord | None:
    """Returns the active memory that a claim repeats although only an agent said it; None for anything new, and for
    whatever a person said or a tool showed.

    A claim repeats a memory that contains most of its words, or of those after a colon, and every name, path and number
    in it. Whether the memory was given to the agent in that session does not matter: rules files give it to every
    agent, and leave no trace.
    """
    if not candidate.evidence or any(item.who != "assistant" for item in candidate.evidence):
        return None
    _, colon, quoted = candidate.title.partition(": ")  # “The project's memory says: …”
    wordings = [words for text in (candidate.title, quoted if colon else "") if (words := word_stems(text))]
    if not wordings:
        return None
    for hit in memories.search(f"{candidate.title}?", _MAX_COMPARED):
        record = hit.record
        text = "\n".join((record.title, record.body, *record.references, *(item.quote for item in record.evidence)))
        known = word_stems(text)
        covered = max(len(words & known) / len(words) for words in wordings)
        if covered >= MIN_COVERED_SHARE and has_details_of(text, candidate.title):
            return record
    return None


_ARCHIVE_PREFIX = f"{SUGGESTION_PREFIX}archive:"


def find_archived_by_rule(
    paths: ReviewPaths, ledger: Ledger, store: Store, claims: Sequence[LedgerClaim], said_at: datetime
) -> StoredMemory | None:
    """Returns the memory that a rule archived and that is now repeated by a claim stated at `said_at`, or None.
    `claims` are the known claims with the same text."""
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
