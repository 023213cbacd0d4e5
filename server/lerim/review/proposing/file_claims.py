"""Claims found in files that a person or an agent keeps: rules files, and the memories of agents. They always wait
for a person, whatever the review setting is, because nobody has checked them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from lerim.memory import MemoryRecord, MemorySearch, StoredMemory
from lerim.redaction import find_flags
from lerim.review import actions
from lerim.review.candidates import join_lines
from lerim.review.ledger import Ledger
from lerim.review.proposing.agent_claims import find_known_claim, propose_claim
from lerim.review.proposing.claims import open_memory_search
from lerim.review.results import AlreadyKnown, CandidateProposed, ClaimBlocked
from lerim.review.review_paths import ReviewPaths

FILE_PREFIX = "file:"
"""The prefix of the source of a claim found in a file; the file's path and line follow: `file:AGENTS.md#L12`."""
UNVERIFIED = "unverified"
"""The flag of such a candidate."""
FileClaimResult = CandidateProposed | ClaimBlocked | AlreadyKnown


@dataclass(frozen=True, slots=True)
class FileClaim:
    """A claim found in a file: the memory it would become, without an id, and the memory that it changes, if any.
    `memory.source` consists of FILE_PREFIX, the path and the line."""

    memory: MemoryRecord
    changes: StoredMemory | None = None


def propose_from_files(paths: ReviewPaths, claims: Sequence[FileClaim], now: datetime) -> list[FileClaimResult]:
    """Makes a waiting candidate from each claim, unless the claim was rejected, already waits, or a memory says the
    same. Returns the result for each claim.

    Raises BusyError, and MemoryError_ if the review folder cannot be written; the candidates made before the error
    keep waiting.
    """
    with actions.locked_ledger(paths) as ledger, open_memory_search(paths, None) as search:
        return [_propose(paths, ledger, claim, search, now) for claim in claims]


def preview_file_claims(paths: ReviewPaths, claims: Iterable[FileClaim]) -> list[ClaimBlocked | AlreadyKnown | None]:
    """Returns the result that `propose_from_files` would have for each claim; None for a claim that it would
    propose. Writes nothing but the ledger's own file."""
    with actions.locked_ledger(paths) as ledger, open_memory_search(paths, None) as search:
        return [
            find_known_claim(
                *(paths, ledger, memory, ledger.fingerprint(memory.title, memory.body), search),
                count=False,
                by_title=True,
            )
            for memory in (claim.memory for claim in claims)
        ]


def _propose(
    paths: ReviewPaths, ledger: Ledger, claim: FileClaim, search: MemorySearch, now: datetime
) -> FileClaimResult:
    memory = claim.memory
    fingerprint = ledger.fingerprint(memory.title, memory.body)
    known = find_known_claim(paths, ledger, memory, fingerprint, search, by_title=True)
    if known is not None:
        return known
    path, _, line = memory.source.removeprefix(FILE_PREFIX).rpartition("#L")
    reason = join_lines(f"It was found in {path}, line {line}.")
    flags = (UNVERIFIED, *find_flags(memory.title, memory.body))
    return propose_claim(paths, ledger, memory, fingerprint, now, "file", flags, reason, claim.changes)
