"""Whether a person here vouches for a memory's text."""

from __future__ import annotations

from lerim import files
from lerim.memory import StoredMemory
from lerim.review.ledger import open_ledger
from lerim.review.review_paths import ReviewPaths


def was_text_approved(paths: ReviewPaths, stored: StoredMemory) -> bool:
    """Whether a person wrote, accepted or confirmed exactly this text of a memory, in this installation's review.

    A text that was accepted automatically, that came with the repository, or that was edited in its file since is not
    approved until the person confirms it. Raises MemoryError_ if the ledger cannot be used.
    """
    if files.is_absent(paths.private / "review.sqlite3"):
        return False
    with open_ledger(paths.private, paths.moves) as ledger:
        return ledger.was_written_by_person(stored.record.id, stored.text_hash)
